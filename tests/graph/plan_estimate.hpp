// Estimates of plans against what a run takes, on graphs that plans differ on: at least the peak memory of construction
// and run, at most 1.5 times as much, and times of the right order of magnitude.
#pragma once

#include <spargo/graph/estimate.hpp>
#include <spargo/graph/weighted_graph.hpp>
#include <spargo/io/generate.hpp>

#include "support/resource.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace spargo::test {

template <class Space>
using plan_view = weighted_graph_view<double, std::int32_t, std::int64_t, Space>;

struct plan_graph {
  std::string name;
  weighted_graph<double, std::int32_t, std::int64_t, host> graph;
  plan_view<host> g;

  plan_graph(std::string called, const char* spec, direction_kind direction, bool in_edges) : name(std::move(called)) {
    const context<host> ctx({.threads = 2});
    auto entries = generate(ctx, spec);
    for (double& weight : entries.values()) weight = std::abs(weight);
    graph = build_weighted_graph(ctx, entries, {.direction = direction, .in_edges = in_edges});
    g = graph.view();
  }
  [[nodiscard]] graph_shape shape(int threads) const {
    std::int64_t longest = 0;
    for (std::int32_t v = 0; v < g.vertices(); ++v) {
      const auto in = g.has_in_edges() ? g.in.offsets[v + 1] - g.in.offsets[v] : 0;
      const auto both = g.direction == direction_kind::directed ? in : 0;
      longest = std::max<std::int64_t>(longest, g.out.offsets[v + 1] - g.out.offsets[v] + both);
    }
    return {.vertices = g.vertices(),
            .entries = g.out.nnz(),
            .direction = g.direction,
            .has_in_edges = g.has_in_edges(),
            .longest_row = longest,
            .threads = threads};
  }
};

inline const std::vector<plan_graph>& plan_graphs() {
  static const std::vector<plan_graph> all = [] {
    std::vector<plan_graph> made;
    made.emplace_back("rmat", "gen:rmat:scale=14", direction_kind::undirected, false);
    made.emplace_back("grid", "gen:grid2d:n=200", direction_kind::undirected, false);
    made.emplace_back("directed", "gen:rmat:scale=14", direction_kind::directed, true);
    made.emplace_back("small", "gen:grid2d:n=20", direction_kind::undirected, false);
    return made;
  }();
  return all;
}

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// `make` constructs a plan and passes its run to `then`.
template <class Make>
void expect_estimate(const std::string& what, int threads, const plan_estimate& estimate, Make&& make) {
  SCOPED_TRACE(what + ", " + std::to_string(threads) + " threads");
  constexpr std::int64_t slack = std::int64_t{64} << 10;  // fixed memory of small graphs and of threads
  counting_resource<host> counted(default_host_resource());
  const context<host> ctx({.threads = threads, .resource = &counted});
  double seconds = std::numeric_limits<double>::max();  // the least of three: others may disturb a run
  make(ctx, [&](auto&& run) {
    for (int k = 0; k < 3; ++k) {
      const double before = processor_seconds();
      run();
      seconds = std::min(seconds, processor_seconds() - before);
    }
  });
  EXPECT_LE(counted.peak(), estimate.host_bytes) << "took more than estimated";
  EXPECT_LE(static_cast<double>(estimate.host_bytes), 1.5 * static_cast<double>(counted.peak()) + slack * threads);
  // Times only of one thread, which waits for no other, of graphs that are large enough, and of optimised code.
  if (threads == 1 && seconds > 5e-3 && !is_sanitized) {
    EXPECT_LT(seconds, 30 * estimate.host_seconds);
    EXPECT_GT(seconds, estimate.host_seconds / 30);
  }
}

}  // namespace spargo::test
