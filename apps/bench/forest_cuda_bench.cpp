// Spanning forests on the device. A run synchronizes, so the host clock times all of it.
#include "bench/device_timing.hpp"
#include "bench/forest_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec) {
  const sssp_problem& p = sssp_problem::of(spec);
  const context<device>& ctx = device_context();
  forest_plan<sssp_weight, bfs_index, bfs_index, device> plan(ctx, p.view_there());
  return measure_forest(state, p, plan, [&](const auto& values) { return to_host(ctx, values); });
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                              {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                              {"grid_2048", {"gen:grid2d:n=2048"}}})) {
    add_case("forest/" + c.name + "/cuda/boruvka",
             [c](benchmark::State& state) { return measure_plan(state, c.spec); });
  }
}};

}  // namespace

}  // namespace spargo::bench
