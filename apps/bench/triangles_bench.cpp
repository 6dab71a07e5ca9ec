// Triangles on both backends, and counts per vertex. Merging runs only where rows are short: R-MAT 18 would take 20 s.
//
// The time of a run includes orientation; edges per second count each edge of the graph once. Counts per vertex are
// compared with check_triangles, which counts again; so is the first total of each graph, and later totals are compared
// with that one.
#include "bench/plan_cases.hpp"

#include <spargo/graph/triangles.hpp>

namespace spargo::bench {

namespace {

void expect_triangles(bfs_problem& p, const triangles_claim<bfs_index>& claim) {
  static std::string checked;  // the graph of `right`
  static std::int64_t right = -1;
  if (checked != p.spec.source || !claim.per_vertex.empty()) {
    expect_no_fault(check_triangles(p.ctx, p.graph, claim));
    checked = p.spec.source;
    right = claim.total;
  }
  if (claim.total != right) throw wrong_result("wrong result: " + std::to_string(claim.total) + " triangles");
}

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         const triangles_options& options) {
  triangles_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_stream_run([&] { plan.run(); });
  const auto per_vertex = g.fetch(plan.per_vertex());
  const auto degrees = g.fetch(plan.degrees());
  expect_triangles(g.problem(), {.total = plan.total(), .per_vertex = per_vertex, .degrees = degrees});
  report_plan(state, g, plan, seconds);
  state.counters[mteps] = static_cast<double>(g.problem().graph.edges()) / seconds * 1e-6;
  state.counters["triangles"] = static_cast<double>(plan.total());
  return seconds;
};

// A user's graph may have long rows, so merging is timed only if it is chosen.
template <class Space>
void add(const std::vector<bfs_case>& cases) {
  for (const bfs_case& c : cases) {
    const bool short_rows = !c.name.starts_with("rmat");
    const auto other = current_settings().file.empty() ? triangles_algorithm::merge : triangles_algorithm::automatic;
    for (const auto algorithm : {other, triangles_algorithm::bitmap}) {
      if (algorithm == triangles_algorithm::merge && !short_rows) continue;
      add_plan_case<Space>(c, "triangles", to_string(algorithm), triangles_options{.algorithm = algorithm}, measure);
    }
    const triangles_options per_vertex{.output = triangles_output::per_vertex};
    add_plan_case<Space>(c, "triangles", "automatic+per_vertex", per_vertex, measure);
  }
}

const registration here{[] {
  if (current_settings().host) {
    add<host>(bfs_cases_or_file({{"rmat_18_16", {"gen:rmat:scale=18,degree=16"}},
                                 {"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                 {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                 {"grid_2000", {"gen:grid2d:n=2000"}}}));
  }
  if (current_settings().device) {
    add<device>(bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                   {"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                   {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                   {"grid_2048", {"gen:grid2d:n=2048"}}}));
  }
}};

}  // namespace

}  // namespace spargo::bench
