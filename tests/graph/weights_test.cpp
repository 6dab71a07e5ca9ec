// Weights: summary, conversion to integers, and generated ones, on both backends, against plain loops.
#include <spargo/graph/weights.hpp>

#include <spargo/graph/graph.hpp>

#include "graph/graph_support.hpp"
#include "support/message.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace spargo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class S>
class Weights : public test::space_suite<S> {
 protected:
  static context<S> make_context() {
    if constexpr (std::same_as<S, host>) {
      return context<host>({.threads = 3});
    } else {
      return context<device>();
    }
  }
  template <class T>
  static auto placed(const context<S>& ctx, const std::vector<T>& values) {
    if constexpr (std::same_as<S, host>) {
      return clone(ctx, span<const T, host>(values));
    } else {
      return to_device(ctx, values);
    }
  }
  template <class T>
  static std::vector<T> copied_to_host(const context<S>& ctx, const array<T, S>& values) {
    if constexpr (std::same_as<S, host>) {
      return test::copy_of(values.view());
    } else {
      const array<T, host> all = to_host(ctx, values.view());
      return test::copy_of(all.view());
    }
  }

  static weight_summary summary_of(const std::vector<double>& weights) {
    const context<S> ctx = make_context();
    const auto values = placed(ctx, weights);
    return summarize_weights(ctx, values.view());
  }
  template <class W>
  static std::vector<W> integers(const std::vector<double>& weights) {
    const context<S> ctx = make_context();
    const auto values = placed(ctx, weights);
    return copied_to_host(ctx, integer_weights<W>(ctx, values.view()));
  }
  template <class W>
  static std::string refusal(const std::vector<double>& weights) {
    return test::message_of(error_code::invalid_data, [&] { (void)integers<W>(weights); });
  }
};
using spaces = test::suite_types<host, device>;
TYPED_TEST_SUITE(Weights, spaces);

TYPED_TEST(Weights, SummaryTellsWhatTheyAre) {
  const auto is = [&](const std::vector<double>& weights, bool bad, bool whole, double largest) {
    const weight_summary found = this->summary_of(weights);
    EXPECT_EQ(found.negative_or_nan, bad);
    EXPECT_EQ(found.whole, whole);
    EXPECT_EQ(found.largest, largest);
  };
  is({}, false, true, 0);
  is({0, -0.0}, false, true, 0);
  is({3, 7, 1}, false, true, 7);
  is({3, 7.5, 1}, false, false, 7.5);
  is({5, -1, 2}, true, true, 5);
  is({5, nan, 2}, true, false, 5);
  is({5, infinity}, false, false, infinity);
  is({0x1p53 - 1}, false, true, 0x1p53 - 1);
  is({0x1p53}, false, false, 0x1p53);
  is({-0x1p53}, true, false, 0);
  is({5e-324}, false, false, 5e-324);
}

// The deciding weight is anywhere among many.
TYPED_TEST(Weights, SummaryLooksAtEveryOne) {
  constexpr std::size_t count = 300'000;
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{131'072}, count - 1}) {
    std::vector<double> weights(count);
    for (std::size_t k = 0; k < count; ++k) weights[k] = static_cast<double>(k % 1000);
    weights[at] = 12345;
    EXPECT_EQ(this->summary_of(weights).largest, 12345);
    EXPECT_TRUE(this->summary_of(weights).whole);
    weights[at] = 0.25;
    EXPECT_FALSE(this->summary_of(weights).whole) << at;
    EXPECT_FALSE(this->summary_of(weights).negative_or_nan);
    weights[at] = -4;
    EXPECT_TRUE(this->summary_of(weights).negative_or_nan) << at;
  }
}

TYPED_TEST(Weights, IntegersAreTheSameNumbers) {
  EXPECT_EQ(this->template integers<std::int32_t>({-2147483648.0, 0, -0.0, 2147483647.0}),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), 0, 0, 2147483647}));
  EXPECT_EQ(this->template integers<std::int64_t>({-0x1p63, 0x1p62}),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 62}));
  EXPECT_TRUE(this->template integers<std::int32_t>({}).empty());
}

TYPED_TEST(Weights, IntegersThatAreNoneAreRefused) {
  const auto says = [](const std::string& text, const std::string& what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  says(this->template refusal<std::int32_t>({1, 2147483648.0}), "weight 1 is 2147483648");
  says(this->template refusal<std::int64_t>({0x1p63}), "weight 0 is");
  says(this->template refusal<std::int32_t>({3, 0.5, 0.25}), "weight 1 is 0.5 (expected an integer of 32 bits)");
  says(this->template refusal<std::int64_t>({nan}), "nan");
  says(this->template refusal<std::int64_t>({-infinity}), "inf");
  std::vector<double> many(300'000, 1);
  many[299'999] = many[200'001] = 0.5;
  says(this->template refusal<std::int32_t>(many), "weight 200001 is 0.5");
}

TYPED_TEST(Weights, MadeOnesGoByThePair) {
  const context<TypeParam> ctx = this->make_context();
  test::random_source random(5);
  const std::int64_t n = 5000;
  std::vector<std::int32_t> from, to;
  for (int k = 0; k < 40'000; ++k) {
    from.push_back(static_cast<std::int32_t>(random.below(k % 3 == 0 ? 3 : n)));  // with hubs
    to.push_back(static_cast<std::int32_t>(random.below(n)));
  }
  const auto rows = this->placed(ctx, from);
  const auto cols = this->placed(ctx, to);
  const coo_pattern_view<std::int32_t, TypeParam> pairs{n, n, rows.view(), cols.view()};
  const auto g = build_graph<std::int32_t>(ctx, pairs, {.direction = direction_kind::undirected});
  const csr_pattern_view<std::int32_t, std::int32_t, TypeParam> out = g.view().out;
  const auto weights = this->copied_to_host(ctx, random_weights(ctx, out, 9));
  const auto ones = this->copied_to_host(ctx, unit_weights(ctx, out.nnz()));
  const auto copied = [&]<class T>(span<const T, TypeParam> values) {
    array<T, TypeParam> whole(ctx, values.size());
    copy<T>(ctx, values, whole.view());
    return this->copied_to_host(ctx, whole);
  };
  const auto offsets = copied(out.offsets);
  const auto indices = copied(out.indices);
  ASSERT_EQ(weights.size(), indices.size());
  ASSERT_EQ(ones.size(), indices.size());
  std::array<int, 256> seen{};
  for (std::int32_t u = 0; u < n; ++u) {
    for (auto e = static_cast<std::size_t>(offsets[u]); e < static_cast<std::size_t>(offsets[u + 1]); ++e) {
      ASSERT_EQ(weights[e], random_weight(9, indices[e], u));
      ASSERT_EQ(ones[e], 1);
      ++seen[static_cast<std::size_t>(weights[e])];
    }
  }
  EXPECT_EQ(seen[0], 0);
  EXPECT_GT(*std::min_element(seen.begin() + 1, seen.end()), 0);
  EXPECT_TRUE(random_weights(
                  ctx, csr_pattern_view<std::int32_t, std::int32_t, TypeParam>{0, 0, out.offsets.subspan(0, 1), {}}, 1)
                  .empty());
  EXPECT_TRUE(unit_weights(ctx, 0).empty());
}

}  // namespace
}  // namespace spargo
