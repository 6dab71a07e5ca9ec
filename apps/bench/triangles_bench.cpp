// Triangles on the host, and counts per vertex. Merging runs only where rows are short: R-MAT 18 would take 20 s.
#include "bench/triangles_cases.hpp"

#include <string>

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, const triangles_options& options) {
  bfs_problem& p = bfs_problem::of(spec);
  triangles_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), options);
  const double seconds = median_seconds([&] { plan.run(); }, 5, 1);
  expect_triangles(p, {.total = plan.total(), .per_vertex = plan.per_vertex(), .degrees = plan.degrees()});
  report_triangles(state, p, plan, seconds);
  return seconds;
}

void add(const triangles_case& c) {
  const std::string group = "triangles/" + c.graph.name + "/cpu/";
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
  if (!current_settings().host) return;
  constexpr auto merge = triangles_algorithm::merge;
  constexpr auto bitmap = triangles_algorithm::bitmap;
  for (const triangles_case& c :
       triangles_cases_or_file({{{"rmat_18_16", {"gen:rmat:scale=18,degree=16"}}, {bitmap}},
                                {{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}}, {bitmap}},
                                {{"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}}, {merge, bitmap}},
                                {{"grid_2000", {"gen:grid2d:n=2000"}}, {merge, bitmap}}})) {
    add(c);
  }
}};

}  // namespace

}  // namespace spargo::bench
