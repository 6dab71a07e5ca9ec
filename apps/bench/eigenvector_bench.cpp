// Eigenvector centrality on both backends: the time of one step.
#include "bench/power_cases.hpp"

#include <spargo/graph/eigenvector.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         eigenvector_algorithm algorithm) {
  const eigenvector_options options{.algorithm = algorithm, .tolerance = 0, .max_iterations = power_steps};
  eigenvector_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_run([&] { plan.run(); });
  expect_no_fault(check_eigenvector(g.cpu(), g.host_view(),
                                    {g.fetch(plan.values()), plan.iterations(), plan.residual(), plan.converged(),
                                     plan.eigenvalue(), plan.algorithm()},
                                    options));
  return report_steps(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<eigenvector_algorithm>("eigenvector", measure, power_graphs()); }};

}  // namespace

}  // namespace spargo::bench
