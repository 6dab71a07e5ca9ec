// Boost.Graph on Spargo graphs: concepts, and algorithms of each against naive results.
#include <spargo/graph/boost.hpp>

#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/bfs.hpp>

#include "graph/graph_support.hpp"
#include "graph/host_types.hpp"

#include <gtest/gtest.h>

#include <boost/graph/betweenness_centrality.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/kruskal_min_spanning_tree.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

namespace spargo {
namespace {

template <class I, class O>
struct concepts {
  using graph = graph_view<I, O, host>;
  BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, I, boost::vertex_index_t>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, boost_edge<I, O>, boost::edge_index_t>));
};
template <class W, class I, class O>
struct weighted_concepts {
  using graph = weighted_graph_view<W, I, O, host>;
  BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<graph>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, I, boost::vertex_index_t>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, boost_edge<I, O>, boost::edge_index_t>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, boost_edge<I, O>, boost::edge_weight_t>));
};
template struct weighted_concepts<double, std::int32_t, std::int64_t>;
template struct weighted_concepts<std::int32_t, std::int64_t, std::int64_t>;
template struct concepts<std::int32_t, std::int32_t>;
template struct concepts<std::int32_t, std::int64_t>;
template struct concepts<std::int64_t, std::int64_t>;

template <class T>
class Boost : public testing::Test {};
TYPED_TEST_SUITE(Boost, test::host_graph_cases);

// Levels by Boost's search with its distance recorder.
template <class G>
std::vector<std::int32_t> boost_levels(const G& g, typename boost::graph_traits<G>::vertex_descriptor source) {
  std::vector<std::int32_t> level(num_vertices(g), -1);
  const auto map = boost::make_iterator_property_map(level.begin(), get(boost::vertex_index, g));
  put(map, source, 0);
  boost::breadth_first_search(
      g, source, boost::visitor(boost::make_bfs_visitor(boost::record_distances(map, boost::on_tree_edge()))));
  return level;
}

TYPED_TEST(Boost, BreadthFirstSearchAgreesWithOursAndTheNaiveOne) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  test::random_source random(51);
  const context<host> ctx({.threads = 2});
  for (int round = 0; round < 40; ++round) {
    const std::int64_t n = 1 + random.below(300);
    const auto raw =
        test::make_directed<I, O>(n, test::random_edges(random, n, 2 * n, round % 3), test::edges_kept::out_and_in);
    const auto g = raw.view();
    const auto source = static_cast<I>(random.below(n));
    const auto expected = test::naive_levels(g, source);
    EXPECT_EQ(boost_levels(g, source), expected);
    const auto ours = bfs(ctx, g, source, {.algorithm = bfs_algorithm::direction_optimizing});
    EXPECT_TRUE(std::equal(ours.levels.begin(), ours.levels.end(), expected.begin(), expected.end()));
  }
}

// in_edges and degree through Boost's reversed view.
TYPED_TEST(Boost, ReverseGraphSearchesTheInEdges) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  test::random_source random(52);
  const auto edges = test::random_edges(random, 200, 500, 1);
  const auto raw = test::make_directed<I, O>(200, edges, test::edges_kept::out_and_in);
  test::edge_vector turned;
  for (const auto& [u, v] : edges) turned.emplace_back(v, u);
  const auto other_way = test::make_directed<I, O>(200, turned, test::edges_kept::out);
  const auto g = raw.view();
  const auto reversed = boost::make_reverse_graph(g);
  for (const std::int64_t source : {0, 7, 199}) {
    EXPECT_EQ(boost_levels(reversed, static_cast<I>(source)), test::naive_levels(other_way.view(), source));
  }
}

TYPED_TEST(Boost, InEdgesAreTheOutEdgesTurned) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  test::random_source random(53);
  const auto raw =
      test::make_directed<I, O>(100, test::random_edges(random, 100, 300, 0), test::edges_kept::out_and_in);
  const auto g = raw.view();
  std::multiset<std::pair<I, I>> out;
  std::multiset<std::pair<I, I>> in;
  std::size_t degrees = 0;
  for (auto [v, end] = vertices(g); v != end; ++v) {
    for (auto [e, last] = out_edges(*v, g); e != last; ++e) {
      EXPECT_EQ(source(*e, g), *v);
      out.emplace(source(*e, g), target(*e, g));
    }
    for (auto [e, last] = in_edges(*v, g); e != last; ++e) {
      EXPECT_EQ(target(*e, g), *v);
      in.emplace(source(*e, g), target(*e, g));
    }
    EXPECT_EQ(out_degree(*v, g),
              static_cast<std::size_t>(std::distance(out_edges(*v, g).first, out_edges(*v, g).second)));
    EXPECT_EQ(out_degree(*v, g) + in_degree(*v, g), degree(*v, g));
    degrees += degree(*v, g);
  }
  EXPECT_EQ(out, in);
  EXPECT_EQ(out.size(), num_edges(g));
  EXPECT_EQ(degrees, 2 * num_edges(g));
}

TYPED_TEST(Boost, StrongComponents) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  // A cycle of 4 with a tail of 2, a cycle of 2, and an isolated vertex: 5 components.
  const auto raw = test::make_directed<I, O>(9, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {4, 5}, {6, 7}, {7, 6}},
                                             test::edges_kept::out);
  const auto g = raw.view();
  std::vector<int> component(9);
  const int count =
      boost::strong_components(g, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, g)));
  EXPECT_EQ(count, 5);
  EXPECT_EQ(component[0], component[3]);
  EXPECT_EQ(component[6], component[7]);
  EXPECT_NE(component[3], component[4]);
  EXPECT_NE(component[4], component[5]);
}

// Boost instantiates the graph's traits with const. Of vertices and of edges: a tail, then a square.
TYPED_TEST(Boost, BrandesBetweennessCentrality) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const auto raw = test::make_directed<I, O>(6, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}, test::edges_kept::out);
  const auto g = raw.view();
  std::vector<double> of_vertices(6), of_edges(5);
  boost::brandes_betweenness_centrality(
      g, boost::make_iterator_property_map(of_vertices.begin(), get(boost::vertex_index, g)),
      boost::make_iterator_property_map(of_edges.begin(), get(boost::edge_index, g)));
  EXPECT_EQ(of_vertices, (std::vector<double>{0, 3, 1, 1, 0, 0}));
  EXPECT_EQ(of_edges, (std::vector<double>{4, 3, 3, 2, 2}));

  test::random_source random(54);
  const auto some = test::make_directed<I, O>(90, test::random_edges(random, 90, 400, 1), test::edges_kept::out);
  std::vector<double> values(90);
  boost::brandes_betweenness_centrality(some.view(),
                                        boost::make_iterator_property_map(values.begin(), get(boost::vertex_index, g)));
  const auto ours = betweenness(context<host>({.threads = 2}), some.view());
  for (std::size_t v = 0; v < 90; ++v) EXPECT_NEAR(ours.values[static_cast<I>(v)], values[v], 1e-9 * (1 + values[v]));
}

// Weights by edge_index: a detour of light edges beats the heavy shortcut.
TYPED_TEST(Boost, DijkstraWithWeightsByEdgeIndex) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const auto raw = test::make_directed<I, O>(4, {{0, 1}, {0, 3}, {1, 2}, {2, 3}}, test::edges_kept::out);
  const auto g = raw.view();
  const std::vector<double> weights{1, 10, 2, 3};  // in the order of the stored edges
  std::vector<double> distance(4);
  boost::dijkstra_shortest_paths(
      g, boost::vertex(0, g),
      boost::weight_map(boost::make_iterator_property_map(weights.begin(), get(boost::edge_index, g)))
          .distance_map(boost::make_iterator_property_map(distance.begin(), get(boost::vertex_index, g))));
  EXPECT_EQ(distance, (std::vector<double>{0, 1, 3, 6}));
}

// By repeated relaxation of all edges.
std::vector<std::int64_t> naive_distances(std::int64_t n, const test::edge_vector& edges,
                                          const std::vector<std::int32_t>& weights, std::int64_t source) {
  std::vector<std::int64_t> distance(static_cast<std::size_t>(n), std::numeric_limits<std::int64_t>::max());
  distance[static_cast<std::size_t>(source)] = 0;
  for (std::int64_t round = 0; round < n; ++round) {
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const std::int64_t from = distance[static_cast<std::size_t>(edges[k].first)];
      if (from == std::numeric_limits<std::int64_t>::max()) continue;
      std::int64_t& to = distance[static_cast<std::size_t>(edges[k].second)];
      to = std::min(to, from + weights[k]);
    }
  }
  return distance;
}

template <class G>
std::vector<std::int64_t> boost_distances(const G& g, typename boost::graph_traits<G>::vertex_descriptor source) {
  std::vector<std::int64_t> distance(num_vertices(g));
  boost::dijkstra_shortest_paths(
      g, source, boost::distance_map(boost::make_iterator_property_map(distance.begin(), get(boost::vertex_index, g))));
  return distance;
}

// A weighted view provides its weights: by its out-edges, and by its in-edges through Boost's reversed view.
TYPED_TEST(Boost, DijkstraOfWeightedGraphs) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const context<host> ctx({.threads = 2});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    test::edge_vector edges = test::random_edges(random, n, random.below(5 * n), static_cast<int>(seed % 2));
    std::vector<I> from, to;
    std::vector<std::int32_t> weights;
    for (const auto& [u, v] : edges) {
      from.push_back(static_cast<I>(u));
      to.push_back(static_cast<I>(v));
      weights.push_back(static_cast<std::int32_t>(random.below(20)));
    }
    const coo_pattern_view<I, host> listed{static_cast<I>(n), static_cast<I>(n), from, to};
    const auto directed = build_weighted_graph<O>(ctx, listed, weights, {.in_edges = true});
    const std::int64_t source = random.below(n);
    const auto g = directed.view();
    EXPECT_EQ(boost_distances(g, static_cast<I>(source)), naive_distances(n, edges, weights, source));

    test::edge_vector turned;
    for (const auto& [u, v] : edges) turned.emplace_back(v, u);
    EXPECT_EQ(boost_distances(boost::make_reverse_graph(g), static_cast<I>(source)),
              naive_distances(n, turned, weights, source));

    const auto undirected = build_weighted_graph<O>(ctx, listed, weights, {.direction = direction_kind::undirected});
    edges.insert(edges.end(), turned.begin(), turned.end());
    const std::vector<std::int32_t> once = weights;
    weights.insert(weights.end(), once.begin(), once.end());
    EXPECT_EQ(boost_distances(undirected.view(), static_cast<I>(source)), naive_distances(n, edges, weights, source));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(BoostEdge, IsIndexedByPosition) {
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}, {1, 2}});
  const auto g = raw.view();
  std::int32_t position = 0;
  for (std::int32_t v = 0; v < 3; ++v) {
    for (auto [e, last] = out_edges(v, g); e != last; ++e) EXPECT_EQ(get(boost::edge_index, g, *e), position++);
  }
  EXPECT_EQ(position, 4);
  const auto [first, last] = adjacent_vertices(1, g);
  EXPECT_EQ(std::vector<std::int32_t>(first, last), (std::vector<std::int32_t>{0, 2}));
}

// Vertices without out-edges first, last and in between.
TYPED_TEST(Boost, EdgesAreTheOutEdgesOfAllVertices) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const auto raw = test::make_directed<I, O>(8, {{2, 0}, {2, 7}, {5, 2}, {6, 6}}, test::edges_kept::out);
  const auto g = raw.view();
  std::vector<std::pair<I, I>> expected;
  for (I v = 0; v < 8; ++v) {
    for (auto [e, last] = out_edges(v, g); e != last; ++e) expected.emplace_back(source(*e, g), target(*e, g));
  }
  std::vector<std::pair<I, I>> walked;
  O position = 0;
  for (auto [e, last] = boost::edges(g); e != last; ++e) {
    walked.emplace_back(source(*e, g), target(*e, g));
    EXPECT_EQ(get(boost::edge_index, g, *e), position++);
  }
  EXPECT_EQ(walked, expected);
  EXPECT_EQ(walked.size(), num_edges(g));

  const auto none = test::make_directed<I, O>(3, {}, test::edges_kept::out);
  EXPECT_TRUE(edges(none.view()).first == edges(none.view()).second);
}

// A square with a diagonal: the three lightest edges, each stored twice.
TYPED_TEST(Boost, KruskalSpansAnUndirectedGraph) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const auto raw = test::make_undirected<I, O>(5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {3, 4}});
  const auto g = raw.view();
  const auto weight_of = [](I u, I v) { return static_cast<double>(u + v == 2 ? 10 : u + v); };  // 0-2 is heavy
  std::vector<double> weights(num_edges(g));
  for (auto [e, last] = edges(g); e != last; ++e) {
    weights[static_cast<std::size_t>(get(boost::edge_index, g, *e))] = weight_of(e->source, e->target);
  }
  std::vector<boost_edge<I, O>> tree;
  boost::kruskal_minimum_spanning_tree(
      g, std::back_inserter(tree),
      boost::weight_map(boost::make_iterator_property_map(weights.begin(), get(boost::edge_index, g))));
  double total = 0;
  for (const auto& e : tree) total += weight_of(e.source, e.target);
  EXPECT_EQ(tree.size(), 4U);
  EXPECT_EQ(total, 1 + 3 + 3 + 7);
}

TEST(BoostEdge, GraphvizWritesEveryEdge) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 2}, {2, 1}}, test::edges_kept::out);
  std::ostringstream text;
  boost::write_graphviz(text, raw.view());
  EXPECT_EQ(text.str(), "digraph G {\n0;\n1;\n2;\n0->2 ;\n2->1 ;\n}\n");
}

}  // namespace
}  // namespace spargo
