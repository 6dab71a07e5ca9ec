// Spanning forests on the host: every algorithm.
#include "bench/forest_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, forest_algorithm algorithm) {
  const sssp_problem& p = sssp_problem::of(spec);
  forest_plan<sssp_weight, bfs_index, bfs_index, host> plan(p.ctx(), p.view(), {.algorithm = algorithm});
  return measure_forest(state, p, plan, [](const auto& values) { return values; });
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    const std::string group = "forest/" + c.name + "/cpu/";
    add_case(group + "kruskal", [c](benchmark::State& state) {
      state.counters[host_threads_used] = 1;
      return measure_plan(state, c.spec, forest_algorithm::kruskal);
    });
    add_case(group + "boruvka",
             [c](benchmark::State& state) { return measure_plan(state, c.spec, forest_algorithm::boruvka); });
  }
}};

}  // namespace

}  // namespace spargo::bench
