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
  graphs.on_device = bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                        {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                        {"grid_2048", {"gen:grid2d:n=2048"}}});
  graphs.take_as_undirected();
  const auto add = [&]<class Space>(std::type_identity<Space>, const std::vector<bfs_case>& cases) {
    for (const bfs_case& c : cases) {
      add_plan_case<Space>(c, "trusses", "peel", std::int64_t{0}, measure);
      add_plan_case<Space>(c, "trusses", "peel_k10", std::int64_t{10}, measure);
    }
  };
  if (current_settings().host) add(std::type_identity<host>{}, graphs.on_host);
  if (current_settings().device) add(std::type_identity<device>{}, graphs.on_device);
}};

}  // namespace

}  // namespace spargo::bench
