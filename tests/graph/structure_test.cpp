// Degrees, neighbours, subgraphs, relabelled graphs, largest components and orders of vertices against naive results,
// on random graphs with loops and duplicates, weighted and unweighted.
#include <spargo/core/interruption.hpp>
#include <spargo/graph/properties.hpp>
#include <spargo/graph/reorder.hpp>
#include <spargo/graph/structure.hpp>

#include "graph/components_support.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 3});
  return ctx;
}

template <class Case>
class Structure : public testing::Test {};
using cases = testing::Types<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::int64_t>,
                             std::pair<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(Structure, cases);

template <class T>
std::vector<std::remove_const_t<T>> list(span<T, host> values) {
  return {values.begin(), values.end()};
}
template <class T>
std::vector<T> list(const array<T, host>& values) {
  return {values.begin(), values.end()};
}

// A raw graph whose stored edges have the weights 0, 1, 2, ..., so that each can be identified.
template <class I, class O>
struct numbered_graph {
  test::raw_graph<I, O> raw;
  std::vector<std::int64_t> out_weights, in_weights;

  explicit numbered_graph(test::raw_graph<I, O> of)
      : raw(std::move(of)), out_weights(raw.indices.size()), in_weights(raw.in_indices.size()) {
    std::iota(out_weights.begin(), out_weights.end(), 0);
    std::iota(in_weights.begin(), in_weights.end(), 1000000);
  }
  [[nodiscard]] weighted_graph_view<std::int64_t, I, O, host> view() const {
    return {raw.view(), out_weights, raw.direction == direction_kind::directed ? in_weights : out_weights};
  }
};

template <class I, class O>
std::vector<numbered_graph<I, O>> make_all(std::int64_t n, const edge_vector& edges) {
  std::vector<numbered_graph<I, O>> all;
  all.emplace_back(test::make_directed<I, O>(n, edges, test::edges_kept::out));
  all.emplace_back(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in));
  all.emplace_back(test::make_undirected<I, O>(n, edges));
  return all;
}

// [vertex] its neighbours with weights, in order.
using rows_type = std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>;

template <class I, class O>
rows_type rows_of(const csr_pattern_view<I, O, host>& part, span<const std::int64_t, host> weights) {
  rows_type rows;
  for (std::int64_t v = 0; !part.offsets.empty() && v < part.rows; ++v) {
    rows.emplace_back();
    for (O e = part.offsets[v]; e < part.offsets[v + 1]; ++e) {
      rows.back().emplace_back(part.indices[e], weights.empty() ? 0 : weights[e]);
    }
  }
  return rows;
}

rows_type naive_choice(const rows_type& rows, const std::vector<std::int64_t>& vertices) {
  rows_type chosen;
  for (const std::int64_t v : vertices) {
    if (rows.empty()) return chosen;
    chosen.emplace_back();
    for (std::size_t k = 0; k < vertices.size(); ++k) {  // new numbers ascend
      for (const auto& [w, weight] : rows[static_cast<std::size_t>(v)]) {
        if (w == vertices[k]) chosen.back().emplace_back(static_cast<std::int64_t>(k), weight);
      }
    }
  }
  return chosen;
}

// Some or all of n vertices, ascending or shuffled.
std::vector<std::int64_t> draw(test::random_source& random, std::int64_t n, bool all, bool ascending) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k)))]);
  }
  if (!all) order.resize(static_cast<std::size_t>(random.below(n + 1)));
  if (ascending) std::sort(order.begin(), order.end());
  return order;
}

std::int64_t distinct_edges(const rows_type& rows, direction_kind direction) {
  std::int64_t stored = 0;
  std::int64_t loops = 0;
  for (std::size_t v = 0; v < rows.size(); ++v) {
    for (const auto& entry : rows[v]) {
      ++stored;
      loops += entry.first == static_cast<std::int64_t>(v) ? 1 : 0;
    }
  }
  return direction == direction_kind::directed ? stored : (stored + loops) / 2;
}

template <class I, class O>
void check_choice(const numbered_graph<I, O>& g, const std::vector<std::int64_t>& order, bool all) {
  const auto view = g.view();
  const graph_view<I, O, host> unweighted = view;
  const std::vector<I> vertices(order.begin(), order.end());
  const auto out = naive_choice(rows_of(view.out, view.out_weights), order);
  const auto in = naive_choice(rows_of(view.in, view.in_weights), order);
  const auto chosen = all ? relabel(cpu(), view, vertices) : induced_subgraph(cpu(), view, vertices);
  EXPECT_EQ(rows_of(chosen.view().out, chosen.view().out_weights), out);
  EXPECT_EQ(rows_of(chosen.view().in, chosen.view().in_weights), in);
  EXPECT_EQ(chosen.edges(), distinct_edges(out, view.direction));
  EXPECT_EQ(chosen.direction(), view.direction);
  EXPECT_EQ(chosen.view().has_in_edges(), view.has_in_edges());
  const auto plain = all ? relabel(cpu(), unweighted, vertices) : induced_subgraph(cpu(), unweighted, vertices);
  EXPECT_EQ(list(plain.view().out.offsets), list(chosen.view().out.offsets));
  EXPECT_EQ(list(plain.view().out.indices), list(chosen.view().out.indices));
  EXPECT_EQ(list(plain.view().in.indices), list(chosen.view().in.indices));
}

TYPED_TEST(Structure, SubgraphsAndNewNumbers) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    const edge_vector edges = test::random_edges(random, n, random.below(4 * n), static_cast<int>(seed % 3));
    for (const auto& g : make_all<I, O>(n, edges)) {
      check_choice(g, draw(random, n, false, false), false);
      check_choice(g, draw(random, n, false, true), false);
      check_choice(g, draw(random, n, true, false), true);
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
  }
  check_choice(numbered_graph<I, O>(test::make_undirected<I, O>(0, {})), {}, true);
}

// Over several parts, and the same for any number of threads.
TYPED_TEST(Structure, LargeGraphs) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  test::random_source random(3);
  constexpr std::int64_t n = 30000;
  const numbered_graph<I, O> g(test::make_undirected<I, O>(n, test::random_edges(random, n, 3 * n, 2)));
  const auto order = draw(random, n, false, false);
  const std::vector<I> vertices(order.begin(), order.end());
  const auto expected = induced_subgraph(context<host>({.threads = 1}), g.view(), vertices);
  const auto found = induced_subgraph(context<host>({.threads = 7}), g.view(), vertices);
  EXPECT_EQ(rows_of(found.view().out, found.view().out_weights),
            rows_of(expected.view().out, expected.view().out_weights));
  std::vector<std::int64_t> place(static_cast<std::size_t>(n), -1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
  }
  std::multimap<std::int64_t, std::int64_t> weights;  // by position
  for (std::int64_t v = 0; v < n; ++v) {
    for (O e = g.raw.offsets[static_cast<std::size_t>(v)]; e < g.raw.offsets[static_cast<std::size_t>(v) + 1]; ++e) {
      const auto w = static_cast<std::size_t>(g.raw.indices[static_cast<std::size_t>(e)]);
      if (place[static_cast<std::size_t>(v)] >= 0 && place[w] >= 0)
        weights.emplace(place[static_cast<std::size_t>(v)], e);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(weights.size()), found.view().out.nnz());
  for (const std::int64_t k : {0, 17, static_cast<int>(order.size()) - 1}) {
    std::vector<std::int64_t> own = list(neighbour_weights(found, static_cast<I>(k)));
    std::sort(own.begin(), own.end());
    std::vector<std::int64_t> right;
    for (auto [at, end] = weights.equal_range(k); at != end; ++at) right.push_back(at->second);
    EXPECT_EQ(own, right);
  }
}

TYPED_TEST(Structure, DegreesAndNeighbours) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const edge_vector edges = test::random_edges(random, n, random.below(4 * n), 1);
    for (const auto& g : make_all<I, O>(n, edges)) {
      const auto view = g.view();
      const bool undirected = view.direction == direction_kind::undirected;
      std::vector<O> out(static_cast<std::size_t>(n)), in(static_cast<std::size_t>(n));
      for (const auto& [u, v] : edges) {
        ++out[static_cast<std::size_t>(u)];
        ++in[static_cast<std::size_t>(v)];
      }
      if (undirected) {
        for (std::size_t v = 0; v < out.size(); ++v) out[v] = in[v] = out[v] + in[v];
      }
      EXPECT_EQ(list(degrees(cpu(), view)), out);
      EXPECT_EQ(list(degrees(cpu(), view, edge_side::in)), in);
      const auto out_rows = rows_of(view.out, view.out_weights);
      const auto in_rows = rows_of(undirected ? view.out : view.in, view.in_weights);
      for (I v = 0; v < n; ++v) {
        for (const auto side : {edge_side::out, edge_side::in}) {
          const auto& rows = side == edge_side::out ? out_rows : in_rows;
          if (rows.empty()) {
            EXPECT_THROW((void)neighbours(view, v, side), error);
            continue;
          }
          const auto ends = neighbours(view, v, side);
          const auto weights = neighbour_weights(view, v, side);
          std::vector<std::pair<std::int64_t, std::int64_t>> got;
          for (std::int64_t k = 0; k < ends.size(); ++k) got.emplace_back(ends[k], weights[k]);
          EXPECT_EQ(got, rows[static_cast<std::size_t>(v)]);
        }
      }
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
  }
}

TYPED_TEST(Structure, LargestComponents) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    const edge_vector edges = test::random_edges(random, n, random.below(n + 1), 0);
    const auto raw = test::make_directed<I, O>(n, edges, test::edges_kept::out);
    for (const auto connection : {components_connection::weak, components_connection::strong}) {
      const bool strong = connection == components_connection::strong;
      const auto labels = strong ? test::naive_strong(n, edges) : test::naive_weak(n, edges);
      std::vector<I> best;
      for (std::int64_t label = 0; label < n; ++label) {
        std::vector<I> members;
        for (std::size_t v = 0; v < labels.size(); ++v) {
          if (labels[v] == label) members.push_back(static_cast<I>(v));
        }
        if (members.size() > best.size()) best = members;
      }
      EXPECT_EQ(list(largest_component(cpu(), raw.view(), connection)), best) << "seed " << seed;
    }
  }
  EXPECT_TRUE(largest_component(cpu(), test::make_undirected<I, O>(0, {}).view()).empty());
}

// Breadth-first from the given vertices, one after the other; `rank` sorts the new neighbours of a vertex.
struct naive_order {
  std::vector<std::int64_t> order, predecessors;
};
template <class Rank>
naive_order naive_search(const rows_type& rows, const std::vector<std::int64_t>& starts, const Rank& rank) {
  naive_order found{{}, std::vector<std::int64_t>(rows.size(), -1)};
  std::vector<bool> seen(rows.size());
  for (const std::int64_t start : starts) {
    std::deque<std::int64_t> queue;
    if (!seen[static_cast<std::size_t>(start)]) queue.push_back(start);
    seen[static_cast<std::size_t>(start)] = true;
    for (; !queue.empty(); queue.pop_front()) {
      found.order.push_back(queue.front());
      std::multimap<std::int64_t, std::int64_t> children;  // equal keys stay in the order of insertion
      for (const auto& [v, weight] : rows[static_cast<std::size_t>(queue.front())]) {
        if (seen[static_cast<std::size_t>(v)]) continue;
        seen[static_cast<std::size_t>(v)] = true;
        found.predecessors[static_cast<std::size_t>(v)] = queue.front();
        children.emplace(rank(v), v);
      }
      for (const auto& [key, v] : children) queue.push_back(v);
    }
  }
  return found;
}

template <class I>
std::vector<std::int64_t> wide(const array<I, host>& values) {
  return {values.begin(), values.end()};
}

void naive_preorder(const rows_type& rows, std::int64_t v, std::vector<std::int64_t>& order,
                    std::vector<std::int64_t>& predecessors) {
  order.push_back(v);
  for (const auto& [w, weight] : rows[static_cast<std::size_t>(v)]) {
    if (std::find(order.begin(), order.end(), w) != order.end()) continue;
    predecessors[static_cast<std::size_t>(w)] = v;
    naive_preorder(rows, w, order, predecessors);
  }
}

TYPED_TEST(Structure, OrdersOfVertices) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(seed) * 3;
    test::random_source random(seed);
    const edge_vector edges = test::random_edges(random, n, random.below(4 * n), static_cast<int>(seed % 3));
    for (const auto& g : make_all<I, O>(n, edges)) {
      const auto view = g.raw.view();
      const rows_type rows = rows_of<I, O>(view.out, {});
      for (const std::int64_t source : {std::int64_t{0}, n / 2, n - 1}) {
        const auto found = bfs_order(cpu(), view, static_cast<I>(source));
        const auto expected = naive_search(rows, {source}, [](std::int64_t) { return 0; });
        EXPECT_EQ(wide(found.order), expected.order) << "seed " << seed << ", source " << source;
        EXPECT_EQ(wide(found.predecessors), expected.predecessors) << "seed " << seed << ", source " << source;
        const auto deep = dfs_order(cpu(), view, static_cast<I>(source));
        std::vector<std::int64_t> order;
        std::vector<std::int64_t> predecessors(static_cast<std::size_t>(n), -1);
        naive_preorder(rows, source, order, predecessors);
        EXPECT_EQ(wide(deep.order), order) << "seed " << seed << ", source " << source;
        EXPECT_EQ(wide(deep.predecessors), predecessors) << "seed " << seed << ", source " << source;
      }
      const auto degree = [&](std::int64_t v) {
        return static_cast<std::int64_t>(rows[static_cast<std::size_t>(v)].size());
      };
      std::vector<std::int64_t> starts(static_cast<std::size_t>(n));
      std::iota(starts.begin(), starts.end(), 0);
      std::stable_sort(starts.begin(), starts.end(),
                       [&](std::int64_t v, std::int64_t w) { return degree(v) < degree(w); });
      EXPECT_EQ(wide(cuthill_mckee(cpu(), view)), naive_search(rows, starts, degree).order) << "seed " << seed;
      // Given degrees, and two starts, of which one is given twice.
      const std::vector<I> given{static_cast<I>(n / 3), 0, static_cast<I>(n / 3)};
      std::vector<std::int64_t> degrees(static_cast<std::size_t>(n));
      for (std::int64_t v = 0; v < n; ++v) degrees[static_cast<std::size_t>(v)] = v * 7 % 5;
      EXPECT_EQ(wide(cuthill_mckee(cpu(), view, {.starts = given, .degrees = degrees})),
                naive_search(rows, {n / 3, 0}, [](std::int64_t v) { return v * 7 % 5; }).order)
          << "seed " << seed;
    }
  }
  EXPECT_TRUE(cuthill_mckee(cpu(), test::make_undirected<I, O>(0, {}).view()).empty());
}

// Shuffled vertices of a 30 x 40 grid: the bandwidth falls from about 1,200 to at most 31.
TEST(StructureCalls, CuthillMckeeReducesTheBandwidth) {
  constexpr std::int64_t rows = 30;
  constexpr std::int64_t columns = 40;
  const auto id = [](std::int64_t r, std::int64_t c) { return (r * columns + c) * 7919 % (rows * columns); };
  edge_vector edges;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      if (r + 1 < rows) edges.emplace_back(id(r, c), id(r + 1, c));
      if (c + 1 < columns) edges.emplace_back(id(r, c), id(r, c + 1));
    }
  }
  const auto g = test::make_undirected<std::int32_t, std::int32_t>(rows * columns, edges);
  const auto order = cuthill_mckee(cpu(), g.view());
  std::vector<std::int64_t> place(static_cast<std::size_t>(rows * columns), -1);
  for (std::int64_t k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = k;
  std::int64_t bandwidth = 0;
  for (const auto& [u, v] : edges) {
    bandwidth = std::max(bandwidth, std::abs(place[static_cast<std::size_t>(u)] - place[static_cast<std::size_t>(v)]));
  }
  EXPECT_EQ(order.size(), rows * columns);
  EXPECT_LE(bandwidth, rows + 1);
}

TEST(StructureCalls, RefuseWhatDoesNotFit) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const auto g = raw.view();
  using list_type = std::vector<std::int32_t>;
  const auto refusal = [](auto&& f) { return message_of(error_code::invalid_argument, f); };
  EXPECT_NE(refusal([&] {
              (void)induced_subgraph(cpu(), g, list_type{0, 3});
            }).find("vertex 3 is out of range (the graph has 3 vertices"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)induced_subgraph(cpu(), g, list_type{-1}); }).find("vertex -1"), std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)induced_subgraph(cpu(), g, list_type{1, 0, 1});
            }).find("occurs twice, at positions 0 and 2"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)relabel(cpu(), g, list_type{1, 0}); }).find("an order of 2 for 3"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)neighbours(g, 3); }).find("vertex 3"), std::string::npos);
  for (const std::int32_t vertex : {-1, 3}) {
    const std::string text = "vertex " + std::to_string(vertex) + " is out of range (the graph has 3 vertices";
    EXPECT_NE(refusal([&] { (void)bfs_order(cpu(), g, vertex); }).find("bfs_order: " + text), std::string::npos);
    EXPECT_NE(refusal([&] { (void)dfs_order(cpu(), g, vertex); }).find("dfs_order: " + text), std::string::npos);
    EXPECT_NE(refusal([&] {
                (void)cuthill_mckee(cpu(), g, {.starts = list_type{0, vertex}});
              }).find("cuthill_mckee: " + text),
              std::string::npos);
  }
  EXPECT_NE(refusal([&] {
              (void)cuthill_mckee(cpu(), g, {.degrees = std::vector<std::int64_t>{1, 2}});
            }).find("expected a degree for each of 3 vertices, got 2"),
            std::string::npos);
  EXPECT_NE(message_of(error_code::unsupported, [&] { (void)neighbours(g, 0, edge_side::in); }).find("add_in_edges"),
            std::string::npos);
}

// Owners, vectors and arrays, without explicit types; the largest component of a weighted graph as a graph of its own.
TEST(StructureCalls, NaturalCalls) {
  const std::vector<std::int32_t> from{0, 2, 3, 5};
  const std::vector<std::int32_t> to{1, 3, 4, 5};
  const std::vector<double> weights{1.5, 2.5, 3.5, 4.5};
  const coo_pattern_view<std::int32_t, host> pairs{6, 6, from, to};
  const auto g = build_weighted_graph<std::int32_t>(
      cpu(), pairs, weights, {.direction = direction_kind::undirected, .loops = self_loops::keep});
  const auto vertices = largest_component(cpu(), g);
  EXPECT_EQ(list(vertices), (std::vector<std::int32_t>{2, 3, 4}));
  const auto largest = induced_subgraph(cpu(), g, vertices);
  EXPECT_EQ(largest.edges(), 2);
  EXPECT_EQ(list(neighbours(largest, 1)), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(list(neighbour_weights(largest, 1)), (std::vector<double>{2.5, 3.5}));
  const auto turned = relabel(cpu(), g, std::vector<std::int32_t>{5, 4, 3, 2, 1, 0});
  EXPECT_EQ(turned.edges(), 4);
  EXPECT_EQ(list(neighbours(turned, 2)), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(list(neighbour_weights(turned, 0)), (std::vector<double>{4.5}));
  EXPECT_EQ(list(bfs_order(cpu(), g, 3).order), (std::vector<std::int32_t>{3, 2, 4}));
  EXPECT_EQ(list(cuthill_mckee(cpu(), g)), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  const auto plain = build_graph(cpu(), pairs);
  EXPECT_EQ(list(degrees(cpu(), plain)), (std::vector<std::int64_t>{1, 0, 1, 1, 0, 0}));
  EXPECT_EQ(list(degrees(cpu(), plain, edge_side::in)), (std::vector<std::int64_t>{0, 1, 0, 1, 1, 0}));
}

// Levels by relaxation, component by flooding both ways.
TYPED_TEST(Structure, VerticesNearAndConnected) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(25);
    const edge_vector edges = test::random_edges(random, n, random.below(2 * n), 0);
    const std::int64_t source = random.below(n);
    const std::int64_t radius = random.below(5);
    for (const auto& g : make_all<I, O>(n, edges)) {
      const graph_view<I, O, host> view = g.view();
      for (const edge_side side : {edge_side::out, edge_side::in}) {
        if (side == edge_side::in && !view.has_in_edges()) continue;
        std::vector<bool> near(static_cast<std::size_t>(n));
        near[static_cast<std::size_t>(source)] = true;
        for (std::int64_t hop = 0; hop < radius; ++hop) {
          const std::vector<bool> before = near;
          for (const auto& [u, v] : edges) {
            const bool both = view.direction == direction_kind::undirected;
            const auto from = static_cast<std::size_t>(side == edge_side::out ? u : v);
            const auto to = static_cast<std::size_t>(side == edge_side::out ? v : u);
            if (before[from]) near[to] = true;
            if (both && before[to]) near[from] = true;
          }
        }
        std::vector<I> expected;
        for (std::int64_t v = 0; v < n; ++v) {
          if (near[static_cast<std::size_t>(v)]) expected.push_back(static_cast<I>(v));
        }
        EXPECT_EQ(list(k_hop_neighborhood(cpu(), view, static_cast<I>(source), radius, side)), expected);
      }
      edge_vector both = edges;
      for (const auto& [u, v] : edges) both.emplace_back(v, u);
      const auto reached = test::flood(test::lists_of(n, both), source);
      std::vector<I> connected;
      for (std::int64_t v = 0; v < n; ++v) {
        if (reached[static_cast<std::size_t>(v)]) connected.push_back(static_cast<I>(v));
      }
      EXPECT_EQ(list(component_of(cpu(), view, static_cast<I>(source))), connected);
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  const auto one = test::make_directed<I, O>(1, {}, test::edges_kept::out);
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)k_hop_neighborhood(cpu(), one.view(), I{0}, -1); }),
            "k_hop_neighborhood: radius -1 (expected 0 or more)");
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)k_hop_neighborhood(cpu(), one.view(), I{1}, 1); }),
            "k_hop_neighborhood: vertex 1 is out of range (the graph has 1 vertex)");
  EXPECT_EQ(
      message_of(error_code::unsupported, [&] { (void)k_hop_neighborhood(cpu(), one.view(), I{0}, 1, edge_side::in); }),
      "k_hop_neighborhood: the graph has no in-edges (add_in_edges builds them)");
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)component_of(cpu(), one.view(), I{-1}); }),
            "component_of: vertex -1 is out of range (the graph has 1 vertex)");
}

// Each asks after its first 4096 vertices at the latest.
TEST(StructureQueries, CanBeInterrupted) {
  struct stopped {};
  const auto undirected = test::make_undirected<std::int32_t, std::int32_t>(5000, test::path_edges(5000));
  const auto directed =
      test::make_directed<std::int32_t, std::int32_t>(5000, test::path_edges(5000), test::edges_kept::out_and_in);
  const auto g = undirected.view();
  const auto expect_stop = [](const char* name, int polls, auto&& query) {
    const interruption ending(
        [&] {
          if (--polls < 0) throw stopped{};
        },
        interruption::clock::duration::zero());
    EXPECT_THROW(query(), stopped) << name;
  };
  expect_stop("bfs_order", 1, [&] { (void)bfs_order(cpu(), g, 0); });
  expect_stop("dfs_order", 1, [&] { (void)dfs_order(cpu(), g, 0); });
  expect_stop("cuthill_mckee", 1, [&] { (void)cuthill_mckee(cpu(), g, {}); });
  expect_stop("biconnectivity", 1, [&] { (void)biconnectivity(cpu(), g); });
  expect_stop("rabbit_order", 1, [&] { (void)rabbit_order(cpu(), g); });
  expect_stop("topological_order", 1, [&] { (void)topological_order(cpu(), directed.view()); });
}

}  // namespace
}  // namespace spargo
