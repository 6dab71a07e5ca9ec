// Label propagation on the host, ten rounds: every algorithm, on the graphs of the BFS benchmarks.
//
// A case reports the median time of a plan's runs and million stored edges per second, each counted once in each of the
// ten rounds, carried out or not.
#include "bench/bfs_cases.hpp"

#include <spargo/graph/communities.hpp>

#include <string>

namespace spargo::bench {

namespace {

constexpr std::int64_t rounds = 10;

double measure_plan(benchmark::State& state, const bfs_spec& spec, communities_algorithm algorithm) {
  bfs_problem& p = bfs_problem::of(spec);
  const communities_options options{.algorithm = algorithm, .iterations = rounds};
  communities_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), options);
  const double seconds = median_seconds([&] { plan.run(); }, 5, 1);
  const std::string wrong = check_communities(p.ctx, p.graph.view(), plan.labels(), options);
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
  state.counters[mteps] = static_cast<double>(rounds * p.graph.view().out.nnz()) / seconds * 1e-6;
  state.counters["rounds"] = static_cast<double>(plan.rounds());
  state.counters["communities"] = static_cast<double>(plan.count());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c :
       bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                          {"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}},
                          {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                          {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    for (const auto algorithm : {communities_algorithm::all_vertices, communities_algorithm::frontier}) {
      add_case("communities/" + c.name + "/cpu/" + std::string(to_string(algorithm)),
               [=](benchmark::State& state) { return measure_plan(state, c.spec, algorithm); });
    }
  }
}};

}  // namespace

}  // namespace spargo::bench
