// check_components: correct labels pass, every planted error is found and named.
#include <spargo/graph/components.hpp>

#include "graph/components_support.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using labels_type = std::vector<std::int32_t>;

constexpr components_options weak{};
constexpr components_options strong{.connection = components_connection::strong};
constexpr components_options weak_dense{.labels = components_labels::dense};

// Two cycles of three, 0 1 2 and 3 4 5, an edge from the first to the second, and 6 isolated.
const test::edge_vector edges{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {2, 3}, {6, 6}, {0, 1}};

std::string fault(const test::edge_vector& of, const labels_type& labels, const components_options& options,
                  direction_kind direction = direction_kind::directed) {
  auto raw = test::make_directed<std::int32_t, std::int32_t>(7, of, test::edges_kept::out);
  if (direction == direction_kind::undirected) raw = test::make_undirected<std::int32_t, std::int32_t>(7, of);
  return check_components(context<host>({.threads = 2}), raw.view(), labels, options);
}

TEST(CheckComponents, RightLabelsPass) {
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 6}, weak), "");
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 1}, weak_dense), "");
  EXPECT_EQ(fault(edges, {0, 0, 0, 3, 3, 3, 6}, strong), "");
  EXPECT_EQ(fault(edges, {0, 0, 0, 1, 1, 1, 2}, {strong.connection, components_labels::dense}), "");
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 6}, strong, direction_kind::undirected), "");
}

TEST(CheckComponents, NamesWhatIsNoLabelling) {
  EXPECT_EQ(fault(edges, {0, 0}, weak), "2 labels for 7 vertices");
  EXPECT_EQ(fault(edges, {0, 0, -1, 0, 0, 0, 6}, weak), "vertex 2 has label -1 of 7 vertices");
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 7}, weak), "vertex 6 has label 7 of 7 vertices");
  EXPECT_EQ(fault(edges, {1, 1, 1, 1, 1, 1, 6}, weak), "vertex 0, the first of its label, has label 1 (expected 0)");
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 6}, weak_dense),
            "vertex 6, the first of its label, has label 6 (expected 1)");
}

TEST(CheckComponents, NamesAnEdgeBetweenWeakLabels) {
  EXPECT_EQ(fault(edges, {0, 0, 0, 3, 3, 3, 6}, weak), "an edge joins vertex 2, label 0, and vertex 3, label 3");
}

TEST(CheckComponents, NamesVerticesThatNoPathJoins) {
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 0}, weak), "vertices 0 and 6 have label 0, but no path joins them");
}

TEST(CheckComponents, NamesStrongLabelsThatAreTooLarge) {
  EXPECT_EQ(fault(edges, {0, 0, 0, 0, 0, 0, 6}, strong),
            "vertices 0 and 3 have label 0, but within it no path leads from the second to the first");
  EXPECT_EQ(fault({{3, 1}}, {0, 1, 2, 1, 4, 5, 6}, strong),
            "vertices 1 and 3 have label 1, but within it no path leads from the first to the second");
}

TEST(CheckComponents, NamesStrongLabelsThatAreTooSmall) {
  EXPECT_EQ(fault(edges, {0, 1, 2, 3, 3, 3, 6}, strong),
            "vertex 0, label 0, is on or behind a cycle through several labels");
}

TEST(CheckComponents, NamesEdgesThatLeadToALargerLabel) {
  components_options options = strong;
  options.labels = components_labels::sinks_first;
  const test::edge_vector some{{0, 1}, {1, 0}, {1, 2}, {3, 2}};
  EXPECT_EQ(fault(some, {1, 1, 0, 2, 3, 4, 5}, options), "");
  EXPECT_EQ(fault(some, {0, 0, 1, 2, 3, 4, 5}, options),
            "an edge leads from vertex 1, label 0, to vertex 2, label 1 (expected none to a larger one)");
  EXPECT_EQ(fault(some, {1, 1, 0, 2, 3, 4, 6}, options), "vertex 6 has label 6 of 6 labels");
  EXPECT_EQ(fault(some, {1, 1, 0, 2, 3, 4, 4}, options),
            "vertices 5 and 6 have label 4, but within it no path leads from the first to the second");
}

// Every change of one label of a correct labelling is wrong, unless it is another correct labelling.
TEST(CheckComponents, FindsEveryChangeOfOneLabel) {
  int planted = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    const test::edge_vector some = test::random_edges(random, 7, 3 + random.below(12), 0);
    for (const components_options& options : {weak, strong}) {
      const bool is_strong = options.connection == components_connection::strong;
      const auto right = is_strong ? test::naive_strong(7, some) : test::naive_weak(7, some);
      labels_type labels(right.begin(), right.end());
      ASSERT_EQ(fault(some, labels, options), "");
      for (std::size_t v = 0; v < labels.size(); ++v) {
        for (std::int32_t other = 0; other < 7; ++other) {
          if (other == labels[v]) continue;
          const std::int32_t was = std::exchange(labels[v], other);
          ASSERT_NE(fault(some, labels, options), "") << "seed " << seed << ", vertex " << v << ", label " << other;
          labels[v] = was;
          ++planted;
        }
      }
    }
  }
  EXPECT_EQ(planted, 200 * 2 * 7 * 6);
}

}  // namespace
}  // namespace spargo
