// Products, and conversions between the formats of SciPy, on the host and on devices.
#include "device.hpp"

#include <complex>

namespace spargo::python {
namespace {

template <class I, class O, class Offsets, class Indices>
auto pattern_of(std::int64_t rows, std::int64_t cols, const Offsets& offsets, const Indices& indices) {
  using space = typename decltype(view(offsets))::space;
  return csr_pattern_view<I, O, space>{narrowed<I>(rows), narrowed<I>(cols), view(offsets), view(indices)};
}

// A plan of products that keeps the arrays of its CSR matrix alive. The Python code gives it to one thread at a time.
template <class V, class I, class O, class Space>
class product {
 public:
  product(std::int64_t rows, std::int64_t cols, vector_in<O, Space> offsets, vector_in<I, Space> indices,
          vector_in<V, Space> values, int threads, const spmv_options& options)
      : ctx_(where_of(threads, offsets).ctx),
        offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        values_(std::move(values)),
        matrix_{pattern_of<I, O>(rows, cols, offsets_, indices_), view(values_)},
        plan_(unlocked([&] { return spmv_plan<V, I, O, Space>(ctx_, matrix_, options); })) {}

  [[nodiscard]] const context<Space>& ctx() const { return ctx_; }
  [[nodiscard]] const csr_view<const V, I, O, Space>& matrix() const { return matrix_; }

  void run(span<const V, Space> x, span<V, Space> y) const { plan_.run(V(1), x, V(0), y); }

  void run_many(const dense_view<const V, Space>& x, const dense_view<V, Space>& y) {
    if (!many_ || x.cols > most_columns_) {
      many_.emplace(ctx_, matrix_, x.cols);
      most_columns_ = x.cols;
    }
    many_->run(V(1), x, V(0), y);
  }

  void update_values(vector_in<V, Space> values) {
    const csr_view<const V, I, O, Space> matrix{{matrix_}, view(values)};
    unlocked([&] { plan_.update_values(matrix); });
    values_ = std::move(values);
    matrix_ = matrix;
    many_.reset();
  }

  [[nodiscard]] std::string_view algorithm() const { return to_string(plan_.algorithm()); }
  [[nodiscard]] std::string_view storage() const { return to_string(plan_.storage()); }
  [[nodiscard]] const std::string& reason() const { return plan_.reason(); }

 private:
  context<Space> ctx_;
  vector_in<O, Space> offsets_;
  vector_in<I, Space> indices_;
  vector_in<V, Space> values_;
  csr_view<const V, I, O, Space> matrix_;
  spmv_plan<V, I, O, Space> plan_;
  std::optional<spmm_plan<V, I, O, Space>> many_;
  std::int64_t most_columns_ = 0;
};

template <class T>
dense_view<T, host> rows_of(const matrix_of_rows<T>& a) {
  const auto rows = static_cast<std::int64_t>(a.shape(0));
  const auto cols = static_cast<std::int64_t>(a.shape(1));
  return {rows, cols, cols, {a.data(), rows * cols}};
}

template <class V, class I, class O>
void bind_runs(nb::class_<product<V, I, O, host>>& bound) {
  using plan = product<V, I, O, host>;
  bound
      .def(
          "run",
          [](const plan& p, const vector_of<const V>& x, const vector_of<V>& y) {
            unlocked([&, from = view(x), to = view(y)] { p.run(from, to); });
          },
          "x"_a.noconvert(), "y"_a.noconvert())
      .def(
          "run_many",
          [](plan& p, const matrix_of_rows<const V>& x, const matrix_of_rows<V>& y) {
            unlocked([&, from = rows_of(x), to = rows_of(y)] { p.run_many(from, to); });
          },
          "x"_a.noconvert(), "y"_a.noconvert());
}

// Work on a device is ordered after earlier and before later work on the caller's stream. The Python code has checked
// the shapes.
template <class V, class I, class O>
class device_product : public product<V, I, O, device> {
 public:
  template <class... Args>
  explicit device_product(Args&&... args)
      : product<V, I, O, device>(std::forward<Args>(args)...), order_(this->ctx()) {}

  void run_at(address x, address y, address stream) {
    ordered(stream, [&] {
      this->run({reinterpret_cast<const V*>(x), this->matrix().cols}, {reinterpret_cast<V*>(y), this->matrix().rows});
    });
  }
  void run_many_at(address x, address y, std::int64_t columns, address stream) {
    const std::int64_t rows = this->matrix().rows;
    const std::int64_t cols = this->matrix().cols;
    const dense_view<const V, device> from{cols, columns, columns, {reinterpret_cast<const V*>(x), cols * columns}};
    const dense_view<V, device> to{rows, columns, columns, {reinterpret_cast<V*>(y), rows * columns}};
    ordered(stream, [&] { this->run_many(from, to); });
  }

 private:
  template <class Work>
  void ordered(address stream, Work&& work) {
    const nb::gil_scoped_release released;
    order_.after(stream_at(stream));
    work();
    order_.before(stream_at(stream));
  }

  stream_order order_;
};

template <class V, class I, class O>
void bind_runs(nb::class_<device_product<V, I, O>>& bound) {
  bound.def("run", &device_product<V, I, O>::run_at, "x"_a, "y"_a, "stream"_a)
      .def("run_many", &device_product<V, I, O>::run_many_at, "x"_a, "y"_a, "columns"_a, "stream"_a);
}

template <class V, class I, class O, class Space>
void bind_product(nb::module_& m) {
  using plan = std::conditional_t<std::same_as<Space, host>, product<V, I, O, host>, device_product<V, I, O>>;
  const std::string name = std::same_as<Space, host> ? "Product" : "DeviceProduct";
  nb::class_<plan> bound(m, name_with_types<V, I, O>(name).c_str());
  bind_runs(bound);
  bound
      .def(
          "update_values", [](plan& p, vector_in<V, Space> values) { p.update_values(std::move(values)); },
          "values"_a.noconvert())
      .def_prop_ro("algorithm", [](const plan& p) { return p.algorithm(); })
      .def_prop_ro("storage", [](const plan& p) { return p.storage(); })
      .def_prop_ro("reason", [](const plan& p) { return p.reason(); });
  m.def(
      "product",
      [](std::int64_t rows, std::int64_t cols, vector_in<O, Space> offsets, vector_in<I, Space> indices,
         vector_in<V, Space> values, int threads, std::string_view algorithm, bool copy, std::int64_t products) {
        return new plan(rows, cols, std::move(offsets), std::move(indices), std::move(values), threads,
                        spmv_options{.algorithm = parse_spmv_algorithm(algorithm),
                                     .storage = copy ? spmv_storage::copied : spmv_storage::borrowed,
                                     .products = products});
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "threads"_a,
      "algorithm"_a, "copy"_a, "products"_a);
}

template <class Space, class M>
nb::tuple csr_arrays(const where<Space>& at, M matrix) {
  return nb::make_tuple(at.out(std::move(matrix.offsets())), at.out(std::move(matrix.indices())),
                        at.out(std::move(matrix.values())));
}

// CSR with ascending, distinct columns. Offsets have the indices' type if they fit, as SciPy prefers.
template <class V, class I, class Space>
nb::tuple coo_to_csr(std::int64_t rows, std::int64_t cols, const vector_in<I, Space>& row_indices,
                     const vector_in<I, Space>& col_indices, const vector_in<V, Space>& values, int threads) {
  const coo_view<const V, I, Space> entries{
      {narrowed<I>(rows), narrowed<I>(cols), view(row_indices), view(col_indices)}, view(values)};
  const auto at = where_of(threads, row_indices);
  if (entries.nnz() <= std::numeric_limits<I>::max()) {
    return csr_arrays(at, unlocked([&] { return to_csr<I>(at.ctx, entries); }));
  }
  return csr_arrays(at, unlocked([&] { return to_csr<std::int64_t>(at.ctx, entries); }));
}

template <class V, class I, class O, class Space>
nb::tuple csr_transpose(std::int64_t rows, std::int64_t cols, const vector_in<O, Space>& offsets,
                        const vector_in<I, Space>& indices, const vector_in<V, Space>& values, int threads) {
  const csr_view<const V, I, O, Space> matrix{pattern_of<I, O>(rows, cols, offsets, indices), view(values)};
  const auto at = where_of(threads, offsets);
  return csr_arrays(at, unlocked([&] { return transpose(at.ctx, matrix); }));
}

template <class I, class Space>
void bind_coo(nb::module_& m) {
  for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
    m.def("coo_to_csr", &coo_to_csr<V, I, Space>, "rows"_a, "cols"_a, "row_indices"_a.noconvert(),
          "col_indices"_a.noconvert(), "values"_a.noconvert(), "threads"_a);
  });
  m.def(
      "validate_coo",
      [](std::int64_t rows, std::int64_t cols, const vector_in<I, Space>& row_indices,
         const vector_in<I, Space>& col_indices, int threads) {
        const coo_view<const pattern, I, Space> matrix{
            {narrowed<I>(rows), narrowed<I>(cols), view(row_indices), view(col_indices)}, {}};
        const auto at = where_of(threads, row_indices);
        unlocked([&] { validate(at.ctx, matrix); });
      },
      "rows"_a, "cols"_a, "row_indices"_a.noconvert(), "col_indices"_a.noconvert(), "threads"_a);
}

template <class I, class O, class Space>
void bind_csr(nb::module_& m) {
  for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
    bind_product<V, I, O, Space>(m);
    m.def("csr_transpose", &csr_transpose<V, I, O, Space>, "rows"_a, "cols"_a, "offsets"_a.noconvert(),
          "indices"_a.noconvert(), "values"_a.noconvert(), "threads"_a);
  });
  m.def(
      "validate_csr",
      [](std::int64_t rows, std::int64_t cols, const vector_in<O, Space>& offsets, const vector_in<I, Space>& indices,
         int threads) {
        const auto matrix = pattern_of<I, O>(rows, cols, offsets, indices);
        const auto at = where_of(threads, offsets);
        unlocked([&] { validate(at.ctx, matrix); });
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "threads"_a);
  m.def(
      "pattern_transpose",
      [](std::int64_t rows, std::int64_t cols, const vector_in<O, Space>& offsets, const vector_in<I, Space>& indices,
         int threads) {
        const csr_view<const pattern, I, O, Space> matrix{pattern_of<I, O>(rows, cols, offsets, indices), {}};
        const auto at = where_of(threads, offsets);
        auto turned = unlocked([&] { return transpose(at.ctx, matrix); });
        return nb::make_tuple(at.out(std::move(turned.offsets())), at.out(std::move(turned.indices())));
      },
      "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_matrix(nb::module_& m) {
  for_each_space([&]<class Space>() {
    for_each_index([&]<class I, class O>() { bind_csr<I, O, Space>(m); });
    for_each_type<std::int32_t, std::int64_t>([&]<class I>() { bind_coo<I, Space>(m); });
  });
}

}  // namespace spargo::python
