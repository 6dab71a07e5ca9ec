// Triangles on the host, and counts per vertex. The graphs are those of the BFS benchmarks; a case reports the median
// time of a plan's runs, orientation included, and million edges a second. Merging is tried where rows are short: R-MAT
// 18 would take it 20 s. Totals are compared with those of check_triangles, which counts again, once for each graph.
#include "bench/bfs_problem.hpp"

#include <spargo/graph/triangles.hpp>

#include <string>
#include <vector>

namespace spargo::bench {

namespace {

void expect_counts(const bfs_problem& p, const triangles_plan<bfs_index, bfs_index, host>& plan) {
  static std::string checked;  // the graph that `right` is of
  static std::int64_t right = -1;
  if (checked != p.spec.source || !plan.per_vertex().empty()) {
    const std::string wrong = check_triangles(
        p.ctx, p.graph, {.total = plan.total(), .per_vertex = plan.per_vertex(), .degrees = plan.degrees()});
    if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
    checked = p.spec.source;
    right = plan.total();
  }
  if (plan.total() != right) throw wrong_result("wrong result: " + std::to_string(plan.total()) + " triangles");
}

double measure_plan(benchmark::State& state, const bfs_spec& spec, const triangles_options& options) {
  bfs_problem& p = bfs_problem::of(spec);
  triangles_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), options);
  const double seconds = median_seconds([&] { plan.run(); }, 5, 1);
  expect_counts(p, plan);
  state.counters[mteps] = static_cast<double>(p.graph.edges()) / seconds * 1e-6;
  state.counters["triangles"] = static_cast<double>(plan.total());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

void add(const std::string& name, const bfs_spec& spec, const std::vector<triangles_algorithm>& algorithms) {
  const std::string group = "triangles/" + name + "/cpu/";
  for (const auto algorithm : algorithms) {
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
  add("rmat_18_16", {"gen:rmat:scale=18,degree=16"}, {bitmap});
  add("rmat_20_16", {"gen:rmat:scale=20,degree=16"}, {bitmap});
  add("uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}, {merge, bitmap});
  add("grid_2000", {"gen:grid2d:n=2000"}, {merge, bitmap});
}};

}  // namespace

}  // namespace spargo::bench
