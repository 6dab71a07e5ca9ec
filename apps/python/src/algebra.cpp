// Sparse matrices from sparse matrices, as CSR on the host: products, sums, slices. Offsets have 64 bits, since a
// product may have many more entries than its factors.
#include "arrays.hpp"

#include <complex>

namespace spargo::python {
namespace {

// Arguments of a CSR matrix, in this order, in every function below.
template <class V, class I, class O>
csr_view<const V, I, O, host> csr_of(std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
                                     const vector_of<const I>& indices, const vector_of<const V>& values) {
  return {{narrowed<I>(rows), narrowed<I>(cols), view(offsets), view(indices)}, view(values)};
}

template <class V, class I, class O>
nb::tuple arrays_of(csr_matrix<V, I, O, host> m) {
  return nb::make_tuple(moved(std::move(m.offsets())), moved(std::move(m.indices())), moved(std::move(m.values())));
}

// Which rows or columns: `all`, from `first` to `last`, or a list.
template <class I>
index_selection<I> selection_of(std::string_view kind, std::int64_t first, std::int64_t last,
                                const vector_of<const I>& list) {
  if (kind == "all") return {};
  if (kind == "range") return index_selection<I>::range(narrowed<I>(first), narrowed<I>(last));
  return index_selection<I>::of(view(list));
}

template <class V, class I>
void bind_types(nb::module_& m) {
  using O = std::int64_t;
  using offsets_in = const vector_of<const O>&;
  using indices_in = const vector_of<const I>&;
  using values_in = const vector_of<const V>&;
  m.def(
      "csr_multiply",
      [](std::int64_t rows, std::int64_t cols, offsets_in a_offsets, indices_in a_indices, values_in a_values,
         std::int64_t b_rows, std::int64_t b_cols, offsets_in b_offsets, indices_in b_indices, values_in b_values,
         int threads) {
        const auto a = csr_of<V, I, O>(rows, cols, a_offsets, a_indices, a_values);
        const auto b = csr_of<V, I, O>(b_rows, b_cols, b_offsets, b_indices, b_values);
        return arrays_of(unlocked([&] { return spgemm(threads_context(threads), a, b); }));
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "b_rows"_a,
      "b_cols"_a, "b_offsets"_a.noconvert(), "b_indices"_a.noconvert(), "b_values"_a.noconvert(), "threads"_a);
  m.def(
      "csr_add",
      [](std::int64_t rows, std::int64_t cols, offsets_in a_offsets, indices_in a_indices, values_in a_values,
         std::int64_t b_rows, std::int64_t b_cols, offsets_in b_offsets, indices_in b_indices, values_in b_values,
         double beta, int threads) {
        const auto a = csr_of<V, I, O>(rows, cols, a_offsets, a_indices, a_values);
        const auto b = csr_of<V, I, O>(b_rows, b_cols, b_offsets, b_indices, b_values);
        return arrays_of(unlocked(
            [&] { return add(threads_context(threads), V(1), a, V(static_cast<decltype(std::abs(V()))>(beta)), b); }));
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "b_rows"_a,
      "b_cols"_a, "b_offsets"_a.noconvert(), "b_indices"_a.noconvert(), "b_values"_a.noconvert(), "beta"_a,
      "threads"_a);
  m.def(
      "csr_extract",
      [](std::int64_t rows, std::int64_t cols, offsets_in offsets, indices_in indices, values_in values,
         std::string_view row_kind, std::int64_t first_row, std::int64_t last_row, indices_in row_list,
         std::string_view col_kind, std::int64_t first_col, std::int64_t last_col, indices_in col_list, int threads) {
        const auto a = csr_of<V, I, O>(rows, cols, offsets, indices, values);
        const auto chosen_rows = selection_of<I>(row_kind, first_row, last_row, row_list);
        const auto chosen_cols = selection_of<I>(col_kind, first_col, last_col, col_list);
        return arrays_of(unlocked([&] { return extract(threads_context(threads), a, chosen_rows, chosen_cols); }));
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "row_kind"_a,
      "first_row"_a, "last_row"_a, "row_list"_a.noconvert(), "col_kind"_a, "first_col"_a, "last_col"_a,
      "col_list"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_algebra(nb::module_& m) {
  for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
    bind_types<V, std::int32_t>(m);
    bind_types<V, std::int64_t>(m);
  });
}

}  // namespace spargo::python
