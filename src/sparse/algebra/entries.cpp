// Operations on entries one by one: scaling, the diagonal, norms. Sums do not depend on the number of threads: those of
// columns are formed in blocks of rows whose number depends on the matrix alone.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/algebra/magnitude.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"

#include <cmath>

namespace spargo {

namespace detail::algebra {

namespace {

template <class V, class I, class O>
array<double, host> row_sums(const context<host>& ctx, const csr_view<const V, I, O, host>& m, double scale) {
  array<double, host> sums(ctx, m.rows);
  parallel_for(ctx.threads(), m.rows, grain::rows, [&](std::int64_t r) {
    double sum = 0;
    const std::int64_t last = m.offsets[r + 1];
    for (std::int64_t k = m.offsets[r]; k < last;) {
      const std::int64_t end = std::min(last, k + norm_order::chunk);
      double chunk = 0;
      for (; k < end; ++k) {
        const double v = magnitude(m.values[k]);
        chunk += scale == 0 ? v : (v / scale) * (v / scale);
      }
      sum += chunk;
    }
    sums[r] = sum;
  });
  return sums;
}

template <class V, class I, class O>
double largest_column_sum(const context<host>& ctx, const csr_view<const V, I, O, host>& m) {
  const std::int64_t cols = m.cols;
  const std::int64_t blocks = norm_order::blocks(m.nnz(), cols);
  array<double, host> sums(ctx, blocks * cols);
  fill_zero(ctx, sums);
  const parts shares{m.rows, blocks};
  parallel_parts(ctx.threads(), blocks, [&](std::int64_t p) {
    double* const own = sums.data() + p * cols;
    for (std::int64_t k = m.offsets[shares.first(p)]; k < m.offsets[shares.last(p)]; ++k) {
      own[m.indices[k]] += magnitude(m.values[k]);
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

// Uses up the sums.
double sum_by_groups(array<double, host>& sums) {
  std::int64_t size = sums.size();
  while (size > 1) {
    std::int64_t to = 0;
    for (std::int64_t k = 0; k < size;) {
      double sum = 0;
      for (const std::int64_t end = std::min(size, k + norm_order::group); k < end; ++k) sum += sums[k];
      sums[to++] = sum;
    }
    size = to;
  }
  return size == 0 ? 0 : sums[0];
}

}  // namespace

template <class V, class O>
void scale_values_of_rows(const context<host>& ctx, const span<const V, host>& factors,
                          const span<const O, host>& offsets, const span<V, host>& values) {
  parallel_for(ctx.threads(), factors.size(), grain::rows, [&](std::int64_t r) {
    for (std::int64_t k = offsets[r]; k < offsets[r + 1]; ++k) values[k] = multiply(factors[r], values[k]);
  });
}

template <class V, class I>
void scale_values_of_columns(const context<host>& ctx, const span<const V, host>& factors,
                             const span<const I, host>& indices, const span<V, host>& values) {
  parallel_for(ctx.threads(), values.size(), grain::elements,
               [&](std::int64_t k) { values[k] = multiply(factors[indices[k]], values[k]); });
}

template <class V, class I, class O>
array<V, host> diagonal_of(const context<host>& ctx, const csr_view<const V, I, O, host>& m) {
  array<V, host> found(ctx, std::min(m.rows, m.cols));
  parallel_for(ctx.threads(), found.size(), grain::rows, [&](std::int64_t r) {
    V sum{};
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) {
      if (m.indices[k] == r) sum += m.values[k];
    }
    found[r] = sum;
  });
  return found;
}

template <class V, class I, class O>
array<V, device> diagonal_of(const context<device>& ctx, const csr_view<const V, I, O, device>& m) {
  const entry_flags flags = flag_diagonal<I, O>(ctx, m);
  const csr_matrix<V, I, O, device> on_diagonal =
      moved_from(ctx, m, [&](make_values make) { return filter_pattern<I, O>(ctx, m, flags, make); });
  array<V, device> found(ctx, std::min(m.rows, m.cols));
  sum_rows<V, O>(ctx, on_diagonal.values(), on_diagonal.offsets(), found);
  return found;
}

template <class V, class I, class O>
matrix_norms norms_of(const context<host>& ctx, const csr_view<const V, I, O, host>& m) {
  matrix_norms found;
  for (const V v : m.values) {
    const double largest = magnitude(v);
    if (std::isnan(largest)) return {largest, largest, largest, largest};
    found.largest = std::max(found.largest, largest);
  }
  for (const double sum : row_sums(ctx, m, 0)) found.infinity = std::max(found.infinity, sum);
  found.one = largest_column_sum(ctx, m);
  found.frobenius = found.largest;
  if (found.largest == 0 || std::isinf(found.largest)) return found;
  array<double, host> squares = row_sums(ctx, m, found.largest);
  found.frobenius = found.largest * std::sqrt(sum_by_groups(squares));
  return found;
}

}  // namespace detail::algebra

template <value_type V, index_type I, index_type O, class Space>
void scale_rows(const context<Space>& ctx, std::type_identity_t<span<const V, Space>> factors,
                csr_matrix<V, I, O, Space>& matrix) try {
  detail::algebra::expect_factors("scale_rows", factors.size(), matrix.rows());
  if constexpr (detail::is_built<Space>) {
    detail::algebra::scale_values_of_rows<V, O>(ctx, factors, std::as_const(matrix).offsets(), matrix.values());
  } else {
    detail::no_device("scale_rows");
  }
} catch (...) {
  detail::rethrow("scale_rows");
}

template <value_type V, index_type I, index_type O, class Space>
void scale_columns(const context<Space>& ctx, std::type_identity_t<span<const V, Space>> factors,
                   csr_matrix<V, I, O, Space>& matrix) try {
  detail::algebra::expect_factors("scale_columns", factors.size(), matrix.cols());
  if constexpr (detail::is_built<Space>) {
    detail::algebra::scale_values_of_columns<V, I>(ctx, factors, std::as_const(matrix).indices(), matrix.values());
  } else {
    detail::no_device("scale_columns");
  }
} catch (...) {
  detail::rethrow("scale_columns");
}

template <value_type V, index_type I, index_type O, class Space>
array<V, Space> diagonal(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  detail::algebra::expect_arrays("diagonal", matrix);
  if constexpr (detail::is_built<Space>) {
    return detail::algebra::diagonal_of(ctx, matrix);
  } else {
    detail::no_device("diagonal");
  }
} catch (...) {
  detail::rethrow("diagonal");
}

template <value_type V, index_type I, index_type O, class Space>
matrix_norms norms(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  detail::algebra::expect_arrays("norms", matrix);
  if constexpr (detail::is_built<Space>) {
    return detail::algebra::norms_of<V, I, O>(ctx, matrix);
  } else {
    detail::no_device("norms");
  }
} catch (...) {
  detail::rethrow("norms");
}

#define INSTANTIATE_IN(V, I, O, Space)                                                                   \
  template void scale_rows(const context<Space>&, span<const V, Space>, csr_matrix<V, I, O, Space>&);    \
  template void scale_columns(const context<Space>&, span<const V, Space>, csr_matrix<V, I, O, Space>&); \
  template array<V, Space> diagonal(const context<Space>&, const csr_view<const V, I, O, Space>&);       \
  template matrix_norms norms(const context<Space>&, const csr_view<const V, I, O, Space>&);
#define INSTANTIATE(V, I, O) INSTANTIATE_IN(V, I, O, host) INSTANTIATE_IN(V, I, O, device)
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
