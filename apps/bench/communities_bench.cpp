// Label propagation on both backends: every algorithm, ten rounds. Million stored edges per second are counted in each
// round, even if it is skipped.
#include "bench/plan_cases.hpp"

#include <spargo/graph/communities.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         communities_algorithm algorithm) {
  const communities_options options{.algorithm = algorithm, .iterations = 10};
  communities_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_run([&] { plan.run(); });
  expect_no_fault(check_communities(g.cpu(), g.host_view(), g.fetch(plan.labels()), options));
  report_plan(state, g, plan, seconds / static_cast<double>(options.iterations));
  state.counters["rounds"] = static_cast<double>(plan.rounds());
  state.counters["communities"] = static_cast<double>(plan.count());
  return seconds;
};

const registration here{[] {
  plan_graphs graphs;
  graphs.on_host =
      bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                         {"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}},
                         {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                         {"grid_2000", {"gen:grid2d:n=2000"}}});
  add_plan_cases<communities_algorithm>("communities", measure, graphs);
}};

}  // namespace

}  // namespace spargo::bench
