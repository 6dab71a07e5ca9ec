// Linear systems by Krylov methods, singular values and spectral embeddings, on the host.
#include "arrays.hpp"

#include <complex>

namespace spargo::python {
namespace {

// x holds the guess, and then the solution. Returns iterations, residual, outcome, its reason and the method.
template <class V, class I, class O>
nb::tuple solve(std::int64_t n, const vector_of<const O>& offsets, const vector_of<const I>& indices,
                const vector_of<const V>& values, const vector_of<const V>& b, const vector_of<V>& x,
                std::string_view method, std::string_view preconditioner, std::int64_t block_size,
                std::int64_t triangular_sweeps, std::int64_t restart, double tolerance, std::int64_t max_iterations,
                int threads) {
  const csr_view<const V, I, O, host> matrix{{narrowed<I>(n), narrowed<I>(n), view(offsets), view(indices)},
                                             view(values)};
  const krylov_options options{.method = choose<krylov_method>("method", method),
                               .preconditioner = choose<krylov_preconditioner>("preconditioner", preconditioner),
                               .tolerance = tolerance,
                               .max_iterations = max_iterations,
                               .restart = restart,
                               .block_size = block_size,
                               .triangular_sweeps = triangular_sweeps};
  const krylov_result found = unlocked([&, from = view(b), to = view(x)] {
    return krylov_plan<V, host>(threads_context(threads), matrix, options).run(from, to);
  });
  return nb::make_tuple(found.iterations, found.relative_residual, std::string(to_string(found.outcome)), found.reason,
                        std::string(to_string(found.method)));
}

nb::list listed(const std::vector<double>& numbers) {
  nb::list list;
  for (const double number : numbers) list.append(number);
  return list;
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
  return nb::make_tuple(listed(found.values), listed(found.residuals), moved(std::move(found.left)),
                        moved(std::move(found.right)), found.converged, found.products);
}

// Values, residuals, vectors one after the other, whether they converged, products.
template <class V, class I, class O>
nb::tuple embedding(std::int64_t rows, std::int64_t cols, const vector_of<const O>& offsets,
                    const vector_of<const I>& indices, const vector_of<const V>& weights, std::int64_t dimensions,
                    bool normalized, double tolerance, std::int64_t max_products, std::uint64_t seed, int threads) {
  const csr_view<const V, I, O, host> adjacency{{narrowed<I>(rows), narrowed<I>(cols), view(offsets), view(indices)},
                                                view(weights)};
  const spectral_options options{.dimensions = dimensions,
                                 .laplacian = normalized ? laplacian_kind::normalized : laplacian_kind::combinatorial,
                                 .tolerance = tolerance,
                                 .max_products = max_products,
                                 .seed = seed};
  eigs_result<V> found = unlocked([&] { return spectral_embedding(threads_context(threads), adjacency, options); });
  return nb::make_tuple(listed(found.values), listed(found.residuals), moved(std::move(found.vectors)), found.converged,
                        found.products);
}

}  // namespace

void bind_solvers(nb::module_& m) {
  for_each_index([&]<class I, class O>() {
    for_each_type<float, double, std::complex<float>, std::complex<double>>([&]<class V>() {
      m.def("solve", &solve<V, I, O>, "rows"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(),
            "values"_a.noconvert(), "b"_a.noconvert(), "x"_a.noconvert(), "method"_a, "preconditioner"_a,
            "block_size"_a, "triangular_sweeps"_a, "restart"_a, "tolerance"_a, "max_iterations"_a, "threads"_a);
      m.def("svds", &singular_values<V, I, O>, "rows"_a, "cols"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(),
            "values"_a.noconvert(), "count"_a, "tolerance"_a, "max_products"_a, "seed"_a, "threads"_a);
    });
    for_each_type<float, double>([&]<class V>() {
      m.def("spectral_embedding", &embedding<V, I, O>, "rows"_a, "cols"_a, "offsets"_a.noconvert(),
            "indices"_a.noconvert(), "weights"_a.noconvert(), "dimensions"_a, "normalized"_a, "tolerance"_a,
            "max_products"_a, "seed"_a, "threads"_a);
    });
  });
}

}  // namespace spargo::python
