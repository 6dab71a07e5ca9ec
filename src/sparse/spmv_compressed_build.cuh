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

// Synchronises the stream.
template <class I, class O>
[[nodiscard]] pattern_attempt compress_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                               compression_demand demand);

// values (in the order of the CSR matrix), stored slot by slot. Word: an unsigned integer or a pair of them, as wide as
// a value. What padding holds is undefined.
template <class Word>
void arrange_values(const context<device>& ctx, const compressed_pattern& pattern, const Word* values, Word* arranged);

}  // namespace spargo::detail
