// Graphs generated, searched and checked on the ranks' devices, against host graphs.
#include "distributed/devices.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/io/generate.hpp>

#include <gmock/gmock.h>

#include <optional>

namespace spargo {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> listed(const context<device>& ctx, span<const T, device> values) {
  const auto host_values = to_host(ctx, values);
  return {host_values.begin(), host_values.end()};
}
template <class T>
std::vector<T> listed(span<const T, host> values) {
  return {values.begin(), values.end()};
}

class DeviceMadeGraph : public testing::TestWithParam<const char*> {};

TEST_P(DeviceMadeGraph, IsThatOfTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  const auto make = [&]<class I>(I, const graph_options& options) {
    test::on_ranks([&](const communicator& comm) {
      const context<device> ctx = test::device_of(comm);
      const auto share = generate_part<pattern, std::int64_t>(cpu, GetParam(), comm.rank(), comm.size());
      const distributed_graph<I> expected(comm, cpu, share.view(), options);
      // One round; one round per block of rows; several blocks per round.
      for (const std::int64_t scratch : {0, 1, 24 * 3000}) {
        SCOPED_TRACE("scratch " + std::to_string(scratch));
        const distributed_graph<I, device> g(comm, ctx, GetParam(), options, scratch);
        ASSERT_EQ(g.parts(), expected.parts());
        ASSERT_EQ(g.edges(), expected.edges());
        ASSERT_EQ(g.vertices(), expected.vertices());
        ASSERT_EQ(g.out().rows, expected.out().rows);
        ASSERT_EQ(g.out().cols, expected.out().cols);
        ASSERT_EQ(listed(ctx, g.out().offsets), listed(expected.out().offsets));
        ASSERT_EQ(listed(ctx, g.out().indices), listed(expected.out().indices));
        ASSERT_EQ(g.in().offsets.empty(), expected.in().offsets.empty());
        ASSERT_EQ(listed(ctx, g.in().offsets), listed(expected.in().offsets));
        ASSERT_EQ(listed(ctx, g.in().indices), listed(expected.in().indices));
      }
    });
  };
  make(std::int32_t{}, {direction_kind::undirected});
  make(std::int32_t{}, {direction_kind::directed, true});
  make(std::int32_t{}, {direction_kind::directed, false});
  make(std::int64_t{}, {direction_kind::undirected});
  make(std::int32_t{}, {direction_kind::undirected, false, self_loops::keep});
  make(std::int32_t{}, {direction_kind::directed, true, self_loops::keep});
}

TEST_P(DeviceMadeGraph, IsSearched) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  using I = std::int32_t;
  for (const direction_kind direction : {direction_kind::undirected, direction_kind::directed}) {
    const auto all = generate<pattern, std::int64_t>(cpu, GetParam());
    const distributed_graph<I> whole(communicator(), cpu, all.view(), {direction, true});
    const std::int64_t source = whole.vertices() / 3;
    distributed_bfs_plan<I> expected(communicator(), cpu, whole);
    expected.run(source);
    test::on_devices([&](const communicator& comm, const context<device>& ctx, const exchange_options& links) {
      std::optional<distributed_graph<I, device>> g(std::in_place, comm, ctx, GetParam(),
                                                    graph_options{direction, true});
      distributed_bfs_plan<I, device> plan(comm, ctx, *g, {}, links);
      const distributed_graph<I, device> kept = *g;
      g.reset();  // the plan shares its rows
      for (int again = 0; again < 2; ++again) {
        plan.run(source);
        const auto levels = listed(ctx, plan.levels());
        ASSERT_EQ(comm.all_gather(span<const std::int32_t, host>(levels)), listed(expected.levels()));
        ASSERT_EQ(plan.reached(), expected.reached());
        ASSERT_EQ(check_bfs<I>(comm, ctx, kept, source, plan.levels(), plan.parents()), "");
        std::int64_t traversed = 0;
        for (std::int64_t v = 0; v < whole.vertices(); ++v) {
          if (expected.levels()[v] >= 0) traversed += whole.out().offsets[v + 1] - whole.out().offsets[v];
        }
        ASSERT_EQ(count_traversed(comm, ctx, kept, plan.levels()), traversed);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, DeviceMadeGraph,
                         testing::Values("gen:rmat:scale=11,degree=16", "gen:rmat:scale=9,degree=3,seed=5",
                                         "gen:rmat:scale=5,degree=40", "gen:uniform:rows=1500,degree=2",
                                         "gen:uniform:rows=129,degree=90", "gen:uniform:rows=1,degree=2"));

TEST(DeviceMadeGraphs, OfMoreKeysThanARoundHas) {  // hubs, unequal rounds
  SPARGO_TEST_NEEDS_GPU();
  const std::string spec = "gen:rmat:scale=16,degree=16";
  const context<host> cpu({.threads = 2});
  test::on_ranks([&](const communicator& comm) {
    const context<device> ctx = test::device_of(comm);
    const auto share = generate_part<pattern, std::int64_t>(cpu, spec, comm.rank(), comm.size());
    const distributed_graph<std::int32_t> expected(comm, cpu, share.view(), {direction_kind::undirected});
    const distributed_graph<std::int32_t, device> g(comm, ctx, spec, {direction_kind::undirected}, 24 * 150000);
    ASSERT_EQ(listed(ctx, g.out().offsets), listed(expected.out().offsets));
    ASSERT_EQ(listed(ctx, g.out().indices), listed(expected.out().indices));
  });
}

TEST(DeviceMadeGraphs, RefuseWhatDevicesCannotGenerate) {
  SPARGO_TEST_NEEDS_GPU();
  test::on_ranks([](const communicator& comm) {
    const context<device> ctx = test::device_of(comm);
    const auto refusal = [&](const char* spec) -> std::string {
      try {
        (void)distributed_graph<std::int64_t, device>(comm, ctx, spec);
      } catch (const agreed_error& e) {
        return e.what();
      }
      return "made";
    };
    EXPECT_THAT(refusal("gen:grid2d:n=9"), HasSubstr("not available on devices"));
    EXPECT_THAT(refusal("gen:uniform:rows=9,cols=8,degree=1"), HasSubstr("rows and columns differ"));
    EXPECT_THAT(refusal("gen:uniform:rows=3000000000,degree=1"), HasSubstr("more than 2^31 - 1 vertices"));
    EXPECT_THAT(refusal("gen:rmat:degree=1"), HasSubstr("scale"));
  });
}

class refusing_resource final : public memory_resource<device> {
  [[nodiscard]] void* allocate(std::size_t bytes, stream_handle) override {
    throw error(error_code::out_of_memory, "no room for " + std::to_string(bytes) + " bytes");
  }
  void deallocate(void*, std::size_t, stream_handle) noexcept override {}
};

TEST(DeviceMadeGraphs, ThrowOnAllRanksWhereOneHasNoMemory) {
  SPARGO_TEST_NEEDS_GPU();
  test::on_ranks([](const communicator& comm) {
    refusing_resource full;
    device_options options{.ordinal = test::device_of(comm).ordinal()};
    if (comm.rank() == comm.size() - 1) options.resource = &full;
    const context<device> ctx(options);
    try {
      (void)distributed_graph<std::int32_t, device>(comm, ctx, "gen:rmat:scale=9,degree=8");
      ADD_FAILURE() << "made";
    } catch (const agreed_error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
    }
  });
}

// A grid of 32 x 32 searched from 0; the owner of a vertex corrupts its result.
TEST(DeviceCheck, SeesWhatIsWrongWithATree) {
  SPARGO_TEST_NEEDS_GPU();
  using I = std::int32_t;
  const context<host> cpu({.threads = 1});
  struct spoilt {
    std::int64_t vertex;
    std::optional<std::int32_t> level;
    std::optional<I> parent;
    const char* sentence;
  };
  // Vertex 1023 is at level 62, below 991, beside 1022. 958 = (29, 30), level 59: one nearer than 1021, not adjacent.
  const std::vector<spoilt> all{{1023, 63, {}, "to vertex 1023"},
                                {1023, 60, {}, "at level 61"},
                                {1023, -1, {}, "unreached, and its parent is"},
                                {1023, {}, -1, "vertex 1023 is at level 62"},
                                {1023, {}, 1023, "where the source is 0"},
                                {1023, {}, 2000, "expected -1 to 1023"},
                                {1023, 5000, {}, "expected -1 to 1023"},
                                {1023, {}, 3, "its parent 3 is at level 3"},
                                {1021, {}, 958, "no edge leads from there"},
                                {1023, -1, -1, "to vertex 1023, unreached"},
                                {700, 0, 0, "where the source is 0"}};
  test::on_ranks([&](const communicator& comm) {
    const context<device> ctx = test::device_of(comm);
    const auto share = generate_part<pattern, std::int64_t>(cpu, "gen:grid2d:n=32,m=32", comm.rank(), comm.size());
    const distributed_graph<I> on_host(comm, cpu, share.view(), {direction_kind::undirected});
    const distributed_graph<I, device> g(comm, ctx, on_host);
    distributed_bfs_plan<I, device> plan(comm, ctx, g);
    plan.run(0);
    EXPECT_EQ(check_bfs<I>(comm, ctx, g, 0, plan.levels(), plan.parents()), "");
    for (const spoilt& each : all) {
      auto levels = listed(ctx, plan.levels());
      auto parents = listed(ctx, plan.parents());
      if (g.parts().owner(each.vertex) == comm.rank()) {
        const auto v = static_cast<std::size_t>(each.vertex - g.parts().first(comm.rank()));
        levels[v] = each.level.value_or(levels[v]);
        parents[v] = each.parent.value_or(parents[v]);
      }
      const auto device_levels = to_device(ctx, levels);
      const auto device_parents = to_device(ctx, parents);
      const std::string found = check_bfs<I>(comm, ctx, g, 0, device_levels.view(), device_parents.view());
      EXPECT_THAT(found, HasSubstr(each.sentence)) << each.vertex;
      const std::vector<char> texts = comm.all_gather(span<const char, host>(found));
      for (std::size_t k = 0; k < texts.size(); ++k) ASSERT_EQ(texts[k], found[k % found.size()]);
      EXPECT_EQ(check_bfs<I>(comm, cpu, on_host, 0, levels, parents).empty(), found.empty());
    }
    const auto few = to_device(ctx, std::vector<std::int32_t>(static_cast<std::size_t>(g.out().rows) + 1));
    EXPECT_THAT(check_bfs<I>(comm, ctx, g, 0, few.view(), plan.parents()), HasSubstr("levels and"));
  });
}

}  // namespace
}  // namespace spargo
