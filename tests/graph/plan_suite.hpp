// What holds for every graph plan, registered for one plan by a case in its own test:
//   template <class Space>
//   struct cores_case : plan_case<cores_plan<std::int32_t, std::int64_t, Space>, cores_options> {
//     static constexpr const char* name = "cores";
//   };
//   const plan_suite<cores_case> every_plan;
// One error code and one sentence for one mistake, a reason for the algorithm, moves, and on the host the estimate,
// interruptions and memory that runs out. An algorithm whose rows have no device is tested on the host alone.
#pragma once

#include "graph/plan_estimate.hpp"
#include "support/device.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <spargo/core/interruption.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace spargo::test {

// The defaults of a case.
template <class Plan, class Options>
struct plan_case;
template <template <class...> class Plan, class... T, class Options>
struct plan_case<Plan<T...>, Options> {
  using plan = Plan<T...>;
  using space = std::tuple_element_t<sizeof...(T) - 1, std::tuple<T...>>;
  using options = Options;
  using algorithm = decltype(Options::algorithm);
  static constexpr bool takes_directed = true;

  static plan make(const context<space>& ctx, const plan_view<space>& g, const Options& o) { return plan(ctx, g, o); }
  static void run(plan& p) {
    if constexpr (requires { p.run(0); }) {
      p.run(0);
    } else {
      p.run();
    }
  }
  // Of the plans that are estimated.
  static std::vector<Options> estimated() { return {{}}; }
  static plan_estimate estimate(const graph_shape& shape, const Options& o) { return plan::estimate(shape, o); }
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

  [[nodiscard]] plan_view<Space> undirected() const {
    const csr_pattern_view<std::int32_t, std::int64_t, Space> both{3, 3, offsets_.view(), indices_.view()};
    return {{both, both, direction_kind::undirected}, weights_.view(), weights_.view()};
  }
  [[nodiscard]] plan_view<Space> directed() const {
    plan_view<Space> g = undirected();
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
struct plan_tests {
  using space = typename Case::space;
  using algorithm = typename Case::algorithm;
  using options = typename Case::options;
  static constexpr bool on_host = std::same_as<space, host>;

  static auto make(const triangle<space>& t, const plan_view<space>& g, algorithm a = algorithm::automatic) {
    return Case::make(t.ctx(), g, options{.algorithm = a});
  }
  static std::string refusal(error_code code, const triangle<space>& t, const plan_view<space>& g,
                             algorithm a = algorithm::automatic) {
    return message_of(code, [&] { (void)make(t, g, a); });
  }
  static bool runs_on_device() {
    const auto rows = enum_rows<algorithm>();
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.on_device; });
  }
  static std::string begins(const std::string& rest) { return std::string(Case::name) + ": " + rest; }

  static void refuse_parts_that_do_not_fit() {
    const triangle<space> t;
    const auto refused = [&](auto&& spoil) {
      auto g = t.directed();
      spoil(g);
      return refusal(error_code::invalid_argument, t, g);
    };
    EXPECT_EQ(refused([](auto& g) { g.out.cols = 4; }), begins("out-edges are 3 x 4 (expected a square)"));
    EXPECT_EQ(refused([](auto& g) { g.in.cols = 4; }), begins("in-edges are 3 x 4 (expected a square)"));
    EXPECT_EQ(refused([](auto& g) { g.out.offsets = g.out.offsets.subspan(0, 3); }),
              begins("3 offsets of out-edges for 3 vertices (expected one more than vertices)"));
    EXPECT_EQ(refused([](auto& g) { g.in.offsets = g.in.offsets.subspan(0, 3); }),
              begins("3 offsets of in-edges for 3 vertices (expected one more than vertices)"));
    EXPECT_EQ(refused([](auto& g) {
                g.in.rows = g.in.cols = 2;
                g.in.offsets = g.in.offsets.subspan(0, 3);
              }),
              begins("6 in-edges of 2 vertices beside 6 out-edges of 3"));
    EXPECT_EQ(refused([](auto& g) {
                g.in.indices = g.in.indices.subspan(0, 5);
                g.in_weights = g.in_weights.subspan(0, 5);
              }),
              begins("5 in-edges of 3 vertices beside 6 out-edges of 3"));
  }

  static void refuse_a_number_that_is_no_algorithm() {
    const triangle<space> t;
    EXPECT_EQ(refusal(error_code::invalid_argument, t, t.undirected(), static_cast<algorithm>(77)),
              begins("no algorithm has the number 77"));
  }

  // Another code than a number that is none.
  static void refuse_the_other_backends_algorithms() {
    const triangle<space> t;
    for (const auto& row : enum_rows<algorithm>()) {
      const std::string asked(row.name);
      try {
        auto plan = make(t, t.undirected(), row.value);
        EXPECT_NE(to_string(plan.algorithm()), "automatic");
        if (asked != "automatic") {
          EXPECT_EQ(plan.algorithm(), row.value);
        }
      } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
        EXPECT_THAT(e.what(), testing::StartsWith(begins("algorithm " + asked + " does not run on the " +
                                                         (on_host ? "host" : "device") + " (expected one of ")));
      }
    }
  }

  static void take_sources_and_give_reasons() {
    const triangle<space> t;
    auto plan = make(t, t.undirected());
    Case::run(plan);
    EXPECT_GT(plan.reason().size(), 10U) << plan.reason();
    EXPECT_GE(plan.workspace_bytes(), 0);
    if constexpr (requires { plan.run(std::int32_t{3}); }) {
      EXPECT_EQ(message_of(error_code::invalid_argument, [&] { plan.run(3); }),
                begins("source 3 is not a vertex (expected 0 to 2)"));
    } else if constexpr (requires { Case::bad_sources(plan); }) {
      EXPECT_EQ(message_of(error_code::invalid_argument, [&] { Case::bad_sources(plan); }),
                begins("source -1 is not a vertex (expected 0 to 2)"));
    }
  }

  static void move() {
    const triangle<space> t;
    auto plan = make(t, t.undirected());
    using type = decltype(plan);
    static_assert(std::is_nothrow_move_constructible_v<type> && std::is_nothrow_move_assignable_v<type>);
    static_assert(!std::is_copy_constructible_v<type> && !std::is_copy_assignable_v<type>);
    type moved = std::move(plan);
    Case::run(moved);
    plan = make(t, Case::takes_directed ? t.directed() : t.undirected());
    Case::run(plan);
    moved = std::move(plan);
    Case::run(moved);
    EXPECT_GE(moved.workspace_bytes(), 0);
  }

  static void keep_their_estimates() {
    for (const plan_graph& t : plan_graphs()) {
      if (!Case::takes_directed && t.g.direction == direction_kind::directed) continue;
      for (const int threads : {1, 3}) {
        if (is_sanitized && threads == 1) continue;
        int number = 0;
        for (const options& o : Case::estimated()) {
          const plan_estimate estimate = Case::estimate(t.shape(threads), o);
          EXPECT_EQ(estimate.device_bytes > 0, runs_on_device());
          expect_estimate(t.name + ", options " + std::to_string(number++), threads, estimate,
                          [&](const context<host>& ctx, auto&& then) {
                            auto plan = Case::make(ctx, t.g, o);
                            then([&] { Case::run(plan); });
                          });
        }
      }
    }
  }

  // On one thread at the first question of all; the plan runs again afterwards.
  static void can_be_interrupted() {
    struct stopped {};
    const plan_graph& t = plan_graphs().front();
    const context<host> ctx({.threads = 1});
    auto plan = Case::make(ctx, t.g, options{});
    {
      const interruption ending([] { throw stopped{}; }, interruption::clock::duration::zero());
      EXPECT_THROW(Case::run(plan), stopped);
    }
    Case::run(plan);
  }

  static void survive_memory_that_runs_out() {
    const plan_graph& t = plan_graphs().back();
    const auto make_context = [](auto& memory) { return context<host>({.threads = 2, .resource = &memory}); };
    (void)fail_every_allocation<host>(default_host_resource(), make_context, [&](const context<host>& ctx) {
      auto plan = Case::make(ctx, t.g, options{});
      Case::run(plan);
    });
  }
};

// A test that calls a function.
class called_test : public testing::Test {
 public:
  called_test(void (*body)(), bool on_device) : body_(body), on_device_(on_device) {}

 protected:
  void SetUp() override {
    if (on_device_) SPARGO_TEST_NEEDS_GPU();
  }
  void TestBody() override { body_(); }

 private:
  void (*body_)();
  bool on_device_;
};

template <template <class Space> class Case>
class plan_suite {
 public:
  explicit plan_suite(std::source_location at = std::source_location::current()) : at_(at) {
    add_all<Case<host>>();
    using on_host = plan_tests<Case<host>>;
    add<host>("KeepTheirEstimates", &on_host::keep_their_estimates);
    add<host>("CanBeInterrupted", &on_host::can_be_interrupted);
    add<host>("SurviveMemoryThatRunsOut", &on_host::survive_memory_that_runs_out);
    if constexpr (!is_sanitized) {  // it would be compiled and skip
      if (on_host::runs_on_device()) add_all<Case<device>>();
    }
  }

 private:
  template <class C>
  void add_all() const {
    using all = plan_tests<C>;
    using space = typename C::space;
    add<space>("RefusePartsThatDoNotFit", &all::refuse_parts_that_do_not_fit);
    add<space>("RefuseANumberThatIsNoAlgorithm", &all::refuse_a_number_that_is_no_algorithm);
    add<space>("RefuseTheOtherBackendsAlgorithms", &all::refuse_the_other_backends_algorithms);
    add<space>("TakeSourcesAndGiveReasons", &all::take_sources_and_give_reasons);
    add<space>("Move", &all::move);
  }
  template <class Space>
  void add(const char* test, void (*body)()) const {
    constexpr bool on_device = std::same_as<Space, device>;
    const std::string suite = std::string(on_device ? "Device" : "Host") + "Plans/" + Case<host>::name;
    testing::RegisterTest(suite.c_str(), test, nullptr, nullptr, at_.file_name(), static_cast<int>(at_.line()),
                          [=]() -> called_test* { return new called_test(body, on_device); });
  }

  std::source_location at_;
};

}  // namespace spargo::test
