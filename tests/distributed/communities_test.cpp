// Label propagation over ranks on hosts and devices: the labels of a naive propagation over the whole graph, and of the
// plan of one process.
#include "distributed/graph/neighbourhoods.hpp"
#include "distributed/graphs.hpp"
#include "distributed/spaces.hpp"
#include "support/data.hpp"

#include <spargo/distributed/communities.hpp>
#include <spargo/io/edge_list.hpp>

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace spargo {
namespace {

using test::edges;
using test::edges_of;
using test::neighbours_of;
using test::share_of;

struct propagated {
  std::vector<std::int64_t> labels;
  std::int64_t rounds = 0;
};

// `rows`: each vertex's neighbours, with repetitions. Ends after a round that changed nothing; the rounds that
// alternate are all carried out.
propagated propagate(const test::lists& rows, std::int64_t rounds) {
  propagated now{std::vector<std::int64_t>(rows.size())};
  for (std::size_t v = 0; v < rows.size(); ++v) now.labels[v] = static_cast<std::int64_t>(v);
  while (now.rounds < rounds) {
    std::vector<std::int64_t> next = now.labels;
    for (std::size_t v = 0; v < rows.size(); ++v) {
      std::map<std::int64_t, int> times;
      for (const std::int64_t u : rows[v]) ++times[now.labels[static_cast<std::size_t>(u)]];
      int most = 0;
      for (const auto& [label, count] : times) {
        if (count <= most) continue;
        most = count;
        next[v] = label;
      }
    }
    ++now.rounds;
    if (next == now.labels) break;
    now.labels = std::move(next);
  }
  return now;
}

test::lists rows_of(const edges& all, direction_kind direction) {
  test::lists rows = neighbours_of(all, direction == direction_kind::undirected);
  if (direction == direction_kind::undirected) return rows;
  const test::lists out = rows;
  for (std::size_t u = 0; u < out.size(); ++u) {
    for (const std::int64_t v : out[u]) rows[static_cast<std::size_t>(v)].push_back(static_cast<std::int64_t>(u));
  }
  return rows;
}

template <class Types>
class DistributedCommunities : public testing::Test {
 protected:
  using I = typename Types::index;
  using Space = typename Types::space;

  static void expect_labels(const edges& all, direction_kind direction, const communities_options& options,
                            self_loops loops = self_loops::drop) {
    const std::int64_t rounds = options.iterations == 0 ? 10 : options.iterations;
    const propagated expected = propagate(rows_of(all, direction), rounds);
    const std::set<std::int64_t> distinct(expected.labels.begin(), expected.labels.end());
    test::on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
      const context<host> cpu = test::context_of(comm);
      const distributed_graph<I> g(comm, cpu, share_of(comm, all).view(),
                                   {.direction = direction, .in_edges = true, .loops = loops});
      distributed_communities_plan<I, Space> plan(comm, ctx, g, options, links);
      for (int k = 0; k < 2; ++k) {
        plan.run();
        const array<I, host> labels = test::fetched(ctx, plan.labels());
        const std::vector<I> found = comm.all_gather(span<const I, host>(labels));
        ASSERT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), expected.labels);
        EXPECT_EQ(plan.count(), std::ssize(distinct));
        EXPECT_LE(plan.rounds(), expected.rounds);
        EXPECT_EQ(check_communities<I>(comm, cpu, g, labels.view(), options), "");
      }
    });
  }
};

TYPED_TEST_SUITE(DistributedCommunities, test::ranks_kinds, );

TYPED_TEST(DistributedCommunities, AreTheWholeGraphs) {
  if constexpr (std::same_as<typename TypeParam::space, device>) SPARGO_TEST_NEEDS_GPU();
  for (const test::graph_case& c : test::graph_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const edges all = edges_of(c.name);
    this->expect_labels(all, c.direction, {});
    this->expect_labels(all, c.direction, {.algorithm = communities_algorithm::all_vertices, .iterations = 3});
  }
}

// Labels reach distant ranks; hubs of more than 2^15 neighbours; few changes, so that frontiers are small.
TYPED_TEST(DistributedCommunities, AreTheWholeGraphsAfterManyRounds) {
  if constexpr (std::same_as<typename TypeParam::space, device>) SPARGO_TEST_NEEDS_GPU();
  for (const char* name : {"gen:rmat:scale=12,degree=4", "gen:uniform:rows=3000,degree=3", "gen:grid2d:n=40",
                           "gen:path:n=1500", "no vertices"}) {
    SCOPED_TRACE(name);
    this->expect_labels(edges_of(name), direction_kind::undirected, {.iterations = 41});
    this->expect_labels(edges_of(name), direction_kind::directed, {.iterations = 40});
  }
  this->expect_labels(edges_of("gen:star:n=40000"), direction_kind::undirected, {.iterations = 5});
  // Two hubs, whose neighbours are joined in triples.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t v = 2; v < 70000; ++v) {
    pairs.emplace_back(v % 7 == 0 ? 1 : 0, v);
    if (v % 3 != 0) pairs.emplace_back(v, v + 1);
  }
  this->expect_labels(test::make_edges(70001, pairs), direction_kind::undirected, {.iterations = 6});
}

TYPED_TEST(DistributedCommunities, IgnoreKeptLoops) {
  if constexpr (std::same_as<typename TypeParam::space, device>) SPARGO_TEST_NEEDS_GPU();
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t v = 0; v < 500; ++v)
    pairs.insert(pairs.end(), {{v, v}, {v, (v * v + 1) % 500}, {v, (v + 7) % 500}});
  const edges all = test::make_edges(500, pairs);
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    this->expect_labels(all, direction, {}, self_loops::keep);
  }
}

// Labels, rounds and number of communities are those of the plan of one process.
class DistributedCommunitiesOfFiles : public testing::Test {
 protected:
  static void expect_same(const edges& all, const communities_options& options) {
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const auto g = build_graph<std::int64_t>(cpu, all.view(), {direction, true});
      const auto expected = communities(cpu, g, options);
      test::on_ranks([&](const communicator& comm) {
        const context<host> ctx = test::context_of(comm);
        const distributed_graph<std::int64_t> shared(comm, ctx, share_of(comm, all).view(), {direction, true});
        const auto found = distributed_communities(comm, ctx, shared, options);
        EXPECT_EQ(comm.all_gather(std::as_const(found.labels).view()),
                  std::vector<std::int64_t>(expected.labels.begin(), expected.labels.end()));
        EXPECT_EQ(found.count, expected.count);
        EXPECT_EQ(found.rounds, expected.rounds);
        EXPECT_EQ(found.algorithm, expected.algorithm);
      });
    }
  }
  static void expect_same_of_file(const std::string& path) {
    SCOPED_TRACE(path);
    const auto list = read_edge_list<std::int64_t>(cpu, path);
    expect_same(edges(list.edges.rows(), list.edges.cols(), clone(cpu, list.edges.row_indices()),
                      clone(cpu, list.edges.col_indices()), {}),
                {});
  }

  static inline const context<host> cpu;
};

TEST_F(DistributedCommunitiesOfFiles, AreThoseOfOneProcess) {
  for (const char* name : {"karate.el", "integers.el"})
    expect_same_of_file(test::source_folder() + "/datasets/" + name);
  for (const char* name : {"gen:rmat:scale=13,degree=8", "gen:grid2d:n=50", "gen:uniform:rows=2000,degree=3"}) {
    SCOPED_TRACE(name);
    expect_same(edges_of(name), {.iterations = 60});
  }
}

TEST_F(DistributedCommunitiesOfFiles, AreThoseOfOneProcessForRealGraphs) {
  SPARGO_TEST_NEEDS_DATA();
  for (const char* name : {"4elt.el", "PGPgiantcompo.el", "facebook_combined.txt", "email-Enron.txt.gz"}) {
    if (!test::is_left_out(name)) expect_same_of_file((test::data_directory() / name).string());
  }
}

// On devices, labels of the first round then ascend along rows and need no tables.
TEST(DistributedNeighbourhoods, AscendAlongOwnRows) {
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    for (const char* name : {"gen:rmat:scale=9,degree=8", "two parts", "one"}) {
      const edges all = edges_of(name);
      const test::lists expected = rows_of(all, direction);
      test::on_ranks([&](const communicator& comm) {
        const distributed_graph<std::int32_t> g(comm, test::context_of(comm), share_of(comm, all).view(),
                                                {.direction = direction, .in_edges = true, .loops = self_loops::keep});
        const auto made = detail::distributed::neighbourhoods_of(test::context_of(comm), g, comm.rank());
        const std::int64_t first = g.parts().first(comm.rank());
        for (std::int64_t v = 0; v < made.own; ++v) {
          std::vector<std::int64_t> row;
          for (std::int64_t e = made.offsets[v]; e < made.offsets[v + 1]; ++e) {
            const std::int64_t u = made.indices[e];
            row.push_back(u < made.own ? first + u : made.ghosts[static_cast<std::size_t>(u - made.own)]);
          }
          std::vector<std::int64_t> right = expected[static_cast<std::size_t>(first + v)];
          std::erase(right, first + v);
          std::sort(right.begin(), right.end());
          ASSERT_EQ(row, right);
        }
      });
    }
  }
}

TEST(DistributedCommunitiesCheck, FindsAWrongLabel) {
  const edges all = edges_of("gen:rmat:scale=9,degree=4");
  test::on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<std::int32_t> g(comm, ctx, share_of(comm, all).view(), {direction_kind::undirected});
    auto found = distributed_communities(comm, ctx, g);
    EXPECT_EQ(check_communities<std::int32_t>(comm, ctx, g, found.labels.view()), "");
    EXPECT_NE(check_communities<std::int32_t>(comm, ctx, g, found.labels.view(), {.iterations = 1}), "");
    const std::int64_t v = 200 - g.parts().first(comm.rank());
    if (v >= 0 && v < found.labels.size()) found.labels[v] += 1;
    EXPECT_THAT(check_communities<std::int32_t>(comm, ctx, g, found.labels.view()),
                testing::StartsWith("vertex 200 has label "));
  });
}

TEST(DistributedCommunitiesRefuse, OtherMethodsAndMissingInEdges) {
  const edges all = edges_of("gen:path:n=300");
  test::on_ranks([&](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<std::int32_t> g(comm, ctx, share_of(comm, all).view(), {direction_kind::directed});
    const auto code_of = [&](const communities_options& options) {
      try {
        (void)distributed_communities(comm, ctx, g, options);
      } catch (const agreed_error& e) {
        return e.code();
      }
      return error_code::parse;
    };
    EXPECT_EQ(code_of({.method = communities_method::leiden}), error_code::unsupported);
    EXPECT_EQ(code_of({}), error_code::unsupported);  // no in-edges
    EXPECT_EQ(code_of({.iterations = -1}), error_code::invalid_argument);
  });
}

}  // namespace
}  // namespace spargo
