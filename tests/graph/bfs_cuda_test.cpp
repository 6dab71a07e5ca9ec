// Device BFS at its boundaries: hubs split into chunks, levels passed between the cluster and the grid, full slots and
// shared queues, pulls between pushes, more levels than are reported or stored.
//
// Small graphs on both sides of each of the search's limits, so that the whole program suits compute-sanitizer.
#include <spargo/graph/bfs.hpp>

#include "graph/graph_support.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::raw_graph;

// The search's limits; a test that is no longer at the boundary is still correct, only less sharp.
constexpr std::int64_t hub_degree = 512;
constexpr std::int64_t entry_edges = 128;
constexpr std::int64_t narrow_hub = 8192;
constexpr std::int64_t narrow_vertices = 8192;
constexpr std::int64_t narrow_edges = 32768;
constexpr std::int64_t narrow_slots = 1024;
constexpr std::int64_t block_vertices = 768;
constexpr std::int64_t block_queue = 2048;
constexpr std::int64_t report_levels = 1024;
constexpr std::int64_t kept_levels = 4096;

template <class I, class O>
struct widths {
  using index = I;
  using offset = O;
};

template <class Widths>
class BfsCuda : public test::device_suite {
 protected:
  using index = typename Widths::index;
  using offset = typename Widths::offset;
  using raw = raw_graph<index, offset>;

  static std::int64_t reached_of(const std::vector<std::int32_t>& levels) {
    return std::count_if(levels.begin(), levels.end(), [](std::int32_t l) { return l >= 0; });
  }

  // Each source twice with one plan: the second run starts from the state that the first left.
  static void check(const raw& g, const bfs_options& options, const std::vector<std::int64_t>& sources) {
    static const context<device> ctx;
    const auto offsets = to_device(ctx, span<const offset, host>(g.offsets));
    const auto indices = to_device(ctx, span<const index, host>(g.indices));
    const auto in_offsets = to_device(ctx, span<const offset, host>(g.in_offsets));
    const auto in_indices = to_device(ctx, span<const index, host>(g.in_indices));
    graph_view<index, offset, device> view{{g.vertices, g.vertices, offsets.view(), indices.view()}, {}, g.direction};
    if (!in_offsets.empty()) view.in = {g.vertices, g.vertices, in_offsets.view(), in_indices.view()};
    bfs_plan<index, offset, device> plan(ctx, view, options);
    for (const std::int64_t source : sources) {
      const auto expected = test::naive_levels(g.view(), source);
      for (int run = 0; run < 2; ++run) {
        SCOPED_TRACE(std::string(to_string(options.algorithm)) + ", direction " +
                     std::to_string(static_cast<int>(options.direction)) + ", source " + std::to_string(source) +
                     ", run " + std::to_string(run));
        plan.run(static_cast<index>(source));
        const auto levels = to_host(ctx, plan.levels());
        const auto parents = to_host(ctx, plan.parents());
        ASSERT_EQ(std::vector<std::int32_t>(levels.begin(), levels.end()), expected);
        ASSERT_EQ(test::parent_fault(g.view(), source, expected, std::vector<index>(parents.begin(), parents.end())),
                  "");
        ASSERT_EQ(test::copy_of(plan.level_sizes()), test::histogram_of(expected));
        ASSERT_EQ(plan.reached(), reached_of(expected));
      }
    }
  }

  static void check_all(const raw& g, const std::vector<std::int64_t>& sources) {
    constexpr std::array tried{bfs_options{.algorithm = bfs_algorithm::global_queue},
                               bfs_options{.algorithm = bfs_algorithm::block_queue},
                               bfs_options{.algorithm = bfs_algorithm::load_balanced},
                               bfs_options{.algorithm = bfs_algorithm::direction_optimizing}};
    for (const bfs_options& options : tried) {
      check(g, options, sources);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  static raw directed(std::int64_t n, const edge_vector& edges) {
    return test::make_directed<index, offset>(n, edges, edges_kept::out_and_in);
  }
  static raw undirected(std::int64_t n, const edge_vector& edges) {
    return test::make_undirected<index, offset>(n, edges);
  }
};

// Levels of the given sizes from vertex 0; each vertex has one edge from the previous level, assigned cyclically. Two
// equal levels in sequence show that each vertex of the first was queued.
edge_vector layer_edges(const std::vector<std::int64_t>& sizes) {
  edge_vector edges;
  std::int64_t before = 0;
  for (std::size_t k = 1; k < sizes.size(); ++k) {
    const std::int64_t first = before + sizes[k - 1];
    for (std::int64_t j = 0; j < sizes[k]; ++j) edges.emplace_back(before + j % sizes[k - 1], first + j);
    before = first;
  }
  return edges;
}

std::int64_t sum(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

using cases = testing::Types<widths<std::int32_t, std::int32_t>, widths<std::int32_t, std::int64_t>,
                             widths<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(BfsCuda, cases);

// Vertices with degrees around one and two entries of the cluster, one, two and three chunks of a hub, and more than
// the cluster's limit; found together and as sources.
TYPED_TEST(BfsCuda, DegreesAroundEntriesAndChunks) {
  edge_vector edges;
  std::vector<std::int64_t> sources{0};
  std::int64_t n = 1;
  for (const std::int64_t degree :
       {entry_edges, 2 * entry_edges, hub_degree, 2 * hub_degree, 3 * hub_degree, narrow_hub}) {
    for (const std::int64_t more : {-1, 0, 1}) {
      const std::int64_t hub = n++;
      edges.emplace_back(0, hub);
      for (std::int64_t k = 0; k < degree + more; ++k) edges.emplace_back(hub, n++);
      sources.push_back(hub);
    }
  }
  edges.emplace_back(n - 1, n);  // so that the last chunk's last edge matters
  this->check_all(this->directed(n + 1, edges), sources);
  this->check_all(this->undirected(n + 1, edges), {0, n});
}

// Narrow, wide and narrow again, around the limits at which the cluster stops and resumes.
TYPED_TEST(BfsCuda, WidthsAroundTheCluster) {
  for (const std::int64_t limit : {narrow_vertices / 2, narrow_vertices}) {
    for (const std::int64_t more : {-1, 0, 1}) {
      const std::int64_t w = limit + more;
      const std::vector<std::int64_t> sizes{1, 40, w, w, 7, 300, w, 1, 1, 2};
      SCOPED_TRACE("width " + std::to_string(w));
      this->check_all(this->directed(sum(sizes), layer_edges(sizes)), {0});
      this->check_all(this->undirected(sum(sizes), layer_edges(sizes)), {0, sum(sizes) - 1});
      if (this->HasFatalFailure()) return;
    }
  }
}

// More alternations of narrow and wide levels than kernels: the last grid runs the rest.
TYPED_TEST(BfsCuda, NarrowAndWideInTurn) {
  std::vector<std::int64_t> sizes{1};
  for (int k = 0; k < 5; ++k) sizes.insert(sizes.end(), {2 * narrow_vertices, 5, 1, 40, 3});
  this->check(this->undirected(sum(sizes), layer_edges(sizes)), {.algorithm = bfs_algorithm::load_balanced}, {0});
  this->check(this->undirected(sum(sizes), layer_edges(sizes)), {}, {sum(sizes) - 1});
}

TYPED_TEST(BfsCuda, EdgesAroundTheCluster) {
  for (const std::int64_t more : {-1, 0, 1}) {
    const std::vector<std::int64_t> sizes{1, 300, narrow_edges + more, narrow_edges + more, 1};
    SCOPED_TRACE(std::to_string(narrow_edges + more) + " edges");
    this->check_all(this->directed(sum(sizes), layer_edges(sizes)), {0});
    if (this->HasFatalFailure()) return;
  }
}

// One block of the cluster finds more than its slots hold: vertices of one entry, of two, and hubs. Entries that fit
// and those that spill continue together. In the second graph one block finds the crowd, which is then redistributed.
TYPED_TEST(BfsCuda, FindsMoreThanASlotEach) {
  for (const std::int64_t degree : {entry_edges + 72, 2 * hub_degree + 76}) {
    constexpr std::int64_t leaves = 3000;
    const std::int64_t hubs = narrow_slots * 6 / 10;
    edge_vector edges;
    for (std::int64_t h = 0; h < hubs; ++h) {
      edges.emplace_back(0, 1 + h);
      for (std::int64_t k = 0; k < degree; ++k) edges.emplace_back(1 + h, 1 + hubs + (h * 7 + k) % leaves);
    }
    SCOPED_TRACE("degree " + std::to_string(degree));
    this->check_all(this->directed(1 + hubs + leaves, edges), {0});
    if (this->HasFatalFailure()) return;
  }
  const std::vector<std::int64_t> sizes{
      1, 1, narrow_slots - 24, narrow_slots - 24, narrow_slots + 200, 3, 1, narrow_slots, 1};
  this->check_all(this->directed(sum(sizes), layer_edges(sizes)), {0});
  this->check_all(this->undirected(sum(sizes), layer_edges(sizes)), {0, sum(sizes) - 1});
}

// One block finds the crowd. The last of its vertices with three entries has room for one in the block's slots, and its
// last edge leads to a leaf of its own. Those of one entry come first in a warp's discoveries.
TYPED_TEST(BfsCuda, ManyEntriesAtTheEndOfTheSlots) {
  constexpr std::int64_t longs = 120;
  constexpr std::int64_t crowd = longs + narrow_slots + 2 - 3 * longs;
  constexpr std::int64_t gates = 4;
  constexpr std::int64_t pool = 2 * entry_edges;  // targets of all other edges, reached earlier
  edge_vector edges;
  for (std::int64_t k = 0; k < gates; ++k) edges.emplace_back(0, 1 + k);
  for (std::int64_t k = 0; k < pool; ++k) edges.emplace_back(1 + k % gates, 1 + gates + k);
  const std::int64_t owner = 1 + gates + pool;
  edges.emplace_back(1, owner);
  std::int64_t n = owner + 1 + crowd;
  for (std::int64_t j = 0; j < crowd; ++j) {
    edges.emplace_back(owner, owner + 1 + j);
    const std::int64_t from_last = crowd - 1 - j;
    if (from_last % 6 != 0 || from_last / 6 >= longs) continue;
    for (std::int64_t k = 0; k < pool; ++k) edges.emplace_back(owner + 1 + j, 1 + gates + k);
    edges.emplace_back(owner + 1 + j, n++);
  }
  this->check_all(this->directed(n, edges), {0});
}

// A level with too many edges for the cluster, including hubs, moves to the queue without overwriting entries.
TYPED_TEST(BfsCuda, HubsAmongOthersLeaveTheCluster) {
  constexpr std::int64_t crowd = 500;
  constexpr std::int64_t leaves = 700;
  edge_vector edges;
  for (std::int64_t v = 0; v < crowd; ++v) {
    edges.emplace_back(0, 1 + v);
    edges.emplace_back(1 + v, 1 + crowd + leaves + v);
    for (std::int64_t k = 0; v % 3 == 1 && k < hub_degree + 40; ++k)
      edges.emplace_back(1 + v, 1 + crowd + (v + k) % leaves);
  }
  this->check_all(this->directed(1 + 2 * crowd + leaves, edges), {0});
}

// Pulls scan long rows with one neighbour in the frontier, near the end of a lane's or anywhere in the warp's share.
TYPED_TEST(BfsCuda, PullsFromLongLists) {
  constexpr std::int64_t lists[] = {255, 256, 257, 258, 286, 287, 288, 289, 290, 318, 319, 320, 321, 400, 1300};
  edge_vector edges;
  std::int64_t n = 1 + 2 * std::ssize(lists);  // the source, a predecessor of each list's owner, and the owners
  for (std::int64_t k = 0; k < std::ssize(lists); ++k) {
    const std::int64_t owner = 1 + std::ssize(lists) + k;
    edges.emplace_back(0, 1 + k);
    for (std::int64_t j = 0; j < lists[k]; ++j) edges.emplace_back(n++, owner);
  }
  for (std::int64_t k = 0; k < std::ssize(lists); ++k) {
    const std::int64_t gate = n++;  // the last neighbour by id
    edges.emplace_back(1 + k, gate);
    edges.emplace_back(gate, 1 + std::ssize(lists) + k);
    for (std::int64_t j = 0; j < k; ++j) edges.emplace_back(n++, 1 + std::ssize(lists) + k);  // except a few
  }
  const bfs_options pulled{.algorithm = bfs_algorithm::direction_optimizing, .direction = bfs_direction::pull};
  this->check(this->undirected(n, edges), pulled, {0, n - 1});
  this->check(this->directed(n, edges), pulled, {0});
}

// A block's discoveries in a round just fit, or overflow by one, or by more than the queue; a second round follows.
TYPED_TEST(BfsCuda, FindsAroundABlocksQueue) {
  for (const std::int64_t found : {block_queue - 1, block_queue, block_queue + 1, 2 * block_queue + 1}) {
    const std::vector<std::int64_t> sizes{1, 300, block_vertices, found, found, 1};
    SCOPED_TRACE(std::to_string(found) + " found");
    this->check_all(this->directed(sum(sizes), layer_edges(sizes)), {0});
    if (this->HasFatalFailure()) return;
  }
}

// The report does not depend on the algorithm, and long searches are slow under the tools: one suffices. Every third
// vertex of the path has a leaf, so that sizes differ.
TYPED_TEST(BfsCuda, LevelsAroundOneReport) {
  for (const std::int64_t around : {report_levels, kept_levels}) {
    for (const std::int64_t levels : {around - 1, around, around + 1}) {
      SCOPED_TRACE(std::to_string(levels) + " levels");
      auto edges = test::path_edges(levels);
      std::int64_t n = levels;
      for (std::int64_t k = 0; k + 1 < levels; k += 3) edges.emplace_back(k, n++);
      this->check(this->undirected(n, edges), {.algorithm = bfs_algorithm::load_balanced}, {0});
      if (this->HasFatalFailure()) return;
    }
  }
}

// Levels are counted even if not returned.
TYPED_TEST(BfsCuda, ParentsAlone) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const context<device> ctx;
  const auto path = this->undirected(kept_levels + 9, test::path_edges(kept_levels + 9));
  const auto offsets = to_device(ctx, span<const O, host>(path.offsets));
  const auto indices = to_device(ctx, span<const I, host>(path.indices));
  const graph_view<I, O, device> view{
      {path.vertices, path.vertices, offsets.view(), indices.view()}, {}, path.direction};
  bfs_plan<I, O, device> plan(ctx, view, {.output = bfs_output::parents});
  plan.run(0);
  EXPECT_TRUE(plan.levels().empty());
  EXPECT_EQ(test::copy_of(plan.level_sizes()), std::vector<std::int64_t>(kept_levels + 9, 1));
  const auto parents = to_host(ctx, plan.parents());
  for (std::int64_t v = 1; v < parents.size(); ++v) ASSERT_EQ(parents[v], v - 1);
}

// An isolated source works, and does not affect the next search.
TYPED_TEST(BfsCuda, IsolatedSourceBetweenOthers) {
  const auto g = this->undirected(70, {{0, 1}, {1, 2}, {5, 6}});
  this->check_all(g, {0, 69, 1, 40, 5});
}

// Path, crowd, path, crowd, path: an automatic search pulls in each crowd and pushes along each path. The crowds hold
// hubs, so both ways of filling the queue create chunks. A forced pull must search the paths as well.
TYPED_TEST(BfsCuda, PullsBetweenPushes) {
  constexpr std::int64_t crowd = 3000;
  constexpr std::int64_t path = 30;
  test::random_source random(23);
  edge_vector edges;
  std::int64_t n = path;
  for (int part = 0; part < 2; ++part) {
    for (const auto& [u, v] : test::random_edges(random, crowd, 8 * crowd, 1)) edges.emplace_back(n + u, n + v);
    for (std::int64_t v = 0; v < crowd; v += 4) edges.emplace_back(n + 1, n + v);
    for (std::int64_t k = 0; k < 5; ++k) {  // hubs at the crowd's rim, found by the last pulls
      const std::int64_t rim = n + crowd - 1 - k;
      for (std::int64_t j = 0; j < 700; ++j) edges.emplace_back(rim, n + random.below(crowd));
    }
    n += crowd + path;
  }
  for (std::int64_t first = 0; first < n; first += crowd + path) {
    for (std::int64_t k = 0; k < path; ++k) {
      if (k > 0 || first > 0) edges.emplace_back(first + k - 1, first + k);
    }
    if (first + path < n) edges.emplace_back(first + path - 1, first + path);
  }
  const auto both_ways = this->undirected(n, edges);
  this->check_all(both_ways, {0, n - 1, path + 1, n / 2});
  this->check(both_ways, {.algorithm = bfs_algorithm::direction_optimizing, .direction = bfs_direction::pull}, {0});
  this->check_all(this->directed(n, edges), {0, path + 1});
}

// The last vertex of a bitmap without spare bits is pulled in a level of a crowd too large for the cluster, and
// everything beyond is reached only through it.
TYPED_TEST(BfsCuda, PullsTheLastVertexOfFullWords) {
  constexpr std::int64_t path = 10;
  constexpr std::int64_t n = 24 * 128;
  constexpr std::int64_t crowd = n - path - 1;
  test::random_source random(24);
  edge_vector edges;
  for (const auto& [u, v] : test::random_edges(random, crowd, 20 * crowd, 0)) edges.emplace_back(path + u, path + v);
  for (std::int64_t k = 1; k < path; ++k) edges.emplace_back(k - 1, k);
  const auto levels = test::naive_levels(this->undirected(n, edges).view(), path);
  for (std::int32_t depth = 0; depth < 12; ++depth) {
    const auto at = std::find(levels.begin(), levels.end(), depth);
    if (at == levels.end()) break;
    auto with = edges;
    with.emplace_back(at - levels.begin(), n - 1);
    with.emplace_back(n - 1, 0);
    SCOPED_TRACE("after level " + std::to_string(depth));
    this->check(this->undirected(n, with), {}, {path});
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace spargo
