// What all graph plans have in common (plan_suite.hpp), of the older ones; newer ones have their case in their own
// test.
#include "graph/plan_suite.hpp"
#include "support/folders.hpp"

#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/communities.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/pagerank.hpp>
#include <spargo/graph/sssp.hpp>
#include <spargo/graph/triangles.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace spargo {
namespace {

using test::message_of;
using test::plan_case;
using test::plan_suite;

template <class Space>
struct bfs_case : plan_case<bfs_plan<std::int32_t, std::int64_t, Space>, bfs_options> {
  static constexpr const char* name = "bfs";
  static std::vector<bfs_options> estimated() {
    return {{},
            {.output = bfs_output::levels},
            {.algorithm = bfs_algorithm::sequential},
            {.algorithm = bfs_algorithm::load_balanced, .output = bfs_output::parents},
            {.parents = bfs_parents::smallest}};
  }
};
const plan_suite<bfs_case> bfs_plans;

template <class Space>
struct multi_bfs_case : plan_case<multi_bfs_plan<std::int32_t, std::int64_t, Space>, multi_bfs_options> {
  static constexpr const char* name = "multi_bfs";
  static auto make(const context<Space>& ctx, const test::plan_view<Space>& g, const multi_bfs_options& options) {
    return multi_bfs_plan<std::int32_t, std::int64_t, Space>(ctx, g, 5, options);
  }
  static void run(auto& plan) { plan.run(std::vector<std::int32_t>{0, 1, 2, 0, 1}); }
  static void bad_sources(auto& plan) { plan.run(std::vector<std::int32_t>{0, -1}); }
  static std::vector<multi_bfs_options> estimated() {
    return {{}, {.output = multi_bfs_output::counts}, {.algorithm = multi_bfs_algorithm::four_words}};
  }
  static plan_estimate estimate(const graph_shape& shape, const multi_bfs_options& options) {
    return multi_bfs_plan<std::int32_t, std::int64_t, Space>::estimate(shape, 5, options);
  }
};
const plan_suite<multi_bfs_case> multi_bfs_plans;

template <class Space>
struct components_case : plan_case<components_plan<std::int32_t, std::int64_t, Space>, components_options> {
  static constexpr const char* name = "components";
  static std::vector<components_options> estimated() {
    return {{},
            {.labels = components_labels::dense},
            {.connection = components_connection::strong},
            {.algorithm = components_algorithm::union_find}};
  }
};
const plan_suite<components_case> components_plans;

template <class Space>
struct pagerank_case : plan_case<pagerank_plan<double, std::int32_t, std::int64_t, Space>, pagerank_options> {
  static constexpr const char* name = "pagerank";
  static auto make(const context<Space>& ctx, const graph_view<std::int32_t, std::int64_t, Space>& g,
                   const pagerank_options& options) {
    return pagerank_plan<double, std::int32_t, std::int64_t, Space>(ctx, g, options);
  }
  static std::vector<pagerank_options> estimated() { return {{}, {.iterations = 10}}; }
};
const plan_suite<pagerank_case> pagerank_plans;

template <class Space>
struct sssp_case : plan_case<sssp_plan<double, std::int32_t, std::int64_t, Space>, sssp_options> {
  static constexpr const char* name = "sssp";
  static std::vector<sssp_options> estimated() {
    return {{},
            {.output = sssp_output::distances},
            {.algorithm = sssp_algorithm::dijkstra},
            {.algorithm = sssp_algorithm::delta_stepping}};
  }
};
const plan_suite<sssp_case> sssp_plans;

template <class Space>
struct betweenness_case : plan_case<betweenness_plan<std::int32_t, std::int64_t, Space>, betweenness_options> {
  static constexpr const char* name = "betweenness";
  static void run(auto& plan) { plan.run(std::vector<std::int32_t>{0}); }
  static void bad_sources(auto& plan) { plan.run(std::vector<std::int32_t>{0, -1}); }
  static std::vector<betweenness_options> estimated() {
    return {{},
            {.algorithm = betweenness_algorithm::by_level},
            {.algorithm = betweenness_algorithm::by_source},
            {.edges = betweenness_edges::counted}};
  }
};
const plan_suite<betweenness_case> betweenness_plans;

template <class Space>
struct triangles_case : plan_case<triangles_plan<std::int32_t, std::int64_t, Space>, triangles_options> {
  static constexpr const char* name = "triangles";
  static std::vector<triangles_options> estimated() {
    return {{.algorithm = triangles_algorithm::bitmap},
            {.output = triangles_output::per_vertex, .algorithm = triangles_algorithm::bitmap},
            {.output = triangles_output::links, .algorithm = triangles_algorithm::bitmap}};
  }
};
const plan_suite<triangles_case> triangles_plans;

template <class Space>
struct communities_case : plan_case<communities_plan<std::int32_t, std::int64_t, Space>, communities_options> {
  static constexpr const char* name = "communities";
  static std::vector<communities_options> estimated() { return {{}, {.iterations = 2}}; }
};
const plan_suite<communities_case> communities_plans;

std::set<std::string> found_in(const std::string& folder, const std::string& ending, const std::regex& pattern) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/" + folder)) {
    if (!entry.path().string().ends_with(ending)) continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
      found.insert((*match)[1]);
    }
  }
  return found;
}

TEST(PlanSuites, EveryPlanHasOne) {
  const auto plans = found_in("include/spargo/graph", ".hpp", std::regex(R"(class SPARGO_EXPORT (\w+)_plan\s)"));
  EXPECT_GE(plans.size(), 9U);
  EXPECT_EQ(found_in("tests/graph", "_test.cpp", std::regex(R"(plan_suite<(\w+)_case>)")), plans);
}

// Weights belong to edges.
TEST(PlanOfWeights, OneOfEach) {
  const test::triangle<host> t;
  auto g = t.undirected();
  g.out_weights = g.out_weights.subspan(0, 5);
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] { sssp_plan<double, std::int32_t, std::int64_t, host> p(t.ctx(), g); }),
            "sssp: 5 weights of 6 out-edges (expected one of each)");
}

// Algorithms that pull need the in-edges of a directed graph.
TEST(PlanWithoutInEdges, IsUnsupported) {
  const test::triangle<host> t;
  auto g = t.directed();
  g.in = {};
  EXPECT_EQ(
      message_of(error_code::unsupported, [&] { communities_plan<std::int32_t, std::int64_t, host> p(t.ctx(), g); }),
      "communities: a directed graph without in-edges (add_in_edges builds them)");
}

}  // namespace
}  // namespace spargo
