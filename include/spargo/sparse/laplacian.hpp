// Laplacians of the graph whose adjacency matrix is A, on the host.
//
// D is the diagonal matrix of A's row sums (of their real parts), so a self-loop of weight w adds w to its row's sum
// and nothing to D - A. Definitions are networkx's.
#pragma once

#include <spargo/formats/csr.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class laplacian_kind {
  combinatorial,  // D - A
  normalized,     // I - D^-1/2 A D^-1/2, where a row of sum 0 has no 1 on the diagonal
};

// Canonical, with all diagonal elements stored. Rows of A may be unsorted and have duplicates. Throws invalid_argument
// for a matrix that is not square; `unsupported` if the entries exceed O; invalid_data for a normalized Laplacian of a
// matrix with a negative row sum. The same bits for any number of threads. O(nnz + rows) if A is canonical.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> laplacian(const context<host>& ctx,
                                                                const csr_view<const V, I, O, host>& matrix,
                                                                laplacian_kind kind = laplacian_kind::combinatorial);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
