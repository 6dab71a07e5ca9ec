// Transposed CSR products on the host without a copy of the matrix; see scatter_host.cpp.
#pragma once

#include "sparse/spmv/executor.hpp"

namespace spargo::detail::spmv {

// For a matrix with at least one row and one entry; its operation is not `none`.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_scatter(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                           spmv_operation operation);

}  // namespace spargo::detail::spmv
