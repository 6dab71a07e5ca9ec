// Core numbers over ranks, against naive peeling of the whole graph.
#include "distributed/graphs.hpp"
#include "distributed/ranks.hpp"
#include "support/data.hpp"

#include <spargo/distributed/cores.hpp>
#include <spargo/io/edge_list.hpp>

#include <gmock/gmock.h>

namespace spargo {
namespace {

using test::edges;
using test::edges_of;
using test::share_of;

// Removes a vertex of smallest degree, one after the other. Neighbours of both directions count.
std::vector<std::int64_t> peel(const edges& all, direction_kind direction) {
  test::lists rows = test::neighbours_of(all, direction == direction_kind::undirected);
  const test::lists out = rows;
  for (std::size_t u = 0; direction == direction_kind::directed && u < out.size(); ++u) {
    for (const std::int64_t v : out[u]) rows[static_cast<std::size_t>(v)].push_back(static_cast<std::int64_t>(u));
  }
  std::vector<std::int64_t> degree;
  for (const auto& row : rows) degree.push_back(std::ssize(row));
  std::vector<std::int64_t> core(rows.size(), -1);
  std::int64_t level = 0;
  for (std::size_t removed = 0; removed < rows.size();) {
    bool any = false;
    for (std::size_t v = 0; v < rows.size(); ++v) {
      if (core[v] >= 0 || degree[v] > level) continue;
      core[v] = level;
      for (const std::int64_t u : rows[v]) --degree[static_cast<std::size_t>(u)];
      ++removed;
      any = true;
    }
    if (!any) ++level;
  }
  return core;
}

template <class I>
void expect_cores(const edges& all, direction_kind direction, self_loops loops = self_loops::drop) {
  const std::vector<std::int64_t> expected = peel(all, direction);
  const auto most = std::max_element(expected.begin(), expected.end());
  test::on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, share_of(comm, all).view(),
                                 {.direction = direction, .in_edges = true, .loops = loops});
    distributed_cores_plan<I> plan(comm, ctx, g);
    for (int k = 0; k < 2; ++k) {
      plan.run();
      const std::vector<I> found = comm.all_gather(plan.cores());
      ASSERT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), expected);
      EXPECT_EQ(plan.max_core(), most == expected.end() ? 0 : *most);
      EXPECT_EQ(check_cores<I>(comm, ctx, g, plan.cores()), "");
    }
  });
}

TEST(DistributedCores, AreTheWholeGraphs) {
  for (const test::graph_case& c : test::graph_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    expect_cores<std::int32_t>(edges_of(c.name), c.direction);
  }
  for (const char* name : {"gen:rmat:scale=12,degree=16", "gen:uniform:rows=3000,degree=6", "gen:grid2d:n=70,m=40",
                           "gen:star:n=40000", "no vertices"}) {
    SCOPED_TRACE(name);
    expect_cores<std::int32_t>(edges_of(name), direction_kind::undirected);
    expect_cores<std::int64_t>(edges_of(name), direction_kind::directed);
  }
}

TEST(DistributedCores, AreThoseOfOneProcessForRealGraphs) {
  SPARGO_TEST_NEEDS_DATA();
  const context<host> cpu;
  for (const char* name : {"4elt.el", "PGPgiantcompo.el", "facebook_combined.txt", "email-Enron.txt.gz"}) {
    SCOPED_TRACE(name);
    if (test::is_left_out(name)) continue;
    const auto list = read_edge_list<std::int64_t>(cpu, (test::data_directory() / name).string());
    const edges all(list.edges.rows(), list.edges.cols(), clone(cpu, list.edges.row_indices()),
                    clone(cpu, list.edges.col_indices()), {});
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const auto g = build_graph<std::int64_t>(cpu, all.view(), {direction, true});
      const auto expected = cores(cpu, g);
      test::on_ranks([&](const communicator& comm) {
        const context<host> ctx = test::context_of(comm);
        const distributed_graph<std::int64_t> shared(comm, ctx, share_of(comm, all).view(), {direction, true});
        const auto found = distributed_cores(comm, ctx, shared);
        EXPECT_EQ(comm.all_gather(std::as_const(found.cores).view()),
                  std::vector<std::int64_t>(expected.cores.begin(), expected.cores.end()));
        EXPECT_EQ(found.max_core, expected.max_core);
      });
    }
  }
}

TEST(DistributedCores, IgnoreKeptLoops) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t v = 0; v < 500; ++v) {
    pairs.insert(pairs.end(), {{v, v}, {v, (v * v + 1) % 500}, {v, (v + 7) % 500}});
  }
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    expect_cores<std::int32_t>(test::make_edges(500, pairs), direction, self_loops::keep);
  }
}

// The bound of one end falls, then its neighbour's, and so on through all ranks.
TEST(DistributedCores, FallAlongAPathThroughAllRanks) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  constexpr std::int64_t n = 900;
  for (std::int64_t v = 0; v + 1 < n; ++v) pairs.emplace_back((v * 7) % n, ((v + 1) * 7) % n);
  expect_cores<std::int32_t>(test::make_edges(n, pairs), direction_kind::undirected);
}

TEST(DistributedCores, AreCheckedFromBelowAndFromAbove) {
  const edges all = edges_of("gen:rmat:scale=10,degree=8");
  test::on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<std::int32_t> g(comm, ctx, share_of(comm, all).view(), {direction_kind::undirected});
    const auto found = distributed_cores(comm, ctx, g);
    const auto fault_with = [&](std::int64_t v, std::int32_t change) {
      auto cores = clone(ctx, found.cores);
      const std::int64_t own = v - g.parts().first(comm.rank());
      if (own >= 0 && own < cores.size()) cores[own] += change;
      return check_cores<std::int32_t>(comm, ctx, g, cores.view());
    };
    EXPECT_EQ(fault_with(0, 0), "");
    EXPECT_THAT(fault_with(0, 1), testing::HasSubstr("neighbours of that number or more"));
    EXPECT_THAT(fault_with(0, -1), testing::MatchesRegex("vertex [0-9]+ has core number [0-9]+ .*"));
    auto lower = clone(ctx, found.cores);  // all of the densest core by one
    for (std::int64_t v = 0; v < lower.size(); ++v) lower[v] -= lower[v] == found.max_core ? 1 : 0;
    EXPECT_THAT(check_cores<std::int32_t>(comm, ctx, g, lower.view()), testing::HasSubstr("or more)"));
  });
}

TEST(DistributedCores, NeedInEdges) {
  const edges all = edges_of("gen:path:n=300");
  test::on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<std::int32_t> g(comm, ctx, share_of(comm, all).view(), {direction_kind::directed});
    EXPECT_THROW((void)distributed_cores(comm, ctx, g), agreed_error);
  });
}

}  // namespace
}  // namespace spargo
