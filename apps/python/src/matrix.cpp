// Products, and conversions between the formats of SciPy.
#include "arrays.hpp"

#include <complex>

namespace spargo::python {
namespace {

template <class I, class O>
csr_pattern_view<I, O, host> pattern_of(std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
                                        const vector_of<const I>& indices) {
  return {narrowed<I>(rows), narrowed<I>(cols), view(offsets), view(indices)};
}

// A plan of products with the arrays of a CSR matrix, which it keeps alive. Not for two threads at once: Python's side
// hands it out to one at a time.
template <class V, class I, class O>
class product {
 public:
  product(std::int64_t rows, std::int64_t cols, vector_of<const O> offsets, vector_of<const I> indices,
          vector_of<const V> values, int threads, const spmv_options& options)
      : ctx_(threads_context(threads)),
        offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        values_(std::move(values)),
        matrix_{pattern_of<I, O>(rows, cols, offsets_, indices_), view(values_)},
        plan_(unlocked([&] { return spmv_plan<V, I, O, host>(ctx_, matrix_, options); })) {}

  void run(const vector_of<const V>& x, const vector_of<V>& y) const {
    const auto from = view(x);
    const auto to = view(y);
    unlocked([&] { plan_.run(V(1), from, V(0), to); });
  }

  void run_many(const matrix_of_rows<const V>& x, const matrix_of_rows<V>& y) {
    const auto columns = static_cast<std::int64_t>(x.shape(1));
    const auto from = rows_of(x);
    const auto to = rows_of(y);
    unlocked([&] {
      if (!many_ || columns > most_columns_) {
        many_.emplace(ctx_, matrix_, columns);
        most_columns_ = columns;
      }
      many_->run(V(1), from, V(0), to);
    });
  }

  void update_values(vector_of<const V> values) {
    const csr_view<const V, I, O, host> matrix{{matrix_}, view(values)};
    unlocked([&] { plan_.update_values(matrix); });
    values_ = std::move(values);
    matrix_ = matrix;
    many_.reset();
  }

  [[nodiscard]] std::string_view algorithm() const { return to_string(plan_.algorithm()); }
  [[nodiscard]] std::string_view storage() const { return to_string(plan_.storage()); }
  [[nodiscard]] const std::string& reason() const { return plan_.reason(); }

 private:
  template <class T>
  static dense_view<T, host> rows_of(const matrix_of_rows<T>& a) {
    const auto rows = static_cast<std::int64_t>(a.shape(0));
    const auto cols = static_cast<std::int64_t>(a.shape(1));
    return {rows, cols, cols, {a.data(), rows * cols}};
  }

  context<host> ctx_;
  vector_of<const O> offsets_;
  vector_of<const I> indices_;
  vector_of<const V> values_;
  csr_view<const V, I, O, host> matrix_;
  spmv_plan<V, I, O, host> plan_;
  std::optional<spmm_plan<V, I, O, host>> many_;
  std::int64_t most_columns_ = 0;
};

template <class V, class I, class O>
void bind_product(nb::module_& m) {
  using plan = product<V, I, O>;
  nb::class_<plan>(m, name_with_types<V, I, O>("Product").c_str())
      .def("run", &plan::run, "x"_a.noconvert(), "y"_a.noconvert())
      .def("run_many", &plan::run_many, "x"_a.noconvert(), "y"_a.noconvert())
      .def("update_values", &plan::update_values, "values"_a.noconvert())
      .def_prop_ro("algorithm", &plan::algorithm)
      .def_prop_ro("storage", &plan::storage)
      .def_prop_ro("reason", &plan::reason);
  m.def(
      "product",
      [](std::int64_t rows, std::int64_t cols, vector_of<const O> offsets, vector_of<const I> indices,
         vector_of<const V> values, int threads, std::string_view algorithm, bool copy, std::int64_t products) {
        return plan(rows, cols, std::move(offsets), std::move(indices), std::move(values), threads,
                    {.algorithm = parse_spmv_algorithm(algorithm),
                     .storage = copy ? spmv_storage::copied : spmv_storage::borrowed,
                     .products = products});
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "threads"_a,
      "algorithm"_a, "copy"_a, "products"_a);
}

template <class M>
nb::tuple csr_arrays(M matrix) {
  return nb::make_tuple(moved(std::move(matrix.offsets())), moved(std::move(matrix.indices())),
                        moved(std::move(matrix.values())));
}

// CSR with ascending, distinct columns; offsets of the indices' type where they fit, since SciPy wants them alike.
template <class V, class I>
nb::tuple coo_to_csr(std::int64_t rows, std::int64_t cols, const vector_of<const I>& row_indices,
                     const vector_of<const I>& col_indices, const vector_of<const V>& values, int threads) {
  const coo_view<const V, I, host> entries{{narrowed<I>(rows), narrowed<I>(cols), view(row_indices), view(col_indices)},
                                           view(values)};
  const auto ctx = threads_context(threads);
  if (entries.nnz() <= std::numeric_limits<I>::max()) {
    return csr_arrays(unlocked([&] { return to_csr<I>(ctx, entries); }));
  }
  return csr_arrays(unlocked([&] { return to_csr<std::int64_t>(ctx, entries); }));
}

template <class V, class I, class O>
nb::tuple csr_transpose(std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
                        const vector_of<const I>& indices, const vector_of<const V>& values, int threads) {
  const csr_view<const V, I, O, host> matrix{pattern_of<I, O>(rows, cols, offsets, indices), view(values)};
  const auto ctx = threads_context(threads);
  return csr_arrays(unlocked([&] { return transpose(ctx, matrix); }));
}

}  // namespace

void bind_matrix(nb::module_& m) {
  for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
    for_each_index([&]<class I, class O>() {
      bind_product<V, I, O>(m);
      m.def("csr_transpose", &csr_transpose<V, I, O>, "rows"_a, "cols"_a, "offsets"_a.noconvert(),
            "indices"_a.noconvert(), "values"_a.noconvert(), "threads"_a);
    });
    for_each_type<std::int32_t, std::int64_t>([&]<class I>() {
      m.def("coo_to_csr", &coo_to_csr<V, I>, "rows"_a, "cols"_a, "row_indices"_a.noconvert(),
            "col_indices"_a.noconvert(), "values"_a.noconvert(), "threads"_a);
    });
  });
  for_each_index([&]<class I, class O>() {
    m.def(
        "validate_csr",
        [](std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets, const vector_of<const I>& indices,
           int threads) {
          const auto matrix = pattern_of<I, O>(rows, cols, offsets, indices);
          unlocked([&] { validate(threads_context(threads), matrix); });
        },
        "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "threads"_a);
    m.def(
        "pattern_transpose",
        [](std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets, const vector_of<const I>& indices,
           int threads) {
          const csr_view<const pattern, I, O, host> matrix{pattern_of<I, O>(rows, cols, offsets, indices), {}};
          auto turned = unlocked([&] { return transpose(threads_context(threads), matrix); });
          return nb::make_tuple(moved(std::move(turned.offsets())), moved(std::move(turned.indices())));
        },
        "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "threads"_a);
  });
  for_each_type<std::int32_t, std::int64_t>([&]<class I>() {
    m.def(
        "validate_coo",
        [](std::int64_t rows, std::int64_t cols, const vector_of<const I>& row_indices,
           const vector_of<const I>& col_indices, int threads) {
          const coo_view<const pattern, I, host> matrix{
              {narrowed<I>(rows), narrowed<I>(cols), view(row_indices), view(col_indices)}, {}};
          unlocked([&] { validate(threads_context(threads), matrix); });
        },
        "rows"_a, "cols"_a, "row_indices"_a.noconvert(), "col_indices"_a.noconvert(), "threads"_a);
  });
}

}  // namespace spargo::python
