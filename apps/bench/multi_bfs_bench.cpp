// BFS from many sources at once, beside as many single searches, on both backends.
//
// A case searches from 64 or 256 vertices with edges, sampled with a fixed seed. It reports its median time, and per
// second the sum over sources of the edges reached, each undirected edge once. Single searches from the same sources
// are timed beside it. All counts and, if available, all levels are compared outside the timed part with single
// searches verified by check_bfs; a wrong result fails the case.
#include "bench/check.hpp"
#include "bench/plan_cases.hpp"

#include <spargo/graph/multi_bfs.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace spargo::bench {

namespace {

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

double note_edges(benchmark::State& state, double edges, double seconds) {
  state.counters[mteps] = edges / seconds * 1e-6;
  return seconds;
}

template <class Space>
double measure_singles(benchmark::State& state, const bench_graph<Space>& g, const multi_bfs_problem& p) {
  bfs_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), {.output = bfs_output::levels});
  const auto run = [&] {
    for (const bfs_index source : p.sources) plan.run(source);
  };
  return note_edges(state, p.edges, g.median_run(run, g.on_host ? 3 : 5));
}

struct multi_bfs_rung {
  std::int64_t sources;
  std::optional<multi_bfs_output> output = {};  // none: single searches
};

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         const multi_bfs_rung& rung) {
  const multi_bfs_problem p(g.problem(), rung.sources);
  if (!rung.output.has_value()) return measure_singles(state, g, p);
  multi_bfs_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), rung.sources, {.output = *rung.output});
  const double seconds = g.median_run([&] { plan.run(p.sources); }, g.on_host ? 5 : 21, g.on_host ? 1 : 3);
  p.check(plan.counts(), g.fetch(plan.levels()));
  return note_edges(state, p.edges, seconds);
};

const registration here{[] {
  const plan_graphs graphs{.on_host = bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                                         {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}}}),
                           .on_device = bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                                                           {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                                                           {"grid_2048", {"gen:grid2d:n=2048"}}})};
  add_plan_cases<multi_bfs_rung>("multi_bfs",
                                 {{"64_single", {64}},
                                  {"64_counts", {64, multi_bfs_output::counts}},
                                  {"64_levels", {64, multi_bfs_output::counts_and_levels}},
                                  {"256_counts", {256, multi_bfs_output::counts}},
                                  {"256_levels", {256, multi_bfs_output::counts_and_levels}}},
                                 measure, graphs);
}};

}  // namespace

}  // namespace spargo::bench
