// Shortest paths on both backends: every algorithm, on the host beside the available peers. A search on a device
// synchronizes at its end, so the host clock times all of it.
#include "bench/plan_cases.hpp"

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         const sssp_options& options) {
  sssp_plan<sssp_weight, bfs_index, bfs_index, Space> plan(g.ctx(), g.weighted(), options);
  array<std::int64_t, host> distances;
  array<bfs_index, host> parents;
  const double seconds = measure_sssp(
      state, g.weighted_problem(), [&](bfs_index source) { plan.run(source); },
      [&] { return std::as_const(distances = g.fetch(plan.distances())).view(); },
      [&] { return std::as_const(parents = g.fetch(plan.parents())).view(); });
  if (options.algorithm == sssp_algorithm::dijkstra) state.counters[host_threads_used] = 1;
  state.counters["delta"] = plan.delta();
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
};

double measure_peer(benchmark::State& state, const bfs_spec& spec, const sssp_peer& peer) {
  const sssp_problem& p = sssp_problem::of(spec);
  const auto search = peer.make(p.view());
  std::vector<std::int64_t> distances(static_cast<std::size_t>(p.view().vertices()));
  return measure_sssp(
      state, p, [&](bfs_index source) { search(source, distances); },
      [&] { return span<const std::int64_t, host>(distances); }, [] { return span<const bfs_index, host>(); });
}

template <class Space>
void add(const bfs_case& c) {
  using enum sssp_algorithm;
  const auto add_one = [&](const char* name, const sssp_options& options) {
    add_plan_case<Space>(c, "sssp", name, options, measure);
  };
  if (std::same_as<Space, host>) add_one("dijkstra", {.algorithm = dijkstra, .output = sssp_output::distances});
  add_one("delta_stepping", {.algorithm = delta_stepping, .output = sssp_output::distances});
  add_one("delta_stepping+parents", {.algorithm = delta_stepping});
}

const registration here{[] {
  const auto host_graphs = bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_2000", {"gen:grid2d:n=2000"}}});
  for (const bfs_case& c : current_settings().host ? host_graphs : std::vector<bfs_case>()) {
    add<host>(c);
    for (const auto& peer : sssp_peers()) {
      add_peer_of(1, "sssp/" + c.name + "/cpu/" + peer.name,
                  [=](benchmark::State& state) { return measure_peer(state, c.spec, peer); });
    }
  }
  if (!current_settings().device) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                              {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                              {"grid_2048", {"gen:grid2d:n=2048"}}})) {
    add<device>(c);
  }
}};

}  // namespace

}  // namespace spargo::bench
