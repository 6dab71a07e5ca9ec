// PageRank on the device: one Jacobi step. The host checks for convergence now and then, so the host clock times a run,
// twenty steps at once. `plan` cases: the cost of a plan, including its copy of the graph.
#include "bench/device_timing.hpp"
#include "bench/pagerank_cases.hpp"

namespace spargo::bench {

namespace {

pagerank_options options_with(pagerank_copy copy) {
  pagerank_options options = pagerank_steps_options();
  options.copy = copy;
  return options;
}

template <class V>
double measure(benchmark::State& state, const bfs_spec& spec, pagerank_copy copy) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  pagerank_plan<V, bfs_index, bfs_index, device> plan(ctx, p.graph_there->view(), options_with(copy));
  const double seconds = median_seconds([&] {
    plan.run();
    ctx.synchronize();
  });
  const auto ranks = to_host(ctx, plan.ranks());
  expect_ranks<V>(p, ranks.view(), pagerank_steps_options());
  const double step = seconds / static_cast<double>(pagerank_steps);
  report_step<V>(state, p, step);
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return step;
}

template <class V>
double measure_plan(const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  return median_seconds([&] {
    const pagerank_plan<V, bfs_index, bfs_index, device> plan(ctx, p.graph_there->view(), pagerank_steps_options());
    ctx.synchronize();
  });
}

template <class V>
void add(const bfs_case& c) {
  const std::string step = pagerank_group<V>(c) + "/step/cuda/jacobi";
  add_case(step, [c](benchmark::State& state) { return measure<V>(state, c.spec, pagerank_copy::automatic); });
  add_case(step + "_no_copy", [c](benchmark::State& state) { return measure<V>(state, c.spec, pagerank_copy::none); });
  add_case(pagerank_group<V>(c) + "/plan/cuda/jacobi", [c](benchmark::State&) { return measure_plan<V>(c.spec); });
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const bfs_case& c : device_graphs_or_file()) {
    add<float>(c);
    add<double>(c);
  }
}};

}  // namespace

}  // namespace spargo::bench
