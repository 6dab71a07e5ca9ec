// Linear systems by Krylov methods, and singular values, on the host.
#include "arrays.hpp"

#include <complex>

namespace spargo::python {
namespace {

// x holds the guess, and then the solution. Returns iterations, residual, outcome and its reason.
template <class V, class I, class O>
nb::tuple solve(std::int64_t n, const vector_of<const O>& offsets, const vector_of<const I>& indices,
                const vector_of<const V>& values, const vector_of<const V>& b, const vector_of<V>& x,
                std::string_view method, std::string_view preconditioner, std::int64_t block_size, double tolerance,
                std::int64_t max_iterations, int threads) {
  const csr_view<const V, I, O, host> matrix{{narrowed<I>(n), narrowed<I>(n), view(offsets), view(indices)},
                                             view(values)};
  const krylov_options options{.method = choose<krylov_method>("method", method),
                               .preconditioner = choose<krylov_preconditioner>("preconditioner", preconditioner),
                               .tolerance = tolerance,
                               .max_iterations = max_iterations,
                               .block_size = block_size};
  const krylov_result found = unlocked([&, from = view(b), to = view(x)] {
    return krylov_plan<V, host>(threads_context(threads), matrix, options).run(from, to);
  });
  return nb::make_tuple(found.iterations, found.relative_residual, std::string(to_string(found.outcome)), found.reason);
}

// Values, residuals, left and right vectors one after the other, whether they converged, products.
template <class V, class I, class O>
nb::tuple singular_values(std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
                          const vector_of<const I>& indices, const vector_of<const V>& of, std::int64_t count,
                          double tolerance, std::int64_t max_products, std::uint64_t seed, int threads) {
  const csr_view<const V, I, O, host> matrix{{narrowed<I>(rows), narrowed<I>(cols), view(offsets), view(indices)},
                                             view(of)};
  const svds_options options{.count = count, .tolerance = tolerance, .max_products = max_products, .seed = seed};
  svds_result<V> found = unlocked([&] { return svds(threads_context(threads), matrix, options); });
  nb::list values, residuals;
  for (const double value : found.values) values.append(value);
  for (const double residual : found.residuals) residuals.append(residual);
  return nb::make_tuple(values, residuals, moved(std::move(found.left)), moved(std::move(found.right)), found.converged,
                        found.products);
}

}  // namespace

void bind_solvers(nb::module_& m) {
  for_each_index([&]<class I, class O>() {
    for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
      m.def("solve", &solve<V, I, O>, "rows"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(),
            "values"_a.noconvert(), "b"_a.noconvert(), "x"_a.noconvert(), "method"_a, "preconditioner"_a,
            "block_size"_a, "tolerance"_a, "max_iterations"_a, "threads"_a);
      m.def("svds", &singular_values<V, I, O>, "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(),
            "values"_a.noconvert(), "count"_a, "tolerance"_a, "max_products"_a, "seed"_a, "threads"_a);
    });
  });
}

}  // namespace spargo::python
