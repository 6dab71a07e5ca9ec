// Building graphs on the host. The number and order of pairs are the generator's; memory is limited.
#include "bench/graph_build_cases.hpp"

namespace spargo::bench {

namespace {

double measure(benchmark::State& state, const std::string& spec) {
  const build_problem& p = cached<build_problem>(spec);
  graph<build_index, build_index, host> g;
  const double seconds = median_seconds(
      [&] {
        g = {};
        g = build_graph<build_index>(p.ctx, p.pairs.view(), {.direction = direction_kind::undirected});
      },
      5, 1);
  expect_built(p, g.view());
  if (g.edges() != distinct_pairs(p)) throw wrong_result("wrong result: edges that are no pairs");
  report_build(state, p, seconds);
  return seconds;
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const auto& [name, spec] :
       {std::pair("rmat_20_16", "gen:rmat:scale=20,degree=16"), std::pair("rmat_22_16", "gen:rmat:scale=22,degree=16"),
        std::pair("uniform_1m_16", "gen:uniform:rows=1048576,degree=16"),
        std::pair("grid_2000", "gen:grid2d:n=2000")}) {
    add_case("graph_build/" + std::string(name) + "/cpu/keys",
             [spec = std::string(spec)](benchmark::State& state) { return measure(state, spec); });
  }
}};

}  // namespace

}  // namespace spargo::bench
