// Stacked matrices and Kronecker products: a row of the result is a concatenation of rows of the inputs.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"

namespace spargo {

namespace detail::algebra {

namespace {

// The sizes of the stack, and arrays for it.
template <class I, class O, class Space>
csr_matrix<pattern, I, O, Space> stacked_shape(const context<Space>& ctx, const std::vector<block<I, O, Space>>& blocks,
                                               const char* operation, stacking how) {
  const auto& first = blocks.front().rows;
  std::int64_t rows = first.rows;
  std::int64_t cols = first.cols;
  std::int64_t nnz = first.nnz();
  for (std::size_t p = 1; p < blocks.size(); ++p) {
    const auto& m = blocks[p].rows;
    expect_stackable(operation, how, p + 1, {m.rows, m.cols}, {first.rows, first.cols});
    if (how == stacking::rows) rows = size_that_fits(operation, "rows", rows, m.rows, size_rule::sum, sizeof(I));
    if (how == stacking::columns) cols = size_that_fits(operation, "columns", cols, m.cols, size_rule::sum, sizeof(I));
    nnz += m.nnz();
    expect_entries_fit(operation, nnz, sizeof(O));
  }
  return {static_cast<I>(rows), static_cast<I>(cols), {ctx, rows + 1}, {ctx, nnz}, {}};
}

}  // namespace

template <class I, class O>
void stack_below(const context<host>& ctx, const std::vector<block<I, O, host>>& blocks, value_moves values,
                 csr_matrix<pattern, I, O, host>& to) {
  std::int64_t row = 0;
  std::int64_t entry = 0;
  for (const block<I, O, host>& p : blocks) {
    values.from = p.values;
    parallel_ranges(ctx.threads(), p.rows.nnz(), grain::elements, [&](std::int64_t first, std::int64_t last) {
      std::copy_n(p.rows.indices.data() + first, last - first, to.indices().data() + entry + first);
      values.range(entry + first, first, last - first);
    });
    for (std::int64_t r = 0; r < p.rows.rows; ++r) to.offsets()[row + r] = static_cast<O>(entry + p.rows.offsets[r]);
    row += p.rows.rows;
    entry += p.rows.nnz();
  }
  to.offsets()[row] = static_cast<O>(entry);
}

template <class I, class O>
void stack_beside(const context<host>& ctx, const std::vector<block<I, O, host>>& blocks, const value_moves& values,
                  csr_matrix<pattern, I, O, host>& to) {
  const std::int64_t rows = to.rows();
  for (std::int64_t r = 0; r <= rows; ++r) {
    O sum = 0;
    for (const block<I, O, host>& p : blocks) sum += p.rows.offsets[r];
    to.offsets()[r] = sum;
  }
  parallel_for(ctx.threads(), rows, grain::rows, [&](std::int64_t r) {
    std::int64_t k = to.offsets()[r];
    I shift = 0;
    for (const block<I, O, host>& p : blocks) {
      const std::int64_t first = p.rows.offsets[r];
      const std::int64_t count = p.rows.offsets[r + 1] - first;
      value_moves own = values;
      own.from = p.values;
      own.range(k, first, count);
      for (std::int64_t e = first; e < first + count; ++e) to.indices()[k++] = p.rows.indices[e] + shift;
      shift += p.rows.cols;
    }
  });
}

template <class V, class I, class O>
void fill_kronecker(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                    const csr_view<const V, I, O, host>& b, csr_matrix<V, I, O, host>& made) {
  array<O, host>& offsets = made.offsets();
  offsets[made.rows()] = static_cast<O>(made.nnz());
  parallel_for(ctx.threads(), made.rows(), grain::rows, [&](std::int64_t r) {
    const std::int64_t i = r / b.rows;
    const std::int64_t k = r % b.rows;
    const std::int64_t length = b.offsets[k + 1] - b.offsets[k];
    std::int64_t to =
        a.offsets[i] * std::int64_t{b.nnz()} + (a.offsets[i + 1] - a.offsets[i]) * std::int64_t{b.offsets[k]};
    offsets[r] = static_cast<O>(to);
    for (std::int64_t p = a.offsets[i]; p < a.offsets[i + 1]; ++p) {
      for (std::int64_t q = b.offsets[k]; q < b.offsets[k] + length; ++q, ++to) {
        made.indices()[to] = static_cast<I>(a.indices[p] * b.cols + b.indices[q]);
        if constexpr (!is_pattern<V>) made.values()[to] = multiply(a.values[p], b.values[q]);
      }
    }
  });
}

namespace {

template <class V, class I, class O, class Space>
csr_matrix<V, I, O, Space> stack(const context<Space>& ctx, const std::vector<csr_view<const V, I, O, Space>>& matrices,
                                 const char* operation, stacking how) {
  SPARGO_EXPECTS(!matrices.empty(), fmt::format("{}: no matrices", operation));
  if constexpr (is_built<Space>) {
    std::vector<block<I, O, Space>> blocks;
    for (const auto& m : matrices) {
      expect_arrays(operation, m);
      blocks.push_back({m, m.values.data()});
    }
    auto made = stacked_shape(ctx, blocks, operation, how);
    array<V, Space> values(ctx, is_pattern<V> ? 0 : made.nnz());
    const value_moves moves{nullptr, values.data(), moved_bytes<V>};
    how == stacking::rows ? stack_below(ctx, blocks, moves, made) : stack_beside(ctx, blocks, moves, made);
    return {made.rows(), made.cols(), std::move(made.offsets()), std::move(made.indices()), std::move(values)};
  } else {
    no_device(operation);
  }
}

}  // namespace

}  // namespace detail::algebra

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> stack_rows(const context<Space>& ctx,
                                      const std::vector<csr_view<const V, I, O, Space>>& matrices) try {
  return detail::algebra::stack(ctx, matrices, "stack_rows", detail::algebra::stacking::rows);
} catch (...) {
  detail::rethrow("stack_rows");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> stack_columns(const context<Space>& ctx,
                                         const std::vector<csr_view<const V, I, O, Space>>& matrices) try {
  return detail::algebra::stack(ctx, matrices, "stack_columns", detail::algebra::stacking::columns);
} catch (...) {
  detail::rethrow("stack_columns");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> kronecker(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                     const csr_view<const V, I, O, Space>& b) try {
  namespace algebra = detail::algebra;
  algebra::expect_arrays("kronecker", a);
  algebra::expect_arrays("kronecker", b);
  const auto product = [](const char* what, std::int64_t x, std::int64_t y, std::size_t bytes) {
    return algebra::size_that_fits("kronecker", what, x, y, algebra::size_rule::product, bytes);
  };
  const std::int64_t rows = product("rows", a.rows, b.rows, sizeof(I));
  const std::int64_t cols = product("columns", a.cols, b.cols, sizeof(I));
  const std::int64_t nnz = product("entries", a.nnz(), b.nnz(), sizeof(O));
  if constexpr (detail::is_built<Space>) {
    csr_matrix<V, I, O, Space> made(static_cast<I>(rows), static_cast<I>(cols), {ctx, rows + 1}, {ctx, nnz},
                                    {ctx, is_pattern<V> ? 0 : nnz});
    algebra::fill_kronecker(ctx, a, b, made);
    return made;
  } else {
    detail::no_device("kronecker");
  }
} catch (...) {
  detail::rethrow("kronecker");
}

#define INSTANTIATE_IN(V, I, O, Space)                                                                        \
  template csr_matrix<V, I, O, Space> stack_rows(const context<Space>&,                                       \
                                                 const std::vector<csr_view<const V, I, O, Space>>&);         \
  template csr_matrix<V, I, O, Space> stack_columns(const context<Space>&,                                    \
                                                    const std::vector<csr_view<const V, I, O, Space>>&);      \
  template csr_matrix<V, I, O, Space> kronecker(const context<Space>&, const csr_view<const V, I, O, Space>&, \
                                                const csr_view<const V, I, O, Space>&);
#define INSTANTIATE(V, I, O) INSTANTIATE_IN(V, I, O, host) INSTANTIATE_IN(V, I, O, device)
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
