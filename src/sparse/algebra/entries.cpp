// Operations on entries one by one: scaling, the diagonal, norms. Sums do not depend on the number of threads: those of
// columns are formed in blocks of rows whose number depends on the matrix alone.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"

#include <spargo/sparse/algebra.hpp>

#include <cmath>

namespace spargo {

namespace detail::algebra {

namespace {

struct tuning {
  static constexpr std::int64_t column_blocks = 16;  // each with a sum per column
};

void expect_factors(const char* operation, std::int64_t factors, std::int64_t expected) {
  SPARGO_EXPECTS(factors == expected, fmt::format("{}: {} factors for {}", operation, factors, expected));
}

template <class V, class I, class O>
array<double, host> row_sums(const context<host>& ctx, const csr_view<const V, I, O, host>& m, double scale) {
  array<double, host> sums(ctx, m.rows);
  parallel_for(ctx.threads(), m.rows, grain::rows, [&](std::int64_t r) {
    double sum = 0;
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) {
      const double v = static_cast<double>(std::abs(m.values[k]));
      sum += scale == 0 ? v : (v / scale) * (v / scale);
    }
    sums[r] = sum;
  });
  return sums;
}

template <class V, class I, class O>
double largest_column_sum(const context<host>& ctx, const csr_view<const V, I, O, host>& m) {
  const std::int64_t cols = m.cols;
  const std::int64_t blocks =
      std::clamp<std::int64_t>(m.nnz() / std::max<std::int64_t>(4 * cols, 1), 1, tuning::column_blocks);
  array<double, host> sums(ctx, blocks * cols);
  fill_zero(ctx, sums);
  const parts shares{m.rows, blocks};
  parallel_parts(ctx.threads(), blocks, [&](std::int64_t p) {
    double* const own = sums.data() + p * cols;
    for (std::int64_t k = m.offsets[shares.first(p)]; k < m.offsets[shares.last(p)]; ++k) {
      own[m.indices[k]] += static_cast<double>(std::abs(m.values[k]));
    }
  });
  double largest = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    double sum = 0;
    for (std::int64_t p = 0; p < blocks; ++p) sum += sums[p * cols + c];
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

}  // namespace detail::algebra

template <value_type V, index_type I, index_type O>
void scale_rows(const context<host>& ctx, std::type_identity_t<span<const V, host>> factors,
                csr_matrix<V, I, O, host>& matrix) try {
  detail::algebra::expect_factors("scale_rows", factors.size(), matrix.rows());
  const span<const O, host> offsets = std::as_const(matrix).offsets();
  V* const values = matrix.values().data();
  detail::parallel_for(ctx.threads(), matrix.rows(), detail::grain::rows, [&](std::int64_t r) {
    for (std::int64_t k = offsets[r]; k < offsets[r + 1]; ++k) values[k] = detail::multiply(factors[r], values[k]);
  });
} catch (...) {
  detail::rethrow("scale_rows");
}

template <value_type V, index_type I, index_type O>
void scale_columns(const context<host>& ctx, std::type_identity_t<span<const V, host>> factors,
                   csr_matrix<V, I, O, host>& matrix) try {
  detail::algebra::expect_factors("scale_columns", factors.size(), matrix.cols());
  const I* const indices = matrix.indices().data();
  V* const values = matrix.values().data();
  detail::parallel_for(ctx.threads(), matrix.nnz(), detail::grain::elements,
                       [&](std::int64_t k) { values[k] = detail::multiply(factors[indices[k]], values[k]); });
} catch (...) {
  detail::rethrow("scale_columns");
}

template <value_type V, index_type I, index_type O>
array<V, host> diagonal(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix) try {
  detail::algebra::expect_arrays("diagonal", matrix);
  array<V, host> found(ctx, std::min(matrix.rows, matrix.cols));
  detail::parallel_for(ctx.threads(), found.size(), detail::grain::rows, [&](std::int64_t r) {
    V sum{};
    for (std::int64_t k = matrix.offsets[r]; k < matrix.offsets[r + 1]; ++k) {
      if (matrix.indices[k] == r) sum += matrix.values[k];
    }
    found[r] = sum;
  });
  return found;
} catch (...) {
  detail::rethrow("diagonal");
}

template <value_type V, index_type I, index_type O>
matrix_norms norms(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix) try {
  detail::algebra::expect_arrays("norms", matrix);
  matrix_norms found;
  for (const V v : matrix.values) {
    const auto magnitude = static_cast<double>(std::abs(v));
    if (std::isnan(magnitude)) return {magnitude, magnitude, magnitude, magnitude};
    found.largest = std::max(found.largest, magnitude);
  }
  for (const double sum : detail::algebra::row_sums(ctx, matrix, 0)) found.infinity = std::max(found.infinity, sum);
  found.one = detail::algebra::largest_column_sum(ctx, matrix);
  found.frobenius = found.largest;
  if (found.largest == 0 || std::isinf(found.largest)) return found;
  double squares = 0;
  for (const double sum : detail::algebra::row_sums(ctx, matrix, found.largest)) squares += sum;
  found.frobenius = found.largest * std::sqrt(squares);
  return found;
} catch (...) {
  detail::rethrow("norms");
}

#define INSTANTIATE(V, I, O)                                                                          \
  template void scale_rows(const context<host>&, span<const V, host>, csr_matrix<V, I, O, host>&);    \
  template void scale_columns(const context<host>&, span<const V, host>, csr_matrix<V, I, O, host>&); \
  template array<V, host> diagonal(const context<host>&, const csr_view<const V, I, O, host>&);       \
  template matrix_norms norms(const context<host>&, const csr_view<const V, I, O, host>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
