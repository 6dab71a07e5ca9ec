// What the rest of the product sees of blocked matrices: an attempt that gives an executor, or says why not.
#pragma once

#include "sparse/spmv_executor.hpp"

#include <string>

namespace spargo::detail {

template <class V>
struct blocking {
  spmv_executor_ptr<V> executor;  // null: refused
  std::string reason;             // what the copy is like, or why there is none
};

enum class blocking_demand {
  if_it_pays,  // refused where CSR as it stands is expected to be as fast
  by_name,     // refused only where rows and columns or entries do not fit 32 bits
};

// The matrix has at least one entry. O(rows + cols + nnz); synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] blocking<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                        blocking_demand demand);

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
[[nodiscard]] std::string why_not_blocked(const column_profile& columns, blocking_demand demand);

}  // namespace spargo::detail
