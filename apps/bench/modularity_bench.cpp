// Louvain and Leiden on the host: the median time of a plan's runs, million stored edges of the graph per second, and
// the modularity found.
#include "bench/bfs_cases.hpp"

#include <spargo/graph/communities.hpp>

#include <string>

namespace spargo::bench {

namespace {

double measure_plan(benchmark::State& state, const bfs_spec& spec, const communities_options& options) {
  bfs_problem& p = bfs_problem::of(spec);
  communities_plan<bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), options);
  const double seconds = median_seconds([&] { plan.run(); }, 3, 1);
  const std::string wrong = check_partition(p.ctx, p.graph, plan.labels(), plan.modularity(), options);
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
  state.counters[mteps] = static_cast<double>(p.graph.view().out.nnz()) / seconds * 1e-6;
  state.counters["modularity"] = plan.modularity();
  state.counters["communities"] = static_cast<double>(plan.count());
  state.counters["passes"] = static_cast<double>(plan.rounds());
  return seconds;
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_1024", {"gen:grid2d:n=1024"}}})) {
    const auto add = [&](const std::string& name, const communities_options& options) {
      add_case("modularity/" + c.name + "/cpu/" + name,
               [=](benchmark::State& state) { return measure_plan(state, c.spec, options); });
    };
    add("louvain", {.method = communities_method::louvain});
    add("leiden_1_pass", {.method = communities_method::leiden, .iterations = 1});
    add("leiden_2_passes", {.method = communities_method::leiden, .iterations = 2});
    add("leiden", {.method = communities_method::leiden});
  }
}};

}  // namespace

}  // namespace spargo::bench
