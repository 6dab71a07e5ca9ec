// BFS from many sources at once on the host, beside as many single searches.
#include "bench/multi_bfs_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, const multi_bfs_rung& rung) {
  const multi_bfs_problem p(bfs_problem::of(spec), rung.sources);
  multi_bfs_plan<bfs_index, bfs_index, host> plan(p.on.ctx, p.on.graph.view(), rung.sources, {.output = rung.output});
  const double seconds = median_seconds([&] { plan.run(p.sources); }, 5, 1);
  p.check(plan.counts(), plan.levels());
  return note_edges(state, p.edges, seconds);
}

double measure_singles(benchmark::State& state, const bfs_spec& spec) {
  const multi_bfs_problem p(bfs_problem::of(spec), 64);
  bfs_plan<bfs_index, bfs_index, host> plan(p.on.ctx, p.on.graph.view(), {.output = bfs_output::levels});
  const auto run = [&] {
    for (const bfs_index source : p.sources) plan.run(source);
  };
  return note_edges(state, p.edges, median_seconds(run, 3, 1));
}

void add_graph(const bfs_case& c) {
  const std::string group = "multi_bfs/" + c.name + "/cpu/";
  add_case(group + "64_single", [c](benchmark::State& state) { return measure_singles(state, c.spec); });
  for (const multi_bfs_rung& rung : multi_bfs_rungs()) {
    add_case(group + rung.name, [c, rung](benchmark::State& state) { return measure_plan(state, c.spec, rung); });
  }
}

void add_all() {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}}})) {
    add_graph(c);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
