// Betweenness on the device, from 4 sources. A run synchronises at its end, so the host clock times all of it.
#include "bench/betweenness_cases.hpp"
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  const std::vector<bfs_index> sources = betweenness_list(p, betweenness_sources::four);
  betweenness_plan<bfs_index, bfs_index, device> plan(ctx, p.graph_there->view());
  const double seconds = median_seconds([&] { plan.run(sources); });
  const auto values = to_host(ctx, plan.values());
  expect_betweenness(p, values.view(), sources);
  report_betweenness(state, p, sources.size(), seconds);
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const bfs_case& c : device_graphs_or_file()) {
    add_case(betweenness_group(c) + "/cuda/by_level",
             [c](benchmark::State& state) { return measure_plan(state, c.spec); });
  }
}};

}  // namespace

}  // namespace spargo::bench
