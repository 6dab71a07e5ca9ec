// HITS on both backends: the time of one step, which multiplies twice.
#include "bench/power_cases.hpp"

#include <spargo/graph/hits.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         hits_algorithm algorithm) {
  const hits_options options{.algorithm = algorithm, .tolerance = 0, .max_iterations = power_steps};
  hits_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_run([&] { plan.run(); });
  expect_no_fault(check_hits(g.cpu(), g.host_view(),
                             {g.fetch(plan.hubs()), g.fetch(plan.authorities()), plan.iterations(), plan.residual(),
                              plan.converged(), plan.algorithm()},
                             options));
  return report_steps(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<hits_algorithm>("hits", measure, power_graphs()); }};

}  // namespace

}  // namespace spargo::bench
