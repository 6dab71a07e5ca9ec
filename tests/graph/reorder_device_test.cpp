// Orders and envelopes on the device: the host's, on real graphs and on the shapes that hurt a search by levels.
#include <spargo/graph/reorder.hpp>
#include <spargo/io/generate.hpp>

#include "graph/known_graphs.hpp"
#include "support/device.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using edge_list = std::vector<std::pair<i64, i64>>;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

template <class I, class Space>
std::vector<I> listed(const context<Space>& ctx, const array<I, Space>& order) {
  if constexpr (std::same_as<Space, host>) {
    return {order.begin(), order.end()};
  } else {
    return listed(cpu(), to_host(ctx, order.view()));
  }
}

void expect_envelope(const matrix_envelope& got, const matrix_envelope& want) {
  EXPECT_EQ(got.bandwidth, want.bandwidth);
  EXPECT_EQ(got.profile, want.profile);
}

template <class I, class O>
void expect_same(const graph<I, O, host>& g) {
  const context<device> gpu;
  const graph<I, O, device> placed = to_device(gpu, g.view());
  const array<I, host> want = reverse_cuthill_mckee(cpu(), g.view());
  const array<I, device> got = reverse_cuthill_mckee(gpu, placed.view());
  ASSERT_EQ(listed(gpu, got), listed(cpu(), want));
  ASSERT_EQ(listed(gpu, degree_order(gpu, placed.view())), listed(cpu(), degree_order(cpu(), g.view())));
  expect_envelope(envelope(gpu, placed.view().out), envelope(cpu(), g.view().out));
  expect_envelope(envelope(gpu, placed.view().out, got.view()), envelope(cpu(), g.view().out, want.view()));
}

template <class I, class O>
graph<I, O, host> graph_of(i64 n, const edge_list& edges, self_loops loops = self_loops::drop) {
  std::vector<I> from, to;
  for (const auto& [u, v] : edges) {
    from.push_back(static_cast<I>(u));
    to.push_back(static_cast<I>(v));
  }
  const coo_pattern_view<I, host> pairs{static_cast<I>(n), static_cast<I>(n), from, to};
  return build_graph<O>(cpu(), pairs, {.direction = direction_kind::undirected, .loops = loops});
}

void expect_same_of(i64 n, const edge_list& edges) { expect_same(graph_of<i32, i64>(n, edges)); }

// The same graph with its vertices in a random order, so that ranks are not numbers.
edge_list mixed(i64 n, edge_list edges, unsigned seed) {
  std::vector<i64> names(static_cast<std::size_t>(n));
  std::iota(names.begin(), names.end(), 0);
  std::shuffle(names.begin(), names.end(), std::mt19937_64(seed));
  for (auto& [u, v] : edges) {
    u = names[static_cast<std::size_t>(u)];
    v = names[static_cast<std::size_t>(v)];
  }
  return edges;
}

edge_list random_edges(std::mt19937_64& random, i64 n, i64 count, i64 reach) {
  edge_list edges;
  for (i64 k = 0; k < count; ++k) {
    const auto u = static_cast<i64>(random() % static_cast<std::uint64_t>(n));
    const auto step = static_cast<i64>(random() % static_cast<std::uint64_t>(reach));
    edges.emplace_back(u, std::min(n - 1, u + step));
  }
  return edges;
}

template <class I, class O>
void random_graphs(unsigned rounds) {
  std::mt19937_64 random(sizeof(I) + sizeof(O));
  for (unsigned round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const auto n = static_cast<i64>(1 + random() % (round % 4 == 0 ? 20'000 : 300));
    const auto count = static_cast<i64>(random() % 9) * n / 3;
    const i64 reach = round % 3 == 0 ? 4 : n;
    const edge_list edges = mixed(n, random_edges(random, n, count, reach), round);
    expect_same(graph_of<I, O>(n, edges, round % 2 == 0 ? self_loops::keep : self_loops::drop));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ReorderDevice, RandomGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  random_graphs<i32, i32>(24);
  random_graphs<i32, i64>(24);
  random_graphs<i64, i64>(24);
}

TEST(ReorderDevice, FewVertices) {
  SPARGO_TEST_NEEDS_GPU();
  for (const i64 n : {0, 1, 2, 3, 31, 32, 33}) {
    SCOPED_TRACE(n);
    expect_same_of(n, {});
    expect_same(graph_of<i64, i64>(n, n > 0 ? edge_list{{0, 0}, {n - 1, 0}} : edge_list{}, self_loops::keep));
  }
}

// Many components at once: alone, pairs, triangles with loops, paths of different lengths.
TEST(ReorderDevice, ManyComponents) {
  SPARGO_TEST_NEEDS_GPU();
  expect_same_of(1'000'000, {});
  constexpr i64 n = 300'000;
  edge_list pairs, triangles, paths;
  for (i64 v = 0; v + 1 < n; v += 2) pairs.emplace_back(v, v + 1);
  for (i64 v = 0; v + 2 < n; v += 3) {
    for (const i64 k : {0, 1, 2}) triangles.emplace_back(v + k, v + (k + 1) % 3);
    if (v % 5 == 0) triangles.emplace_back(v, v);
  }
  for (i64 v = 0; v + 1 < n; ++v) {
    if (v % 13 != 0 && v % 257 != 0) paths.emplace_back(v, v + 1);
  }
  expect_same_of(n, mixed(n, pairs, 1));
  expect_same(graph_of<i32, i32>(n, mixed(n, triangles, 2), self_loops::keep));
  expect_same_of(n, mixed(n, paths, 3));
}

// Levels just within the limits of the narrow kernel, and beyond: widths, edges and degrees.
TEST(ReorderDevice, NarrowAndWideLevels) {
  SPARGO_TEST_NEEDS_GPU();
  for (const i64 leaves : {1'000, 2'046, 2'047, 2'048, 2'049, 4'095, 4'096, 4'097, 70'000}) {
    SCOPED_TRACE(leaves);
    edge_list star, broom, tail, layers;
    std::mt19937_64 random(5);
    for (i64 v = 1; v <= leaves; ++v) {
      star.emplace_back(0, v);
      broom.emplace_back(v % 100, 100 + v);  // 100 hubs in a path, and their leaves
      broom.emplace_back(100 + leaves + v, 100 + v);
    }
    for (i64 layer = 0; layer < 5; ++layer) {  // each of `leaves` vertices, two edges from each to the next
      for (i64 v = 0; v < leaves; ++v) {
        if (layer == 0) layers.emplace_back(5 * leaves, v);
        if (layer == 4) continue;
        layers.emplace_back(layer * leaves + v, (layer + 1) * leaves + v);
        const auto other = static_cast<i64>(random() % static_cast<std::uint64_t>(leaves));
        layers.emplace_back(layer * leaves + v, (layer + 1) * leaves + other);
      }
    }
    for (i64 v = 1; v < 100; ++v) broom.emplace_back(v - 1, v);
    tail = star;  // a path, a hub, a path
    for (i64 v = leaves + 1; v < leaves + 3'000; ++v) tail.emplace_back(v == leaves + 2 ? 1 : v - 1, v);
    expect_same_of(leaves + 1, mixed(leaves + 1, star, 1));
    expect_same_of(2 * leaves + 101, mixed(2 * leaves + 101, broom, 2));
    expect_same_of(leaves + 3'000, mixed(leaves + 3'000, tail, 3));
    expect_same_of(5 * leaves + 1, mixed(5 * leaves + 1, layers, 4));
  }
}

TEST(ReorderDevice, PathsAndMeshes) {
  SPARGO_TEST_NEEDS_GPU();
  edge_list path;
  for (i64 v = 1; v < 40'000; ++v) path.emplace_back(v - 1, v);  // more levels than a launch runs
  expect_same_of(40'000, path);
  expect_same_of(40'000, mixed(40'000, path, 4));
  for (const auto& [rows, cols] : {std::pair<i64, i64>(300, 300), std::pair<i64, i64>(4'000, 37)}) {
    SCOPED_TRACE(rows);
    edge_list mesh;
    for (i64 y = 0; y < rows; ++y) {
      for (i64 x = 0; x < cols; ++x) {
        if (x + 1 < cols) mesh.emplace_back(y * cols + x, y * cols + x + 1);
        if (y + 1 < rows) mesh.emplace_back(y * cols + x, y * cols + x + cols);
      }
    }
    expect_same_of(rows * cols, mesh);
    expect_same_of(rows * cols, mixed(rows * cols, mesh, 5));
  }
}

TEST(ReorderDevice, GeneratedGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  for (const char* const spec : {"gen:rmat:scale=15,degree=16", "gen:rmat:scale=18,degree=8",
                                 "gen:uniform:rows=200000,degree=6", "gen:uniform:rows=100000,degree=1"}) {
    SCOPED_TRACE(spec);
    const auto entries = generate<pattern, i32>(cpu(), spec);
    for (const self_loops loops : {self_loops::drop, self_loops::keep}) {
      expect_same(build_graph<i32>(cpu(), coo_pattern_view<i32, host>(entries.view()),
                                   {.direction = direction_kind::undirected, .loops = loops}));
    }
  }
}

TEST(ReorderDevice, RealGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  test::for_each_truth<pattern>("bandwidth", [](const auto& known, const auto&) {
    if (known.edges.rows() != known.edges.cols()) return;
    const coo_pattern_view<i32, host> pairs(known.edges.view());
    expect_same(build_graph<i64>(cpu(), pairs, {.direction = direction_kind::undirected}));
  });
}

TEST(ReorderDevice, RandomOrders) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  for (const i64 n : {0, 1, 1'000}) {
    EXPECT_EQ(listed(gpu, random_order<i32>(gpu, n, 7)), listed(cpu(), random_order<i32>(cpu(), n, 7)));
    EXPECT_EQ(listed(gpu, random_order<i64>(gpu, n)), listed(cpu(), random_order<i64>(cpu(), n)));
  }
}

// Matrices that are not symmetric, unsorted, with duplicates, and orders.
TEST(ReorderDevice, EnvelopesOfMatrices) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  std::mt19937_64 random(3);
  for (const i32 n : {1, 2, 33, 500, 5'000}) {
    std::vector<i64> offsets{0};
    std::vector<i32> indices;
    for (i32 i = 0; i < n; ++i) {
      for (auto k = random() % 4; k > 0; --k) indices.push_back(static_cast<i32>(random() % static_cast<unsigned>(n)));
      if (i == n / 2) {
        for (i32 j = 0; j < n; ++j) indices.push_back(j);
      }
      offsets.push_back(std::ssize(indices));
    }
    const csr_pattern_view<i32, i64, host> m{n, n, offsets, indices};
    const auto placed_offsets = to_device(gpu, offsets);
    const auto placed_indices = to_device(gpu, indices);
    const csr_pattern_view<i32, i64, device> placed{n, n, placed_offsets, placed_indices};
    const auto order = random_order<i32>(cpu(), n, 5);
    const auto placed_order = to_device(gpu, order.view());
    expect_envelope(envelope(gpu, placed), envelope(cpu(), m));
    expect_envelope(envelope(gpu, placed, placed_order.view()), envelope(cpu(), m, order.view()));
  }
}

TEST(ReorderDevice, Refusals) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  const auto offsets = to_device(gpu, std::vector<i32>{0, 0, 0, 0, 0});
  const array<i32, device> none;
  const csr_pattern_view<i32, i32, device> m{4, 4, offsets, none};
  const csr_pattern_view<i32, i32, device> wide{4, 5, offsets, none};
  const auto message = [&](const csr_pattern_view<i32, i32, device>& of, const std::vector<i32>& order) {
    const auto placed = to_device(gpu, order);
    return test::message_of(error_code::invalid_argument, [&] { (void)envelope(gpu, of, placed.view()); });
  };
  EXPECT_EQ(message(wide, {}), "envelope: a matrix of 4 x 5 (expected a square one)");
  EXPECT_EQ(message(m, {0}), "envelope: an order of 1 rows for a matrix of 4");
  EXPECT_EQ(message(m, {3, 1, 1, 3}), "envelope: the order has 1 at position 2 (expected each row once)");
  EXPECT_EQ(message(m, {3, 4, 1, 1}), "envelope: the order has 4 at position 1 (expected each row once)");
  EXPECT_EQ(message(m, {-1, 0, 1, 2}), "envelope: the order has -1 at position 0 (expected each row once)");
  const graph_view<i32, i32, device> directed{m, {}, direction_kind::directed};
  EXPECT_EQ(test::message_of(error_code::invalid_argument, [&] { (void)reverse_cuthill_mckee(gpu, directed); }),
            "reverse_cuthill_mckee: expected an undirected graph");
}

}  // namespace
}  // namespace spargo
