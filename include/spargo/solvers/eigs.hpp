// Eigenvalues and eigenvectors of symmetric (Hermitian) matrices by Lanczos' method with thick restarts.
//
// Finds the `count` algebraically largest or smallest eigenvalues by products alone. Each product is orthogonalised
// against the last two vectors and then, by classical Gram-Schmidt, against the whole basis. Deterministic: the start
// is seeded, and any number of threads gives the same bits, on devices of one kind every run. As in every method of one
// start vector, equal eigenvalues may be found fewer times than they occur. Wu and Simon, "Thick-restart Lanczos method
// for large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000.
#pragma once

#include <spargo/solvers/krylov.hpp>

#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class eigs_which { largest, smallest };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<eigs_which> enum_rows() noexcept;

struct SPARGO_EXPORT eigs_options {
  std::int64_t count = 6;  // at most n
  eigs_which which = eigs_which::largest;
  double tolerance = 1e-10;   // of |A x - lambda x|, relative to the largest |eigenvalue| found; at least 32 eps
  std::int64_t subspace = 0;  // vectors kept, more than count; 0: 2 count + 20, at most n
  std::int64_t max_products = 100'000;  // with A
  std::uint64_t seed = 0;
};

template <class V>
struct eigs_result {
  bool converged = false;     // every residual is within the tolerance
  std::int64_t products = 0;  // with A
  std::int64_t restarts = 0;
  std::vector<double> values;     // count of them, the outermost first
  std::vector<double> residuals;  // |A x - lambda x|, by products with the vectors returned
  array<V, host> vectors;         // [k * n + i], of norm 1
};

// Throws invalid_argument for a matrix that is not square, a count or a subspace out of range, invalid_data for values
// that are not finite, eigenvalues beyond the range of double or a matrix that is not symmetric (Hermitian) up to
// rounding; rows must be sorted and without duplicates. Memory: subspace + 1 vectors of n elements. O(subspace n) and a
// product per step.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT eigs_result<V> eigs(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                                const eigs_options& options = {});
// On a device, from where the vectors are copied at the end; one synchronisation of the stream a step.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT eigs_result<V> eigs(const context<device>& ctx,
                                                const csr_view<const V, I, O, device>& matrix,
                                                const eigs_options& options = {});
// For an operator, which must be Hermitian.
template <value_type V>
[[nodiscard]] SPARGO_EXPORT eigs_result<V> eigs(const context<host>& ctx, const linear_operator<V, host>& a,
                                                const eigs_options& options = {});

template <class Space, detail::viewable Matrix>
[[nodiscard]] auto eigs(const context<Space>& ctx, const Matrix& matrix, const eigs_options& options = {}) {
  return eigs(ctx, detail::view_of(matrix), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
