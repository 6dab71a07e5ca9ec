// Katz centrality on both backends: the time of one step.
#include "bench/power_cases.hpp"

#include <spargo/graph/katz.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         katz_algorithm algorithm) {
  const katz_options options{.algorithm = algorithm, .alpha = 1e-4, .tolerance = 0, .max_iterations = power_steps};
  katz_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_run([&] { plan.run(); });
  expect_no_fault(check_katz(
      g.cpu(), g.host_view(),
      {g.fetch(plan.values()), plan.iterations(), plan.residual(), plan.converged(), plan.alpha(), plan.algorithm()},
      options));
  return report_steps(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<katz_algorithm>("katz", measure, power_graphs()); }};

}  // namespace

}  // namespace spargo::bench
