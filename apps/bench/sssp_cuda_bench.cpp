// Shortest paths on the device. A search synchronises at its end, so the host clock times all of it.
#include "bench/device_timing.hpp"
#include "bench/sssp_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, sssp_output output) {
  const sssp_problem& p = sssp_problem::of(spec);
  const context<device>& ctx = device_context();
  sssp_plan<sssp_weight, bfs_index, bfs_index, device> plan(ctx, p.view_there(), {.output = output});
  array<std::int64_t, host> distances;
  array<bfs_index, host> parents;
  const double seconds = measure_sssp(
      state, p, [&](bfs_index source) { plan.run(source); },
      [&] { return std::as_const(distances = to_host(ctx, plan.distances())).view(); },
      [&] { return std::as_const(parents = to_host(ctx, plan.parents())).view(); });
  state.counters["delta"] = plan.delta();
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                              {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                              {"grid_2048", {"gen:grid2d:n=2048"}}})) {
    const std::string name = "sssp/" + c.name + "/cuda/delta_stepping";
    add_case(name, [c](benchmark::State& state) { return measure_plan(state, c.spec, sssp_output::distances); });
    add_case(name + "+parents",
             [c](benchmark::State& state) { return measure_plan(state, c.spec, sssp_output::distances_and_parents); });
  }
}};

}  // namespace

}  // namespace spargo::bench
