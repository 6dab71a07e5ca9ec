// Device operators against a host loop, around the limits where they change their method: 32 vertices per warp, 512
// edges per chunk, a full list of chunks; and two algorithms written with them.
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/operators.cuh>

#include "../../apps/examples/label_propagation.cuh"
#include "graph/graph_support.hpp"
#include "support/device.hpp"
#include "support/resource.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::raw_graph;

constexpr std::int64_t chunk = 512;  // of the operators; a test that is no longer at the limit is only less sharp

template <class I, class O>
struct widths {
  using index = I;
  using offset = O;
};

// Counts its visits, checks its arguments, and admits about every third edge.
template <class I, class O>
struct count_visits {
  const O* offsets;
  const I* indices;
  unsigned* visits;  // [edges]
  unsigned* faults;

  __host__ __device__ static bool joins(I u, I v, O e) { return (u * 7 + v * 3 + static_cast<I>(e)) % 3 == 0; }
  __device__ bool operator()(I u, I v, O e) const {
    if (indices[e] != v || e < offsets[u] || e >= offsets[u + 1]) atomicAdd(faults, 1U);
    atomicAdd(visits + e, 1U);
    return joins(u, v, e);
  }
};

template <class I, class O>
struct all_edges {
  __device__ bool operator()(I, I, O) const { return true; }
};
template <class I, class O>
struct targets_not_three {
  __device__ bool operator()(I, I v, O) const { return v % 3 != 0; }
};
template <class I, class O>
struct targets_above_one {
  __device__ bool operator()(I, I v, O) const { return v > 1; }
};
template <class I>
struct keep_fifths {
  unsigned* calls;
  __device__ bool operator()(I v) const {
    atomicAdd(calls, 1U);
    return v % 5 < 2;
  }
};
template <class I>
struct keep_all {
  __device__ bool operator()(I) const { return true; }
};

template <class I>
struct targets_below {
  I limit;
  __device__ bool operator()(I v) const { return v < limit; }
};

template <class I, class O>
struct device_copy {
  const context<device>& ctx;
  array<O, device> offsets;
  array<I, device> indices;
  graph_view<I, O, device> view;

  device_copy(const context<device>& c, const raw_graph<I, O>& g)
      : ctx(c),
        offsets(to_device(ctx, span<const O, host>(g.offsets))),
        indices(to_device(ctx, span<const I, host>(g.indices))),
        view{{g.vertices, g.vertices, offsets.view(), indices.view()}, {}, g.direction} {}
};

template <class I>
std::vector<I> sorted_contents(const context<device>& ctx, const frontier<I, device>& f) {
  const auto on_host = to_host(ctx, f.slots().subspan(0, size_of(ctx, f)));
  std::vector<I> all(on_host.begin(), on_host.end());
  std::sort(all.begin(), all.end());
  return all;
}

template <class I>
std::vector<I> random_vertices(std::int64_t n, std::int64_t size) {
  test::random_source random(32);
  std::vector<I> in(static_cast<std::size_t>(size));
  for (I& v : in) v = static_cast<I>(random.below(n));
  return in;
}

// Twice with one workspace: the first run must leave no trace.
template <class I, class O>
void check_advance(const context<device>& ctx, const raw_graph<I, O>& g, const std::vector<I>& in) {
  std::vector<I> expected;
  std::vector<unsigned> visits(g.indices.size(), 0);
  for (const I u : in) {
    for (O e = g.offsets[static_cast<std::size_t>(u)]; e < g.offsets[static_cast<std::size_t>(u) + 1]; ++e) {
      const I v = g.indices[static_cast<std::size_t>(e)];
      ++visits[static_cast<std::size_t>(e)];
      if (count_visits<I, O>::joins(u, v, e)) expected.push_back(v);
    }
  }
  std::sort(expected.begin(), expected.end());
  const device_copy<I, O> on_device(ctx, g);
  frontier<I, device> from(ctx, static_cast<std::int64_t>(in.size()));
  frontier<I, device> to(ctx, static_cast<std::int64_t>(expected.size()));  // exact capacity
  advance_workspace<I, O, device> workspace(ctx, on_device.view);
  const auto vertices = to_device(ctx, span<const I, host>(in));
  assign(ctx, from, vertices.view());
  array<unsigned, device> seen(ctx, static_cast<std::int64_t>(visits.size()));
  array<unsigned, device> faults(ctx, 1);
  fill_zero(ctx, faults.view());
  for (int run = 0; run < 2; ++run) {
    fill_zero(ctx, seen.view());
    advance(ctx, on_device.view, from, to, workspace,
            count_visits<I, O>{on_device.offsets.data(), on_device.indices.data(), seen.data(), faults.data()});
    ASSERT_EQ(sorted_contents(ctx, to), expected);
    const auto counted = to_host(ctx, seen.view());
    ASSERT_TRUE(std::equal(counted.begin(), counted.end(), visits.begin(), visits.end()));
    ASSERT_EQ(to_host(ctx, faults.view())[0], 0U);
  }
}

template <class I, class O>
raw_graph<I, O> directed(std::int64_t n, const edge_vector& edges) {
  return test::make_directed<I, O>(n, edges, edges_kept::out);
}

// Vertices with loops, duplicates, hubs, and isolated ones.
template <class I, class O>
raw_graph<I, O> skewed(std::int64_t n, std::int64_t edges) {
  test::random_source random(31);
  edge_vector pairs = test::random_edges(random, n - n / 10, edges, 3);
  for (std::int64_t k = 0; k < edges / 4; ++k) pairs.emplace_back(n / 2, random.below(n));
  return directed<I, O>(n, pairs);
}

template <class I, class O>
void check_once(const context<device>& ctx, const raw_graph<I, O>& g) {
  std::vector<I> expected(g.indices);
  std::erase_if(expected, [](I v) { return v % 3 == 0; });
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  const device_copy<I, O> on_device(ctx, g);
  frontier<I, device> all(ctx, g.vertices);
  frontier<I, device> to(ctx, g.vertices);
  advance_workspace<I, O, device> workspace(ctx, on_device.view);
  assign_all(ctx, all, g.vertices);
  for (int run = 0; run < 2; ++run) {
    advance(ctx, on_device.view, all, to, workspace, targets_not_three<I, O>{}, {.admit = admission::once});
    ASSERT_EQ(sorted_contents(ctx, to), expected) << "run " << run;
  }
}

// Breadth-first search: the thread that sets a vertex's level first adds it to the next frontier.
template <class I, class O>
std::vector<std::int32_t> levels_by_operators(const context<device>& ctx, const graph_view<I, O, device>& g, I source) {
  array<std::int32_t, device> levels(ctx, g.vertices());
  detail::fill_bytes(ctx, levels.data(), 0xff, static_cast<std::size_t>(g.vertices()) * sizeof(std::int32_t));
  std::int32_t* const level = levels.data();
  frontier<I, device> now(ctx, g.vertices());
  frontier<I, device> next(ctx, g.vertices());
  advance_workspace<I, O, device> workspace(ctx, g);
  assign(ctx, now, source);
  filter(ctx, now, next, [level] __device__(I v) {
    level[v] = 0;
    return true;
  });
  for (std::int32_t depth = 0; size_of(ctx, next) > 0; ++depth) {
    std::swap(now, next);
    advance(ctx, g, now, next, workspace,
            [level, depth] __device__(I, I v, O) { return atomicCAS(level + v, -1, depth + 1) == -1; });
  }
  const auto on_host = to_host(ctx, levels.view());
  return {on_host.begin(), on_host.end()};
}

template <class I, class O>
void expect_search(const context<device>& ctx, const raw_graph<I, O>& g, I source) {
  const device_copy<I, O> on_device(ctx, g);
  const auto levels = levels_by_operators(ctx, on_device.view, source);
  ASSERT_EQ(levels, test::naive_levels(g.view(), source));
  const auto searched = bfs(ctx, on_device.view, source);
  const auto on_host = to_host(ctx, searched.levels.view());
  ASSERT_TRUE(std::equal(levels.begin(), levels.end(), on_host.begin(), on_host.end()));
}

// The smallest id of each component, by union-find.
std::vector<std::int64_t> least_ids(std::int64_t n, const edge_vector& edges) {
  std::vector<std::int64_t> root(static_cast<std::size_t>(n));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int64_t v) {
    while (root[static_cast<std::size_t>(v)] != v) v = root[static_cast<std::size_t>(v)];
    return v;
  };
  for (const auto& [u, v] : edges) {
    const std::int64_t a = find(u);
    const std::int64_t b = find(v);
    root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  std::vector<std::int64_t> least(root.size());
  for (std::int64_t v = 0; v < n; ++v) least[static_cast<std::size_t>(v)] = find(v);
  return least;
}

template <class I, class O>
void expect_components(const context<device>& ctx, std::int64_t n, const edge_vector& edges) {
  const device_copy<I, O> on_device(ctx, test::make_undirected<I, O>(n, edges));
  const auto found = connected_components(ctx, on_device.view);
  const auto expected = least_ids(n, edges);
  ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()))
      << n << " vertices, " << edges.size() << " edges";
}

template <class Widths>
class OperatorsCuda : public testing::Test {
 protected:
  using index = typename Widths::index;
  using offset = typename Widths::offset;

  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }
  static const context<device>& ctx() {
    static const context<device> shared;
    return shared;
  }
};

using cases = testing::Types<widths<std::int32_t, std::int32_t>, widths<std::int32_t, std::int64_t>,
                             widths<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(OperatorsCuda, cases);

TYPED_TEST(OperatorsCuda, AdvanceVisitsEachEdgeOnce) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257}) {
    SCOPED_TRACE(std::to_string(n) + " vertices");
    test::random_source random(static_cast<std::uint64_t>(n));
    const auto g = directed<I, O>(n, test::random_edges(random, n, 3 * n, 1));
    check_advance(this->ctx(), g, random_vertices<I>(n, n));
    check_advance(this->ctx(), g, {});
    if (this->HasFatalFailure()) return;
  }
}

// Degrees around one, two and three chunks.
TYPED_TEST(OperatorsCuda, AdvanceAroundChunks) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(36);
  edge_vector edges;
  std::int64_t n = 40;
  for (const std::int64_t chunks : {1, 2, 3}) {
    for (const std::int64_t degree : {chunks * chunk - 1, chunks * chunk, chunks * chunk + 1}) {
      for (std::int64_t k = 0; k < degree; ++k) edges.emplace_back(n, random.below(40));
      ++n;
    }
  }
  std::vector<I> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), I{0});
  check_advance(this->ctx(), directed<I, O>(n, edges), all);
}

// The frontier repeats hubs: the list of chunks is full after the first of them.
TYPED_TEST(OperatorsCuda, AdvanceWithAFullListOfChunks) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(37);
  edge_vector edges;
  for (std::int64_t k = 0; k < 5 * chunk; ++k) edges.emplace_back(3, random.below(100));
  for (std::int64_t k = 0; k < chunk + 1; ++k) edges.emplace_back(4, random.below(100));
  std::vector<I> in(100, I{3});
  for (std::size_t k = 0; k < in.size(); k += 3) in[k] = 4;
  check_advance(this->ctx(), directed<I, O>(100, edges), in);
}

TYPED_TEST(OperatorsCuda, AdvanceOverALargeSkewedGraph) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto g = skewed<I, O>(50000, 400000);
  check_advance(this->ctx(), g, random_vertices<I>(50000, 60000));
}

TYPED_TEST(OperatorsCuda, OnceAdmitsEachVertexOnce) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  check_once(this->ctx(), skewed<I, O>(5003, 100000));
  check_once(this->ctx(), test::make_undirected<I, O>(33, test::star_edges(33)));
}

TYPED_TEST(OperatorsCuda, FilterKeepsWhatItShould) {
  using I = typename TestFixture::index;
  for (const std::int64_t size : {0, 1, 31, 32, 33, 255, 256, 257, 100000}) {
    const auto in = random_vertices<I>(1000, size);
    std::vector<I> expected;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](I v) { return v % 5 < 2; });
    std::sort(expected.begin(), expected.end());
    frontier<I, device> from(this->ctx(), size);
    frontier<I, device> to(this->ctx(), static_cast<std::int64_t>(expected.size()));
    const auto vertices = to_device(this->ctx(), span<const I, host>(in));
    assign(this->ctx(), from, vertices.view());
    array<unsigned, device> calls(this->ctx(), 1);
    fill_zero(this->ctx(), calls.view());
    filter(this->ctx(), from, to, keep_fifths<I>{calls.data()});
    ASSERT_EQ(sorted_contents(this->ctx(), to), expected) << size << " vertices";
    EXPECT_EQ(to_host(this->ctx(), calls.view())[0], static_cast<unsigned>(size));
  }
}

TYPED_TEST(OperatorsCuda, SplitPartsWhatItShould) {
  using I = typename TestFixture::index;
  for (const std::int64_t size : {0, 1, 31, 32, 33, 255, 256, 257, 100000}) {
    const auto in = random_vertices<I>(1000, size);
    std::vector<I> expected_near;
    std::vector<I> expected_far;
    std::partition_copy(in.begin(), in.end(), std::back_inserter(expected_near), std::back_inserter(expected_far),
                        [](I v) { return v % 5 < 2; });
    std::sort(expected_near.begin(), expected_near.end());
    std::sort(expected_far.begin(), expected_far.end());
    frontier<I, device> from(this->ctx(), size);
    frontier<I, device> near(this->ctx(), static_cast<std::int64_t>(expected_near.size()));  // exact capacity
    frontier<I, device> far(this->ctx(), static_cast<std::int64_t>(expected_far.size()));
    const auto vertices = to_device(this->ctx(), span<const I, host>(in));
    assign(this->ctx(), from, vertices.view());
    array<unsigned, device> calls(this->ctx(), 1);
    fill_zero(this->ctx(), calls.view());
    for (unsigned run = 1; run <= 2; ++run) {  // the first run must leave no trace
      split(this->ctx(), from, near, far, keep_fifths<I>{calls.data()});
      ASSERT_EQ(sorted_contents(this->ctx(), near), expected_near) << size << " vertices";
      ASSERT_EQ(sorted_contents(this->ctx(), far), expected_far) << size << " vertices";
      EXPECT_EQ(to_host(this->ctx(), calls.view())[0], run * static_cast<unsigned>(size));
    }
  }
}

TYPED_TEST(OperatorsCuda, BreadthFirstSearch) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(34);
  for (int round = 0; round < 20; ++round) {
    const std::int64_t n = 1 + random.below(100);
    const auto edges = test::random_edges(random, n, random.below(4 * n), round % 3);
    const auto source = static_cast<I>(random.below(n));
    expect_search(this->ctx(), round % 2 == 0 ? directed<I, O>(n, edges) : test::make_undirected<I, O>(n, edges),
                  source);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(OperatorsCuda, BreadthFirstSearchOfLargeGraphs) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  expect_search(this->ctx(), skewed<I, O>(50000, 400000), I{25000});
  expect_search(this->ctx(), test::make_undirected<I, O>(50000, test::star_edges(50000)), I{7});
  expect_search(this->ctx(), test::make_undirected<I, O>(1000, test::path_edges(1000)), I{0});
  expect_search(this->ctx(), test::make_undirected<I, O>(90 * 90, test::grid_edges(90, 90)), I{17});
}

TYPED_TEST(OperatorsCuda, ConnectedComponents) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(35);
  for (int round = 0; round < 15; ++round) {
    const std::int64_t n = 1 + random.below(200);
    expect_components<I, O>(this->ctx(), n, test::random_edges(random, n, random.below(n + 1), 0));
    if (this->HasFatalFailure()) return;
  }
  expect_components<I, O>(this->ctx(), 0, {});
  expect_components<I, O>(this->ctx(), 200, test::path_edges(200));
  expect_components<I, O>(this->ctx(), 20000, test::star_edges(20000));
}

TYPED_TEST(OperatorsCuda, ConnectedComponentsOfALargeGraph) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(38);
  expect_components<I, O>(this->ctx(), 100000, test::random_edges(random, 100000, 150000, 0));
}

// Detected where the size is read; nothing is written beyond the end, and the frontier remains usable.
TYPED_TEST(OperatorsCuda, TooManyForTheOutputIsAnError) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  for (const std::int64_t leaves : {100, 30000}) {
    const device_copy<I, O> on_device(this->ctx(),
                                      test::make_undirected<I, O>(leaves + 1, test::star_edges(leaves + 1)));
    frontier<I, device> in(this->ctx(), leaves + 1);
    frontier<I, device> out(this->ctx(), leaves - 1);
    frontier<I, device> copied(this->ctx(), leaves);
    advance_workspace<I, O, device> workspace(this->ctx(), on_device.view);
    assign(this->ctx(), in, I{0});
    advance(this->ctx(), on_device.view, in, out, workspace, all_edges<I, O>{});
    filter(this->ctx(), out, copied, keep_all<I>{});
    EXPECT_THROW((void)size_of(this->ctx(), out), error);
    EXPECT_EQ(size_of(this->ctx(), copied), leaves - 1);
    advance(this->ctx(), on_device.view, in, out, workspace, targets_above_one<I, O>{});  // one fewer: it fits
    EXPECT_EQ(size_of(this->ctx(), out), leaves - 1);
    assign_all(this->ctx(), in, leaves + 1);
    filter(this->ctx(), in, out, keep_all<I>{});
    EXPECT_THROW((void)size_of(this->ctx(), out), error);
    split(this->ctx(), in, copied, out, targets_below<I>{1});
    EXPECT_EQ(size_of(this->ctx(), copied), 1);
    EXPECT_THROW((void)size_of(this->ctx(), out), error);
  }
}

TYPED_TEST(OperatorsCuda, MistakesAreRefused) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto& ctx = this->ctx();
  const device_copy<I, O> g(ctx, test::make_undirected<I, O>(10, test::path_edges(10)));
  const device_copy<I, O> larger(ctx, test::make_undirected<I, O>(11, test::path_edges(10)));
  const device_copy<I, O> denser(ctx, test::make_undirected<I, O>(10, test::grid_edges(2, 5)));
  frontier<I, device> in(ctx, 10);
  frontier<I, device> out(ctx, 10);
  frontier<I, device> small(ctx, 9);
  advance_workspace<I, O, device> workspace(ctx, g.view);
  const all_edges<I, O> visit;
  EXPECT_THROW(advance(ctx, g.view, in, in, workspace, visit), error);
  EXPECT_THROW(advance(ctx, larger.view, in, out, workspace, visit), error);
  EXPECT_THROW(advance(ctx, denser.view, in, out, workspace, visit), error);
  EXPECT_THROW(advance(ctx, g.view, in, small, workspace, visit, {.admit = admission::once}), error);
  auto torn = g.view;
  torn.out.offsets = torn.out.offsets.subspan(0, 10);
  EXPECT_THROW(advance(ctx, torn, in, out, workspace, visit), error);
  EXPECT_THROW(filter(ctx, in, in, keep_all<I>{}), error);
  EXPECT_THROW(split(ctx, in, in, out, keep_all<I>{}), error);
  EXPECT_THROW(split(ctx, in, out, in, keep_all<I>{}), error);
  EXPECT_THROW(split(ctx, in, out, out, keep_all<I>{}), error);
  EXPECT_THROW(assign_all(ctx, small, 10), error);
  EXPECT_THROW(assign(ctx, small, in.slots()), error);
  EXPECT_EQ(size_of(ctx, out), 0);
}

// One captured level, replayed: no allocation, no synchronization, no decision by the host.
TYPED_TEST(OperatorsCuda, LevelsMayBeCapturedInAGraph) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::counting_resource<device> memory(this->ctx().resource());
  const context<device> ctx(device_options{.resource = &memory});
  const device_copy<I, O> g(ctx, test::make_undirected<I, O>(100, test::path_edges(100)));
  frontier<I, device> now(ctx, 200);
  frontier<I, device> next(ctx, 200);
  frontier<I, device> far(ctx, 200);
  advance_workspace<I, O, device> workspace(ctx, g.view);
  assign(ctx, now, I{0});
  ctx.synchronize();
  const std::int64_t before = memory.requests();
  cudaGraph_t captured = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  advance(ctx, g.view, now, next, workspace, all_edges<I, O>{}, {.admit = admission::once});
  split(ctx, next, now, far, keep_all<I>{});
  ASSERT_EQ(cudaStreamEndCapture(ctx.stream(), &captured), cudaSuccess);
  cudaGraphExec_t level = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&level, captured, 0), cudaSuccess);
  for (int k = 0; k < 5; ++k) ASSERT_EQ(cudaGraphLaunch(level, ctx.stream()), cudaSuccess);
  EXPECT_EQ(sorted_contents(ctx, now), (std::vector<I>{1, 3, 5}));  // five steps along a path, back and forth
  EXPECT_EQ(memory.requests(), before);
  cudaGraphExecDestroy(level);
  cudaGraphDestroy(captured);
}

TEST(OperatorsCudaMemory, EveryAllocationMayFail) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const device_copy<std::int32_t, std::int32_t> g(
      ctx, test::make_undirected<std::int32_t, std::int32_t>(1000, test::star_edges(1000)));
  test::fail_every_device_allocation([&](const context<device>& failing) {
    const frontier<std::int32_t, device> f(failing, 100);
    const advance_workspace<std::int32_t, std::int32_t, device> workspace(failing, g.view);
  });
}

}  // namespace
}  // namespace spargo
