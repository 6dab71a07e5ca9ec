// Betweenness on the host: every algorithm from 4 sources of large graphs; from all of a small one, beside peers.
#include "bench/betweenness_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, betweenness_algorithm algorithm,
                    betweenness_sources wanted) {
  bfs_problem& p = bfs_problem::of(spec);
  const std::vector<bfs_index> sources = betweenness_list(p, wanted);
  betweenness_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), {.algorithm = algorithm});
  const double seconds = median_seconds([&] { plan.run(sources); }, 7, 1);
  expect_betweenness(p, plan.values(), sources);
  report_betweenness(state, p, sources.size(), seconds);
  return seconds;
}

double measure_peer(benchmark::State& state, const bfs_spec& spec, const betweenness_peer& peer) {
  bfs_problem& p = bfs_problem::of(spec);
  const auto find = peer.make(p.graph.view());
  std::vector<double> sums(static_cast<std::size_t>(p.graph.vertices()));
  const double seconds = median_seconds([&] { find(sums); }, 3, 0);
  for (double& sum : sums) sum /= 2;
  expect_betweenness(p, sums, {});
  report_betweenness(state, p, 0, seconds);
  return seconds;
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    for (const auto algorithm : {betweenness_algorithm::by_level, betweenness_algorithm::by_source}) {
      add_case(betweenness_group(c) + "/cpu/" + std::string(to_string(algorithm)), [=](benchmark::State& state) {
        return measure_plan(state, c.spec, algorithm, betweenness_sources::four);
      });
    }
  }
  if (!current_settings().file.empty()) return;
  const bfs_case small{"rmat_11_16_all", {"gen:rmat:scale=11,degree=16"}};
  for (const auto algorithm : {betweenness_algorithm::by_level, betweenness_algorithm::by_source}) {
    add_case(betweenness_group(small) + "/cpu/" + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      return measure_plan(state, small.spec, algorithm, betweenness_sources::all);
    });
  }
  for (const auto& peer : betweenness_peers()) {
    add_peer_of(1, betweenness_group(small) + "/cpu/" + peer.name,
                [=](benchmark::State& state) { return measure_peer(state, small.spec, peer); });
  }
}};

}  // namespace

}  // namespace spargo::bench
