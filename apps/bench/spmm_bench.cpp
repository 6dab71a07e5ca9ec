// Products with multi-vectors on the host: every algorithm beside the available peers.
#include "bench/references.hpp"
#include "bench/spmm_cases.hpp"

#include <memory>

namespace spargo::bench {

namespace {

using index = std::int32_t;

// A matrix with X and Y of k columns; the last one is cached.
template <class V>
struct problem {
  context<host> ctx = context<host>({.threads = current_settings().threads});
  csr_matrix<V, index, index, host> matrix;
  std::int64_t k;
  dense_matrix<V, host> x;
  dense_matrix<V, host> y;

  problem(const std::string& source, std::int64_t columns)
      : matrix(to_csr<index>(ctx, generated_as<V>(ctx, source).view())),
        k(columns),
        x(ctx, matrix.cols(), k),
        y(ctx, matrix.rows(), k) {
    const auto to = x.view();
    for (std::int64_t i = 0; i < to.rows; ++i) {
      for (std::int64_t j = 0; j < k; ++j) to.data[i * k + j] = spmm_input<V>(i, j);
    }
  }

  void validate() const {
    const V* const in = x.view().data.data();
    expect_sparse_product<V, index>(
        matrix.rows(), k, matrix.offsets().data(), matrix.indices().data(), matrix.values().data(),
        [&](std::int64_t i, std::int64_t j) { return in[i * k + j]; }, y.view().data);
  }

  static problem& of(const std::string& source, std::int64_t k) {
    static std::string held;
    static std::unique_ptr<problem> kept;
    if (held != source || kept == nullptr || kept->k != k) {
      kept.reset();
      kept = std::make_unique<problem>(source, k);
      held = source;
    }
    return *kept;
  }
};

template <class V, class Run>
double measure(benchmark::State& state, problem<V>& p, Run&& run) {
  poison(p.y.view().data);
  const double seconds = median_seconds(run);
  p.validate();
  report_rates(state, spmm_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz(), p.k), seconds, 0);
  state.counters[gflops] = 2.0 * static_cast<double>(p.matrix.nnz()) * static_cast<double>(p.k) / seconds * 1e-9;
  return seconds;
}

template <class V>
void add_group(const spmv_case& c, std::int64_t k) {
  const std::string group = spmm_group<V>(c.name, k, "cpu");
  for (const auto algorithm : {spmm_algorithm::automatic, spmm_algorithm::row_groups, spmm_algorithm::merge_path}) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& p = problem<V>::of(c.source, k);
      const spmm_plan<V, index, index, host> plan(p.ctx, p.matrix.view(), k, {.algorithm = algorithm});
      state.SetLabel(plan.reason());
      return measure(state, p, [&] { plan.run(V{1}, std::as_const(p.x).view(), V{0}, p.y.view()); });
    });
  }
  for (const auto& peer : spmm_host_peers<V>()) {
    add_peer(group + peer.name, [=](benchmark::State& state) {
      auto& p = problem<V>::of(c.source, k);
      return measure(state, p,
                     peer.make(p.matrix.view(), p.x.view().data.data(), p.y.view().data.data(), k, p.ctx.threads()));
    });
  }
}

void add_all() {
  if (!current_settings().host) return;
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_1000", "gen:laplacian2d:n=1000"},
                                                {"laplacian3d27_60", "gen:laplacian3d:n=60,points=27"},
                                                {"uniform_500k_16", "gen:uniform:rows=500000,degree=16"},
                                                {"rmat_18_16", "gen:rmat:scale=18,degree=16"}})) {
    for (const std::int64_t k : spmm_widths) {
      add_group<double>(c, k);
      add_group<float>(c, k);
    }
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
