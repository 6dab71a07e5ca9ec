// Induced subgraphs: the largest component, on the host.
#include "bench/plan_cases.hpp"

#include <spargo/graph/structure.hpp>

namespace spargo::bench {

namespace {

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         components_connection connection) {
  graph<bfs_index, bfs_index, host> part;
  const double seconds = g.median_run([&] {
    const array<bfs_index, host> vertices = largest_component(g.cpu(), g.host_view(), connection);
    part = induced_subgraph(g.cpu(), g.host_view(), vertices.view());
  });
  const auto found = components(g.cpu(), part.view());
  expect_no_fault(found.count == 1 ? "" : "the largest component is not connected");
  state.counters["vertices"] = static_cast<double>(part.vertices());
  state.counters[mteps] = static_cast<double>(g.host_view().out.nnz()) / seconds * 1e-6;
  return seconds;
};

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c : plan_graphs().on_host) {
    add_plan_case<host>(c, "subgraph", "component", components_connection::weak, measure);
  }
}};

}  // namespace

}  // namespace spargo::bench
