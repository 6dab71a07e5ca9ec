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

const registration here{[] {
  plan_graphs graphs;
  graphs.on_device = bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                        {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                        {"grid_2048", {"gen:grid2d:n=2048"}}});
  graphs.take_as_undirected();
  add_plan_cases<forest_algorithm>("forest", measure, graphs);
}};

}  // namespace

}  // namespace spargo::bench
