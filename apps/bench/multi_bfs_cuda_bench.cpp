// BFS from many sources on the device, beside as many single searches; timed by the host clock (runs synchronise).
#include "bench/multi_bfs_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, const multi_bfs_rung& rung) {
  const multi_bfs_problem p(bfs_problem::of(spec), rung.sources);
  const context<device> ctx;
  const auto graph_there = to_device(ctx, p.on.graph.view());
  multi_bfs_plan<bfs_index, bfs_index, device> plan(ctx, graph_there.view(), rung.sources, {.output = rung.output});
  const double seconds = median_seconds([&] { plan.run(p.sources); });
  const auto levels = to_host(ctx, plan.levels());
  p.check(plan.counts(), levels.view());
  return note_edges(state, p.edges, seconds);
}

double measure_singles(benchmark::State& state, const bfs_spec& spec) {
  const multi_bfs_problem p(bfs_problem::of(spec), 64);
  const context<device> ctx;
  const auto graph_there = to_device(ctx, p.on.graph.view());
  bfs_plan<bfs_index, bfs_index, device> plan(ctx, graph_there.view(), {.output = bfs_output::levels});
  const auto run = [&] {
    for (const bfs_index source : p.sources) plan.run(source);
  };
  return note_edges(state, p.edges, median_seconds(run, 5, 1));
}

void add_graph(const bfs_case& c) {
  const std::string group = "multi_bfs/" + c.name + "/cuda/";
  add_case(group + "64_single", [c](benchmark::State& state) { return measure_singles(state, c.spec); });
  for (const multi_bfs_rung& rung : multi_bfs_rungs()) {
    add_case(group + rung.name, [c, rung](benchmark::State& state) { return measure_plan(state, c.spec, rung); });
  }
}

void add_all() {
  if (!current_settings().device) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                              {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                              {"grid_2048", {"gen:grid2d:n=2048"}}})) {
    add_graph(c);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
