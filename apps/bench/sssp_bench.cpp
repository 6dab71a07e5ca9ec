// Shortest paths on the host: every algorithm beside the available peers.
#include "bench/sssp_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, sssp_algorithm algorithm, sssp_output output) {
  const sssp_problem& p = sssp_problem::of(spec);
  sssp_plan<sssp_weight, bfs_index, bfs_index, host> plan(p.ctx(), p.view(),
                                                          {.algorithm = algorithm, .output = output});
  return measure_sssp(
      state, p, [&](bfs_index source) { plan.run(source); }, [&] { return plan.distances(); },
      [&] { return plan.parents(); });
}

double measure_peer(benchmark::State& state, const bfs_spec& spec, const sssp_peer& peer) {
  const sssp_problem& p = sssp_problem::of(spec);
  const auto search = peer.make(p.view());
  std::vector<std::int64_t> distances(static_cast<std::size_t>(p.view().vertices()));
  return measure_sssp(
      state, p, [&](bfs_index source) { search(source, distances); },
      [&] { return span<const std::int64_t, host>(distances); }, [] { return span<const bfs_index, host>(); });
}

void add(const bfs_case& c) {
  const std::string group = "sssp/" + c.name + "/cpu/";
  add_case(group + "dijkstra", [c](benchmark::State& state) {
    state.counters[host_threads_used] = 1;
    return measure_plan(state, c.spec, sssp_algorithm::dijkstra, sssp_output::distances);
  });
  add_case(group + "delta_stepping", [c](benchmark::State& state) {
    return measure_plan(state, c.spec, sssp_algorithm::delta_stepping, sssp_output::distances);
  });
  add_case(group + "delta_stepping+parents", [c](benchmark::State& state) {
    return measure_plan(state, c.spec, sssp_algorithm::delta_stepping, sssp_output::distances_and_parents);
  });
  for (const auto& peer : sssp_peers()) {
    add_peer_of(1, group + peer.name, [=](benchmark::State& state) { return measure_peer(state, c.spec, peer); });
  }
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    add(c);
  }
}};

}  // namespace

}  // namespace spargo::bench
