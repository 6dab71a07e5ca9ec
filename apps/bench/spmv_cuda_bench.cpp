// SpMV on the device: every algorithm and format beside cuSPARSE. Times are the median of 25 by CUDA events around one
// product with a flushed L2 cache; small matrices are timed warm inside a captured graph, as iterative solvers run
// them. Every product is checked against one in double precision.
#include "bench/spmv_device.hpp"

#include <chrono>

namespace spargo::bench {

namespace {

using index = std::int32_t;

template <class V, class Run>
double measure(benchmark::State& state, spmv_problem<V>& p, Run&& run) {
  p.forget();
  const double seconds = device_seconds(p.ctx, run);
  p.validate();
  report_rates(state, compulsory_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz()), seconds,
               device_copy_rate());
  return seconds;
}

// Seconds of `count` products in one captured graph, by events around its launch.
template <class Run>
double graph_seconds(const context<device>& ctx, Run&& run, int count) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  run();  // first-call setup
  ctx.synchronize();
  expect(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < count; ++k) run();
  expect(cudaStreamEndCapture(ctx.stream(), &graph));
  expect(cudaGraphInstantiate(&ready, graph, 0));
  const event start;
  const event stop;
  std::vector<double> seconds;
  for (int k = 0; k < 28; ++k) {
    expect(cudaEventRecord(start, ctx.stream()));
    expect(cudaGraphLaunch(ready, ctx.stream()));
    expect(cudaEventRecord(stop, ctx.stream()));
    expect(cudaEventSynchronize(stop));
    float milliseconds = 0;
    expect(cudaEventElapsedTime(&milliseconds, start, stop));
    if (k >= 3) seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
  }
  expect(cudaGraphExecDestroy(ready));
  expect(cudaGraphDestroy(graph));
  return median(seconds);
}

// Time of a product inside a graph, without the graph's launch: the difference between 50 products and 1, over 49.
template <class V, class Run>
double measure_in_graph(benchmark::State& state, spmv_problem<V>& p, Run&& run) {
  constexpr int products = 50;
  p.forget();
  const double many = graph_seconds(p.ctx, run, products);
  const double one = graph_seconds(p.ctx, run, 1);
  p.validate();
  const double seconds = (many - one) / (products - 1);
  state.counters["graph_of_one_us"] = one * 1e6;
  report_rates(state, compulsory_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz()), seconds, 0);
  return seconds;
}

enum class how { cold, in_graph };

template <class V, class Matrix>
double measure_plan(benchmark::State& state, spmv_problem<V>& p, const Matrix& matrix, const spmv_options& options,
                    how timed) {
  const auto start = std::chrono::steady_clock::now();
  const spmv_plan<V, index, index, device> plan(p.ctx, matrix.view(), options);
  p.ctx.synchronize();
  const double plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  state.SetLabel(std::string(to_string(plan.algorithm())) + ": " + plan.reason());
  const auto run = [&] { plan.run(V{1}, std::as_const(p.x).view(), V{0}, p.y.view()); };
  const double seconds = timed == how::cold ? measure(state, p, run) : measure_in_graph(state, p, run);
  state.counters["plan_ms"] = plan_seconds * 1e3;
  state.counters["plan_products"] = plan_seconds / seconds;
  state.counters["plan_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

template <class V>
void add_csr(const std::string& group, const std::string& source, const std::string& rung, const spmv_options& options,
             how timed) {
  add_case(group + "csr:" + rung, [=](benchmark::State& state) {
    auto& p = cached<spmv_problem<V>>(source);
    return measure_plan(state, p, p.matrix, options, timed);
  });
}

template <class V>
void add_peers(const std::string& group, const std::string& source, how timed) {
  for (const auto& rung : cusparse_rungs()) {
    add_peer(group + rung.name, [=](benchmark::State& state) {
      auto& p = cached<spmv_problem<V>>(source);
      cusparse_product<V> product(p, rung.layout, rung.algorithm, rung.preparation);
      return timed == how::cold ? measure(state, p, product) : measure_in_graph(state, p, product);
    });
  }
}

template <class V>
void add_matrix(const std::string& name, const std::string& source) {
  const std::string group = "spmv/" + name + "/" + precision_name<V> + "/cuda/";
  for (const auto algorithm : {spmv_algorithm::automatic, spmv_algorithm::row_per_thread, spmv_algorithm::row_per_warp,
                               spmv_algorithm::row_blocks, spmv_algorithm::merge_path, spmv_algorithm::column_passes,
                               spmv_algorithm::compressed, spmv_algorithm::blocked, spmv_algorithm::binned}) {
    add_csr<V>(group, source, std::string(to_string(algorithm)), {.algorithm = algorithm}, how::cold);
  }
  add_csr<V>(group, source, "automatic_copied", {.storage = spmv_storage::copied}, how::cold);
  add_case(group + "ell", [=](benchmark::State& state) {
    auto& p = cached<spmv_problem<V>>(source);
    return measure_plan(state, p, to_ell(p.ctx, p.matrix.view()), {.algorithm = spmv_algorithm::ell}, how::cold);
  });
  add_case(group + "sell", [=](benchmark::State& state) {
    auto& p = cached<spmv_problem<V>>(source);
    return measure_plan(state, p, to_sell(p.ctx, p.matrix.view()), {.algorithm = spmv_algorithm::sell}, how::cold);
  });
  for (const auto algorithm : {spmv_algorithm::coo_segmented, spmv_algorithm::coo_atomic}) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& p = cached<spmv_problem<V>>(source);
      return measure_plan(state, p, to_coo(p.ctx, p.matrix.view()), {.algorithm = algorithm}, how::cold);
    });
  }
  add_peers<V>(group, source, how::cold);
}

// Below a million entries latency counts: products run back to back.
template <class V>
void add_small(const std::string& name, const std::string& source) {
  const std::string group = "spmv/" + name + "/" + precision_name<V> + "/cuda_graph/";
  add_csr<V>(group, source, "automatic", {}, how::in_graph);
  add_csr<V>(group, source, "automatic_copied", {.storage = spmv_storage::copied}, how::in_graph);
  add_peers<V>(group, source, how::in_graph);
}

void add_all() {
  if (!current_settings().device) return;
  for (const auto& [name, source] :
       spmv_cases_or_file({{"laplacian2d_4096", "gen:laplacian2d:n=4096"},
                           {"laplacian3d27_160", "gen:laplacian3d:n=160,points=27"},
                           {"banded_8m_15", "gen:banded:rows=8388608,degree=15"},
                           {"uniform_8m_16", "gen:uniform:rows=8388608,degree=16"},
                           {"powerlaw_4m_16", "gen:powerlaw:rows=4194304,degree=16,max=1000000"},
                           {"rmat_22_16", "gen:rmat:scale=22,degree=16"},
                           {"empty_rows_16m", "gen:rmat:scale=24,degree=4"}})) {
    add_matrix<float>(name, source);
    add_matrix<double>(name, source);
  }
  for (const auto& [name, source] : spmv_cases_or_file({{"small_laplacian2d_100", "gen:laplacian2d:n=100"},
                                                        {"small_laplacian3d27_24", "gen:laplacian3d:n=24,points=27"},
                                                        {"small_rmat_14", "gen:rmat:scale=14,degree=16"},
                                                        {"small_banded_32k", "gen:banded:rows=32768,degree=27"}})) {
    add_small<float>(name, source);
    add_small<double>(name, source);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
