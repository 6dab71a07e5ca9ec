// Maximal matchings on both backends.
#include "bench/plan_cases.hpp"

#include <spargo/graph/matching.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         greedy_algorithm algorithm) {
  matching_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), {.algorithm = algorithm});
  const double seconds = g.median_run([&] { plan.run(); }, g.on_host ? 5 : 25, g.on_host ? 1 : 3);
  expect_no_fault(check_matching(g.cpu(), g.host_view(), g.fetch(plan.mates()), plan.size()));
  state.counters["size"] = static_cast<double>(plan.size());
  return report_plan(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<greedy_algorithm>("matching", measure); }};

}  // namespace

}  // namespace spargo::bench
