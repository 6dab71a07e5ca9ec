// Searches by grids of ranks of many shapes, against naive code: bits and ids, less traffic than one row.
#include "distributed/bfs/bfs_host.hpp"
#include "distributed/graphs.hpp"
#include "distributed/ranks.hpp"
#include "support/resource.hpp"
#include "support/rounds.hpp"

#include <gmock/gmock.h>

#include <atomic>

namespace spargo {
namespace {

using I = std::int32_t;

struct shape {
  int rows, columns;
};

// Under mpirun only shapes with that many ranks.
void on_grids(std::initializer_list<shape> shapes, const std::function<void(const communicator&, int rows)>& body) {
  for (const shape& each : shapes) {
    const int ranks = each.rows * each.columns;
    SCOPED_TRACE(std::to_string(each.rows) + " x " + std::to_string(each.columns) + " ranks");
    if (test::is_launched()) {
      if (test::world().size() == ranks) body(test::world(), each.rows);
    } else {
      run_team(ranks, [&](const communicator& comm) { body(comm, each.rows); });
    }
  }
}

detail::distributed::bfs_task task_of(const distributed_graph<I>& g, bfs_direction allowed) {
  return {g.vertices(), g.edges() * (g.direction() == direction_kind::undirected ? 2 : 1), allowed};
}

class GridSearch : public testing::TestWithParam<test::graph_case> {
 protected:
  test::edges all_ = test::edges_of(GetParam().name);
  bool both_ = GetParam().direction == direction_kind::undirected;
  test::lists out_ = test::neighbours_of(all_, both_);

  // Each parent is a neighbour one level nearer, and the smallest one if all levels were pushed.
  void expect_tree(const test::tree& expected, const std::vector<std::int32_t>& levels, const std::vector<I>& parents,
                   bool smallest) const {
    EXPECT_EQ(levels, expected.levels);
    if (smallest) {
      EXPECT_EQ(parents, expected.parents);
    }
    ASSERT_EQ(parents.size(), expected.parents.size());
    for (std::size_t v = 0; v < parents.size(); ++v) {
      ASSERT_EQ(parents[v] < 0, expected.parents[v] < 0) << v;
      if (levels[v] <= 0) continue;
      const auto& row = out_[static_cast<std::size_t>(parents[v])];
      ASSERT_TRUE(std::binary_search(row.begin(), row.end(), static_cast<std::int64_t>(v))) << v;
      ASSERT_EQ(levels[static_cast<std::size_t>(parents[v])] + 1, levels[v]) << v;
    }
  }
};

TEST_P(GridSearch, FindsWhatOneProcessDoes) {
  on_grids({{2, 2}, {2, 3}, {3, 2}, {3, 3}, {1, 4}, {4, 1}, {1, 2}}, [&](const communicator& comm, int rows) {
    const context<host> ctx = test::context_of(comm);
    const distributed_graph<I> g(comm, ctx, test::share_of(comm, all_).view(), {GetParam().direction, true});
    const std::int64_t n = g.vertices();
    for (const bfs_direction allowed : {bfs_direction::automatic, bfs_direction::push, bfs_direction::pull}) {
      const auto plan = detail::distributed::make_grid_bfs(comm, ctx, g, task_of(g, allowed), rows);
      int number = 0;
      for (const std::int64_t source : {std::int64_t{0}, n - 1, n / 2, n / 3, std::int64_t{0}}) {
        if (test::is_sanitized && number++ % 3 != 0) continue;
        const detail::distributed::bfs_record found = plan->search(source);
        const test::tree expected = test::search(out_, source);
        const std::vector<I> parents = comm.all_gather(plan->found_parents());
        expect_tree(expected, comm.all_gather(plan->found_levels()), parents, allowed == bfs_direction::push);
        std::vector<std::int64_t> sizes;
        for (const std::int32_t level : expected.levels) {
          if (level >= std::ssize(sizes)) sizes.resize(static_cast<std::size_t>(level) + 1);
          if (level >= 0) ++sizes[static_cast<std::size_t>(level)];
        }
        EXPECT_EQ(found.sizes, sizes);
        EXPECT_EQ(found.reached,
                  std::count_if(expected.levels.begin(), expected.levels.end(), [](int l) { return l >= 0; }));
        if (allowed != bfs_direction::automatic) {
          EXPECT_EQ(found.pulled, allowed == bfs_direction::pull ? std::ssize(sizes) : 0);
        }
        EXPECT_EQ(check_bfs(comm, ctx, g, source, plan->found_levels(), plan->found_parents()), "");
        (void)plan->search(source);
        EXPECT_EQ(comm.all_gather(plan->found_parents()), parents);  // the same on every run
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, GridSearch, testing::ValuesIn(test::graph_cases()));

// Levels so large that several threads share a pull and frontiers travel as bits.
TEST(GridSearches, OfLargeLevels) {
  const test::edges all = test::edges_of("gen:rmat:scale=15,degree=8");
  const std::int64_t source = all.row_indices()[0];
  const test::tree expected = test::search(test::neighbours_of(all, true), source);
  on_grids({{2, 2}, {3, 4}}, [&](const communicator& comm, int rows) {
    const context<host> ctx({.threads = 1 + comm.rank() % 3});
    const distributed_graph<std::int64_t> g(comm, ctx, test::share_of(comm, all).view(), {direction_kind::undirected});
    const detail::distributed::bfs_task task{g.vertices(), 2 * g.edges(), bfs_direction::automatic};
    const auto plan = detail::distributed::make_grid_bfs(comm, ctx, g, task, rows);
    EXPECT_GE(plan->search(source).pulled, 2);
    EXPECT_EQ(comm.all_gather(plan->found_levels()), expected.levels);
    EXPECT_EQ(check_bfs(comm, ctx, g, source, plan->found_levels(), plan->found_parents()), "");
  });
}

// A team that pretends each rank is on its own host.
class apart final : public detail::communicator_backend {
 public:
  explicit apart(const communicator& team) : team_(team) {
    rank = team.rank();
    size = team.size();
  }
  [[nodiscard]] const char* name() const noexcept override { return team_.name(); }
  void barrier() override { team_.barrier(); }
  void all_gather(char* all, const std::int64_t* offsets) override {
    team_.gather_in_place<char>(span<char, host>(all, offsets[size]), {offsets, size + 1});
  }
  void all_to_all(const char* from, const std::int64_t* from_offsets, char* to, const std::int64_t*) override {
    std::vector<std::int64_t> counts;
    for (int r = 0; r < size; ++r) counts.push_back(from_offsets[r + 1] - from_offsets[r]);
    std::vector<std::int64_t> received;
    const span<const char, host> all(from, from_offsets[size]);
    const auto got = team_.all_to_all<char>(context<host>({.threads = 1}), all, counts, received);
    std::copy(got.begin(), got.end(), to);
  }
  [[nodiscard]] std::unique_ptr<detail::channel> connect(std::vector<detail::message> sends,
                                                         std::vector<detail::message> receives) override {
    return team_.connect(std::move(sends), std::move(receives));
  }
  [[nodiscard]] std::shared_ptr<communicator_backend> split(int color) override {
    return std::make_shared<apart>(team_.split(color));
  }
  void abort(int status) noexcept override { team_.abort(status); }

 private:
  communicator team_;
};

TEST(GridSearches, AreTakenByMoreThanSixteenRanksOfSeveralHosts) {
  if (test::is_launched()) GTEST_SKIP() << "of threads only";
  const test::edges all = test::edges_of("gen:rmat:scale=11,degree=8");
  const std::int64_t source = all.row_indices()[0];
  const test::tree expected = test::search(test::neighbours_of(all, true), source);
  const std::string row = "host memory";
  for (const auto& [ranks, how] : {std::pair{16, row}, {17, row}, {20, row + ", in a grid of 4 x 5 ranks"}}) {
    run_team(ranks, [&](const communicator& team) {
      const context<host> ctx({.threads = 1});
      const communicator comm(std::make_shared<apart>(team));
      const distributed_graph<I> g(comm, ctx, test::share_of(comm, all).view(), {direction_kind::undirected});
      distributed_bfs_plan<I> plan(comm, ctx, g);
      EXPECT_EQ(plan.how(), how);
      plan.run(source);
      EXPECT_EQ(comm.all_gather(plan.levels()), expected.levels);
      EXPECT_EQ(check_bfs(comm, ctx, g, source, plan.levels(), plan.parents()), "");
      distributed_bfs_plan<I> least(comm, ctx, g, {.parents = bfs_parents::smallest});
      EXPECT_EQ(least.how(), row);
      least.run(source);
      EXPECT_EQ(comm.all_gather(least.parents()), expected.parents);
      EXPECT_EQ(distributed_bfs_plan<I>(team, ctx, g).how(), row);  // all on this host
    });
  }
}

// Fails each allocation of one rank, in the plan and in a search. All ranks, not a row, agree on the error.
TEST(GridSearches, EndOnAllRanksWhereOneHasNoMemory) {
  if (test::is_launched()) GTEST_SKIP() << "of threads only";
  const test::edges all = test::edges_of("gen:rmat:scale=9,degree=8");
  const std::int64_t source = all.row_indices()[0];
  const std::int64_t requests = test::fail_every_allocation([&](const context<host>& scarce) {
    std::atomic<int> agreed = 0;
    const auto search = [&](const communicator& comm) {
      const context<host> ctx({.threads = 1});
      const distributed_graph<I> g(comm, ctx, test::share_of(comm, all).view(), {direction_kind::undirected});
      try {
        const auto plan = detail::distributed::make_grid_bfs(comm, comm.rank() == 4 ? scarce : ctx, g,
                                                             task_of(g, bfs_direction::automatic), 2);
        EXPECT_GE(plan->search(source).pulled, 1);
      } catch (const agreed_error&) {
        ++agreed;
        throw;
      }
    };
    try {
      run_team(6, search);
    } catch (...) {
      EXPECT_THAT(agreed.load(), testing::AnyOf(0, 6));
      throw;
    }
  });
  EXPECT_GT(requests, 15);
}

// With 4 x 4 ranks, a pulled level brings each rank the bits of 3 other frontiers and of 3 other sets of visited
// vertices, and two indices per found vertex. In one row it would be the bits of 15 others.
TEST(GridSearches, SendTheExpectedBytes) {
  if (test::is_launched()) GTEST_SKIP() << "of threads only";
  const test::edges all = test::edges_of("gen:uniform:rows=262144,degree=4");
  run_team(16, [&](const communicator& comm) {
    const context<host> ctx({.threads = 1});
    const distributed_graph<I> g(comm, ctx, test::share_of(comm, all).view(), {direction_kind::undirected});
    const auto plan = detail::distributed::make_grid_bfs(comm, ctx, g, task_of(g, bfs_direction::pull), 4);
    const std::int64_t before = comm.sent().bytes;
    const detail::distributed::bfs_record found = plan->search(0);
    const std::int64_t bytes = comm.all_reduce(comm.sent().bytes - before, reduction::sum);
    const std::int64_t n = g.vertices();
    const std::int64_t levels = std::ssize(found.sizes);
    const std::int64_t small = 16 * levels * 1000;  // counts and sums
    EXPECT_LE(bytes, levels * (3 + 3) * n / 8 + found.reached * 8 + small);
    EXPECT_GE(bytes, levels * 3 * n / 8 + found.reached * 8 * 3 / 5);
  });
}

}  // namespace
}  // namespace spargo
