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
  std::string refusal;  // not empty: no pattern was made
};

// What the pattern is stored for.
struct pattern_request {
  copy_demand demand;
  bool values_named;  // then columns too, if column - row has at most 256 values; else if smaller
  int value_bytes;    // of the CSR matrix
};

// Synchronises the stream.
template <class I, class O>
[[nodiscard]] pattern_attempt compress_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                               const pattern_request& request);

// The dictionary of values, if there are few enough. Synchronises the stream.
struct value_names {
  array<name_table, device> table;
  int count = most_names + 1;
};
template <class Word>
[[nodiscard]] value_names name_values(const context<device>& ctx, const Word* values, std::int64_t nnz);

// Encodes values, in the order of the CSR matrix, as compactly as possible. If pairs replace the pattern's columns,
// these are freed. Synchronises the stream.
template <class Word>
[[nodiscard]] compressed_values<Word> compress_values(const context<device>& ctx, compressed_pattern& pattern,
                                                      const Word* values, value_names names);

// Restores the columns from paired values.
template <class Word>
void restore_columns(const context<device>& ctx, compressed_pattern& pattern, const compressed_values<Word>& values);

}  // namespace spargo::detail::spmv
