// Label propagation on the device: every algorithm, ten rounds, timed by the host clock (the host checks each round).
#include "bench/communities_cases.hpp"
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, communities_algorithm algorithm) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  communities_plan<bfs_index, bfs_index, device> plan(ctx, p.graph_there->view(), ten_rounds(algorithm));
  const double seconds = median_seconds(
      [&] {
        plan.run();
        ctx.synchronize();
      },
      5, 1);
  const auto labels = to_host(ctx, plan.labels());
  expect_communities(p, labels.view());
  report_communities(state, p, plan, seconds);
  return seconds;
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const bfs_case& c : device_graphs_or_file()) {
    for (const auto algorithm : {communities_algorithm::all_vertices, communities_algorithm::frontier}) {
      add_case("communities/" + c.name + "/cuda/" + std::string(to_string(algorithm)),
               [=](benchmark::State& state) { return measure_plan(state, c.spec, algorithm); });
    }
  }
}};

}  // namespace

}  // namespace spargo::bench
