// Searches by one persistent kernel per GPU against those stepped by the host. One GPU is shared by all ranks.
#include "distributed/bfs/persistent.hpp"
#include "distributed/devices.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/io/generate.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <queue>

namespace spargo {
namespace {

using namespace std::chrono_literals;
using edges = coo_matrix<pattern, std::int64_t, host>;
using detail::distributed::persistence;

using naive_levels = std::vector<std::int32_t>;

naive_levels levels_of(const edges& all, bool both, std::int64_t source) {
  std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(all.rows()));
  for (std::int64_t k = 0; k < all.nnz(); ++k) {
    out[static_cast<std::size_t>(all.row_indices()[k])].push_back(all.col_indices()[k]);
    if (both) out[static_cast<std::size_t>(all.col_indices()[k])].push_back(all.row_indices()[k]);
  }
  naive_levels levels(out.size(), -1);
  levels[static_cast<std::size_t>(source)] = 0;
  std::queue<std::int64_t> waiting({source});
  for (; !waiting.empty(); waiting.pop()) {
    for (const std::int64_t v : out[static_cast<std::size_t>(waiting.front())]) {
      if (levels[static_cast<std::size_t>(v)] >= 0) continue;
      levels[static_cast<std::size_t>(v)] = levels[static_cast<std::size_t>(waiting.front())] + 1;
      waiting.push(v);
    }
  }
  return levels;
}

std::vector<std::int64_t> sizes_of(const naive_levels& levels) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(*std::max_element(levels.begin(), levels.end()) + 1));
  for (const std::int32_t level : levels) {
    if (level >= 0) ++sizes[static_cast<std::size_t>(level)];
  }
  return sizes;
}

// Runs on teams whose devices have peer access.
void on_peers(const std::vector<int>& teams,
              const std::function<void(const communicator&, const context<device>&)>& body) {
  for (const int ranks : teams) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    run_team(ranks, [&](const communicator& comm) { body(comm, test::device_of(comm)); });
  }
}

template <class I>
struct both_ways {
  std::unique_ptr<detail::distributed::bfs_executor<I, device>> stepped;
  std::unique_ptr<detail::distributed::bfs_executor<I, device>> persistent;  // null if not supported

  both_ways(const communicator& comm, const context<device>& ctx, const distributed_graph<I>& on_host,
            bfs_direction way, const persistence& options = {}) {
    const distributed_graph<I, device> g(comm, ctx, on_host);
    const auto choice = detail::distributed::choose_link(comm, ctx, device_link::peer);
    const std::int64_t entries = g.edges() * (g.direction() == direction_kind::undirected ? 2 : 1);
    const detail::distributed::bfs_task task{g.vertices(), entries, way};
    stepped = detail::distributed::make_stepped_bfs(comm, ctx, g, task, choice);
    if (!detail::distributed::can_persist<I>(comm, ctx, choice)) return;
    persistent = detail::distributed::make_persistent_bfs(comm, ctx, g, task, choice.how, options);
  }
};

template <class I>
void expect_levels(const communicator& comm, const context<device>& ctx, const distributed_graph<I>& g,
                   detail::distributed::bfs_executor<I, device>& by, std::int64_t source, const naive_levels& expected,
                   bfs_direction way) {
  SCOPED_TRACE(std::string(by.steps()) + ", from " + std::to_string(source));
  const context<host> cpu({.threads = 1});
  const detail::distributed::bfs_record found = by.search(source);
  const auto levels = to_host(ctx, by.found_levels());
  const auto parents = to_host(ctx, by.found_parents());
  ASSERT_EQ(comm.all_gather(span<const std::int32_t, host>(levels)), expected);
  ASSERT_EQ(check_bfs<I>(comm, cpu, g, source, levels.view(), parents.view()), "");
  ASSERT_EQ(found.sizes, sizes_of(expected));
  EXPECT_EQ(found.reached, std::count_if(expected.begin(), expected.end(), [](int level) { return level >= 0; }));
  if (way == bfs_direction::pull) {
    EXPECT_EQ(found.pulled, std::ssize(found.sizes));
  }
  if (way == bfs_direction::push) {
    EXPECT_EQ(found.pulled, 0);
  }
}

class PersistentSearch : public testing::TestWithParam<const char*> {};

TEST_P(PersistentSearch, FindsWhatTheHostStepsTo) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes";
  const context<host> cpu({.threads = 1});
  const edges all = generate<pattern, std::int64_t>(cpu, GetParam());
  const std::int64_t n = all.rows();
  const bool is_large = n > 50000;
  const auto search_on = [&]<class I>(I, direction_kind direction, bool in_edges, const std::vector<int>& teams) {
    const bool both = direction == direction_kind::undirected;
    std::vector<std::int64_t> sources{0, n - 1, n / 3, n / 3, 0, n / 2};
    if (is_large) sources.resize(2);
    std::vector<naive_levels> expected;
    for (const std::int64_t source : sources) expected.push_back(levels_of(all, both, source));
    on_peers(teams, [&](const communicator& comm, const context<device>& ctx) {
      const auto share = generate_part<pattern, std::int64_t>(cpu, GetParam(), comm.rank(), comm.size());
      const distributed_graph<I> g(comm, cpu, share.view(), {direction, in_edges});
      for (const bfs_direction way : {bfs_direction::automatic, bfs_direction::push, bfs_direction::pull}) {
        if (way != bfs_direction::push && !both && !in_edges) continue;
        for (const int narrow_levels : {0, 1, 8}) {
          SCOPED_TRACE(std::to_string(narrow_levels) + " narrow levels");
          both_ways<I> ways(comm, ctx, g, way, {.narrow_levels = narrow_levels});
          if (!ways.persistent) return;
          for (std::size_t k = 0; k < sources.size(); ++k) {
            expect_levels(comm, ctx, g, *ways.persistent, sources[k], expected[k], way);
            if (narrow_levels == 0 && k < 2) expect_levels(comm, ctx, g, *ways.stepped, sources[k], expected[k], way);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    });
  };
  search_on(std::int32_t{}, direction_kind::undirected, false, {1, 2, 3});
  if (is_large) return;
  search_on(std::int32_t{}, direction_kind::directed, true, {1, 2, 3});
  search_on(std::int32_t{}, direction_kind::directed, false, {2});
  search_on(std::int64_t{}, direction_kind::undirected, false, {3});
}

// Ranks without vertices; hubs; levels pushed, pulled and pushed again; unreached vertices.
INSTANTIATE_TEST_SUITE_P(, PersistentSearch,
                         testing::Values("gen:path:n=1", "gen:path:n=130", "gen:star:n=40", "gen:star:n=40000",
                                         "gen:complete:n=300", "gen:grid2d:n=30,m=50", "gen:uniform:rows=1500,degree=2",
                                         "gen:uniform:rows=6000,degree=16", "gen:rmat:scale=8,degree=4",
                                         "gen:rmat:scale=11,degree=8", "gen:powerlaw:rows=4000,degree=5",
                                         "gen:rmat:scale=16,degree=16"));

TEST(PersistentSearches, HaveMoreLevelsThanTheKernelWritesDown) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes";
  const context<host> cpu({.threads = 1});
  for (const char* name : {"gen:path:n=3000", "gen:path:n=5000"}) {  // copied, and counted
    const naive_levels expected = levels_of(generate<pattern, std::int64_t>(cpu, name), true, 1);
    on_peers({2, 3}, [&](const communicator& comm, const context<device>& ctx) {
      const auto share = generate_part<pattern, std::int64_t>(cpu, name, comm.rank(), comm.size());
      const distributed_graph<std::int32_t> g(comm, cpu, share.view(), {direction_kind::undirected});
      both_ways<std::int32_t> ways(comm, ctx, g, bfs_direction::automatic);
      if (ways.persistent) expect_levels(comm, ctx, g, *ways.persistent, 1, expected, bfs_direction::automatic);
    });
  }
}

// A path to a hub with 40,000 neighbours, which another path connects.
edges two_paths(const context<host>& cpu) {
  constexpr std::int64_t length = 200;
  constexpr std::int64_t leaves = 40000;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  const auto join = [&](std::int64_t u, std::int64_t v) {
    from.push_back(u);
    to.push_back(v);
  };
  for (std::int64_t v = 1; v < length; ++v) join(v - 1, v);
  for (std::int64_t v = 0; v < leaves; ++v) {
    join(length - 1, length + v);
    join(length + v, length + leaves);
  }
  for (std::int64_t v = 1; v < length; ++v) join(length + leaves + v - 1, length + leaves + v);
  const std::int64_t n = 2 * length + leaves;
  edges all(cpu, n, n, std::ssize(from));
  std::copy(from.begin(), from.end(), all.row_indices().begin());
  std::copy(to.begin(), to.end(), all.col_indices().begin());
  return all;
}

TEST(PersistentSearches, WalkNarrowLevelsOnOneGpu) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes";
  const context<host> cpu({.threads = 1});
  struct graph_case {
    edges all;
    std::int64_t least;  // levels run by one GPU
    std::int64_t most;
  };
  std::vector<graph_case> cases;
  cases.push_back({generate<pattern, std::int64_t>(cpu, "gen:grid2d:n=100,m=80"), 165, 171});
  cases.push_back({two_paths(cpu), 370, 384});  // in two stretches
  cases.push_back({generate<pattern, std::int64_t>(cpu, "gen:rmat:scale=14,degree=16"), 0, 0});
  for (const graph_case& each : cases) {
    const naive_levels expected = levels_of(each.all, true, 0);
    on_peers({1, 2, 3}, [&](const communicator& comm, const context<device>& ctx) {
      const edges none(cpu, each.all.rows(), each.all.cols(), 0);
      const distributed_graph<std::int32_t> g(comm, cpu, (comm.rank() == 0 ? each.all : none).view(),
                                              {direction_kind::undirected});
      for (const bfs_direction way : {bfs_direction::automatic, bfs_direction::push}) {
        both_ways<std::int32_t> ways(comm, ctx, g, way);
        if (!ways.persistent) return;
        both_ways<std::int32_t> small(comm, ctx, g, way, {.whole_bytes = 100000});
        for (int k = 0; k < 2; ++k) {
          expect_levels(comm, ctx, g, *ways.persistent, 0, expected, way);
          expect_levels(comm, ctx, g, *small.persistent, 0, expected, way);
          const std::int64_t before = comm.sent().bytes;
          const std::int64_t alone = ways.persistent->search(0).alone;
          EXPECT_GE(alone, each.least);
          EXPECT_LE(alone, each.most);
          if (each.most == 171 && comm.rank() != 0) {
            EXPECT_GE(comm.sent().bytes - before, 8 * g.out().rows / 2);  // most receive their levels and parents
          }
          EXPECT_EQ(small.persistent->search(0).alone, 0);
        }
      }
    });
  }
}

TEST(PersistentSearches, GoOnForManyRunsOfSeveralPlans) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes";
  const context<host> cpu({.threads = 1});
  const char* const name = "gen:rmat:scale=9,degree=6";
  const edges all = generate<pattern, std::int64_t>(cpu, name);
  std::vector<naive_levels> expected;
  for (std::int64_t source = 0; source < 40; ++source) expected.push_back(levels_of(all, true, source * 13 % 512));
  on_peers({2, 4, 8}, [&](const communicator& comm, const context<device>& ctx) {
    const auto share = generate_part<pattern, std::int64_t>(cpu, name, comm.rank(), comm.size());
    const distributed_graph<std::int32_t> g(comm, cpu, share.view(), {direction_kind::undirected});
    both_ways<std::int32_t> one(comm, ctx, g, bfs_direction::automatic);
    both_ways<std::int32_t> two(comm, ctx, g, bfs_direction::automatic);
    for (std::int64_t k = 0; one.persistent && k < 200; ++k) {
      auto& by = *(k % 3 == 0 ? one : two).persistent;
      (void)by.search(k % 40 * 13 % 512);
      const auto levels = to_host(ctx, by.found_levels());
      ASSERT_EQ(comm.all_gather(span<const std::int32_t, host>(levels)), expected[static_cast<std::size_t>(k % 40)]);
    }
  });
}

// The device of each rank in turn stays away.
TEST(PersistentSearches, EndWhenADeviceIsAbsent) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes";
  const context<host> cpu({.threads = 1});
  const char* const name = "gen:rmat:scale=11,degree=8";
  const naive_levels expected = levels_of(generate<pattern, std::int64_t>(cpu, name), true, 5);
  on_peers({2, 3}, [&](const communicator& comm, const context<device>& ctx) {
    const auto share = generate_part<pattern, std::int64_t>(cpu, name, comm.rank(), comm.size());
    const distributed_graph<std::int32_t> g(comm, cpu, share.view(), {direction_kind::undirected});
    for (int absent = 0; absent < comm.size(); ++absent) {
      both_ways<std::int32_t> ways(comm, ctx, g, bfs_direction::automatic, {.patience = 50ms, .absent_rank = absent});
      if (!ways.persistent) return;
      const auto begin = std::chrono::steady_clock::now();
      for (const char* what : {"have waited for each other for 0.05", "an earlier search has failed"}) {
        try {
          (void)ways.persistent->search(5);
          ADD_FAILURE() << "no error";
        } catch (const error& e) {
          EXPECT_EQ(e.code(), error_code::device_failure);
          EXPECT_THAT(e.what(), testing::HasSubstr(what));
        }
      }
      EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
      expect_levels(comm, ctx, g, *ways.stepped, 5, expected, bfs_direction::automatic);  // the device still works
    }
    both_ways<std::int32_t> again(comm, ctx, g, bfs_direction::automatic);
    expect_levels(comm, ctx, g, *again.persistent, 5, expected, bfs_direction::automatic);
  });
}

TEST(PersistentSearches, ReportTheirStepsAndTraffic) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes";
  const context<host> cpu({.threads = 1});
  on_peers({1, 2, 9}, [&](const communicator& comm, const context<device>& ctx) {
    const auto share = generate_part<pattern, std::int64_t>(cpu, "gen:path:n=300", comm.rank(), comm.size());
    const distributed_graph<std::int32_t> g(comm, cpu, share.view(), {direction_kind::undirected});
    using search = distributed_bfs_plan<std::int32_t, device>;
    search by_peers(comm, ctx, g, {}, {.link = device_link::peer});
    const bool persists = detail::distributed::can_persist<std::int32_t>(
        comm, ctx, detail::distributed::choose_link(comm, ctx, device_link::peer));
    EXPECT_EQ(by_peers.steps(), persists ? "by one kernel on each GPU" : "stepped by the host");
    if (comm.size() > 8) {
      EXPECT_FALSE(persists);
    }
    const traffic before = comm.sent();
    by_peers.run(0);
    if (persists && comm.size() == 2) {
      EXPECT_GE(comm.sent().bytes - before.bytes, 8);  // at least one queued vertex
    }
    search by_host(comm, ctx, g, {}, {.link = device_link::host_memory});
    EXPECT_EQ(by_host.steps(), "stepped by the host");
  });
}

}  // namespace
}  // namespace spargo
