// Louvain and Leiden on the host: the median time of a plan's runs, million stored edges of the graph per second, and
// the modularity found.
#include "bench/plan_cases.hpp"

#include <spargo/graph/communities.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = [](benchmark::State& state, const bench_graph<host>& g, const communities_options& options) {
  communities_plan<bfs_index, bfs_index, host> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_run([&] { plan.run(); }, 3);
  expect_no_fault(check_partition(g.cpu(), g.host_view(), plan.labels(), plan.modularity(), options));
  state.counters["modularity"] = plan.modularity();
  state.counters["communities"] = static_cast<double>(plan.count());
  state.counters["passes"] = static_cast<double>(plan.rounds());
  return report_plan(state, g, plan, seconds);
};

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                              {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                              {"grid_1024", {"gen:grid2d:n=1024"}}})) {
    const auto add = [&](const char* name, const communities_options& options) {
      add_plan_case<host>(c, "modularity", name, options, measure);
    };
    add("louvain", {.method = communities_method::louvain});
    add("leiden_1_pass", {.method = communities_method::leiden, .iterations = 1});
    add("leiden_2_passes", {.method = communities_method::leiden, .iterations = 2});
    add("leiden", {.method = communities_method::leiden});
  }
}};

}  // namespace

}  // namespace spargo::bench
