// Interface of the blocked copy: the attempt to make one, and the reasons against it.
#pragma once

#include "sparse/spmv/copies/copy.hpp"

#include <string>

namespace spargo::detail::spmv {

// For a matrix with at least one entry. O(rows + cols + nnz); synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                            copy_demand demand);

// The quantities that the choice is based on; not yet measured ones are 0, or 1000 sectors.
struct blocking_profile {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::int64_t value_bytes;
  std::int64_t sectors;   // sectors of x read by 1000 consecutive entries
  std::int64_t gathered;  // entries whose element of x is not in shared memory
  std::int64_t strips;    // partial sums of all rows
  std::int64_t ranked;    // elements of x that each run reorders
};

// The reason against blocking; empty if there is none.
[[nodiscard]] std::string reason_against_blocking(const blocking_profile& profile, copy_demand demand);

}  // namespace spargo::detail::spmv
