// Eigenvalues of A + A^T for generated matrices A: the six largest, tolerance 1e-8, fp64, with the inspection of the
// matrix, the plan of its products and the vectors on the host. Beside it the time of that plan and of one product.
#pragma once

#include "bench/spmv_cases.hpp"

#include <spargo/solvers/eigs.hpp>
#include <spargo/sparse/algebra.hpp>

#include <chrono>

namespace spargo::bench {

inline csr_matrix<double, std::int32_t, std::int32_t, host> symmetric_matrix(const std::string& source) {
  const context<host> ctx;
  const auto a = to_csr<std::int32_t>(ctx, generated(source).view());
  return symmetrize<double, std::int32_t, std::int32_t>(ctx, a.view());
}

template <class Space>
double measure_eigs(benchmark::State& state, const context<Space>& ctx,
                    const csr_matrix<double, std::int32_t, std::int32_t, Space>& a) {
  const auto seconds_of = [&](const auto& work, int runs) {
    return median_seconds(
        [&] {
          work();
          if constexpr (std::same_as<Space, device>) ctx.synchronize();
        },
        runs, 1);
  };
  const auto view = std::as_const(a).view();
  eigs_result<double> found;
  const double seconds = seconds_of([&] { found = eigs(ctx, view, {.count = 6, .tolerance = 1e-8}); }, 3);
  const double scale = std::abs(found.values.front());
  for (const double residual : found.residuals) {
    if (!(found.converged && residual <= 4e-8 * scale)) throw wrong_result("a residual is above the tolerance");
  }
  using plan = spmv_plan<double, std::int32_t, std::int32_t, Space>;
  const spmv_options options{.storage = spmv_storage::copied, .products = 100};
  state.counters["products"] = static_cast<double>(found.products);
  state.counters["restarts"] = static_cast<double>(found.restarts);
  state.counters["plan_ms"] = 1e3 * seconds_of([&] { (void)plan(ctx, view, options); }, 3);
  const plan product(ctx, view, options);
  array<double, Space> x(ctx, a.rows()), y(ctx, a.rows());
  fill_zero(ctx, x.view());
  state.counters["product_ms"] = 1e3 * seconds_of([&] { product.run(1, std::as_const(x).view(), 0, y.view()); }, 5);
  return seconds;
}

// make(source): the matrix on the side of the context that it gives with it.
template <class Measure>
void add_eigs_cases(const std::string& space, const Measure& measure) {
  for (const spmv_case& one : spmv_cases_or_file({{"rmat18", "gen:rmat:scale=18,degree=16"},
                                                  {"rmat20", "gen:rmat:scale=20,degree=16"},
                                                  {"rmat22", "gen:rmat:scale=22,degree=16"},
                                                  {"uniform20", "gen:uniform:rows=1048576,degree=8"},
                                                  {"uniform22", "gen:uniform:rows=4194304,degree=8"},
                                                  {"laplacian2d_300", "gen:laplacian2d:n=300"}})) {
    add_case("eigs/" + one.name + "/" + space + "/spargo",
             [=](benchmark::State& state) { return measure(state, one.source); });
  }
}

}  // namespace spargo::bench
