// Shared by the betweenness benchmarks: the graphs (those of the BFS benchmarks) and the check of values.
//
// A case runs from 4 of the graph's sources, as in the GAP benchmark, or from all vertices of a small graph. It reports
// the median time and million stored edges per second, counted once per source. Values are checked once per case.
#pragma once

#include "bench/bfs_cases.hpp"

#include <spargo/graph/betweenness.hpp>

#include <functional>
#include <string>
#include <vector>

namespace spargo::bench {

enum class betweenness_sources { four, all };

// Empty: all.
inline std::vector<bfs_index> betweenness_list(const bfs_problem& p, betweenness_sources wanted) {
  if (wanted == betweenness_sources::all) return {};
  return {p.sources.begin(), p.sources.begin() + 4};
}

inline void expect_betweenness(bfs_problem& p, span<const double, host> values, const std::vector<bfs_index>& sources) {
  const std::string wrong = check_betweenness(p.ctx, p.graph.view(), values, sources);
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
}

inline void report_betweenness(benchmark::State& state, const bfs_problem& p, std::size_t sources, double seconds) {
  const double searches = sources == 0 ? p.graph.vertices() : static_cast<double>(sources);
  state.counters[mteps] = searches * static_cast<double>(p.graph.view().out.nnz()) / seconds * 1e-6;
}

// Another library's host values, prepared by `make`; the call sums dependencies, once per pair from either end.
struct betweenness_peer {
  using find = std::function<void(std::vector<double>& sums)>;
  std::string name;
  std::function<find(const bfs_view&)> make;
};

inline std::vector<betweenness_peer>& betweenness_peers() {
  static std::vector<betweenness_peer> all;
  return all;
}

}  // namespace spargo::bench
