// Colourings: against the sequential greedy algorithm in an order computed from the definition, on small random graphs,
// on shapes that hurt and on real graphs; bits that do not depend on threads; bounds; refusals; the check.
#include <spargo/graph/coloring.hpp>
#include <spargo/graph/cores.hpp>

#include "graph/greedy_suite.hpp"
#include "graph/known_graphs.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

template <class Space>
struct coloring_case : test::plan_case<coloring_plan<std::int32_t, std::int64_t, Space>, coloring_options> {
  static constexpr const char* name = "coloring";
  static std::vector<coloring_options> estimated() { return test::every_order<coloring_options>(); }
};
const test::plan_suite<coloring_case> every_plan;

struct coloring_problem {
  static constexpr const char* name = "Coloring";
  using options = coloring_options;
  static constexpr greedy_order usual = greedy_order::largest_first;

  // The smallest colour that no neighbour has, vertex after vertex.
  static std::vector<std::int64_t> naive(const test::adjacency& neighbours, const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> colors(neighbours.size(), -1);
    for (const std::int64_t v : order) {
      std::set<std::int64_t> taken;
      for (const std::int64_t u : neighbours[static_cast<std::size_t>(v)]) {
        if (u != v) taken.insert(colors[static_cast<std::size_t>(u)]);
      }
      std::int64_t color = 0;
      while (taken.count(color) > 0) ++color;
      colors[static_cast<std::size_t>(v)] = color;
    }
    return colors;
  }
  static std::int64_t naive_count(const std::vector<std::int64_t>& colors) {
    return colors.empty() ? 0 : *std::max_element(colors.begin(), colors.end()) + 1;
  }

  static auto plan(const auto& ctx, const auto& g, const options& o) { return coloring_plan(ctx, g, o); }
  static auto values(const auto& plan) { return plan.colors(); }
  static std::int64_t count(const auto& plan) { return plan.count(); }
  template <class I, class O>
  static std::string check(const context<host>& ctx, const graph_view<I, O, host>& g, const auto& colors,
                           std::int64_t count) {
    return check_coloring(ctx, g, colors, static_cast<I>(count));
  }
  template <class I, class O>
  static std::int64_t bound(const context<host>& ctx, const graph_view<I, O, host>& g, const options& o) {
    return o.order == greedy_order::smallest_last && g.vertices() > 0 ? cores(ctx, g).max_core + 1 : g.vertices();
  }
};
const test::greedy_suite<coloring_problem> in_every_order;

// More colours than a window of marks holds.
template <class Case>
using ManyColors = test::threaded_graph_suite<Case>;
TYPED_TEST_SUITE(ManyColors, test::graph_cases);

TYPED_TEST(ManyColors, OfAClique) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  if (test::is_sanitized && sizeof(I) == sizeof(O)) return;  // one of three types: each takes 24 s
  const test::edge_vector edges = test::clique_edges(0, 1100);
  test::expect_greedy<coloring_problem, typename TypeParam::space>(test::make_undirected<I, O>(1101, edges), edges);
}

// --- Quality --------------------------------------------------------------

TEST(ColoringData, FewColors) {
  const context<host> ctx({.threads = 2});
  test::for_each_truth<pattern>("colouring", [&](const auto& known, const auto& truth) {
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    const auto by = [&](greedy_order order) {
      const auto found = coloring(ctx, g, {.order = order});
      EXPECT_EQ(check_coloring(ctx, g, found.colors, found.count), "");
      return found.count;
    };
    EXPECT_LE(by(greedy_order::smallest_last), truth["max_core_plus_1"]);
    // Ties by vertex suit the numbering of meshes; these are at random.
    const auto reference = truth["greedy_largest_first"].template get<std::int64_t>();
    EXPECT_LE(by(greedy_order::largest_first), 2 * reference + 1);
    EXPECT_GE(by(greedy_order::random), by(greedy_order::smallest_last) / 2);
  });
}

TEST(ColoringOrders, BipartiteShapesTakeTwoColors) {
  const context<host> ctx;
  for (const auto& [n, edges] :
       {std::pair{std::int64_t{101}, test::star_edges(101)}, std::pair{std::int64_t{100}, test::path_edges(100)}}) {
    const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
    EXPECT_EQ(coloring(ctx, raw.view(), {.order = greedy_order::smallest_last}).count, 2);
  }
}

TEST(ColoringOptions, RefusesAnOrderThatIsNone) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(2, {{0, 1}});
  EXPECT_EQ(test::message_of(error_code::invalid_argument,
                             [&] { (void)coloring(ctx, raw.view(), {.order = static_cast<greedy_order>(9)}); }),
            "coloring: no order has the number 9");
  EXPECT_EQ(parse_greedy_order("smallest-last"), greedy_order::smallest_last);
  EXPECT_EQ(parse_greedy_order("smallest_last"), greedy_order::smallest_last);
}

// --- The check ------------------------------------------------------------

std::string fault(const std::vector<std::int32_t>& colors, std::int32_t count) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}, {2, 1}, {2, 2}}, test::edges_kept::out);
  return check_coloring(context<host>({.threads = 2}), raw.view(), colors, count);
}

TEST(CheckColoring, SaysWhatIsWrong) {
  EXPECT_EQ(fault({0, 1, 0}, 2), "");
  EXPECT_EQ(fault({2, 1, 0}, 3), "");
  EXPECT_EQ(fault({0, 1}, 2), "2 colours for 3 vertices");
  EXPECT_EQ(fault({0, 1, 0}, 4), "4 colours are used by 3 vertices");
  EXPECT_EQ(fault({0, 1, -1}, 2), "vertex 2 has colour -1 (expected 0 to 1)");
  EXPECT_EQ(fault({0, 2, 0}, 2), "vertex 1 has colour 2 (expected 0 to 1)");
  EXPECT_EQ(fault({0, 1, 0}, 3), "no vertex has colour 2 of 3");
  EXPECT_EQ(fault({0, 0, 1}, 2), "vertices 0 and 1 are joined by an edge and both have colour 0");
  EXPECT_EQ(fault({0, 1, 1}, 2), "vertices 2 and 1 are joined by an edge and both have colour 1");
}

}  // namespace
}  // namespace spargo
