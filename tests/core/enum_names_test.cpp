// Every table of names in the library: names are unique, each is understood, others are refused with those that there
// are.
#include <spargo/spargo.hpp>

#include "support/message.hpp"
#include "support/named_enumerations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <concepts>
#include <set>
#include <string>

namespace spargo {
namespace {

template <class E>
class EnumNames : public testing::Test {};

template <class E, class... Listed>
constexpr bool is_among(testing::Types<Listed...>) {
  return (std::same_as<E, Listed> || ...);
}

TYPED_TEST_SUITE(EnumNames, test::named_enumerations);

TYPED_TEST(EnumNames, AreUniqueAndUnderstood) {
  std::set<std::string_view> spellings;
  std::string all;
  int number = 0;
  for (const enum_row<TypeParam>& row : enum_rows<TypeParam>()) {
    EXPECT_EQ(static_cast<int>(row.value), number++) << row.name << " is not in the order of the declaration";
    std::set<std::string_view> mine{row.name, row.word()};
    if (!row.alias.empty()) mine.insert(row.alias);
    for (const std::string_view spelling : mine) {
      EXPECT_FALSE(spelling.empty());
      EXPECT_TRUE(spellings.insert(spelling).second) << spelling << " occurs twice";
      EXPECT_EQ(parse_enum<TypeParam>("test: unknown thing", spelling), row.value) << spelling;
    }
    EXPECT_EQ(to_string(row.value), row.name);
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  }
  EXPECT_GT(number, 0);
  EXPECT_EQ(to_string(static_cast<TypeParam>(number)), "unknown");
  EXPECT_EQ(to_string(static_cast<TypeParam>(-1)), "unknown");
  for (const char* const unknown : {"", "nonsense", "AUTO", "automati"}) {
    EXPECT_EQ(test::message_of(error_code::invalid_argument,
                               [&] { (void)parse_enum<TypeParam>("test: unknown thing", unknown); }),
              "test: unknown thing '" + std::string(unknown) + "' (expected one of " + all + ")");
  }
}

// The list is as the public headers declare it, and not empty.
TEST(EnumNamesList, HasKnownOnes) {
  EXPECT_TRUE((is_among<bfs_algorithm>(test::named_enumerations())));
  EXPECT_TRUE((is_among<value_kind>(test::named_enumerations())));
  EXPECT_FALSE((is_among<int>(test::named_enumerations())));
}

enum class without_names { one, two };
static_assert(!named_enum<without_names> && named_enum<bfs_algorithm> && !named_enum<int>);

TEST(EnumNamesParsers, NameTheOperation) {
  EXPECT_EQ(test::message_of(error_code::invalid_argument, [] { (void)parse_sssp_algorithm("bellman"); }),
            "sssp: unknown algorithm 'bellman' (expected one of automatic, dijkstra, delta_stepping)");
  EXPECT_EQ(parse_bfs_algorithm("auto"), bfs_algorithm::automatic);
  EXPECT_EQ(parse_enum<betweenness_normalization>("", "maximum"), betweenness_normalization::by_maximum);
  EXPECT_EQ(parse_enum<matrix_market_field>("", "double"), matrix_market_field::real);
}

}  // namespace
}  // namespace spargo
