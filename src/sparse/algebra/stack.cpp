// Stacked matrices and Kronecker products: a row of the result is a concatenation of rows of the inputs.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"

#include <spargo/sparse/algebra.hpp>

namespace spargo {

namespace detail::algebra {

namespace {

enum class stacking { rows, columns };

template <class I>
I size_that_fits(const char* operation, const char* what, std::int64_t a, std::int64_t b, bool product) {
  std::int64_t size = 0;
  const bool over = product ? __builtin_mul_overflow(a, b, &size) : __builtin_add_overflow(a, b, &size);
  if (over || size > std::numeric_limits<I>::max()) {
    throw error(error_code::unsupported, fmt::format("{}: {} {} {} {} exceed {}-bit indices", operation, a,
                                                     product ? "times" : "and", b, what, 8 * sizeof(I)));
  }
  return static_cast<I>(size);
}

template <class I, class O>
struct block {
  csr_pattern_view<I, O, host> rows;
  const void* values;
};

template <class I, class O>
csr_matrix<pattern, I, O, host> stacked_shape(const context<host>& ctx, const std::vector<block<I, O>>& blocks,
                                              const char* operation, stacking how) {
  I rows = blocks.front().rows.rows;
  I cols = blocks.front().rows.cols;
  std::int64_t nnz = blocks.front().rows.nnz();
  for (std::size_t p = 1; p < blocks.size(); ++p) {
    const auto& m = blocks[p].rows;
    const bool fits = how == stacking::rows ? m.cols == cols : m.rows == rows;
    SPARGO_EXPECTS(fits, fmt::format("{}: matrix {} is {} x {}, the first {} x {}", operation, p + 1, m.rows, m.cols,
                                     blocks.front().rows.rows, blocks.front().rows.cols));
    if (how == stacking::rows) rows = size_that_fits<I>(operation, "rows", rows, m.rows, false);
    if (how == stacking::columns) cols = size_that_fits<I>(operation, "columns", cols, m.cols, false);
    nnz += m.nnz();
    expect_entries_fit<O>(operation, nnz);
  }
  return {rows, cols, {ctx, std::int64_t{rows} + 1}, {ctx, nnz}, {}};
}

template <class I, class O>
void stack_below(const context<host>& ctx, const std::vector<block<I, O>>& blocks, value_moves values,
                 csr_matrix<pattern, I, O, host>& to) {
  std::int64_t row = 0;
  std::int64_t entry = 0;
  for (const block<I, O>& p : blocks) {
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
void stack_beside(const context<host>& ctx, const std::vector<block<I, O>>& blocks, const value_moves& values,
                  csr_matrix<pattern, I, O, host>& to) {
  const std::int64_t rows = to.rows();
  for (std::int64_t r = 0; r <= rows; ++r) {
    O sum = 0;
    for (const block<I, O>& p : blocks) sum += p.rows.offsets[r];
    to.offsets()[r] = sum;
  }
  parallel_for(ctx.threads(), rows, grain::rows, [&](std::int64_t r) {
    std::int64_t k = to.offsets()[r];
    I shift = 0;
    for (const block<I, O>& p : blocks) {
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
csr_matrix<V, I, O, host> stack(const context<host>& ctx, const std::vector<csr_view<const V, I, O, host>>& matrices,
                                const char* operation, stacking how) {
  SPARGO_EXPECTS(!matrices.empty(), fmt::format("{}: no matrices", operation));
  std::vector<block<I, O>> blocks;
  for (const auto& m : matrices) {
    expect_arrays(operation, m);
    blocks.push_back({m, m.values.data()});
  }
  auto made = stacked_shape(ctx, blocks, operation, how);
  array<V, host> values(ctx, is_pattern<V> ? 0 : made.nnz());
  const value_moves moves{nullptr, values.data(), moved_bytes<V>};
  how == stacking::rows ? stack_below(ctx, blocks, moves, made) : stack_beside(ctx, blocks, moves, made);
  return with_values(std::move(made), std::move(values));
}

}  // namespace

}  // namespace detail::algebra

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> stack_rows(const context<host>& ctx,
                                     const std::vector<csr_view<const V, I, O, host>>& matrices) try {
  return detail::algebra::stack(ctx, matrices, "stack_rows", detail::algebra::stacking::rows);
} catch (...) {
  detail::rethrow("stack_rows");
}

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> stack_columns(const context<host>& ctx,
                                        const std::vector<csr_view<const V, I, O, host>>& matrices) try {
  return detail::algebra::stack(ctx, matrices, "stack_columns", detail::algebra::stacking::columns);
} catch (...) {
  detail::rethrow("stack_columns");
}

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> kronecker(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                                    const csr_view<const V, I, O, host>& b) try {
  namespace algebra = detail::algebra;
  algebra::expect_arrays("kronecker", a);
  algebra::expect_arrays("kronecker", b);
  const I rows = algebra::size_that_fits<I>("kronecker", "rows", a.rows, b.rows, true);
  const I cols = algebra::size_that_fits<I>("kronecker", "columns", a.cols, b.cols, true);
  const O nnz = algebra::size_that_fits<O>("kronecker", "entries", a.nnz(), b.nnz(), true);
  array<O, host> offsets(ctx, std::int64_t{rows} + 1);
  array<I, host> indices(ctx, nnz);
  array<V, host> values(ctx, is_pattern<V> ? 0 : nnz);
  offsets[rows] = nnz;
  detail::parallel_for(ctx.threads(), rows, detail::grain::rows, [&](std::int64_t r) {
    const std::int64_t i = r / b.rows;
    const std::int64_t k = r % b.rows;
    const std::int64_t length = b.offsets[k + 1] - b.offsets[k];
    std::int64_t to =
        a.offsets[i] * std::int64_t{b.nnz()} + (a.offsets[i + 1] - a.offsets[i]) * std::int64_t{b.offsets[k]};
    offsets[r] = static_cast<O>(to);
    for (std::int64_t p = a.offsets[i]; p < a.offsets[i + 1]; ++p) {
      for (std::int64_t q = b.offsets[k]; q < b.offsets[k] + length; ++q, ++to) {
        indices[to] = static_cast<I>(a.indices[p] * b.cols + b.indices[q]);
        if constexpr (!is_pattern<V>) values[to] = detail::multiply(a.values[p], b.values[q]);
      }
    }
  });
  return {rows, cols, std::move(offsets), std::move(indices), std::move(values)};
} catch (...) {
  detail::rethrow("kronecker");
}

#define INSTANTIATE(V, I, O)                                                                               \
  template csr_matrix<V, I, O, host> stack_rows(const context<host>&,                                      \
                                                const std::vector<csr_view<const V, I, O, host>>&);        \
  template csr_matrix<V, I, O, host> stack_columns(const context<host>&,                                   \
                                                   const std::vector<csr_view<const V, I, O, host>>&);     \
  template csr_matrix<V, I, O, host> kronecker(const context<host>&, const csr_view<const V, I, O, host>&, \
                                               const csr_view<const V, I, O, host>&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
