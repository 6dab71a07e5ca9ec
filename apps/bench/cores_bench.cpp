// Core numbers on the host: the median time of a plan's runs, and million stored edges per second, each counted once.
#include "bench/bfs_cases.hpp"

#include <spargo/graph/cores.hpp>

#include <string>

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec) {
  bfs_problem& p = bfs_problem::of(spec);
  cores_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view());
  const double seconds = median_seconds([&] { plan.run(); }, 5, 1);
  const std::string wrong = check_cores(p.ctx, p.graph.view(), plan.cores());
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
  state.counters[mteps] = static_cast<double>(p.graph.view().out.nnz()) / seconds * 1e-6;
  state.counters["max_core"] = static_cast<double>(plan.max_core());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    add_case("cores/" + c.name + "/cpu/peel", [=](benchmark::State& state) { return measure_plan(state, c.spec); });
  }
}};

}  // namespace

}  // namespace spargo::bench
