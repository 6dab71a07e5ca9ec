// Shared by the cases of power iterations: the time of a step, as `pagerank/.../step` has it.
#pragma once

#include "bench/plan_cases.hpp"

namespace spargo::bench {

inline constexpr std::int64_t power_steps = 20;

// Those of the PageRank cases; with a directed one for HITS.
inline plan_graphs power_graphs() {
  plan_graphs graphs;
  if (graphs.on_host.size() > 1) {
    graphs.on_host.push_back({"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}});
  }
  return graphs;
}

template <class Space, class Plan>
double report_steps(benchmark::State& state, const bench_graph<Space>& g, const Plan& plan, double seconds) {
  return report_plan(state, g, plan, seconds / static_cast<double>(power_steps));
}

}  // namespace spargo::bench
