// Laplacians, as a sum of a diagonal matrix and the negated, scaled matrix.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "core/rows_from_one.hpp"
#include "sparse/algebra/rows.hpp"

#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/laplacian.hpp>

#include <cmath>
#include <complex>
#include <numeric>

namespace spargo {

namespace detail::algebra {

namespace {

template <class V, class I, class O>
csr_matrix<V, I, O, host> diagonal_matrix(const context<host>& ctx, I n, array<V, host> values) {
  array<O, host> offsets(ctx, std::int64_t{n} + 1);
  array<I, host> indices(ctx, n);
  std::iota(offsets.begin(), offsets.end(), O{0});
  std::iota(indices.begin(), indices.end(), I{0});
  return {n, n, std::move(offsets), std::move(indices), std::move(values)};
}

template <class V, class I, class O>
array<double, host> row_sums(const context<host>& ctx, const csr_view<const V, I, O, host>& a) {
  array<double, host> sums(ctx, a.rows);
  parallel_for(ctx.threads(), a.rows, grain::rows, [&](std::int64_t r) {
    double sum = 0;
    for (O k = a.offsets[r]; k < a.offsets[r + 1]; ++k) sum += std::real(a.values[k]);
    sums[r] = sum;
  });
  return sums;
}

}  // namespace

}  // namespace detail::algebra

template <value_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> laplacian(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                                    laplacian_kind kind) try {
  using magnitude = decltype(std::abs(V{}));
  detail::algebra::expect_arrays("laplacian", a);
  SPARGO_EXPECTS(a.rows == a.cols,
                 fmt::format("laplacian: a matrix of {} x {} (expected a square one)", a.rows, a.cols));
  const array<double, host> sums = detail::algebra::row_sums(ctx, a);
  array<V, host> diagonal(ctx, a.rows);
  if (kind == laplacian_kind::combinatorial) {
    for (std::int64_t r = 0; r < a.rows; ++r) diagonal[r] = V(static_cast<magnitude>(sums[r]));
    const auto d = detail::algebra::diagonal_matrix<V, I, O>(ctx, a.rows, std::move(diagonal));
    return add<V, I, O>(ctx, V(1), d.view(), V(-1), a);
  }
  array<V, host> scale(ctx, a.rows);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    if (sums[r] < 0) {
      throw error(error_code::invalid_data, fmt::format("laplacian: row {}{} has the sum {} (expected 0 or more)",
                                                        detail::shown_row(r), detail::counted_from(), sums[r]));
    }
    diagonal[r] = sums[r] > 0 ? V(1) : V(0);
    scale[r] = sums[r] > 0 ? V(static_cast<magnitude>(1 / std::sqrt(sums[r]))) : V(0);
  }
  csr_matrix<V, I, O, host> scaled(a.rows, a.cols, clone(ctx, a.offsets), clone(ctx, a.indices), clone(ctx, a.values));
  scale_rows<V, I, O>(ctx, scale, scaled);
  scale_columns<V, I, O>(ctx, scale, scaled);
  const auto d = detail::algebra::diagonal_matrix<V, I, O>(ctx, a.rows, std::move(diagonal));
  return add<V, I, O>(ctx, V(1), d.view(), V(-1), std::as_const(scaled).view());
} catch (...) {
  detail::rethrow("laplacian");
}

#define INSTANTIATE(V, I, O)                                                                                        \
  template csr_matrix<V, I, O, host> laplacian<V, I, O>(const context<host>&, const csr_view<const V, I, O, host>&, \
                                                        laplacian_kind);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
