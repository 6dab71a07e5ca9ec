// Shared by the multi-source BFS benchmarks: sources, results of single searches, and the figure of merit.
//
// A case searches from 64 or 256 vertices with edges, sampled with a fixed seed. It reports its median time, and per
// second the sum over sources of the edges reached, each undirected edge once. Single searches from the same sources
// are timed beside it. All counts and, if available, all levels are compared outside the timed part with single
// searches verified by check_bfs; a wrong result fails the case.
#pragma once

#include "bench/bfs_cases.hpp"
#include "bench/check.hpp"

#include <spargo/graph/multi_bfs.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace spargo::bench {

struct multi_bfs_problem {
  const bfs_problem& on;
  std::vector<bfs_index> sources;
  std::vector<multi_bfs_counts> expected;  // [source]
  double edges = 0;                        // sum over all sources

  multi_bfs_problem(const bfs_problem& problem, std::int64_t count) : on(problem) {
    const auto offsets = on.graph.view().out.offsets;
    std::mt19937_64 random(2);
    while (std::ssize(sources) < count) {
      const auto v = static_cast<bfs_index>(random() % static_cast<std::uint64_t>(on.graph.vertices()));
      if (offsets[v + 1] > offsets[v]) sources.push_back(v);
    }
    bfs_plan<bfs_index, bfs_index, host> plan(on.ctx, on.graph.view(), {.output = bfs_output::levels});
    for (const bfs_index source : sources) {
      plan.run(source);
      const std::string wrong = check_bfs(on.ctx, on.graph.view(), source, plan.levels(), {});
      if (!wrong.empty()) throw wrong_result("a single search: " + wrong);
      multi_bfs_counts counts;
      for (const std::int64_t size : plan.level_sizes()) {
        counts.reached += size;
        counts.distance_sum += size * counts.eccentricity++;
      }
      --counts.eccentricity;
      expected.push_back(counts);
      edges += component_edges(on, plan.levels());
    }
  }

  void check(const std::vector<multi_bfs_counts>& counts, span<const std::int32_t, host> levels) const {
    if (counts != expected) throw wrong_result("wrong result: counts differ from single searches");
    if (levels.empty()) return;
    const auto stride = std::ssize(sources);
    constexpr std::int64_t together = 16;  // sources whose levels for a vertex share a cache line
    bfs_plan<bfs_index, bfs_index, host> plan(on.ctx, on.graph.view(), {.output = bfs_output::levels});
    std::vector<array<std::int32_t, host>> singles(together);
    for (std::int64_t first = 0; first < stride; first += together) {
      for (std::int64_t k = 0; k < together; ++k) {
        plan.run(sources[static_cast<std::size_t>(first + k)]);
        singles[static_cast<std::size_t>(k)] = clone(on.ctx, plan.levels());
      }
      for (std::int64_t v = 0; v < on.graph.vertices(); ++v) {
        for (std::int64_t k = 0; k < together; ++k) {
          expect_equal("level", v * stride + first + k, levels[v * stride + first + k],
                       singles[static_cast<std::size_t>(k)][v]);
        }
      }
    }
  }
};

struct multi_bfs_rung {
  std::string name;
  std::int64_t sources;
  multi_bfs_output output;
};

inline const std::vector<multi_bfs_rung>& multi_bfs_rungs() {
  static const std::vector<multi_bfs_rung> all{{"64_counts", 64, multi_bfs_output::counts},
                                               {"64_levels", 64, multi_bfs_output::counts_and_levels},
                                               {"256_counts", 256, multi_bfs_output::counts},
                                               {"256_levels", 256, multi_bfs_output::counts_and_levels}};
  return all;
}

inline double note_edges(benchmark::State& state, double edges, double seconds) {
  state.counters[mteps] = edges / seconds * 1e-6;
  return seconds;
}

}  // namespace spargo::bench
