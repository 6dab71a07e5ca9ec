// Betweenness on both backends: every algorithm from 4 sources of large graphs; on the host from all of a small one,
// beside peers. A run on the device synchronises at its end, so the host clock times all of it.
#include "bench/betweenness_cases.hpp"
#include "bench/plan_cases.hpp"

namespace spargo::bench {

namespace {

template <class Space>
double measure_from(benchmark::State& state, const bench_graph<Space>& g, betweenness_algorithm algorithm,
                    betweenness_sources wanted) {
  const std::vector<bfs_index> sources = betweenness_list(g.problem(), wanted);
  betweenness_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), {.algorithm = algorithm});
  const double seconds = g.median_run([&] { plan.run(sources); }, g.on_host ? 7 : 21, g.on_host ? 1 : 3);
  expect_betweenness(g.problem(), g.fetch(plan.values()), sources);
  report_plan(state, g, plan, seconds);
  report_betweenness(state, g.problem(), sources.size(), seconds);
  return seconds;
}

constexpr auto from_four = [](benchmark::State& state, const auto& g, betweenness_algorithm algorithm) {
  return measure_from(state, g, algorithm, betweenness_sources::four);
};
constexpr auto from_all = [](benchmark::State& state, const auto& g, betweenness_algorithm algorithm) {
  return measure_from(state, g, algorithm, betweenness_sources::all);
};

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
  add_plan_cases<betweenness_algorithm>("betweenness", from_four);
  if (!current_settings().file.empty() || !current_settings().host) return;
  const bfs_case small{"rmat_11_16_all", {"gen:rmat:scale=11,degree=16"}};
  for (const auto algorithm : {betweenness_algorithm::by_level, betweenness_algorithm::by_source}) {
    add_plan_case<host>(small, "betweenness", to_string(algorithm), algorithm, from_all);
  }
  for (const auto& peer : betweenness_peers()) {
    add_peer_of(1, "betweenness/" + small.name + "/cpu/" + peer.name,
                [=](benchmark::State& state) { return measure_peer(state, small.spec, peer); });
  }
}};

}  // namespace

}  // namespace spargo::bench
