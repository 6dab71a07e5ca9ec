// Every table of names in the library: names are unique, each is understood, others are refused with those that there
// are.
#include <spargo/spargo.hpp>

#include "support/folders.hpp"
#include "support/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <tuple>

namespace spargo {
namespace {

using enumerations =
    std::tuple<betweenness_algorithm, betweenness_normalization, bfs_algorithm, bfs_direction, bfs_parents,
               communities_algorithm, communities_method, components_algorithm, components_connection,
               components_labels, convolve_algorithm, cores_algorithm, device_link, device_read_algorithm,
               duplicate_weights, edge_direction, error_code, histogram_algorithm, id_kind, jacobi_algorithm,
               matmul_algorithm, matrix_market_field, matrix_market_layout, multi_bfs_algorithm, operation,
               pagerank_algorithm, pagerank_copy, pagerank_dangling, pagerank_norm, reduce_algorithm, scan_algorithm,
               sliding_max_algorithm, sparse_format, spmm_algorithm, spmv_algorithm, spmv_storage, sssp_algorithm,
               sssp_parents, stencil_algorithm, symmetry_kind, tensor_inputs, triangles_algorithm, value_kind>;

template <class E>
class EnumNames : public testing::Test {};

template <class Tuple>
struct types_of;
template <class... E>
struct types_of<std::tuple<E...>> {
  using type = testing::Types<E...>;
};
TYPED_TEST_SUITE(EnumNames, types_of<enumerations>::type);

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

// The list above has every table that a public header declares.
TEST(EnumNamesList, IsComplete) {
  static const std::regex declares(R"(enum_table<(\w+)> enum_rows\(\) noexcept;)");
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() + "/include")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator match(text.begin(), text.end(), declares), end; match != end; ++match) {
      EXPECT_TRUE(found.insert((*match)[1]).second) << (*match)[1] << " is declared twice";
    }
  }
  EXPECT_EQ(found.size(), std::tuple_size_v<enumerations>);
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
