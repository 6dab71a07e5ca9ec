// SpMV on the host: every algorithm and format beside the peers that this machine has.
#include "bench/spmv_cases.hpp"

#include <memory>

namespace spargo::bench {

namespace {

context<host> host_context() { return context<host>({.threads = current_settings().threads}); }

// Bytes a second of a large copy, read and written, once a run.
double copy_rate() {
  static const double rate = [] {
    const context<host> ctx = host_context();
    const std::int64_t count = std::int64_t{1} << 26;
    array<double, host> from(ctx, count);
    array<double, host> to(ctx, count);
    fill_zero(ctx, from.view());
    fill_zero(ctx, to.view());
    const double seconds = median_seconds([&] { copy<double>(ctx, std::as_const(from).view(), to.view()); }, 7, 2);
    return 2.0 * 8.0 * static_cast<double>(count) / seconds;
  }();
  return rate;
}

// A matrix with its vectors; the last one is kept.
template <class V>
struct problem {
  context<host> ctx = host_context();
  csr_matrix<V, std::int32_t, std::int32_t, host> matrix;
  array<V, host> x;
  array<V, host> y;

  explicit problem(const std::string& spec)
      : matrix(to_csr<std::int32_t>(ctx, generated_as<V>(ctx, spec).view())),
        x(ctx, matrix.cols()),
        y(ctx, matrix.rows()) {
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<V>(1) / static_cast<V>(1 + i);
  }

  static problem& of(const std::string& spec) {
    static std::string held;
    static std::unique_ptr<problem> kept;
    if (held != spec) {
      kept.reset();
      kept = std::make_unique<problem>(spec);
      held = spec;
    }
    return *kept;
  }
};

template <class V, class Run>
double measure(benchmark::State& state, const problem<V>& p, Run&& run) {
  const double seconds = median_seconds(run);
  report_rates(state, compulsory_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz()), seconds, copy_rate());
  return seconds;
}

template <class V, class Matrix>
double measure_plan(benchmark::State& state, problem<V>& p, const Matrix& matrix, spmv_algorithm algorithm) {
  const spmv_plan<V, std::int32_t, std::int32_t, host> plan(p.ctx, matrix.view(), {.algorithm = algorithm});
  return measure(state, p, [&] { plan.run(V{1}, std::as_const(p.x).view(), V{0}, p.y.view()); });
}

template <class V>
void add_matrix(const std::string& name, const std::string& spec) {
  const std::string group = "spmv/" + name + "/" + precision_name<V> + "/cpu/";
  const auto add_csr = [&](const char* rung, spmv_algorithm algorithm) {
    add_case(group + rung, [=](benchmark::State& state) {
      auto& p = problem<V>::of(spec);
      return measure_plan(state, p, p.matrix, algorithm);
    });
  };
  add_csr("csr:row_per_thread", spmv_algorithm::row_per_thread);
  add_csr("csr:merge_path", spmv_algorithm::merge_path);
  add_case(group + "ell", [=](benchmark::State& state) {
    auto& p = problem<V>::of(spec);
    return measure_plan(state, p, to_ell(p.ctx, p.matrix.view()), spmv_algorithm::ell);
  });
  for (const std::int32_t height : {8, 32}) {
    add_case(group + "sell:" + std::to_string(height), [=](benchmark::State& state) {
      auto& p = problem<V>::of(spec);
      return measure_plan(state, p, to_sell(p.ctx, p.matrix.view(), {.slice_height = height}), spmv_algorithm::sell);
    });
  }
  add_case(group + "coo:segmented", [=](benchmark::State& state) {
    auto& p = problem<V>::of(spec);
    return measure_plan(state, p, to_coo(p.ctx, p.matrix.view()), spmv_algorithm::coo_segmented);
  });
  for (const auto& peer : host_peers<V>()) {
    add_case(group + peer.name, [=](benchmark::State& state) {
      auto& p = problem<V>::of(spec);
      state.counters[is_peer] = 1;
      return measure(state, p, peer.make(p.matrix.view(), p.x.data(), p.y.data(), p.ctx.threads()));
    });
  }
}

void add_all() {
  if (!current_settings().host) return;
  for (const auto& [name, spec] : spmv_cases_or_file({{"laplacian2d_2000", "gen:laplacian2d:n=2000"},
                                                      {"laplacian3d27_100", "gen:laplacian3d:n=100,points=27"},
                                                      {"uniform_1m_16", "gen:uniform:rows=1000000,degree=16"},
                                                      {"rmat_18_16", "gen:rmat:scale=18,degree=16"}})) {
    add_matrix<double>(name, spec);
    add_matrix<float>(name, spec);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
