// Sums: rows of both matrices are merged, counted first. Inputs that are not canonical are made so first.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "formats/convert/backend.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"

#include <spargo/sparse/algebra.hpp>

namespace spargo {

namespace detail::algebra {

namespace {

// The matrix itself if it is canonical, else a canonical copy.
template <class V, class I, class O, class Space>
class canonical_input {
 public:
  canonical_input(const context<Space>& ctx, const csr_view<const V, I, O, Space>& m) : view_(m) {
    if (is_canonical<I, O>(ctx, m)) return;
    owned_ = canonical(ctx, m);
    view_ = std::as_const(owned_).view();
  }
  [[nodiscard]] const csr_view<const V, I, O, Space>& view() const { return view_; }

 private:
  csr_matrix<V, I, O, Space> owned_;
  csr_view<const V, I, O, Space> view_;
};

// For canonical rows: f(column, position in a or -1, position in b or -1), in ascending order of columns.
template <class I, class O, class F>
void merge_row(const csr_pattern_view<I, O, host>& a, const csr_pattern_view<I, O, host>& b, std::int64_t r, F&& f) {
  std::int64_t i = a.offsets[r];
  std::int64_t j = b.offsets[r];
  const std::int64_t a_end = a.offsets[r + 1];
  const std::int64_t b_end = b.offsets[r + 1];
  while (i < a_end && j < b_end) {
    const I left = a.indices[i];
    const I right = b.indices[j];
    f(std::min(left, right), left <= right ? i : -1, right <= left ? j : -1);
    i += left <= right ? 1 : 0;
    j += right <= left ? 1 : 0;
  }
  for (; i < a_end; ++i) f(a.indices[i], i, std::int64_t{-1});
  for (; j < b_end; ++j) f(b.indices[j], std::int64_t{-1}, j);
}

template <class I, class O>
array<O, host> union_offsets(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                             const csr_pattern_view<I, O, host>& b) {
  return offsets_of<O>(ctx, "add", a.rows, [&](std::int64_t r) {
    std::int64_t count = 0;
    merge_row(a, b, r, [&](I, std::int64_t, std::int64_t) { ++count; });
    return count;
  });
}

// A product with 1 would make (0 * infinity) of a complex value's other part.
template <class V>
V times(V alpha, V v) {
  return alpha == V(1) ? v : multiply(alpha, v);
}

template <class V, class I, class O, class Values>
csr_matrix<V, I, O, host> unite_by(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                                   const csr_view<const V, I, O, host>& b, Values&& value_of) {
  array<O, host> offsets = union_offsets<I, O>(ctx, a, b);
  array<I, host> indices(ctx, offsets[a.rows]);
  array<V, host> values(ctx, is_pattern<V> ? 0 : offsets[a.rows]);
  parallel_for(ctx.threads(), a.rows, grain::rows, [&](std::int64_t r) {
    std::int64_t to = offsets[r];
    merge_row<I, O>(a, b, r, [&](I c, std::int64_t i, std::int64_t j) {
      indices[to] = c;
      if constexpr (!is_pattern<V>) values[to] = value_of(i, j);
      ++to;
    });
  });
  return {a.rows, a.cols, std::move(offsets), std::move(indices), std::move(values)};
}

template <class V, class I, class O>
csr_matrix<V, I, O, host> unite(const context<host>& ctx, V alpha, const csr_view<const V, I, O, host>& a, V beta,
                                const csr_view<const V, I, O, host>& b) {
  return unite_by(ctx, a, b, [&](std::int64_t i, std::int64_t j) {
    if constexpr (!is_pattern<V>) {
      if (j < 0) return times(alpha, a.values[i]);
      if (i < 0) return times(beta, b.values[j]);
      return times(alpha, a.values[i]) + times(beta, b.values[j]);
    }
  });
}

template <class V, class I, class O, class Space>
csr_matrix<V, I, O, Space> sum_of(const context<Space>& ctx, V alpha, const csr_view<const V, I, O, Space>& a, V beta,
                                  const csr_view<const V, I, O, Space>& b) {
  expect_arrays("add", a);
  expect_arrays("add", b);
  SPARGO_EXPECTS(a.rows == b.rows && a.cols == b.cols,
                 fmt::format("add: A is {} x {} and B {} x {}", a.rows, a.cols, b.rows, b.cols));
  if constexpr (is_built<Space>) {
    const canonical_input<V, I, O, Space> left(ctx, a);
    const canonical_input<V, I, O, Space> right(ctx, b);
    if constexpr (std::same_as<Space, host>)
      return unite(ctx, alpha, left.view(), beta, right.view());
    else
      return device_sum(ctx, alpha, left.view(), beta, right.view());
  } else {
    no_device("add");
  }
}

template <class V>
V one() {
  if constexpr (is_pattern<V>)
    return {};
  else
    return V(1);
}

}  // namespace

template <class V>
void conjugate(const context<host>& ctx, span<V, host> values) {
  parallel_for(ctx.threads(), values.size(), grain::elements,
               [&](std::int64_t k) { values[k] = std::conj(values[k]); });
}

}  // namespace detail::algebra

template <index_type I, index_type O>
bool is_canonical(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix) try {
  if constexpr (detail::is_built<device>) {
    return detail::algebra::has_canonical_rows(ctx, matrix);
  } else {
    detail::no_device("is_canonical");
  }
} catch (...) {
  detail::rethrow("is_canonical");
}

template <index_type I, index_type O>
bool is_canonical(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix) try {
  return detail::parallel_reduce(
      ctx.threads(), matrix.rows, detail::grain::rows, true,
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
          for (std::int64_t k = matrix.offsets[r] + std::int64_t{1}; k < matrix.offsets[r + 1]; ++k) {
            if (matrix.indices[k - 1] >= matrix.indices[k]) return false;
          }
        }
        return true;
      },
      [](bool a, bool b) { return a && b; });
} catch (...) {
  detail::rethrow("is_canonical");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> canonical(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  detail::algebra::expect_arrays("canonical", matrix);
  if constexpr (detail::is_built<Space>) {
    array<I, Space> row_indices(ctx, matrix.nnz());
    detail::convert::expand_rows<I, O>(ctx, matrix.offsets, row_indices.view());
    const coo_view<const V, I, Space> entries{
        {matrix.rows, matrix.cols, std::as_const(row_indices).view(), matrix.indices}, matrix.values};
    return to_csr<O>(ctx, entries);
  } else {
    detail::no_device("canonical");
  }
} catch (...) {
  detail::rethrow("canonical");
}

template <value_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> add(const context<Space>& ctx, std::type_identity_t<V> alpha,
                               const csr_view<const V, I, O, Space>& a, std::type_identity_t<V> beta,
                               const csr_view<const V, I, O, Space>& b) try {
  return detail::algebra::sum_of(ctx, alpha, a, beta, b);
} catch (...) {
  detail::rethrow("add");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> add(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                               const csr_view<const V, I, O, Space>& b) try {
  const V one = detail::algebra::one<V>();
  return detail::algebra::sum_of(ctx, one, a, one, b);
} catch (...) {
  detail::rethrow("add");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> symmetrize(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  detail::algebra::expect_arrays("symmetrize", matrix);
  SPARGO_EXPECTS(matrix.rows == matrix.cols,
                 fmt::format("symmetrize: a {} x {} matrix (expected a square one)", matrix.rows, matrix.cols));
  const csr_matrix<V, I, O, Space> turned = transpose(ctx, matrix);
  return add(ctx, matrix, turned.view());
} catch (...) {
  detail::rethrow("symmetrize");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> conjugate_transpose(const context<Space>& ctx,
                                               const csr_view<const V, I, O, Space>& matrix) try {
  csr_matrix<V, I, O, Space> turned = transpose(ctx, matrix);
  if constexpr (complex_type<V> && detail::is_built<Space>) detail::algebra::conjugate(ctx, turned.values().view());
  return turned;
} catch (...) {
  detail::rethrow("conjugate_transpose");
}

#define INSTANTIATE_IN(V, I, O, Space)                                                                          \
  template csr_matrix<V, I, O, Space> canonical(const context<Space>&, const csr_view<const V, I, O, Space>&);  \
  template csr_matrix<V, I, O, Space> add(const context<Space>&, const csr_view<const V, I, O, Space>&,         \
                                          const csr_view<const V, I, O, Space>&);                               \
  template csr_matrix<V, I, O, Space> symmetrize(const context<Space>&, const csr_view<const V, I, O, Space>&); \
  template csr_matrix<V, I, O, Space> conjugate_transpose(const context<Space>&, const csr_view<const V, I, O, Space>&);
#define INSTANTIATE_ENTRIES(V, I, O) \
  INSTANTIATE_IN(V, I, O, host)      \
  INSTANTIATE_IN(V, I, O, device)
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_ENTRIES)

#define INSTANTIATE_SUM(V, I, O, Space)                                                                               \
  template csr_matrix<V, I, O, Space> add<V, I, O, Space>(                                                            \
      const context<Space>&, std::type_identity_t<V>, const csr_view<const V, I, O, Space>&, std::type_identity_t<V>, \
      const csr_view<const V, I, O, Space>&);
#define INSTANTIATE_VALUES(V, I, O) \
  INSTANTIATE_SUM(V, I, O, host)    \
  INSTANTIATE_SUM(V, I, O, device)
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE_VALUES)

#define INSTANTIATE_PATTERN(I, O)                                                        \
  template bool is_canonical(const context<host>&, const csr_pattern_view<I, O, host>&); \
  template bool is_canonical(const context<device>&, const csr_pattern_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_PATTERN)

}  // namespace spargo
