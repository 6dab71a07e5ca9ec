// Connected components on the host: every algorithm beside the available peers.
#include "bench/components_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, components_algorithm algorithm,
                    components_connection connection, components_edges edges = components_edges::all) {
  bfs_problem& p = bfs_problem::of(spec);
  components_plan<bfs_index, bfs_index, host> plan(p.ctx, with_edges(p.graph.view(), edges),
                                                   {.connection = connection, .algorithm = algorithm});
  const double seconds = median_seconds([&] { plan.run(); }, 11, 2);
  expect_components(p, plan.labels(), connection);
  report_components(state, p, seconds);
  return seconds;
}

// Component numbers to labels: the smallest vertex of each.
void relabel(std::vector<bfs_index>& numbers) {
  std::vector<bfs_index> first(numbers.size(), -1);
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    bfs_index& smallest = first.at(static_cast<std::size_t>(numbers[v]));
    if (smallest < 0) smallest = static_cast<bfs_index>(v);
    numbers[v] = smallest;
  }
}

double measure_peer(benchmark::State& state, const bfs_spec& spec, const components_peer& peer) {
  bfs_problem& p = bfs_problem::of(spec);
  const auto find = peer.make(p.graph.view());
  std::vector<bfs_index> numbers(static_cast<std::size_t>(p.graph.vertices()));
  const double seconds = median_seconds([&] { find(numbers); }, 5, 1);
  relabel(numbers);
  expect_components(p, numbers, peer.connection);
  report_components(state, p, seconds);
  return seconds;
}

void add(const bfs_case& c, components_connection connection, const std::vector<components_algorithm>& algorithms) {
  const std::string group = components_group(c, connection) + "/cpu/";
  for (const auto algorithm : algorithms) {
    const bool alone = algorithm == components_algorithm::union_find || algorithm == components_algorithm::tarjan;
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      if (alone) state.counters[host_threads_used] = 1;
      return measure_plan(state, c.spec, algorithm, connection);
    });
  }
  for (const auto& peer : components_peers()) {
    if (peer.connection != connection) continue;
    add_peer_of(1, group + peer.name, [=](benchmark::State& state) { return measure_peer(state, c.spec, peer); });
  }
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    add(c, components_connection::weak, {components_algorithm::union_find, components_algorithm::afforest});
  }
  for (const bfs_case& c : bfs_cases_or_file(
           {{"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}},
            {"uniform_1m_4_directed", {"gen:uniform:rows=1048576,degree=4", direction_kind::directed}}})) {
    add(c, components_connection::strong, {components_algorithm::tarjan, components_algorithm::forward_backward});
    for (const auto edges : {components_edges::all, components_edges::out}) {
      const std::string name = edges == components_edges::all ? "afforest" : "afforest_out_edges";
      add_case(components_group(c, components_connection::weak) + "/cpu/" + name, [=](benchmark::State& state) {
        return measure_plan(state, c.spec, components_algorithm::afforest, components_connection::weak, edges);
      });
    }
  }
}};

}  // namespace

}  // namespace spargo::bench
