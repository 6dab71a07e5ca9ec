// What the rest of the product sees of blocked matrices: the attempt at a copy, and when it is refused.
#pragma once

#include "sparse/spmv/copies/copy.hpp"

#include <string>

namespace spargo::detail::spmv {

// The matrix has at least one entry. O(rows + cols + nnz); synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                            copy_demand demand);

// What the choice rests on; what is not known yet is 0, or 1000 sectors.
struct blocking_profile {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::int64_t value_bytes;
  std::int64_t sectors;   // of x, that 1000 consecutive entries touch
  std::int64_t gathered;  // entries whose element of x no shared memory holds
  std::int64_t strips;    // sums that the rows are made of
  std::int64_t ranked;    // elements of x that each run puts in another order
};

// Why not; empty: nothing speaks against it.
[[nodiscard]] std::string why_not_blocked(const blocking_profile& profile, copy_demand demand);

}  // namespace spargo::detail::spmv
