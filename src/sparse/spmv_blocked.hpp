// What the rest of the product sees of blocked matrices: the attempt at a copy, and when it is refused.
#pragma once

#include "sparse/spmv_copy.hpp"

#include <string>

namespace spargo::detail {

// The matrix has at least one entry. O(rows + cols + nnz); synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                            copy_demand demand);

// How the entries are spread over the columns.
struct column_profile {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::int64_t used;             // columns that have an entry
  std::int64_t popular;          // of these, the ones with the most entries that one cache holds
  std::int64_t popular_entries;  // in them
  std::int64_t value_bytes;
};

// Why not, before anything is copied; empty: nothing speaks against it.
[[nodiscard]] std::string why_not_blocked(const column_profile& columns, copy_demand demand);

}  // namespace spargo::detail
