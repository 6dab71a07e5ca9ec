// Device triangles in the cases of large graphs: ranks beyond the bitmap, lists that fill several hash tables, ranks of
// few and of many edges, several segments; rows around the limits of threads and tables. Sets are kept small, so that
// small graphs suffice and the file suits compute-sanitizer.
#include "core/backend.hpp"
#include "graph/placed_graph.hpp"
#include "graph/triangles/executor.hpp"
#include "graph/triangles_support.hpp"
#include "support/device.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spargo {
namespace {

using detail::triangles::set_limits;
using test::edge_vector;
using test::triangle_counts;

// Set capacities; the first uses all the room there is.
constexpr set_limits limits[] = {{}, {.bits = 0}, {.bits = 40, .hashed = 33}, {.bits = 100, .hashed = 1}};

template <class I, class O>
void check_by(const test::raw_graph<I, O>& raw, triangles_algorithm algorithm, const set_limits& limit,
              const triangle_counts& expected) {
  if constexpr (config::has_cuda) {
    const test::placed_graph<I, O, device> g(raw);
    for (const auto output : {triangles_output::total, triangles_output::per_vertex, triangles_output::links}) {
      const auto executor =
          detail::triangles::make_executor<I, O>(g.ctx(), g.view(), {.output = output, .algorithm = algorithm},
                                                 detail::triangles::survey_rows(g.ctx(), g.view()), limit);
      for (int run = 0; run < 2; ++run) {
        executor->run();
        ASSERT_EQ(executor->total(), expected.total);
        const bool counts = output != triangles_output::total;
        const bool links = output == triangles_output::links;
        ASSERT_EQ(g.fetch(executor->per_vertex()), counts ? expected.per_vertex : std::vector<std::int64_t>());
        ASSERT_EQ(g.fetch(executor->links()), links ? expected.links : std::vector<std::int64_t>());
      }
    }
  }
}

template <class I, class O>
void check(const test::raw_graph<I, O>& raw, const triangle_counts& expected) {
  for (const set_limits& limit : limits) {
    SCOPED_TRACE("at most " + std::to_string(limit.bits) + " bits, " + std::to_string(limit.hashed) + " hashed");
    check_by(raw, triangles_algorithm::bitmap, limit, expected);
  }
  SCOPED_TRACE("merged");
  check_by(raw, triangles_algorithm::merge, {}, expected);
}

// A graph and its counts, with and without direction; computed once for all types.
struct shape {
  std::int64_t vertices;
  edge_vector edges;
  edge_vector once;  // u < v, ascending
  triangle_counts directed;
  triangle_counts undirected;

  shape(std::int64_t n, edge_vector of) : vertices(n), edges(std::move(of)), once(edges) {
    for (auto& [u, v] : once) {
      if (u > v) std::swap(u, v);
    }
    std::erase_if(once, [](const auto& e) { return e.first == e.second; });
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    directed = test::set_triangles(n, edges);
    undirected = test::sorted_triangles(n, once);
  }
};

// Edges from the lower id, each once, so that neighbours are joined one way.
struct one_way_graph {
  std::int64_t vertices;
  edge_vector edges;
  triangle_counts counts;

  one_way_graph(std::int64_t n, edge_vector of)
      : vertices(n), edges(std::move(of)), counts(test::sorted_triangles(n, edges)) {}
};

template <class Case>
class TrianglesDevice : public test::device_suite {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;

  void check_directed(const shape& g) {
    check(test::make_directed<I, O>(g.vertices, g.edges, test::edges_kept::out), g.directed);
  }
  void check_one_way(const one_way_graph& g, triangles_algorithm algorithm, const set_limits& limit = {}) {
    triangle_counts expected = g.counts;
    check_by(test::make_undirected<I, O>(g.vertices, g.edges), algorithm, limit, expected);
    expected.links = expected.per_vertex;
    check_by(test::make_directed<I, O>(g.vertices, g.edges, test::edges_kept::out), algorithm, limit, expected);
  }
  // All rows ascend.
  void check_undirected(const shape& g) {
    edge_vector both = g.once;
    for (const auto& [u, v] : g.once) both.emplace_back(v, u);
    std::sort(both.begin(), both.end());
    auto raw = test::make_directed<I, O>(g.vertices, both, test::edges_kept::out);
    raw.direction = direction_kind::undirected;
    check(raw, g.undirected);
  }
};

using cases = testing::Types<test::graph_case<std::int32_t, std::int32_t, device>,
                             test::graph_case<std::int32_t, std::int64_t, device>,
                             test::graph_case<std::int64_t, std::int64_t, device>>;
TYPED_TEST_SUITE(TrianglesDevice, cases);

// A ring whose vertices are joined with those up to `reach` away: longest rows of 2 reach.
shape ring(std::int64_t reach) {
  const std::int64_t n = 2 * reach + 37;
  edge_vector edges;
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = 1; k <= reach; ++k) edges.emplace_back(v, (v + k) % n);
  }
  return {n, edges};
}

// For a thread, for a table, beyond it.
TYPED_TEST(TrianglesDevice, RowsAroundTheirBounds) {
  static const std::vector<shape> shapes{ring(1), ring(4), ring(5), ring(32), ring(64), ring(65), ring(90)};
  for (const shape& g : shapes) {
    SCOPED_TRACE(g.vertices);
    this->check_undirected(g);
    if (this->HasFatalFailure()) return;
  }
}

// The caller's entries start at any 16-byte offset and end anywhere.
TYPED_TEST(TrianglesDevice, RowsThatBeginAnywhere) {
  using id = typename TypeParam::index;
  using place = typename TypeParam::offset;
  if constexpr (config::has_cuda) {
    static const std::vector<shape> shapes{ring(5), ring(6), ring(9), ring(40)};
    for (const shape& g : shapes) {
      edge_vector both = g.once;
      for (const auto& [u, v] : g.once) both.emplace_back(v, u);
      std::sort(both.begin(), both.end());
      const auto raw = test::make_directed<id, place>(g.vertices, both, test::edges_kept::out);
      const test::placed_graph<id, place, device> placed(raw);
      for (std::int64_t apart = 0; apart < 4; ++apart) {
        SCOPED_TRACE(std::to_string(g.vertices) + " vertices, " + std::to_string(apart) + " entries from 16 bytes");
        graph_view<id, place, device> view = placed.view();
        view.direction = direction_kind::undirected;
        array<id, device> moved(placed.ctx(), apart + view.out.nnz());
        copy<id>(placed.ctx(), view.out.indices, moved.view().subspan(apart, view.out.nnz()));
        view.out.indices = moved.view().subspan(apart, view.out.nnz());
        const auto executor = detail::triangles::make_executor<id, place>(
            placed.ctx(), view, {.output = triangles_output::per_vertex, .algorithm = triangles_algorithm::merge},
            detail::triangles::survey_rows(placed.ctx(), view));
        executor->run();
        ASSERT_EQ(executor->total(), g.undirected.total);
        ASSERT_EQ(placed.fetch(executor->per_vertex()), g.undirected.per_vertex);
      }
    }
  }
}

// Hubs joined with all others, in two segments of a block's work, and a sparse remainder.
one_way_graph hubs() {
  constexpr std::int64_t n = 2300;
  constexpr std::int64_t hubs[] = {7, 500, 1300};
  test::random_source random(3);
  edge_vector edges;
  for (std::int64_t u = 0; u < n; ++u) {
    for (std::int64_t v = u + 1; v < n; ++v) {
      const bool hub =
          std::count(std::begin(hubs), std::end(hubs), u) + std::count(std::begin(hubs), std::end(hubs), v);
      if (hub || random.below(400) == 0) edges.emplace_back(u, v);
    }
  }
  return {n, edges};
}
TYPED_TEST(TrianglesDevice, HubsInSegments) {
  static const one_way_graph g = hubs();
  this->check_one_way(g, triangles_algorithm::bitmap);
  this->check_one_way(g, triangles_algorithm::merge);
}

// A dense core, so that lists are long, surrounded by vertices with few edges.
shape dense_core() {
  constexpr std::int64_t n = 900;
  constexpr std::int64_t core = 300;
  test::random_source random(9);
  edge_vector edges;
  for (std::int64_t u = 0; u < core; ++u) {
    for (std::int64_t v = 0; v < core; ++v) {
      if (random.below(3) != 0) edges.emplace_back(u * 3, v * 3);
    }
  }
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = 0; k < 1 + v % 9; ++k) edges.emplace_back(v, 3 * random.below(core));
  }
  return {n, edges};
}
TYPED_TEST(TrianglesDevice, DenseCore) {
  static const shape g = dense_core();
  this->check_directed(g);
  this->check_undirected(g);
}

// Far more ranks with block work than blocks, so that each block builds many sets in the same memory.
one_way_graph dense_graph() {
  constexpr std::int64_t n = 3000;
  test::random_source random(4);
  edge_vector edges;
  for (std::int64_t u = 0; u < n; ++u) {
    for (std::int64_t v = u + 1; v < n; ++v) {
      if (random.below(15) == 0) edges.emplace_back(u, v);
    }
  }
  return {n, edges};
}
TYPED_TEST(TrianglesDevice, ManySetsInOnePlace) {
  static const one_way_graph g = dense_graph();
  this->check_one_way(g, triangles_algorithm::bitmap);
  this->check_one_way(g, triangles_algorithm::bitmap, {.bits = 0});
}

// More ranks than the bitmap holds: a ring's triangle starts anywhere, goes on by two steps that sum to <= `reach`.
TEST(TrianglesOnALargeRing, RanksBeyondTheBits) {
  SPARGO_TEST_NEEDS_GPU();
  constexpr std::int64_t n = (std::int64_t{1} << 18) + 3000;
  constexpr std::int64_t reach = 66;
  test::raw_graph<std::int32_t, std::int64_t> raw;
  raw.vertices = n;
  raw.direction = direction_kind::undirected;
  raw.offsets.push_back(0);
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = -reach; k <= reach; ++k) {
      if (k != 0) raw.indices.push_back(static_cast<std::int32_t>((v + k + n) % n));
    }
    std::sort(raw.indices.end() - 2 * reach, raw.indices.end());
    raw.offsets.push_back(static_cast<std::int64_t>(raw.indices.size()));
  }
  triangle_counts expected;
  expected.total = n * (reach * (reach - 1) / 2);
  expected.per_vertex.assign(n, 3 * expected.total / n);
  expected.links.assign(n, 6 * expected.total / n);
  check_by(raw, triangles_algorithm::bitmap, {}, expected);
}

}  // namespace
}  // namespace spargo
