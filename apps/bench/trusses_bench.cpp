// Trusses: the truss numbers of all edges (peel), and the 10-truss alone (peel_k10).
#include "bench/plan_cases.hpp"

#include <spargo/graph/trusses.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g, std::int64_t k) {
  trusses_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), {.algorithm = trusses_algorithm::peel, .k = k});
  const double seconds = g.median_run([&] { plan.run(); }, g.on_host ? 3 : 5);
  const auto sources = g.fetch(plan.sources());
  const auto targets = g.fetch(plan.targets());
  const auto numbers = g.fetch(plan.numbers());
  expect_no_fault(check_trusses(g.cpu(), g.host_view(), {sources, targets, numbers, k}));
  state.counters["max_k"] = static_cast<double>(plan.max_k());
  state.counters["edges"] = static_cast<double>(sources.size());
  return report_plan(state, g, plan, seconds);
};

const registration here{[] {
  plan_graphs graphs;
  graphs.on_host = bfs_cases_or_file({{"rmat_18_16", {"gen:rmat:scale=18,degree=16"}},
                                      {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                      {"grid_2000", {"gen:grid2d:n=2000"}}});
  add_plan_cases<std::int64_t>("trusses", {{"peel", 0}, {"peel_k10", 10}}, measure, std::move(graphs).undirected());
}};

}  // namespace

}  // namespace spargo::bench
