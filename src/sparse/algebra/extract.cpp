// Selected rows, columns and entries. Rows are counted, then copied; entries of listed columns are sorted by their new
// column, duplicates in input order. Only <I, O> are template parameters: values are moved by their size.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "formats/rows/row_sort.hpp"
#include "primitives/element.hpp"
#include "sparse/algebra/magnitude.hpp"
#include "sparse/algebra/rows.hpp"

#include <vector>

namespace spargo {

namespace detail::algebra {

namespace {

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

}  // namespace

// --- Host, beside the overloads for a device in backend.hpp -----------------

template <class I>
std::int64_t first_outside(const context<host>&, const span<const I, host>& list, I all) {
  const auto outside = std::find_if(list.begin(), list.end(), [&](I i) { return i < 0 || i >= all; });
  return outside == list.end() ? -1 : outside - list.begin();
}

template <class I>
std::int64_t first_misplaced(const context<host>& ctx, const span<const I, host>& order, I all) {
  array<std::uint8_t, host> seen(ctx, all);
  fill_zero(ctx, seen);
  for (std::int64_t k = 0; k < order.size(); ++k) {
    if (order[k] < 0 || order[k] >= all || std::exchange(seen[order[k]], 1) != 0) return k;
  }
  return -1;
}

template <class I, class O>
array<std::uint8_t, host> flag_part(const context<host>& ctx, const csr_pattern_view<I, O, host>& m, matrix_part part) {
  array<std::uint8_t, host> flags(ctx, m.nnz());
  parallel_for(ctx.threads(), m.rows, grain::rows, [&](std::int64_t r) {
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) flags[k] = is_in_part(part, r, m.indices[k]) ? 1 : 0;
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
template <class V>
array<std::uint8_t, host> flag_from(const context<host>& ctx, const span<const V, host>& values, double threshold) {
  return flag_values(ctx, values, [&](const V& v) { return !(magnitude(v) < threshold); });
}
template <class V>
array<std::uint8_t, host> flag_nonzero(const context<host>& ctx, const span<const V, host>& values) {
  return flag_values(ctx, values, [](const V& v) { return v != V{}; });
}

// The entries whose flag is set.
template <class I, class O>
csr_matrix<pattern, I, O, host> filter_pattern(const context<host>& ctx, const csr_pattern_view<I, O, host>& m,
                                               const array<std::uint8_t, host>& flags, make_values make) {
  array<O, host> offsets = offsets_of<O>(ctx, "filter", m.rows, [&](std::int64_t r) {
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

// --- Both -------------------------------------------------------------------

namespace {

template <class I, class Space>
void expect_selection(const context<Space>& ctx, const char* what, const index_selection<I, Space>& s, I all) {
  using kind = typename index_selection<I, Space>::kind;
  if (s.which == kind::range) expect_range(what, s.first, s.last, all);
  if (s.which != kind::list) return;
  expect_list_fits(what, s.list.size(), sizeof(I));
  const std::int64_t k = first_outside(ctx, s.list, all);
  if (k >= 0) refuse_index("extract", what, element<I>(ctx, s.list, k), k, all);
}

template <class I, class Space>
void expect_order(const context<Space>& ctx, const char* what, const span<const I, Space>& order, I all) {
  if (order.empty()) return;
  expect_order_size(what, order.size(), all);
  const std::int64_t k = first_misplaced(ctx, order, all);
  if (k >= 0) refuse_index("permute", what, element<I>(ctx, order, k), k, all);
}

template <class I, class Space>
index_selection<I, Space> selection_of(const span<const I, Space>& order) {
  using selection = index_selection<I, Space>;
  return order.empty() ? selection{} : selection::of(order);
}

// A device has the rows first, then columns: `of_columns` makes them from all rows.
template <class V, class I, class O, class Columns>
csr_matrix<V, I, O, device> rows_then_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& m,
                                              const index_selection<I, device>& rows, bool has_columns,
                                              Columns&& of_columns) {
  const auto columns = [&](const csr_view<const V, I, O, device>& from) {
    return moved_from(ctx, from, [&](make_values make) { return of_columns(from, make); });
  };
  if (has_columns && rows.which == index_selection<I, device>::kind::all) return columns(m);
  csr_matrix<V, I, O, device> chosen =
      moved_from(ctx, m, [&](make_values make) { return extract_rows<I, O>(ctx, m, rows, make); });
  return has_columns ? columns(std::as_const(chosen).view()) : std::move(chosen);
}

template <class V, class I, class O, class Space, class Flags>
csr_matrix<V, I, O, Space> filtered(const context<Space>& ctx, const csr_view<const V, I, O, Space>& m,
                                    const Flags& flags) {
  return moved_from(ctx, m, [&](make_values make) { return filter_pattern<I, O>(ctx, m, flags, make); });
}

}  // namespace

}  // namespace detail::algebra

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> extract(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                   const std::type_identity_t<index_selection<I, Space>>& rows,
                                   const std::type_identity_t<index_selection<I, Space>>& cols) try {
  namespace algebra = detail::algebra;
  algebra::expect_arrays("extract", matrix);
  if constexpr (detail::is_built<Space>) {
    algebra::expect_selection(ctx, "row", rows, matrix.rows);
    algebra::expect_selection(ctx, "column", cols, matrix.cols);
    if constexpr (std::same_as<Space, host>) {
      return algebra::moved_from(ctx, matrix, [&](algebra::make_values make) {
        return algebra::extract_pattern<I, O>(ctx, matrix, rows, cols, make);
      });
    } else {
      const bool has_columns = cols.which != index_selection<I, Space>::kind::all;
      return algebra::rows_then_columns(ctx, matrix, rows, has_columns, [&](const auto& m, algebra::make_values make) {
        return algebra::extract_columns<I, O>(ctx, m, cols, make);
      });
    }
  } else {
    detail::no_device("extract");
  }
} catch (...) {
  detail::rethrow("extract");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> permute(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                   std::type_identity_t<span<const I, Space>> row_order,
                                   std::type_identity_t<span<const I, Space>> col_order) try {
  namespace algebra = detail::algebra;
  algebra::expect_arrays("permute", matrix);
  if constexpr (detail::is_built<Space>) {
    algebra::expect_order(ctx, "row", row_order, matrix.rows);
    algebra::expect_order(ctx, "column", col_order, matrix.cols);
    const auto rows = algebra::selection_of(row_order);
    if constexpr (std::same_as<Space, host>) {
      return extract(ctx, matrix, rows, algebra::selection_of(col_order));
    } else {
      return algebra::rows_then_columns(ctx, matrix, rows, !col_order.empty(),
                                        [&](const auto& m, algebra::make_values make) {
                                          return algebra::permute_columns<I, O>(ctx, m, col_order, make);
                                        });
    }
  } else {
    detail::no_device("permute");
  }
} catch (...) {
  detail::rethrow("permute");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> part_of(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                   matrix_part part) try {
  detail::algebra::expect_arrays("part_of", matrix);
  if constexpr (detail::is_built<Space>) {
    return detail::algebra::filtered(ctx, matrix, detail::algebra::flag_part<I, O>(ctx, matrix, part));
  } else {
    detail::no_device("part_of");
  }
} catch (...) {
  detail::rethrow("part_of");
}

template <value_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> drop_below(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                      double threshold) try {
  detail::algebra::expect_arrays("drop_below", matrix);
  if constexpr (detail::is_built<Space>) {
    return detail::algebra::filtered(ctx, matrix, detail::algebra::flag_from<V>(ctx, matrix.values, threshold));
  } else {
    detail::no_device("drop_below");
  }
} catch (...) {
  detail::rethrow("drop_below");
}

template <value_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> drop_zeros(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  detail::algebra::expect_arrays("drop_zeros", matrix);
  if constexpr (detail::is_built<Space>) {
    return detail::algebra::filtered(ctx, matrix, detail::algebra::flag_nonzero<V>(ctx, matrix.values));
  } else {
    detail::no_device("drop_zeros");
  }
} catch (...) {
  detail::rethrow("drop_zeros");
}

#define INSTANTIATE_ENTRIES_IN(V, I, O, Space)                                                                     \
  template csr_matrix<V, I, O, Space> extract(const context<Space>&, const csr_view<const V, I, O, Space>&,        \
                                              const index_selection<I, Space>&, const index_selection<I, Space>&); \
  template csr_matrix<V, I, O, Space> permute(const context<Space>&, const csr_view<const V, I, O, Space>&,        \
                                              span<const I, Space>, span<const I, Space>);                         \
  template csr_matrix<V, I, O, Space> part_of(const context<Space>&, const csr_view<const V, I, O, Space>&,        \
                                              matrix_part);
#define INSTANTIATE_ENTRIES(V, I, O) INSTANTIATE_ENTRIES_IN(V, I, O, host) INSTANTIATE_ENTRIES_IN(V, I, O, device)
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_ENTRIES)

#define INSTANTIATE_VALUES_IN(V, I, O, Space)                                                                  \
  template csr_matrix<V, I, O, Space> drop_below(const context<Space>&, const csr_view<const V, I, O, Space>&, \
                                                 double);                                                      \
  template csr_matrix<V, I, O, Space> drop_zeros(const context<Space>&, const csr_view<const V, I, O, Space>&);
#define INSTANTIATE_VALUES(V, I, O) INSTANTIATE_VALUES_IN(V, I, O, host) INSTANTIATE_VALUES_IN(V, I, O, device)
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE_VALUES)

}  // namespace spargo
