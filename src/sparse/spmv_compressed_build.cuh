// The steps that make a compressed matrix.
#pragma once

#include "sparse/spmv_compressed.cuh"
#include "sparse/spmv_device.cuh"

#include <string>

namespace spargo::detail {

[[nodiscard]] inline unsigned compressed_grid(std::int64_t slices) {
  return grid_of(slices, compressed_threads / warp_size);
}

struct pattern_attempt {
  compressed_pattern pattern;
  std::string refusal;  // not empty: there is no pattern
};

// Where at most 256 differences of column and row occur, they are named:
enum class column_naming {
  if_smaller,  // than offsets
  preferred,   // always: so that they can be paired with values that have names
};

// Synchronises the stream.
template <class I, class O>
[[nodiscard]] pattern_attempt compress_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                               compression_demand demand, column_naming naming);

// The names of values, if there are not too many. Synchronises the stream.
struct value_names {
  array<name_table, device> table;
  int count = most_names + 1;
};
template <class Word>
[[nodiscard]] value_names name_values(const context<device>& ctx, const Word* values, std::int64_t nnz);

// Stores values, in the order of the CSR matrix, as shortly as may be; the columns of a pattern that pairs replace are
// given up. Synchronises the stream.
template <class Word>
[[nodiscard]] compressed_values<Word> compress_values(const context<device>& ctx, compressed_pattern& pattern,
                                                      const Word* values, value_names names);

// The columns again, from paired values.
template <class Word>
void restore_columns(const context<device>& ctx, compressed_pattern& pattern, const compressed_values<Word>& values);

}  // namespace spargo::detail
