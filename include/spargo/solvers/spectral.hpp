// Vertices of an undirected graph as points: eigenvectors of its Laplacian for the smallest eigenvalues, on the host.
//
// The vector of the eigenvalue 0 that every graph has (the constant one, or the square roots of the degrees) is
// omitted. With one dimension and the combinatorial Laplacian the result is the Fiedler vector, and its value the
// algebraic connectivity. Fiedler, Czechoslovak Math. J. 23, 1973; Belkin, Niyogi, Neural Computation 15, 2003.
#pragma once

#include <spargo/solvers/eigs.hpp>
#include <spargo/sparse/laplacian.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT spectral_options {
  std::int64_t dimensions = 2;  // less than the vertices
  laplacian_kind laplacian = laplacian_kind::normalized;
  double tolerance = 1e-8;              // of |L x - lambda x|, relative to a bound of the spectrum
  std::int64_t max_products = 100'000;  // with L
  std::uint64_t seed = 0;
};

// The adjacency matrix, with weights of 0 or more; self-loops as in `laplacian`. The result is that of `eigs`, values
// ascending, vectors orthogonal to the omitted one; a graph of c components has c - 1 further values 0, and their
// vectors, which are constant on components (combinatorial), are found as `eigs` finds equal eigenvalues. Throws
// invalid_argument for a matrix that is not square, dimensions or a tolerance out of range, invalid_data for weights
// that are negative or not finite, row sums beyond V, and for a matrix that is not symmetric. Deterministic for any
// number of threads. Memory: a Laplacian, the copy of it that products are made with, and 2 dimensions + 22 vectors.
template <real_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT eigs_result<V> spectral_embedding(const context<host>& ctx,
                                                              const csr_view<const V, I, O, host>& adjacency,
                                                              const spectral_options& options = {});

template <detail::viewable Matrix>
[[nodiscard]] auto spectral_embedding(const context<host>& ctx, const Matrix& adjacency,
                                      const spectral_options& options = {}) {
  return spectral_embedding(ctx, detail::view_of(adjacency), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
