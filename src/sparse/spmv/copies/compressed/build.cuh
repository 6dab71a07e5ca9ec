// The steps that make a compressed matrix.
#pragma once

#include "sparse/spmv/copies/compressed/device.cuh"
#include "sparse/spmv/device.cuh"

#include <string>

namespace spargo::detail::spmv {

[[nodiscard]] inline launch_shape a_warp_each(std::int64_t slices) {
  return one_thread_each(slices * warp_size, compressed_threads);
}

struct pattern_attempt {
  compressed_pattern pattern;
  std::string refusal;  // not empty: there is no pattern
};

// What the pattern is to be stored for.
struct pattern_request {
  copy_demand demand;
  bool values_named;  // then columns are, too, where at most 256 differences to the row occur; else if that is less
  int value_bytes;    // of the CSR matrix
};

// Synchronises the stream.
template <class I, class O>
[[nodiscard]] pattern_attempt compress_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                               const pattern_request& request);

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

}  // namespace spargo::detail::spmv
