// The largest singular values of a sparse matrix, with their vectors, by Golub and Kahan's bidiagonalisation with thick
// restarts.
//
// Products with A and A^H alone, never with A^H A: small singular values of a matrix with a large one are as exact as
// rounding allows, eps times the largest. Both bases are orthogonalised in full. Deterministic: the start is seeded,
// and any number of threads gives the same bits, on devices of one kind every run. As in every method of one start
// vector, equal singular values may be found fewer times than they occur. Baglama and Reichel, "Augmented implicitly
// restarted Lanczos bidiagonalization methods", SIAM J. Sci. Comput. 27, 2005.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT svds_options {
  std::int64_t count = 6;               // at most the lesser dimension
  double tolerance = 1e-10;             // of the residuals, relative to the largest singular value; at least 32 eps
  std::int64_t subspace = 0;            // vectors kept on each side, more than count; 0: 2 count + 20
  std::int64_t max_products = 100'000;  // with A and A^H together
  std::uint64_t seed = 0;
};

template <class V>
struct svds_result {
  bool converged = false;     // every residual is within the tolerance
  std::int64_t products = 0;  // with A and A^H
  std::int64_t restarts = 0;
  std::vector<double> values;     // descending
  std::vector<double> residuals;  // the larger of |A v - sigma u| and |A^H u - sigma v|, by products
  array<V, host> left;            // u: [k * rows + i], orthonormal
  array<V, host> right;           // v: [k * cols + j], orthonormal
};

// Rows may be unsorted; duplicates are summed. Throws invalid_argument for a count or a subspace out of range,
// invalid_data for values that are not finite and for singular values beyond the range of double. Memory: the copies of
// A and A^H that products are made with, A^H once more while its copy is made, and subspace + 1 vectors of rows and of
// columns. A step costs two products and O(subspace (rows + cols)), a restart O(subspace^3) besides.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT svds_result<V> svds(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                                const svds_options& options = {});
// On a device, from where the vectors are copied at the end; two synchronisations of the stream a step.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT svds_result<V> svds(const context<device>& ctx,
                                                const csr_view<const V, I, O, device>& matrix,
                                                const svds_options& options = {});

template <class Space, detail::viewable Matrix>
[[nodiscard]] auto svds(const context<Space>& ctx, const Matrix& matrix, const svds_options& options = {}) {
  return svds(ctx, detail::view_of(matrix), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
