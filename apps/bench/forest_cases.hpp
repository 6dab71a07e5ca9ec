// Shared by the benchmarks of spanning forests: the graphs and weights of the shortest paths benchmarks. check_forest
// checks each result.
#pragma once

#include "bench/sssp_cases.hpp"

#include <spargo/graph/forest.hpp>

#include <string>
#include <utility>
#include <vector>

namespace spargo::bench {

// Times a plan's runs; `fetch` copies its edges to the host. Million stored edges per second, each counted once.
template <class Plan, class Fetch>
double measure_forest(benchmark::State& state, const sssp_problem& p, Plan& plan, Fetch&& fetch) {
  const double seconds = median_seconds([&] { plan.run(); }, 5, 1);
  const auto sources = fetch(plan.sources());
  const auto targets = fetch(plan.targets());
  const auto weights = fetch(plan.weights());
  const std::string wrong = check_forest(p.ctx(), p.view(), sources, targets, weights);
  if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
  state.counters[mteps] = static_cast<double>(p.view().out.nnz()) / seconds * 1e-6;
  state.counters["total_weight"] = static_cast<double>(plan.total_weight());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

}  // namespace spargo::bench
