// Predicates of trees, shares of degrees, and derived graphs against counts in a matrix, on random graphs with loops
// and parallel edges.
#include <spargo/graph/derived.hpp>

#include "graph/sssp_support.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace spargo {
namespace {

using test::edge_vector;
using test::graph_form;
using test::message_of;
using test::random_source;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 3});
  return ctx;
}

template <class Case>
class Derived : public testing::Test {};
using cases = testing::Types<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::int64_t>,
                             std::pair<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(Derived, cases);

using list = std::vector<std::int64_t>;

// Rows of neighbours, in the order of storage.
template <class I, class O>
std::vector<list> rows_of(const csr_pattern_view<I, O, host>& edges) {
  std::vector<list> rows(static_cast<std::size_t>(edges.rows));
  for (std::int64_t u = 0; u < edges.rows; ++u) {
    for (std::int64_t e = edges.offsets[u]; e < edges.offsets[u + 1]; ++e) {
      rows[static_cast<std::size_t>(u)].push_back(edges.indices[e]);
    }
  }
  return rows;
}

struct drawn {
  std::int64_t n;
  test::weighted_edges<double> edges;
  graph_form form;
};

// Often a tree, a forest, or one with an edge too many.
drawn draw(std::uint64_t seed) {
  random_source random(seed);
  drawn g{1 + random.below(14), {}, test::all_forms[seed % 3]};
  const std::int64_t kind = random.below(3);
  edge_vector pairs;
  if (kind == 0) {
    pairs = test::random_edges(random, g.n, random.below(2 * g.n), 0);
  } else {
    for (std::int64_t v = 1; v < g.n; ++v) {
      if (kind == 1 && random.below(8) == 0) continue;
      const bool turned = random.below(6) == 0;
      const std::int64_t u = random.below(v);
      pairs.emplace_back(turned ? v : u, turned ? u : v);
    }
    if (random.below(4) == 0) pairs.emplace_back(random.below(g.n), random.below(g.n));
  }
  g.edges = test::with_weights<double>(pairs, [&](std::size_t) { return static_cast<double>(random.below(9)); });
  return g;
}

// An undirected loop is stored once.
template <class I, class O>
test::raw_weighted_graph<double, I, O> build(const drawn& g) {
  if (g.form != graph_form::undirected) return test::make_weighted<double, I, O>(g.n, g.edges, g.form);
  auto both = g.edges;
  for (const auto& e : g.edges) {
    if (e.from != e.to) both.push_back({e.to, e.from, e.weight});
  }
  auto made = test::make_weighted<double, I, O>(g.n, both, graph_form::out_only);
  made.structure.direction = direction_kind::undirected;
  made.structure.in_offsets = made.structure.offsets;
  made.structure.in_indices = made.structure.indices;
  made.in_weights = made.weights;
  return made;
}

// By merging sets of vertices, edge by edge.
tree_properties naive_classification(const drawn& g) {
  std::vector<std::int64_t> set(static_cast<std::size_t>(g.n));
  for (std::int64_t v = 0; v < g.n; ++v) set[static_cast<std::size_t>(v)] = v;
  list in(static_cast<std::size_t>(g.n), 0);
  std::int64_t parts = g.n;
  bool cycle = false;
  for (const auto& e : g.edges) {
    ++in[static_cast<std::size_t>(e.to)];
    const std::int64_t a = set[static_cast<std::size_t>(e.from)];
    const std::int64_t b = set[static_cast<std::size_t>(e.to)];
    if (a == b) {
      cycle = true;
      continue;
    }
    --parts;
    for (std::int64_t& s : set) s = s == b ? a : s;
  }
  const bool one_parent = std::all_of(in.begin(), in.end(), [](std::int64_t count) { return count <= 1; });
  const bool directed = g.form != graph_form::undirected;
  return {!cycle, !cycle && parts == 1, directed && !cycle && one_parent,
          directed && !cycle && one_parent && parts == 1};
}

TYPED_TEST(Derived, PredicatesAndShares) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  int forests = 0;
  int arborescences = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(800)); ++seed) {
    const drawn g = draw(seed);
    const auto made = build<I, O>(g);
    const graph_view<I, O, host> view = made.view();
    const tree_properties found = classify_tree(cpu(), view);
    const tree_properties wanted = naive_classification(g);
    ASSERT_EQ(found.forest, wanted.forest) << "seed " << seed;
    ASSERT_EQ(found.tree, wanted.tree) << "seed " << seed;
    ASSERT_EQ(found.branching, wanted.branching) << "seed " << seed;
    ASSERT_EQ(found.arborescence, wanted.arborescence) << "seed " << seed;
    forests += found.forest ? 1 : 0;
    arborescences += found.arborescence ? 1 : 0;
    list out(static_cast<std::size_t>(g.n), 0);
    list in(static_cast<std::size_t>(g.n), 0);
    for (const auto& e : g.edges) {
      ++out[static_cast<std::size_t>(e.from)];
      ++in[static_cast<std::size_t>(e.to)];
    }
    list isolated;
    const auto shares = degree_centrality(cpu(), view);
    const auto in_shares = degree_centrality(cpu(), view, degree_kind::in);
    const auto out_shares = degree_centrality(cpu(), view, degree_kind::out);
    for (std::int64_t v = 0; v < g.n; ++v) {
      const auto at = static_cast<std::size_t>(v);
      if (out[at] + in[at] == 0) isolated.push_back(v);
      const auto share = [&](std::int64_t degree) {
        return g.n == 1 ? 1.0 : static_cast<double>(degree) / static_cast<double>(g.n - 1);
      };
      ASSERT_DOUBLE_EQ(shares[v], share(out[at] + in[at])) << "seed " << seed;
      if (g.form == graph_form::undirected) continue;
      ASSERT_DOUBLE_EQ(in_shares[v], share(in[at]));
      ASSERT_DOUBLE_EQ(out_shares[v], share(out[at]));
    }
    const auto alone = isolated_vertices(cpu(), view);
    ASSERT_EQ(list(alone.begin(), alone.end()), isolated);
  }
  EXPECT_GT(forests, test::rounds(100));
  EXPECT_GT(arborescences, test::rounds(800) / 100);
}

TYPED_TEST(Derived, GraphsOfAGraph) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(400)); ++seed) {
    const drawn g = draw(seed);
    const auto made = build<I, O>(g);
    const graph_view<I, O, host> view = made.view();
    const bool directed = g.form != graph_form::undirected;
    // Reversed: the turned edges.
    auto turned = rows_of(build<I, O>({g.n, directed ? test::turned(g.edges) : g.edges, g.form}).structure.view().out);
    const auto reversed = reverse(cpu(), view);
    auto got = rows_of(reversed.view().out);
    for (auto& row : turned) std::sort(row.begin(), row.end());
    for (auto& row : got) std::sort(row.begin(), row.end());
    if (directed) {
      ASSERT_EQ(got, turned) << "seed " << seed;
      ASSERT_EQ(rows_of(reversed.view().in), rows_of(view.out));
      std::multiset<std::tuple<std::int64_t, std::int64_t, double>> wanted;
      for (const auto& e : g.edges) wanted.emplace(e.to, e.from, e.weight);
      const auto weighted = reverse(cpu(), made.view());
      std::multiset<std::tuple<std::int64_t, std::int64_t, double>> found;
      const auto both = weighted.view();
      for (std::int64_t u = 0; u < g.n; ++u) {
        for (std::int64_t e = both.out.offsets[u]; e < both.out.offsets[u + 1]; ++e) {
          found.emplace(u, both.out.indices[e], both.out_weights[e]);
        }
      }
      ASSERT_EQ(found, wanted);
      ASSERT_EQ(rows_of(both.in), rows_of(view.out));
    } else {
      ASSERT_EQ(rows_of(reversed.view().out), rows_of(view.out));
      ASSERT_EQ(rows_of(reverse(cpu(), made.view()).view().out), rows_of(view.out));
    }
    const auto rows = rows_of(view.out);
    const auto others = rows_of(complement(cpu(), view).view().out);
    for (std::int64_t u = 0; u < g.n; ++u) {
      const auto& row = rows[static_cast<std::size_t>(u)];
      list wanted;
      for (std::int64_t v = 0; v < g.n; ++v) {
        if (v != u && std::find(row.begin(), row.end(), v) == row.end()) wanted.push_back(v);
      }
      ASSERT_EQ(others[static_cast<std::size_t>(u)], wanted) << "seed " << seed;
    }
    // A tree of a search: one edge to each other vertex that a path leads to, from one level above.
    const auto levels = test::naive_distances(g.n,
                                              test::followed(
                                                  [&] {
                                                    auto ones = g.edges;
                                                    for (auto& e : ones) e.weight = 1;
                                                    return ones;
                                                  }(),
                                                  g.form),
                                              0);
    std::vector<int> parents(static_cast<std::size_t>(g.n), 0);
    const auto tree = rows_of(bfs_tree(cpu(), view, 0).view().out);
    for (std::size_t u = 0; u < tree.size(); ++u) {
      for (const std::int64_t v : tree[u]) {
        ASSERT_EQ(levels[static_cast<std::size_t>(v)], levels[u] + 1);
        ++parents[static_cast<std::size_t>(v)];
      }
    }
    std::int64_t near = 0;
    for (std::size_t v = 0; v < parents.size(); ++v) {
      ASSERT_EQ(parents[v], v != 0 && std::isfinite(levels[v]) ? 1 : 0) << "seed " << seed;
      near += levels[v] <= 1 ? 1 : 0;
    }
    ASSERT_EQ(ego_graph(cpu(), view, 0, 1).vertices(), near);
  }
}

TEST(DerivedOf, ReciprocityCountsEdgesBothWays) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    random_source random(seed);
    const std::int64_t n = 1 + random.below(10);
    const auto pairs = test::random_edges(random, n, random.below(4 * n), 0);
    const std::set<std::pair<std::int64_t, std::int64_t>> distinct(pairs.begin(), pairs.end());
    const auto g = test::make_directed<std::int32_t, std::int64_t>(n, edge_vector(distinct.begin(), distinct.end()),
                                                                   test::edges_kept::out);
    double both = 0;
    for (const auto& [u, v] : distinct) both += u != v && distinct.contains({v, u}) ? 1 : 0;
    const double found = reciprocity(cpu(), g.view());
    if (distinct.empty()) {
      EXPECT_TRUE(std::isnan(found));
    } else {
      EXPECT_DOUBLE_EQ(found, both / static_cast<double>(distinct.size()));
    }
  }
}

TEST(DerivedOf, WrongGraphsAreRefused) {
  const auto refusal = [&](auto&& call) { return message_of(error_code::invalid_argument, call); };
  const auto empty = test::make_directed<std::int32_t, std::int32_t>(0, {}, test::edges_kept::out);
  EXPECT_EQ(refusal([&] { (void)classify_tree(cpu(), empty.view()); }),
            "classify_tree: the graph has no vertices (expected one or more)");
  EXPECT_EQ(complement(cpu(), empty.view()).vertices(), 0);
  const auto edge = test::make_undirected<std::int32_t, std::int32_t>(2, {{0, 1}});
  EXPECT_EQ(refusal([&] { (void)reciprocity(cpu(), edge.view()); }),
            "reciprocity: the graph is undirected (expected a directed one)");
  const auto twice = test::make_directed<std::int32_t, std::int32_t>(2, {{0, 1}, {0, 1}}, test::edges_kept::out);
  EXPECT_EQ(refusal([&] { (void)reciprocity(cpu(), twice.view()); }),
            "reciprocity: neighbours that do not ascend (expected a canonical graph)");
}

}  // namespace
}  // namespace spargo
