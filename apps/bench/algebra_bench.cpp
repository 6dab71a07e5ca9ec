// A^T, A + A^T, A A, and iterations of conjugate gradients without a preconditioner, on the host, fp64. GB/s: operands
// read and the result written once. The peers' matrices are compared with ours entry by entry, cg's residuals after the
// last iteration; ours are tested elsewhere.
#include "bench/algebra_cases.hpp"
#include "bench/cached.hpp"
#include "bench/host_timing.hpp"
#include "bench/native_products.hpp"
#include "bench/outcome.hpp"

#include <spargo/solvers/krylov.hpp>
#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/spgemm.hpp>

#include <cmath>

namespace spargo::bench {

namespace {

using native::algebra;
using index = std::int32_t;
using matrix = csr_matrix<double, index, index, host>;

struct problem {
  context<host> ctx = context<host>({.threads = current_settings().threads});
  matrix a;
  matrix turned;
  array<double, host> b;

  explicit problem(const std::string& source)
      : a(canonical(ctx, to_csr<index>(ctx, generated(source).view()).view())),
        turned(transpose(ctx, a.view())),
        b(ctx, a.rows()) {
    for (index i = 0; i < a.rows(); ++i) b[i] = 1 + i % 7;
  }
};

// Of 9 runs after a first one, of 3 where it took over a second.
template <class Run>
double seconds_of(Run&& run) {
  const double first = median_seconds(run, 1, 0);
  return median_seconds(run, first > 1 ? 3 : 9, 0);
}

matrix ours(const problem& p, algebra operation) {
  switch (operation) {
    case algebra::transpose:
      return transpose(p.ctx, p.a.view());
    case algebra::add:
      return add(p.ctx, p.a.view(), p.turned.view());
    case algebra::product:
      return spgemm(p.ctx, p.a, p.a);
    case algebra::cg:
      break;
  }
  throw std::logic_error("not an operation on matrices");
}

bool near(double got, double expected, double bound) { return std::abs(got - expected) <= bound * std::abs(expected); }

void expect_same(const native::csr_arrays<double>& got, const matrix& expected) {
  if (got.nnz != expected.nnz()) throw wrong_result("another number of entries: " + std::to_string(got.nnz));
  for (index i = 0; i <= got.rows; ++i) {
    if (got.offsets[i] != expected.offsets()[i]) throw wrong_result("row " + std::to_string(i) + " has another length");
  }
  for (std::int64_t k = 0; k < got.nnz; ++k) {
    if (got.indices[k] != expected.indices()[k] || !near(got.values[k], expected.values()[k], 1e-9)) {
      throw wrong_result("entry " + std::to_string(k) + " differs");
    }
  }
}

double bytes_of(const matrix& m) {
  return static_cast<double>(m.nnz()) * (sizeof(double) + sizeof(index)) +
         static_cast<double>(m.offsets().size()) * sizeof(index);
}

double report(benchmark::State& state, const problem& p, algebra operation, const matrix& c, double seconds) {
  const double operands = operation == algebra::add ? bytes_of(p.a) + bytes_of(p.turned) : bytes_of(p.a);
  state.counters[gbytes_per_second] = (operands + bytes_of(c)) / seconds * 1e-9;
  return seconds;
}

void add_matrix_cases(const std::string& prefix, const std::string& source, algebra operation) {
  add_case(prefix + "spargo", [=](benchmark::State& state) {
    const auto& p = cached<problem>(source);
    const double seconds = seconds_of([&] { (void)ours(p, operation); });
    return report(state, p, operation, ours(p, operation), seconds);
  });
  for (const algebra_peer& peer : algebra_peers()) {
    add_peer_of(peer.is_threaded ? host_threads() : 1, prefix + peer.name, [=](benchmark::State& state) {
      const auto& p = cached<problem>(source);
      const auto call = peer.make(operation, native_arrays(std::as_const(p.a).view()),
                                  native_arrays(std::as_const(p.turned).view()), p.b.data(), host_threads());
      const double seconds = seconds_of([&] { call->run(); });
      const matrix expected = ours(p, operation);
      expect_same(call->result(), expected);
      return report(state, p, operation, expected, seconds);
    });
  }
}

krylov_result ours_after(const problem& p, const krylov_plan<double, host>& plan) {
  array<double, host> x(p.ctx, p.a.rows());
  std::fill(x.begin(), x.end(), 0.0);
  krylov_result result = plan.run(p.b.view(), x.view());
  if (result.iterations != cg_iterations) throw wrong_result("cg ended early");
  return result;
}

// |b - A x| / |b|
double relative_residual(const problem& p, const double* x) {
  double above = 0;
  double below = 0;
  for (index i = 0; i < p.a.rows(); ++i) {
    double r = p.b[i];
    for (index k = p.a.offsets()[i]; k < p.a.offsets()[i + 1]; ++k) r -= p.a.values()[k] * x[p.a.indices()[k]];
    above += r * r;
    below += p.b[i] * p.b[i];
  }
  return std::sqrt(above / below);
}

krylov_plan<double, host> cg_of(const problem& p) {
  return {p.ctx,
          std::as_const(p.a).view(),
          {.method = krylov_method::cg,
           .preconditioner = krylov_preconditioner::none,
           .tolerance = 0,
           .max_iterations = cg_iterations}};
}

void add_solver_cases(const std::string& prefix, const std::string& source) {
  add_case(prefix + "spargo", [=](benchmark::State& state) {
    const auto& p = cached<problem>(source);
    const auto plan = cg_of(p);
    const double seconds = seconds_of([&] { (void)ours_after(p, plan); });
    state.counters["us_per_iteration"] = seconds / cg_iterations * 1e6;
    return seconds;
  });
  for (const algebra_peer& peer : algebra_peers()) {
    if (!peer.has_cg) continue;
    add_peer(prefix + peer.name, [=](benchmark::State& state) {
      const auto& p = cached<problem>(source);
      const auto call = peer.make(algebra::cg, native_arrays(std::as_const(p.a).view()),
                                  native_arrays(std::as_const(p.turned).view()), p.b.data(), host_threads());
      const double seconds = seconds_of([&] { call->run(); });
      if (!near(relative_residual(p, call->result().values), ours_after(p, cg_of(p)).history.back(), 1e-6)) {
        throw wrong_result("another residual than cg's");
      }
      state.counters["us_per_iteration"] = seconds / cg_iterations * 1e6;
      return seconds;
    });
  }
}

void add_all() {
  if (!current_settings().host) return;
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                                {"laplacian3d27_100", "gen:laplacian3d:n=100,points=27"},
                                                {"banded_1m_21", "gen:banded:rows=1048576,degree=21"},
                                                {"uniform_1m_8", "gen:uniform:rows=1048576,degree=8"},
                                                {"rmat_16_8", "gen:rmat:scale=16,degree=8"}})) {
    add_matrix_cases("transpose/" + c.name + "/double/cpu/", c.source, algebra::transpose);
    add_matrix_cases("add/" + c.name + "/double/cpu/", c.source, algebra::add);
    add_matrix_cases("spgemm/" + c.name + "/double/cpu/", c.source, algebra::product);
  }
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_1024", "gen:laplacian2d:n=1024"},
                                                {"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                                {"laplacian3d27_100", "gen:laplacian3d:n=100,points=27"}})) {
    add_solver_cases("solve/" + c.name + "/cg/cpu/", c.source);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
