// Closeness from 1,024 sources, and the diameter, on both backends.
#include "bench/plan_cases.hpp"

#include <spargo/graph/closeness.hpp>
#include <spargo/graph/eccentricity.hpp>

#include <cstdint>

namespace spargo::bench {

namespace {

// Evenly spaced.
std::vector<bfs_index> spaced_sources(std::int64_t vertices) {
  const std::int64_t count = std::min<std::int64_t>(1024, vertices);
  std::vector<bfs_index> sources;
  for (std::int64_t k = 0; k < count; ++k) sources.push_back(static_cast<bfs_index>(k * (vertices / count)));
  return sources;
}

constexpr auto measure_closeness = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                                   closeness_algorithm algorithm) {
  const closeness_options options{.algorithm = algorithm};
  closeness_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const std::vector<bfs_index> sources = spaced_sources(g.host_view().vertices());
  const span<const bfs_index, host> given(sources);
  const double seconds = g.median_run([&] { plan.run(given); }, g.on_host ? 1 : 5, g.on_host ? 0 : 1);
  expect_no_fault(check_closeness(g.cpu(), g.host_view(), g.fetch(plan.values()), 4, given, options));
  state.counters["sources"] = static_cast<double>(sources.size());
  return report_plan(state, g, plan, seconds);
};

constexpr auto measure_diameter = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                                  eccentricity_algorithm algorithm) {
  eccentricity_plan<bfs_index, bfs_index, Space> plan(
      g.ctx(), g.view(), {.algorithm = algorithm, .output = eccentricity_output::diameter});
  const double seconds = g.median_run([&] { plan.run(); }, g.on_host ? 3 : 9);
  const auto lower = g.fetch(plan.lower());
  const auto upper = g.fetch(plan.upper());
  expect_no_fault(check_eccentricities(g.cpu(), g.host_view(), lower, upper, plan.summary(), 8));
  state.counters["diameter"] = static_cast<double>(plan.summary().diameter.lower);
  state.counters["searches"] = static_cast<double>(plan.summary().searches);
  return report_plan(state, g, plan, seconds);
};

const registration here{[] {
  add_plan_cases<closeness_algorithm>("closeness", measure_closeness);
  add_plan_cases<eccentricity_algorithm>("diameter", measure_diameter);
}};

}  // namespace

}  // namespace spargo::bench
