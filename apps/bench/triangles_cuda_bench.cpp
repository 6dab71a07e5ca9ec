// Triangles on the device, and counts per vertex, timed by CUDA events with a cold L2 cache (runs never wait).
#include "bench/device_timing.hpp"
#include "bench/triangles_cases.hpp"

#include <string>

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, const triangles_options& options) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  triangles_plan<bfs_index, bfs_index, device> plan(ctx, p.graph_there->view(), options);
  const double seconds = device_seconds(ctx, [&] { plan.run(); });
  const auto per_vertex = to_host(ctx, plan.per_vertex());
  const auto degrees = to_host(ctx, plan.degrees());
  expect_triangles(p, {.total = plan.total(), .per_vertex = per_vertex, .degrees = degrees});
  report_triangles(state, p, plan, seconds);
  return seconds;
}

void add(const triangles_case& c) {
  const std::string group = "triangles/" + c.graph.name + "/cuda/";
  const bfs_spec& spec = c.graph.spec;
  for (const auto algorithm : c.algorithms) {
    const triangles_options options{.algorithm = algorithm};
    add_case(group + std::string(to_string(algorithm)),
             [=](benchmark::State& state) { return measure_plan(state, spec, options); });
  }
  const triangles_options per_vertex{.output = triangles_output::per_vertex};
  add_case(group + "automatic+per_vertex",
           [=](benchmark::State& state) { return measure_plan(state, spec, per_vertex); });
}

const registration here{[] {
  if (!current_settings().device) return;
  constexpr auto merge = triangles_algorithm::merge;
  constexpr auto bitmap = triangles_algorithm::bitmap;
  for (const triangles_case& c :
       triangles_cases_or_file({{{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}}, {bitmap}},
                                {{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}}, {bitmap}},
                                {{"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}}, {merge, bitmap}},
                                {{"grid_2048", {"gen:grid2d:n=2048"}}, {merge, bitmap}}})) {
    add(c);
  }
}};

}  // namespace

}  // namespace spargo::bench
