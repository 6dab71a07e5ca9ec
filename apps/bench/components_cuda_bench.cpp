// Connected components on the device. A run never waits for the host, so CUDA events time it, with a cold L2 cache.
#include "bench/components_cases.hpp"
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, components_connection connection,
                    components_edges edges = components_edges::all) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  components_plan<bfs_index, bfs_index, device> plan(ctx, with_edges(p.graph_there->view(), edges),
                                                     {.connection = connection});
  const double seconds = device_seconds(ctx, [&] { plan.run(); });
  const auto labels = to_host(ctx, plan.labels());
  expect_components(p, labels.view(), connection);
  report_components(state, p, seconds);
  state.counters["components"] = static_cast<double>(plan.count());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const bfs_case& c : device_graphs_or_file()) {
    add_case(components_group(c, components_connection::weak) + "/cuda/afforest",
             [c](benchmark::State& state) { return measure_plan(state, c.spec, components_connection::weak); });
    if (c.spec.direction == direction_kind::undirected) continue;
    add_case(components_group(c, components_connection::weak) + "/cuda/afforest_out_edges",
             [c](benchmark::State& state) {
               return measure_plan(state, c.spec, components_connection::weak, components_edges::out);
             });
  }
  for (const bfs_case& c : bfs_cases_or_file(
           {{"rmat_22_16_directed", {"gen:rmat:scale=22,degree=16", direction_kind::directed}},
            {"uniform_4m_16_directed", {"gen:uniform:rows=4194304,degree=16", direction_kind::directed}},
            {"uniform_4m_2_directed", {"gen:uniform:rows=4194304,degree=2", direction_kind::directed}}})) {
    add_case(components_group(c, components_connection::strong) + "/cuda/forward_backward",
             [c](benchmark::State& state) { return measure_plan(state, c.spec, components_connection::strong); });
  }
}};

}  // namespace

}  // namespace spargo::bench
