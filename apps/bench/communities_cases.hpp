// Shared by the label propagation benchmarks: ten rounds on the graphs of the BFS benchmarks.
//
// A case reports the median time and million stored edges per second, counted in each round even if it is skipped.
#pragma once

#include "bench/bfs_cases.hpp"

#include <spargo/graph/communities.hpp>

#include <string>

namespace spargo::bench {

inline communities_options ten_rounds(communities_algorithm algorithm = communities_algorithm::automatic) {
  return {.algorithm = algorithm, .iterations = 10};
}

inline void expect_communities(bfs_problem& p, span<const bfs_index, host> labels) {
  const std::string wrong = check_communities(p.ctx, p.graph.view(), labels, ten_rounds());
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
}

template <class Plan>
void report_communities(benchmark::State& state, const bfs_problem& p, const Plan& plan, double seconds) {
  const std::int64_t entries = ten_rounds().iterations * p.graph.view().out.nnz();
  state.counters[mteps] = static_cast<double>(entries) / seconds * 1e-6;
  state.counters["rounds"] = static_cast<double>(plan.rounds());
  state.counters["communities"] = static_cast<double>(plan.count());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
}

}  // namespace spargo::bench
