// Selected rows, columns and entries. Rows are counted, then copied; entries of listed columns are sorted by their new
// column, duplicates in input order. Only <I, O> are template parameters: values are moved by their size.
#include "core/function_ref.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "formats/rows/row_sort.hpp"
#include "sparse/algebra/rows.hpp"

#include <spargo/sparse/algebra.hpp>

#include <cmath>
#include <vector>

namespace spargo {

namespace detail::algebra {

namespace {

using make_values = function_ref<value_moves(std::int64_t)>;

template <class I>
std::int64_t size_of(const index_selection<I>& s, I all) {
  using kind = typename index_selection<I>::kind;
  return s.which == kind::all ? all : s.which == kind::range ? s.last - s.first : s.list.size();
}

template <class I>
void expect_selection(const char* what, const index_selection<I>& s, I all) {
  using kind = typename index_selection<I>::kind;
  if (s.which == kind::range) {
    SPARGO_EXPECTS(s.first >= 0 && s.first <= s.last && s.last <= all,
                   fmt::format("extract: {}s {} to {} of {}", what, s.first, s.last, all));
  } else if (s.which == kind::list) {
    if (s.list.size() > std::numeric_limits<I>::max()) {
      throw error(error_code::unsupported,
                  fmt::format("extract: {} {}s exceed {}-bit indices", s.list.size(), what, 8 * sizeof(I)));
    }
    for (std::int64_t k = 0; k < s.list.size(); ++k) {
      SPARGO_EXPECTS(s.list[k] >= 0 && s.list[k] < all,
                     fmt::format("extract: {} {} at position {} is out of range (the "
                                 "matrix has {})",
                                 what, s.list[k], k, all));
    }
  }
}

// Old columns to new ones: targets[starts[c]] .. targets[starts[c + 1] - 1], ascending.
template <class I, class O>
struct column_targets {
  array<O, host> starts;
  array<I, host> targets;

  column_targets(const context<host>& ctx, I cols, span<const I, host> list)
      : starts(ctx, std::int64_t{cols} + 1), targets(ctx, list.size()) {
    fill_zero(ctx, starts);
    for (const I c : list) ++starts[c + std::int64_t{1}];
    for (std::int64_t c = 0; c < cols; ++c) starts[c + 1] += starts[c];
    for (std::int64_t k = list.size(); k-- > 0;) targets[--starts[list[k] + std::int64_t{1}]] = static_cast<I>(k);
    for (std::int64_t c = 0; c < cols; ++c) starts[c] = starts[c + 1];
    starts[cols] = static_cast<O>(list.size());
  }
};

// Entries of the old matrix with their new columns.
template <class I, class O>
class row_reader {
 public:
  row_reader(const context<host>& ctx, const csr_pattern_view<I, O, host>& m, const index_selection<I>& rows,
             const index_selection<I>& cols)
      : m_(m), rows_(rows), cols_(cols), targets_(ctx, cols.which == kind::list ? m.cols : I{0}, cols.list) {}

  [[nodiscard]] std::int64_t old_row(std::int64_t r) const {
    return rows_.which == kind::all ? r : rows_.which == kind::range ? rows_.first + r : rows_.list[r];
  }
  [[nodiscard]] bool copies_rows() const { return cols_.which == kind::all; }

  [[nodiscard]] std::int64_t count(std::int64_t r) const {
    if (copies_rows()) return m_.offsets[old_row(r) + 1] - m_.offsets[old_row(r)];
    std::int64_t found = 0;
    each(r, [&](I, std::int64_t) { ++found; });
    return found;
  }

  // f(new column, position in the old matrix)
  template <class F>
  void each(std::int64_t r, F&& f) const {
    const std::int64_t row = old_row(r);
    for (std::int64_t k = m_.offsets[row]; k < m_.offsets[row + 1]; ++k) {
      const I c = m_.indices[k];
      if (cols_.which == kind::list) {
        for (O t = targets_.starts[c]; t < targets_.starts[c + std::int64_t{1}]; ++t) f(targets_.targets[t], k);
      } else if (c >= cols_.first && c < cols_.last) {
        f(static_cast<I>(c - cols_.first), k);
      }
    }
  }

 private:
  using kind = typename index_selection<I>::kind;

  const csr_pattern_view<I, O, host>& m_;
  const index_selection<I>& rows_;
  const index_selection<I>& cols_;
  column_targets<I, O> targets_;
};

template <class I, class O>
csr_matrix<pattern, I, O, host> extract_pattern(const context<host>& ctx, const csr_pattern_view<I, O, host>& m,
                                                const index_selection<I>& rows, const index_selection<I>& cols,
                                                make_values make) {
  expect_selection("row", rows, m.rows);
  expect_selection("column", cols, m.cols);
  const row_reader<I, O> reader(ctx, m, rows, cols);
  const std::int64_t n = size_of(rows, m.rows);
  array<O, host> offsets = offsets_of<O>(ctx, "extract", n, [&](std::int64_t r) { return reader.count(r); });
  array<I, host> indices(ctx, offsets[n]);
  const value_moves values = make(offsets[n]);
  parallel_ranges(ctx.threads(), n, grain::rows, [&](std::int64_t first, std::int64_t last) {
    std::vector<I> cols_of_row;
    std::vector<O> places;
    std::vector<I> spare_cols;
    std::vector<O> spare_places;
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t to = offsets[r];
      const std::int64_t count = offsets[r + 1] - to;
      if (reader.copies_rows()) {
        const std::int64_t from = m.offsets[reader.old_row(r)];
        std::copy_n(m.indices.data() + from, count, indices.data() + to);
        values.range(to, from, count);
        continue;
      }
      cols_of_row.clear();
      places.clear();
      reader.each(r, [&](I c, std::int64_t k) {
        cols_of_row.push_back(c);
        places.push_back(static_cast<O>(k));
      });
      if (cols.which == index_selection<I>::kind::list) {
        spare_cols.resize(cols_of_row.size());
        spare_places.resize(places.size());
        sort_row(cols_of_row.data(), places.data(), spare_cols.data(), spare_places.data(), count);
      }
      std::copy(cols_of_row.begin(), cols_of_row.end(), indices.data() + to);
      for (std::int64_t k = 0; k < count; ++k) values.one(to + k, places[static_cast<std::size_t>(k)]);
    }
  });
  return {static_cast<I>(n), static_cast<I>(size_of(cols, m.cols)), std::move(offsets), std::move(indices), {}};
}

// The entries whose flag is set.
template <class I, class O>
csr_matrix<pattern, I, O, host> filter_pattern(const context<host>& ctx, const char* operation,
                                               const csr_pattern_view<I, O, host>& m,
                                               const span<const std::uint8_t, host>& flags, make_values make) {
  array<O, host> offsets = offsets_of<O>(ctx, operation, m.rows, [&](std::int64_t r) {
    std::int64_t kept = 0;
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) kept += flags[k];
    return kept;
  });
  array<I, host> indices(ctx, offsets[m.rows]);
  const value_moves values = make(offsets[m.rows]);
  parallel_for(ctx.threads(), m.rows, grain::rows, [&](std::int64_t r) {
    std::int64_t to = offsets[r];
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) {
      if (flags[k] == 0) continue;
      indices[to] = m.indices[k];
      values.one(to++, k);
    }
  });
  return {m.rows, m.cols, std::move(offsets), std::move(indices), {}};
}

template <class V, class I, class O>
csr_matrix<V, I, O, host> filter(const context<host>& ctx, const char* operation,
                                 const csr_view<const V, I, O, host>& m, const array<std::uint8_t, host>& flags) {
  value_source<V> values(ctx, m.values);
  auto made = filter_pattern<I, O>(ctx, operation, m, flags, [&](std::int64_t nnz) { return values.make(nnz); });
  return with_values(std::move(made), values.take());
}

template <class I, class O>
array<std::uint8_t, host> flag_part(const context<host>& ctx, const csr_pattern_view<I, O, host>& m, matrix_part part) {
  array<std::uint8_t, host> flags(ctx, m.nnz());
  parallel_for(ctx.threads(), m.rows, grain::rows, [&](std::int64_t r) {
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) {
      const std::int64_t c = m.indices[k];
      flags[k] = part == matrix_part::lower            ? c <= r
                 : part == matrix_part::strictly_lower ? c < r
                 : part == matrix_part::upper          ? c >= r
                                                       : c > r;
    }
  });
  return flags;
}

template <class V, class Keep>
array<std::uint8_t, host> flag_values(const context<host>& ctx, const span<const V, host>& values, Keep&& keep) {
  array<std::uint8_t, host> flags(ctx, values.size());
  parallel_for(ctx.threads(), values.size(), grain::elements,
               [&](std::int64_t k) { flags[k] = keep(values[k]) ? 1 : 0; });
  return flags;
}

template <class I>
void expect_order(const context<host>& ctx, const char* what, const span<const I, host>& order, I all) {
  if (order.empty()) return;
  SPARGO_EXPECTS(order.size() == all, fmt::format("permute: an order of {} for {} {}s", order.size(), all, what));
  array<std::uint8_t, host> seen(ctx, all);
  fill_zero(ctx, seen);
  for (std::int64_t k = 0; k < all; ++k) {
    SPARGO_EXPECTS(
        order[k] >= 0 && order[k] < all,
        fmt::format("permute: {} {} at position {} is out of range (the matrix has {})", what, order[k], k, all));
    SPARGO_EXPECTS(std::exchange(seen[order[k]], 1) == 0,
                   fmt::format("permute: {} {} occurs again at position {}", what, order[k], k));
  }
}

template <class I>
index_selection<I> selection_of(const span<const I, host>& order) {
  return order.empty() ? index_selection<I>{} : index_selection<I>::of(order);
}

}  // namespace

}  // namespace detail::algebra

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> extract(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                  const std::type_identity_t<index_selection<I>>& rows,
                                  const std::type_identity_t<index_selection<I>>& cols) try {
  detail::algebra::expect_arrays("extract", matrix);
  detail::algebra::value_source<V> values(ctx, matrix.values);
  auto made = detail::algebra::extract_pattern<I, O>(ctx, matrix, rows, cols,
                                                     [&](std::int64_t nnz) { return values.make(nnz); });
  return detail::algebra::with_values(std::move(made), values.take());
} catch (...) {
  detail::rethrow("extract");
}

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> permute(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                  std::type_identity_t<span<const I, host>> row_order,
                                  std::type_identity_t<span<const I, host>> col_order) try {
  detail::algebra::expect_arrays("permute", matrix);
  detail::algebra::expect_order(ctx, "row", row_order, matrix.rows);
  detail::algebra::expect_order(ctx, "column", col_order, matrix.cols);
  return extract(ctx, matrix, detail::algebra::selection_of(row_order), detail::algebra::selection_of(col_order));
} catch (...) {
  detail::rethrow("permute");
}

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> part_of(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                  matrix_part part) try {
  detail::algebra::expect_arrays("part_of", matrix);
  return detail::algebra::filter(ctx, "part_of", matrix, detail::algebra::flag_part<I, O>(ctx, matrix, part));
} catch (...) {
  detail::rethrow("part_of");
}

template <value_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> drop_below(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                     double threshold) try {
  detail::algebra::expect_arrays("drop_below", matrix);
  const auto keep = [&](V v) { return !(static_cast<double>(std::abs(v)) < threshold); };
  return detail::algebra::filter(ctx, "drop_below", matrix, detail::algebra::flag_values(ctx, matrix.values, keep));
} catch (...) {
  detail::rethrow("drop_below");
}

template <value_type V, index_type I, index_type O>
csr_matrix<V, I, O, host> drop_zeros(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix) try {
  detail::algebra::expect_arrays("drop_zeros", matrix);
  const auto keep = [](V v) { return v != V{}; };
  return detail::algebra::filter(ctx, "drop_zeros", matrix, detail::algebra::flag_values(ctx, matrix.values, keep));
} catch (...) {
  detail::rethrow("drop_zeros");
}

#define INSTANTIATE_ENTRIES(V, I, O)                                                                     \
  template csr_matrix<V, I, O, host> extract(const context<host>&, const csr_view<const V, I, O, host>&, \
                                             const index_selection<I>&, const index_selection<I>&);      \
  template csr_matrix<V, I, O, host> permute(const context<host>&, const csr_view<const V, I, O, host>&, \
                                             span<const I, host>, span<const I, host>);                  \
  template csr_matrix<V, I, O, host> part_of(const context<host>&, const csr_view<const V, I, O, host>&, matrix_part);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_ENTRIES)

#define INSTANTIATE_VALUES(V, I, O)                                                                                  \
  template csr_matrix<V, I, O, host> drop_below(const context<host>&, const csr_view<const V, I, O, host>&, double); \
  template csr_matrix<V, I, O, host> drop_zeros(const context<host>&, const csr_view<const V, I, O, host>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE_VALUES)

}  // namespace spargo
