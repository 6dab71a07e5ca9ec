// Many searches at once on the host, beside as many single ones.
#include "bench/multi_bfs_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const std::string& spec, const multi_bfs_rung& rung) {
  const multi_bfs_problem p(bfs_problem::of(spec), rung.sources);
  multi_bfs_plan<bfs_index, bfs_index, host> plan(p.on.ctx, p.on.graph.view(), rung.sources, {.output = rung.output});
  const double seconds = median_seconds([&] { plan.run(p.sources); }, 5, 1);
  p.check(plan.counts(), plan.levels());
  return note_edges(state, p.edges, seconds);
}

double measure_singles(benchmark::State& state, const std::string& spec) {
  const multi_bfs_problem p(bfs_problem::of(spec), 64);
  bfs_plan<bfs_index, bfs_index, host> plan(p.on.ctx, p.on.graph.view(), {.output = bfs_output::levels});
  const auto run = [&] {
    for (const bfs_index source : p.sources) plan.run(source);
  };
  return note_edges(state, p.edges, median_seconds(run, 3, 1));
}

void add_graph(const std::string& name, const std::string& spec) {
  const std::string group = "multi_bfs/" + name + "/cpu/";
  add_case(group + "64_single", [=](benchmark::State& state) { return measure_singles(state, spec); });
  for (const multi_bfs_rung& rung : multi_bfs_rungs()) {
    add_case(group + rung.name, [=](benchmark::State& state) { return measure_plan(state, spec, rung); });
  }
}

void add_all() {
  if (!current_settings().host) return;
  add_graph("rmat_20_16", "gen:rmat:scale=20,degree=16");
  add_graph("uniform_1m_16", "gen:uniform:rows=1048576,degree=16");
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
