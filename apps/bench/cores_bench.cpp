// Core numbers on both backends.
#include "bench/plan_cases.hpp"

#include <spargo/graph/cores.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         cores_algorithm algorithm) {
  cores_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), {.algorithm = algorithm});
  const double seconds = g.median_run([&] { plan.run(); }, g.on_host ? 5 : 25, g.on_host ? 1 : 3);
  expect_no_fault(check_cores(g.cpu(), g.host_view(), g.fetch(plan.cores())));
  state.counters["max_core"] = static_cast<double>(plan.max_core());
  return report_plan(state, g, plan, seconds);
};

const registration here{[] { add_plan_cases<cores_algorithm>("cores", measure); }};

}  // namespace

}  // namespace spargo::bench
