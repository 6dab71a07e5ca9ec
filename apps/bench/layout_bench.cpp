// ForceAtlas2 on both backends: the time of one step, from positions that a multilevel start has spread.
#include "bench/plan_cases.hpp"

#include <spargo/graph/layout.hpp>

namespace spargo::bench {

namespace {

constexpr std::int64_t steps = 20;

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         layout_algorithm algorithm) {
  const layout_options options{.algorithm = algorithm, .iterations = steps};
  layout_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  plan.run();
  const array<double, Space> start = clone(g.ctx(), plan.positions());
  const double seconds = g.median_run([&] { plan.run(start.view()); }, g.on_host ? 1 : 20, g.on_host ? 0 : 2);
  const layout_result<host> found{g.fetch(plan.positions()), g.fetch(plan.forces()), plan.algorithm()};
  expect_no_fault(check_layout(g.cpu(), g.host_view(), found, options));
  state.counters["step_ms"] = 1e3 * seconds / (steps + 1);  // forces are computed once more at the end
  return report_plan(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<layout_algorithm>("layout", measure); }};

}  // namespace

}  // namespace spargo::bench
