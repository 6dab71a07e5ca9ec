// Spanning forests on both backends, with the weights of the shortest paths benchmarks.
#include "bench/plan_cases.hpp"

#include <spargo/graph/forest.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         forest_algorithm algorithm) {
  forest_plan<sssp_weight, bfs_index, bfs_index, Space> plan(g.ctx(), g.weighted(), {.algorithm = algorithm});
  const double seconds = g.median_run([&] { plan.run(); });
  expect_no_fault(check_forest(g.cpu(), g.host_weighted(), g.fetch(plan.sources()), g.fetch(plan.targets()),
                               g.fetch(plan.weights())));
  state.counters["total_weight"] = static_cast<double>(plan.total_weight());
  if (algorithm == forest_algorithm::kruskal) state.counters[host_threads_used] = 1;
  return report_plan(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<forest_algorithm>("forest", measure, plan_graphs().undirected()); }};

}  // namespace

}  // namespace spargo::bench
