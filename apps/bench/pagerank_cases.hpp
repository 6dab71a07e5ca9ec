// Shared by the PageRank benchmarks: the graphs (those of the BFS benchmarks) and the check of ranks.
//
// A case reports the median time of one iteration: the time of a plan's run divided by its steps. `tolerance` cases
// follow the GAP benchmark's rule, until a step changes the ranks by 1e-4 in total, and report the time of the run.
#pragma once

#include "bench/bfs_cases.hpp"

#include <spargo/graph/pagerank.hpp>

#include <string>

namespace spargo::bench {

inline constexpr std::int64_t pagerank_steps = 20;

inline pagerank_options pagerank_steps_options() {
  return {.algorithm = pagerank_algorithm::jacobi, .iterations = pagerank_steps};
}

template <class V>
void expect_ranks(bfs_problem& p, span<const V, host> ranks, const pagerank_options& options) {
  const std::string wrong = check_pagerank<V>(p.ctx, p.graph.view(), ranks, options);
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
}

// Compulsory traffic of a step: the indices, two offsets and one inverse degree per vertex, ranks read and written.
template <class V>
double pagerank_bytes(const bfs_problem& p) {
  const auto n = static_cast<double>(p.graph.vertices());
  return 4.0 * static_cast<double>(p.graph.view().out.nnz()) + n * (4.0 + 3.0 * sizeof(V));
}

template <class V>
void report_step(benchmark::State& state, const bfs_problem& p, double seconds) {
  state.counters[gbytes_per_second] = pagerank_bytes<V>(p) / seconds * 1e-9;
  state.counters[mteps] = static_cast<double>(p.graph.view().out.nnz()) / seconds * 1e-6;
}

template <class V>
std::string pagerank_group(const bfs_case& c) {
  return "pagerank/" + c.name + (sizeof(V) == 4 ? "/fp32" : "/fp64");
}

}  // namespace spargo::bench
