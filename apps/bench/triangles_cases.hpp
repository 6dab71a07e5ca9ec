// Shared by the triangle benchmarks: check and reporting of counts.
//
// The graphs are those of the BFS benchmarks. A case reports the median time of a plan's runs, including orientation,
// and million edges per second. Counts per vertex are compared with check_triangles, which counts again; so is the
// first total of each graph, and later totals are compared with that one.
#pragma once

#include "bench/bfs_cases.hpp"

#include <spargo/graph/triangles.hpp>

#include <string>
#include <vector>

namespace spargo::bench {

// A graph and the algorithms timed on it.
struct triangles_case {
  bfs_case graph;
  std::vector<triangles_algorithm> algorithms;
};

// A user's graph may have long rows, so merging is timed only if it is chosen.
inline std::vector<triangles_case> triangles_cases_or_file(std::vector<triangles_case> built_in) {
  if (current_settings().file.empty()) return built_in;
  return {{bfs_cases_or_file({}).front(), {triangles_algorithm::automatic, triangles_algorithm::bitmap}}};
}

inline void expect_triangles(bfs_problem& p, const triangles_claim<bfs_index>& claim) {
  static std::string checked;  // the graph of `right`
  static std::int64_t right = -1;
  if (checked != p.spec.source || !claim.per_vertex.empty()) {
    const std::string wrong = check_triangles(p.ctx, p.graph, claim);
    if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
    checked = p.spec.source;
    right = claim.total;
  }
  if (claim.total != right) throw wrong_result("wrong result: " + std::to_string(claim.total) + " triangles");
}

template <class Plan>
void report_triangles(benchmark::State& state, const bfs_problem& p, const Plan& plan, double seconds) {
  state.counters[mteps] = static_cast<double>(p.graph.edges()) / seconds * 1e-6;
  state.counters["triangles"] = static_cast<double>(plan.total());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
}

}  // namespace spargo::bench
