// Shared by the connected components benchmarks: the graphs (those of the BFS benchmarks) and the check of labels.
//
// A case reports the median time and million stored edges per second. Exactly one labelling of a graph is right.
#pragma once

#include "bench/bfs_cases.hpp"

#include <spargo/graph/components.hpp>

#include <functional>
#include <string>
#include <vector>

namespace spargo::bench {

inline const char* components_kind(components_connection connection) {
  return connection == components_connection::strong ? "strong_components" : "components";
}

// Whether a directed graph is used with its in-edges or without.
enum class components_edges { all, out };

template <class Space>
graph_view<bfs_index, bfs_index, Space> with_edges(graph_view<bfs_index, bfs_index, Space> g, components_edges edges) {
  if (edges == components_edges::out) g.in = {};
  return g;
}

inline void expect_components(bfs_problem& p, span<const bfs_index, host> labels, components_connection connection) {
  const std::string wrong = check_components(p.ctx, p.graph.view(), labels, {.connection = connection});
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
}

inline void report_components(benchmark::State& state, const bfs_problem& p, double seconds) {
  state.counters[mteps] = static_cast<double>(p.graph.view().out.nnz()) / seconds * 1e-6;
}

// Another library's host components, prepared by `make`; the returned call numbers them arbitrarily.
struct components_peer {
  using find = std::function<void(std::vector<bfs_index>& numbers)>;
  std::string name;
  components_connection connection;
  std::function<find(const bfs_view&)> make;
};

inline std::vector<components_peer>& components_peers() {
  static std::vector<components_peer> all;
  return all;
}

}  // namespace spargo::bench
