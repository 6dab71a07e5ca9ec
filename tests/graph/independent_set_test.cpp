// Maximal independent sets: against the sequential greedy set in an order computed from the definition, on small random
// graphs, on shapes that hurt and on real graphs; bits that do not depend on threads; bounds; the check.
#include <spargo/graph/independent_set.hpp>

#include "graph/greedy_suite.hpp"
#include "graph/known_graphs.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

template <class Space>
struct independent_set_case
    : test::plan_case<independent_set_plan<std::int32_t, std::int64_t, Space>, independent_set_options> {
  static constexpr const char* name = "independent_set";
  static std::vector<independent_set_options> estimated() { return test::every_order<independent_set_options>(); }
};
const test::plan_suite<independent_set_case> every_plan;

struct independent_set_problem {
  static constexpr const char* name = "IndependentSet";
  using options = independent_set_options;
  static constexpr greedy_order usual = greedy_order::smallest_first;

  // Vertex after vertex, unless a neighbour is in the set.
  static std::vector<std::int64_t> naive(const test::adjacency& neighbours, const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> members(neighbours.size());
    for (const std::int64_t v : order) {
      bool joins = true;
      for (const std::int64_t u : neighbours[static_cast<std::size_t>(v)]) {
        joins = joins && members[static_cast<std::size_t>(u)] == 0;
      }
      members[static_cast<std::size_t>(v)] = joins ? 1 : 0;
    }
    return members;
  }
  static std::int64_t naive_count(const std::vector<std::int64_t>& members) {
    return std::count(members.begin(), members.end(), 1);
  }

  static auto plan(const auto& ctx, const auto& g, const options& o) { return independent_set_plan(ctx, g, o); }
  static auto values(const auto& plan) { return plan.members(); }
  static std::int64_t count(const auto& plan) { return plan.size(); }
  static std::string check(const context<host>& ctx, const auto& g, const auto& members, std::int64_t size) {
    return check_independent_set(ctx, g, members, size);
  }
};
const test::greedy_suite<independent_set_problem> in_every_order;

// --- Quality --------------------------------------------------------------

TEST(IndependentSetData, LargeSets) {
  const context<host> ctx({.threads = 2});
  test::for_each_truth<pattern>("mis_bounds", [&](const auto& known, const auto& truth) {
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    for (const auto& options : test::every_order<independent_set_options>()) {
      const auto found = independent_set(ctx, g, options);
      EXPECT_EQ(check_independent_set(ctx, g, found.members, found.size), "");
      const std::int64_t size = found.size + known.absent();  // ids without edges are in every set of the truth
      EXPECT_GE(size, truth["lower"].template get<std::int64_t>());
      EXPECT_LE(size, truth["upper"].template get<std::int64_t>());
      if (options.order != greedy_order::smallest_first) continue;
      // Ties by vertex suit the numbering of meshes; these are at random.
      const auto reference = truth["greedy_min_degree"].template get<double>();
      EXPECT_GE(static_cast<double>(size), 0.7 * reference - 2);
    }
  });
}

// --- The check ------------------------------------------------------------

std::string fault(const std::vector<std::uint8_t>& members, std::int64_t size) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(4, {{0, 1}, {2, 1}, {2, 2}}, test::edges_kept::out);
  return check_independent_set(context<host>({.threads = 2}), raw.view(), members, size);
}

TEST(CheckIndependentSet, SaysWhatIsWrong) {
  EXPECT_EQ(fault({1, 0, 1, 1}, 3), "");
  EXPECT_EQ(fault({0, 1, 0, 1}, 2), "");
  EXPECT_EQ(fault({0, 1, 0}, 1), "3 states for 4 vertices");
  EXPECT_EQ(fault({0, 2, 0, 1}, 1), "vertex 1 has state 2 (expected 0 or 1)");
  EXPECT_EQ(fault({1, 0, 1, 1}, 2), "the set has 3 vertices (expected 2)");
  EXPECT_EQ(fault({1, 1, 0, 1}, 3), "vertices 0 and 1 are joined by an edge and both in the set");
  EXPECT_EQ(fault({0, 1, 1, 1}, 3), "vertices 2 and 1 are joined by an edge and both in the set");
  EXPECT_EQ(fault({0, 1, 0, 0}, 1), "vertex 3 is not in the set and has no neighbour that is");
  EXPECT_EQ(fault({1, 0, 0, 1}, 2), "vertex 2 is not in the set and has no neighbour that is");
}

}  // namespace
}  // namespace spargo
