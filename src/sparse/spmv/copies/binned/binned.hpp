// What the rest of the product sees of binned matrices: the attempt at a copy, and when it is refused.
#pragma once

#include "sparse/spmv/copies/copy.hpp"

#include <string>

namespace spargo::detail::spmv {

// The matrix has at least one entry. O(rows + cols + nnz); synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> bin_products(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                           copy_demand demand);

// What the choice rests on; what is not known yet is 1000 sectors and one block.
struct binning_profile {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::int64_t value_bytes;
  std::int64_t l2_bytes;  // of the device's cache
  std::int64_t sectors;   // of 32 bytes of x, that 1000 consecutive entries touch
  std::int64_t blocks;    // of the columns that have entries
  std::int64_t bins;
};

// Why not; empty: nothing speaks against it.
[[nodiscard]] std::string why_not_binned(const binning_profile& profile, copy_demand demand);

}  // namespace spargo::detail::spmv
