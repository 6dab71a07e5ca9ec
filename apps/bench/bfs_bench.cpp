// BFS on the host: every algorithm beside the peers that this machine has.
#include "bench/bfs_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_problem& p, bfs_algorithm algorithm) {
  bfs_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), {.algorithm = algorithm});
  return measure_bfs(
      state, p, [&](bfs_index source) { plan.run(source); }, [&] { return plan.levels(); },
      [&] { return plan.parents(); }, 1);
}

double measure_peer(benchmark::State& state, const bfs_problem& p, const bfs_peer& peer) {
  const auto search = peer.make(p.graph.view());
  std::vector<std::int32_t> levels(static_cast<std::size_t>(p.graph.vertices()));
  std::vector<bfs_index> parents(levels.size());
  state.counters[is_peer] = 1;
  return measure_bfs(
      state, p, [&](bfs_index source) { search(source, levels, parents); },
      [&]() -> const std::vector<std::int32_t>& { return levels; },
      [&]() -> const std::vector<bfs_index>& { return parents; }, 1);
}

void add_graph(const std::string& name, const std::string& spec) {
  const std::string group = "bfs/" + name + "/cpu/";
  for (const auto algorithm :
       {bfs_algorithm::sequential, bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing}) {
    add_case(group + std::string(to_string(algorithm)),
             [=](benchmark::State& state) { return measure_plan(state, bfs_problem::of(spec), algorithm); });
  }
  for (const auto& peer : bfs_peers()) {
    add_case(group + peer.name,
             [=](benchmark::State& state) { return measure_peer(state, bfs_problem::of(spec), peer); });
  }
}

void add_all() {
  if (!current_settings().host) return;
  add_graph("rmat_20_16", "gen:rmat:scale=20,degree=16");
  add_graph("uniform_1m_16", "gen:uniform:rows=1048576,degree=16");
  add_graph("grid_2000", "gen:grid2d:n=2000");
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
