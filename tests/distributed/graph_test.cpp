// Distributed BFS, PageRank and components against naive code; and checks that detect a fault on any rank.
#include "distributed/graphs.hpp"
#include "distributed/ranks.hpp"
#include "support/rounds.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/distributed/components.hpp>
#include <spargo/distributed/pagerank.hpp>

#include <gmock/gmock.h>

namespace spargo {
namespace {

using test::edges;
using test::edges_of;
using test::graph_case;
using test::graph_cases;
using test::lists;
using test::make_edges;
using test::neighbours_of;
using test::on_ranks;
using test::search;
using test::share_of;
using test::tree;
using testing::HasSubstr;
using testing::Not;
using I = std::int32_t;

class DistributedGraph : public testing::TestWithParam<graph_case> {
 protected:
  edges all_ = edges_of(GetParam().name);
  bool both_ = GetParam().direction == direction_kind::undirected;
  lists out_ = neighbours_of(all_, both_);

  [[nodiscard]] distributed_graph<I> make(const communicator& comm, const context<host>& ctx, bool in_edges) const {
    return {comm, ctx, share_of(comm, all_).view(), {GetParam().direction, in_edges}};
  }
};

TEST_P(DistributedGraph, HasTheRowsOfTheWhole) {
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g = make(comm, ctx, true);
    std::int64_t entries = 0;
    for (const auto& row : out_) entries += std::ssize(row);
    EXPECT_EQ(g.edges(), both_ ? entries / 2 : entries);
    EXPECT_EQ(g.vertices(), std::ssize(out_));
    EXPECT_EQ(g.out().rows, g.parts().count(comm.rank()));
    for (std::int64_t v = 0; v < g.out().rows; ++v) {
      const auto& row = out_[static_cast<std::size_t>(g.parts().first(comm.rank()) + v)];
      const auto out = g.out();
      ASSERT_EQ(
          std::vector<std::int64_t>(out.indices.begin() + out.offsets[v], out.indices.begin() + out.offsets[v + 1]),
          row);
      const auto in = g.in();
      for (std::int64_t e = in.offsets[v]; e < in.offsets[v + 1]; ++e) {
        const auto& from = out_[static_cast<std::size_t>(in.indices[e])];
        ASSERT_TRUE(std::binary_search(from.begin(), from.end(), g.parts().first(comm.rank()) + v));
      }
    }
    EXPECT_EQ(comm.all_reduce(g.in().nnz(), reduction::sum), entries);
  });
}

TEST_P(DistributedGraph, IsSearchedAsByOneProcess) {
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    for (const bool in_edges : {true, false}) {
      const distributed_graph<I> g = make(comm, ctx, in_edges);
      for (const bfs_direction direction : {bfs_direction::automatic, bfs_direction::push, bfs_direction::pull}) {
        if (direction == bfs_direction::pull && !in_edges && !both_) continue;
        distributed_bfs_plan<I> plan(comm, ctx, g, {direction});
        const std::int64_t n = g.vertices();
        int number = 0;
        for (const std::int64_t source :
             {std::int64_t{0}, n - 1, n / 2, n / 3, std::int64_t{0}}) {  // the first one again
          if (test::is_sanitized && number++ % 2 != 0) continue;
          plan.run(source);
          const tree expected = search(out_, source);
          EXPECT_EQ(comm.all_gather(plan.levels()), expected.levels);
          EXPECT_EQ(comm.all_gather(plan.parents()), expected.parents);
          std::vector<std::int64_t> sizes;
          for (const std::int32_t level : expected.levels) {
            if (level >= std::ssize(sizes)) sizes.resize(static_cast<std::size_t>(level) + 1);
            if (level >= 0) ++sizes[static_cast<std::size_t>(level)];
          }
          EXPECT_EQ(std::vector<std::int64_t>(plan.level_sizes().begin(), plan.level_sizes().end()), sizes);
          EXPECT_EQ(plan.reached(),
                    std::count_if(expected.levels.begin(), expected.levels.end(), [](int l) { return l >= 0; }));
          if (direction == bfs_direction::pull) {
            EXPECT_EQ(plan.pulled_levels(), std::ssize(sizes));
          }
          if (direction == bfs_direction::push) {
            EXPECT_EQ(plan.pulled_levels(), 0);
          }
          EXPECT_EQ(check_bfs(comm, ctx, g, source, plan.levels(), plan.parents()), "");
        }
      }
    }
  });
}

// By definition, on the whole graph.
std::vector<double> rank_naively(const lists& out, std::int64_t steps, double damping, bool drops) {
  const auto n = static_cast<double>(out.size());
  std::vector<double> ranks(out.size(), 1 / n);
  for (std::int64_t k = 0; k < steps; ++k) {
    std::vector<double> next(out.size(), (1 - damping) / n);
    for (std::size_t u = 0; u < out.size(); ++u) {
      for (const std::int64_t v : out[u])
        next[static_cast<std::size_t>(v)] += damping * ranks[u] / static_cast<double>(out[u].size());
      if (!out[u].empty() || drops) continue;
      for (double& rank : next) rank += damping * ranks[u] / n;
    }
    ranks = next;
  }
  return ranks;
}

TEST_P(DistributedGraph, LoopsCountForRanksAndNotAsEdges) {
  const lists with_loops = neighbours_of(all_, both_, self_loops::keep);
  const std::vector<double> expected = rank_naively(with_loops, 7, 0.85, false);
  std::int64_t entries = 0;
  for (const auto& row : out_) entries += std::ssize(row);
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, share_of(comm, all_).view(),
                                 {GetParam().direction, true, self_loops::keep});
    EXPECT_EQ(g.edges(), both_ ? entries / 2 : entries);
    const auto found = distributed_pagerank(comm, ctx, g, {.iterations = 7});
    const std::vector<double> ranks = comm.all_gather(span<const double, host>(found.ranks));
    ASSERT_EQ(ranks.size(), expected.size());
    for (std::size_t v = 0; v < ranks.size(); ++v) ASSERT_NEAR(ranks[v], expected[v], 1e-13 * expected[v]);
    const auto close = distributed_pagerank(comm, ctx, g, {.tolerance = 1e-9});
    EXPECT_EQ(check_pagerank(comm, ctx, g, close, {.tolerance = 1e-9}), "");
    // BFS ignores them.
    distributed_bfs_plan<I> plan(comm, ctx, g);
    if (g.vertices() == 0) return;
    plan.run(0);
    EXPECT_EQ(comm.all_gather(plan.levels()), search(out_, 0).levels);
    EXPECT_EQ(check_bfs(comm, ctx, g, 0, plan.levels(), plan.parents()), "");
  });
}

TEST_P(DistributedGraph, IsRankedAsByDefinition) {
  for (const bool drops : {false, true}) {
    const std::vector<double> expected = rank_naively(out_, 7, 0.8, drops);
    on_ranks([&](const communicator& comm) {
      const context<host> ctx = test::context_of(comm);
      const distributed_graph<I> g = make(comm, ctx, true);
      pagerank_options options{.damping = 0.8, .iterations = 7};
      options.dangling = drops ? pagerank_dangling::drop : pagerank_dangling::uniform;
      auto found = distributed_pagerank(comm, ctx, g, options);
      const std::vector<double> ranks = comm.all_gather(span<const double, host>(found.ranks));
      ASSERT_EQ(ranks.size(), expected.size());
      for (std::size_t v = 0; v < ranks.size(); ++v) ASSERT_NEAR(ranks[v], expected[v], 1e-13 * expected[v]);
      EXPECT_EQ(found.iterations, 7);
      options.iterations = 0;
      options.tolerance = 1e-9;
      found = distributed_pagerank(comm, ctx, g, options);
      EXPECT_TRUE(found.converged);
      EXPECT_EQ(check_pagerank(comm, ctx, g, found, options), "");
      const auto again = distributed_pagerank(comm, ctx, g, options);
      EXPECT_TRUE(std::equal(found.ranks.begin(), found.ranks.end(), again.ranks.begin()));
      if (g.out().rows > 0 && comm.rank() == comm.size() - 1) found.ranks[0] += 1e-3;
      if (comm.all_reduce(comm.rank() == comm.size() - 1 ? g.out().rows : std::int64_t{0}, reduction::max) > 0) {
        EXPECT_THAT(check_pagerank(comm, ctx, g, found, options), HasSubstr("changes the ranks"));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, DistributedGraph, testing::ValuesIn(graph_cases()));

// --- Wrong results ---

// The last rank with vertices corrupts one; every rank must report the same fault.
void expect_fault(const std::function<void(std::int64_t, tree&)>& spoil, const std::string& sentence) {
  const edges all = edges_of("gen:grid2d:n=32,m=32");
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, share_of(comm, all).view(), {direction_kind::undirected});
    distributed_bfs_plan<I> plan(comm, ctx, g);
    plan.run(0);
    tree mine{{plan.levels().begin(), plan.levels().end()}, {plan.parents().begin(), plan.parents().end()}};
    if (g.parts().owner(1023) == comm.rank()) spoil(g.parts().first(comm.rank()), mine);
    const std::string found = check_bfs<I>(comm, ctx, g, 0, mine.levels, mine.parents);
    EXPECT_THAT(found, HasSubstr(sentence));
    const std::vector<char> texts = comm.all_gather(span<const char, host>(found));
    for (std::size_t k = 0; k < texts.size(); ++k) ASSERT_EQ(texts[k], found[k % found.size()]);
  });
}

TEST(DistributedCheck, SeesWhatIsWrongWithATree) {
  // Vertex 1023 is at level 62, below 991 and beside 1022.
  expect_fault([](std::int64_t first, tree& t) { t.levels[static_cast<std::size_t>(1023 - first)] = 63; },
               "to vertex 1023");
  expect_fault([](std::int64_t first, tree& t) { t.levels[static_cast<std::size_t>(1023 - first)] = 60; },
               "its parent 991 is at level 61");
  expect_fault([](std::int64_t first, tree& t) { t.levels[static_cast<std::size_t>(1023 - first)] = -1; },
               "unreached, and its parent is 991");
  expect_fault([](std::int64_t first, tree& t) { t.parents[static_cast<std::size_t>(1023 - first)] = -1; },
               "vertex 1023 is at level 62");
  expect_fault([](std::int64_t first, tree& t) { t.parents[static_cast<std::size_t>(1023 - first)] = 1023; },
               "where the source is 0");
  expect_fault([](std::int64_t first, tree& t) { t.parents[static_cast<std::size_t>(1023 - first)] = 2000; },
               "expected -1 to 1023");
  expect_fault([](std::int64_t first, tree& t) { t.parents[static_cast<std::size_t>(1023 - first)] = 960; },
               "parent 960");
  expect_fault([](std::int64_t first, tree& t) { t.parents[static_cast<std::size_t>(1023 - first)] = 3; },
               "its parent 3 is at level 3");
  // 958 = (29, 30) is at level 59, one nearer than 1021 = (31, 29), but not a neighbour of it.
  expect_fault([](std::int64_t first, tree& t) { t.parents[static_cast<std::size_t>(1021 - first)] = 958; },
               "no edge leads from there");
  expect_fault(
      [](std::int64_t first, tree& t) {
        t.levels[static_cast<std::size_t>(1023 - first)] = -1;
        t.parents[static_cast<std::size_t>(1023 - first)] = -1;
      },
      "to vertex 1023, unreached");
}

TEST(DistributedCheck, SeesWrongLabels) {
  const edges all = edges_of("two parts");
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, share_of(comm, all).view(), {direction_kind::undirected});
    const auto right = distributed_components(comm, ctx, g);
    const auto fault = [&](const std::function<I(std::int64_t, I)>& label) {
      std::vector<I> labels;
      for (std::int64_t v = 0; v < g.out().rows; ++v)
        labels.push_back(label(g.parts().first(comm.rank()) + v, right.labels[v]));
      return check_components<I>(comm, ctx, g, labels);
    };
    EXPECT_EQ(fault([](std::int64_t, I l) { return l; }), "");
    EXPECT_THAT(fault([](std::int64_t v, I l) { return v == 998 ? I{999} : l; }),
                HasSubstr("vertex 998 has the label 999"));
    EXPECT_THAT(fault([](std::int64_t v, I l) { return v == 897 ? I{896} : l; }), HasSubstr("an edge joins vertex"));
    EXPECT_THAT(fault([](std::int64_t v, I l) { return v == 998 ? I{0} : l; }),
                HasSubstr("no path leads from vertex 998"));
  });
}

TEST(DistributedGraphs, RefuseWhatTheyCannotDo) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, share_of(comm, edges_of("gen:path:n=300")).view());
    EXPECT_THROW(distributed_bfs_plan<I>(comm, ctx, g, {bfs_direction::pull}), agreed_error);
    EXPECT_THROW((void)distributed_pagerank(comm, ctx, g), agreed_error);
    EXPECT_THROW((void)distributed_components(comm, ctx, g), agreed_error);
    distributed_bfs_plan<I> plan(comm, ctx, g);
    EXPECT_THROW(plan.run(300), error);
    edges wide(ctx, std::int64_t{1} << 32, std::int64_t{1} << 32, 0);
    EXPECT_THROW((distributed_graph<I>(comm, ctx, wide.view())), agreed_error);
    const distributed_graph<std::int64_t> empty(comm, ctx, make_edges(0, {}).view());
    EXPECT_EQ(empty.vertices() + empty.edges(), 0);
    const distributed_graph<std::int64_t> nothing(comm, ctx, make_edges(0, {}).view(), {direction_kind::undirected});
    const auto found = distributed_pagerank(comm, ctx, nothing);
    EXPECT_TRUE(found.ranks.empty());
    EXPECT_EQ(check_pagerank(comm, ctx, nothing, found), "");
  });
}

TEST(DistributedPlans, GiveTheirAlgorithmAndReason) {
  const edges all = edges_of("gen:grid2d:n=16");
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, share_of(comm, all).view(), {direction_kind::undirected});
    const auto ranks = HasSubstr("distributed over " + std::to_string(comm.size()) + " ranks");
    EXPECT_THAT((distributed_bfs_plan<I>(comm, ctx, g).reason()),
                testing::AllOf(ranks, HasSubstr("stepped by the host")));
    const distributed_pagerank_plan<I, host> pagerank(comm, ctx, g);
    EXPECT_EQ(pagerank.algorithm(), pagerank_algorithm::jacobi);
    EXPECT_THAT(pagerank.reason(), ranks);
    const distributed_components_plan<I, host> components(comm, ctx, g);
    EXPECT_EQ(components.algorithm(), components_algorithm::afforest);
    EXPECT_THAT(components.reason(), ranks);
  });
}

// 64-bit vertex numbers, on a graph that does not need them.
TEST(DistributedGraphs, OfWideIndices) {
  const edges all = edges_of("gen:rmat:scale=10,degree=6");
  const tree expected = search(neighbours_of(all, true), 1);
  on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<std::int64_t> g(comm, ctx, share_of(comm, all).view(), {direction_kind::undirected});
    distributed_bfs_plan<std::int64_t> plan(comm, ctx, g);
    plan.run(1);
    EXPECT_EQ(comm.all_gather(plan.levels()), expected.levels);
    const std::vector<std::int64_t> parents = comm.all_gather(plan.parents());
    EXPECT_TRUE(std::equal(parents.begin(), parents.end(), expected.parents.begin(), expected.parents.end()));
    EXPECT_EQ(check_bfs(comm, ctx, g, 1, plan.levels(), plan.parents()), "");
  });
}

}  // namespace
}  // namespace spargo
