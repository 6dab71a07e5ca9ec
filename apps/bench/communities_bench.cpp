// Label propagation on the host: every algorithm.
#include "bench/communities_cases.hpp"

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, communities_algorithm algorithm) {
  bfs_problem& p = bfs_problem::of(spec);
  communities_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), ten_rounds(algorithm));
  const double seconds = median_seconds([&] { plan.run(); }, 5, 1);
  expect_communities(p, plan.labels());
  report_communities(state, p, plan, seconds);
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
