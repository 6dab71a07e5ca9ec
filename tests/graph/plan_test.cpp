// What all graph plans have in common, over one list of them: one error code and one sentence for one mistake, a reason
// for the algorithm, and moves.
#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/communities.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/pagerank.hpp>
#include <spargo/graph/sssp.hpp>
#include <spargo/graph/triangles.hpp>

#include "support/device.hpp"
#include "support/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace spargo {
namespace {

using test::message_of;
using testing::HasSubstr;
using testing::StartsWith;

template <class Space>
using view = weighted_graph_view<double, std::int32_t, std::int64_t, Space>;

// Makes a plan of a graph by the algorithm named. Each is a class of its own, for the list below.
template <class Space, class Algorithm, class Plan>
struct plan_case {
  using space = Space;
  using algorithm = Algorithm;
  static Plan make(const context<Space>& ctx, const view<Space>& g, algorithm a) {
    return Plan(ctx, g, {.algorithm = a});
  }
  static void run(Plan& plan) { plan.run(); }
};
template <class Space>
struct bfs_case : plan_case<Space, bfs_algorithm, bfs_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "bfs";
  static void run(auto& plan) { plan.run(0); }
};
template <class Space>
struct multi_bfs_case : plan_case<Space, multi_bfs_algorithm, multi_bfs_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "multi_bfs";
  static auto make(const context<Space>& ctx, const view<Space>& g, multi_bfs_algorithm a) {
    return multi_bfs_plan<std::int32_t, std::int64_t, Space>(ctx, g, 2, {.algorithm = a});
  }
  static void run(auto& plan) { plan.run(std::vector<std::int32_t>{0, 1}); }
};
template <class Space>
struct components_case : plan_case<Space, components_algorithm, components_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "components";
};
template <class Space>
struct pagerank_case : plan_case<Space, pagerank_algorithm, pagerank_plan<double, std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "pagerank";
};
template <class Space>
struct sssp_case : plan_case<Space, sssp_algorithm, sssp_plan<double, std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "sssp";
  static void run(auto& plan) { plan.run(0); }
};
template <class Space>
struct betweenness_case : plan_case<Space, betweenness_algorithm, betweenness_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "betweenness";
};
template <class Space>
struct triangles_case : plan_case<Space, triangles_algorithm, triangles_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "triangles";
};
template <class Space>
struct communities_case : plan_case<Space, communities_algorithm, communities_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "communities";
};
template <class Space>
struct cores_case : plan_case<Space, cores_algorithm, cores_plan<std::int32_t, std::int64_t, Space>> {
  static constexpr const char* name = "cores";
};

// A triangle, in the space of the case.
template <class Space>
class triangle {
 public:
  triangle() : ctx_(make_context()) {
    const std::vector<std::int64_t> offsets{0, 2, 4, 6};
    const std::vector<std::int32_t> indices{1, 2, 0, 2, 0, 1};
    const std::vector<double> weights(6, 1.0);
    offsets_ = placed(span<const std::int64_t, host>(offsets));
    indices_ = placed(span<const std::int32_t, host>(indices));
    weights_ = placed(span<const double, host>(weights));
  }

  [[nodiscard]] view<Space> undirected() const {
    const csr_pattern_view<std::int32_t, std::int64_t, Space> both{3, 3, offsets_.view(), indices_.view()};
    return {{both, both, direction_kind::undirected}, weights_.view(), weights_.view()};
  }
  [[nodiscard]] view<Space> directed() const {
    view<Space> g = undirected();
    g.direction = direction_kind::directed;
    return g;
  }
  [[nodiscard]] const context<Space>& ctx() const { return ctx_; }

 private:
  static context<Space> make_context() {
    if constexpr (std::same_as<Space, host>) {
      return context<host>({.threads = 2});
    } else {
      return context<device>();
    }
  }
  template <class T>
  array<T, Space> placed(span<const T, host> values) {
    if constexpr (std::same_as<Space, host>) {
      return clone(ctx_, values);
    } else {
      return to_device(ctx_, values);
    }
  }

  context<Space> ctx_;
  array<std::int64_t, Space> offsets_;
  array<std::int32_t, Space> indices_;
  array<double, Space> weights_;
};

template <class Case>
class Plan : public testing::Test {
 protected:
  using space = typename Case::space;
  using algorithm = typename Case::algorithm;

  void SetUp() override {
    if constexpr (std::same_as<space, device>) SPARGO_TEST_NEEDS_GPU();
  }

  static std::string refusal(error_code code, const view<space>& g, algorithm a = algorithm::automatic) {
    const triangle<space> any;
    return message_of(code, [&] { (void)Case::make(any.ctx(), g, a); });
  }
  static std::string begins(const std::string& rest) { return std::string(Case::name) + ": " + rest; }

  // All enumerators.
  static std::vector<algorithm> algorithms() {
    std::vector<algorithm> found;
    for (int k = 0; to_string(static_cast<algorithm>(k)) != "unknown"; ++k) found.push_back(static_cast<algorithm>(k));
    return found;
  }
};

template <class Space>
using cases = testing::Types<bfs_case<Space>, multi_bfs_case<Space>, components_case<Space>, pagerank_case<Space>,
                             sssp_case<Space>, betweenness_case<Space>, triangles_case<Space>, communities_case<Space>>;
TYPED_TEST_SUITE_P(Plan);

TYPED_TEST_P(Plan, PartsThatDoNotFit) {
  const triangle<typename TypeParam::space> t;
  const auto refused = [&](auto&& spoil) {
    auto g = t.directed();
    spoil(g);
    return this->refusal(error_code::invalid_argument, g);
  };
  EXPECT_EQ(refused([](auto& g) { g.out.cols = 4; }), this->begins("out-edges are 3 x 4 (expected a square)"));
  EXPECT_EQ(refused([](auto& g) { g.in.cols = 4; }), this->begins("in-edges are 3 x 4 (expected a square)"));
  EXPECT_EQ(refused([](auto& g) { g.out.offsets = g.out.offsets.subspan(0, 3); }),
            this->begins("3 offsets of out-edges for 3 vertices (expected one more than vertices)"));
  EXPECT_EQ(refused([](auto& g) { g.in.offsets = g.in.offsets.subspan(0, 3); }),
            this->begins("3 offsets of in-edges for 3 vertices (expected one more than vertices)"));
  EXPECT_EQ(refused([](auto& g) {
              g.in.rows = g.in.cols = 2;
              g.in.offsets = g.in.offsets.subspan(0, 3);
            }),
            this->begins("6 in-edges of 2 vertices beside 6 out-edges of 3"));
  EXPECT_EQ(refused([](auto& g) {
              g.in.indices = g.in.indices.subspan(0, 5);
              g.in_weights = g.in_weights.subspan(0, 5);
            }),
            this->begins("5 in-edges of 3 vertices beside 6 out-edges of 3"));
}

TYPED_TEST_P(Plan, AlgorithmThatIsNone) {
  const triangle<typename TypeParam::space> t;
  constexpr auto none = static_cast<typename TypeParam::algorithm>(77);
  EXPECT_EQ(this->refusal(error_code::invalid_argument, t.undirected(), none),
            this->begins("no algorithm has the number 77"));
}

// A plan does not refuse the other backend's algorithm and a number that is none alike.
TYPED_TEST_P(Plan, AlgorithmOfTheOtherBackend) {
  const triangle<typename TypeParam::space> t;
  const std::string where = std::same_as<typename TypeParam::space, host> ? "host" : "device";
  for (const auto asked : this->algorithms()) {
    try {
      auto plan = TypeParam::make(t.ctx(), t.undirected(), asked);
      EXPECT_NE(to_string(plan.algorithm()), "automatic");
      if (to_string(asked) != "automatic") {
        EXPECT_EQ(plan.algorithm(), asked);
      }
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
      EXPECT_THAT(e.what(), StartsWith(this->begins("algorithm " + std::string(to_string(asked)) +
                                                    " does not run on the " + where + " (expected one of ")));
    }
  }
}

TYPED_TEST_P(Plan, SourcesAndReasons) {
  const triangle<typename TypeParam::space> t;
  auto plan = TypeParam::make(t.ctx(), t.undirected(), TypeParam::algorithm::automatic);
  TypeParam::run(plan);
  EXPECT_GT(plan.reason().size(), 10U) << plan.reason();
  EXPECT_GE(plan.workspace_bytes(), 0);
  if constexpr (requires { plan.run(std::int32_t{3}); }) {
    EXPECT_EQ(message_of(error_code::invalid_argument, [&] { plan.run(3); }),
              this->begins("source 3 is not a vertex (expected 0 to 2)"));
  } else if constexpr (requires { plan.run(span<const std::int32_t, host>()); }) {
    const std::vector<std::int32_t> bad{0, -1};
    const span<const std::int32_t, host> sources(bad);
    if constexpr (std::same_as<typename TypeParam::algorithm, multi_bfs_algorithm> ||
                  std::same_as<typename TypeParam::algorithm, betweenness_algorithm>) {
      EXPECT_EQ(message_of(error_code::invalid_argument, [&] { plan.run(sources); }),
                this->begins("source -1 is not a vertex (expected 0 to 2)"));
    }
  }
}

TYPED_TEST_P(Plan, Moves) {
  const triangle<typename TypeParam::space> t;
  auto plan = TypeParam::make(t.ctx(), t.undirected(), TypeParam::algorithm::automatic);
  using type = decltype(plan);
  static_assert(std::is_nothrow_move_constructible_v<type> && std::is_nothrow_move_assignable_v<type>);
  static_assert(!std::is_copy_constructible_v<type> && !std::is_copy_assignable_v<type>);
  type moved = std::move(plan);
  TypeParam::run(moved);
  plan = TypeParam::make(t.ctx(), t.directed(), TypeParam::algorithm::automatic);
  TypeParam::run(plan);
  moved = std::move(plan);
  TypeParam::run(moved);
  EXPECT_GE(moved.workspace_bytes(), 0);
}

REGISTER_TYPED_TEST_SUITE_P(Plan, PartsThatDoNotFit, AlgorithmThatIsNone, AlgorithmOfTheOtherBackend, SourcesAndReasons,
                            Moves);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Plan, cases<host>);
INSTANTIATE_TYPED_TEST_SUITE_P(Device, Plan, cases<device>);
INSTANTIATE_TYPED_TEST_SUITE_P(HostOnly, Plan, testing::Types<cores_case<host>>);

// Weights belong to edges.
TEST(PlanOfWeights, OneOfEach) {
  const triangle<host> t;
  auto g = t.undirected();
  g.out_weights = g.out_weights.subspan(0, 5);
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] { sssp_plan<double, std::int32_t, std::int64_t, host> p(t.ctx(), g); }),
            "sssp: 5 weights of 6 out-edges (expected one of each)");
}

// Algorithms that pull need the in-edges of a directed graph.
TEST(PlanWithoutInEdges, IsUnsupported) {
  const triangle<host> t;
  auto g = t.directed();
  g.in = {};
  EXPECT_EQ(message_of(error_code::unsupported,
                       [&] { pagerank_plan<double, std::int32_t, std::int64_t, host> p(t.ctx(), g); }),
            "pagerank: a directed graph without in-edges (add_in_edges builds them)");
  EXPECT_EQ(
      message_of(error_code::unsupported, [&] { communities_plan<std::int32_t, std::int64_t, host> p(t.ctx(), g); }),
      "communities: a directed graph without in-edges (add_in_edges builds them)");
}

}  // namespace
}  // namespace spargo
