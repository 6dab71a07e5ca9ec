// BFS: the graphs, and on the host every algorithm beside the available peers.
#include "bench/bfs_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, bfs_algorithm algorithm, bfs_output output) {
  bfs_problem& p = bfs_problem::of(spec);
  bfs_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), {.algorithm = algorithm, .output = output});
  return measure_bfs(
      state, p, [&](bfs_index source) { plan.run(source); }, [&] { return plan.levels(); },
      [&] { return plan.parents(); });
}

double measure_peer(benchmark::State& state, const bfs_spec& spec, const bfs_peer& peer) {
  bfs_problem& p = bfs_problem::of(spec);
  const auto search = peer.make(p.graph.view());
  std::vector<std::int32_t> levels(static_cast<std::size_t>(p.graph.vertices()));
  std::vector<bfs_index> parents(levels.size());
  return measure_bfs(
      state, p, [&](bfs_index source) { search(source, levels, parents); },
      [&]() -> const std::vector<std::int32_t>& { return levels; },
      [&]() -> const std::vector<bfs_index>& { return parents; });
}

void add_host(const bfs_case& c) {
  if (!current_settings().host) return;
  const std::string group = "bfs/" + c.name + "/cpu/";
  for (const auto algorithm :
       {bfs_algorithm::sequential, bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing}) {
    if (!c.push_only_rungs && algorithm != bfs_algorithm::direction_optimizing) continue;
    for (const auto output : {bfs_output::levels, bfs_output::levels_and_parents}) {
      add_case(group + bfs_rung(algorithm, output),
               [=](benchmark::State& state) { return measure_plan(state, c.spec, algorithm, output); });
    }
  }
  if (!c.push_only_rungs) return;
  for (const auto& peer : bfs_peers()) {
    add_peer_of(peer.threads, group + peer.name + "+parents",
                [=](benchmark::State& state) { return measure_peer(state, c.spec, peer); });
  }
}

const std::vector<bfs_case>& built_in() {
  static const std::vector<bfs_case> all{
      {"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
      {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
      {"grid_2000", {"gen:grid2d:n=2000"}},
      {"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
      {"rmat_22_16_directed", {"gen:rmat:scale=22,degree=16", direction_kind::directed}},
      {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
      {"grid_2048", {"gen:grid2d:n=2048"}},
      {"rmat_24_16", {"gen:rmat:scale=24,degree=16"}, false},
      {"rmat_25_16", {"gen:rmat:scale=25,degree=16"}, false},
  };
  return all;
}

void add_all() {
  for (const bfs_case& c : bfs_cases_or_file(built_in())) {
    for (const auto& backend : bfs_backends()) {
      const bool takes = !current_settings().file.empty() ||
                         std::find(backend.built_in.begin(), backend.built_in.end(), c.name) != backend.built_in.end();
      if (takes) backend.add(c);
    }
  }
}

// Four graphs of the GAP suite's kinds; larger ones take minutes on the host and can be given on the command line.
const bool on_host =
    (bfs_backends().push_back({add_host, {"rmat_20_16", "uniform_1m_16", "grid_2000", "rmat_22_16"}}), true);

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
