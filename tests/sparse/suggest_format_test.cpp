// The suggested format follows the row profile.
#include "sparse/host_cache.hpp"
#include "sparse/simd/kernels.hpp"
#include "sparse/spmv_cases.hpp"

namespace spargo::test {
namespace {

constexpr format_use many{};

template <class Target>
format_choice suggestion(const triplets<double>& m, const format_use& use = many) {
  const context<host> ctx({.threads = 2});
  const auto matrix = as_csr<double, std::int32_t, std::int64_t>(ctx, m);
  return suggest_format<Target>(ctx, matrix.view(), use);
}

triplets<double> equal_rows() {
  return random_rows<double>("equal rows", 3000, 100, [](std::int64_t) { return 9; });
}
// Sorted in windows of 1024, slices of 32 rows have equal lengths.
triplets<double> similar_rows() {
  return random_rows<double>("similar rows", 4096, 100, [](std::int64_t r) { return 4 + r % 8; });
}
triplets<double> uneven_rows() {
  return random_rows<double>("uneven rows", 6000, 100, [](std::int64_t r) { return r % 97 == 0 ? 90 : 1; });
}

TEST(SuggestFormat, TakesCsrOnADevice) {
  for (const auto& m : {equal_rows(), similar_rows(), uneven_rows()}) {
    EXPECT_EQ(suggestion<device>(m).format, sparse_format::csr) << m.name;
  }
}

TEST(SuggestFormat, TakesCsrForFewEntries) {
  const auto m = random_rows<double>("", 100, 100, [](std::int64_t) { return 5; });
  const auto choice = suggestion<host>(m);
  EXPECT_EQ(choice.format, sparse_format::csr);
  EXPECT_NE(choice.reason.find("500 entries"), std::string::npos) << choice.reason;
}

TEST(SuggestFormat, TakesLanesInCacheWhereGathersAreFast) {
  if (!detail::spmv::gathers_are_fast()) {
    EXPECT_EQ(suggestion<host>(equal_rows()).format, sparse_format::csr);
    EXPECT_NE(suggestion<host>(equal_rows()).reason.find("gathers"), std::string::npos);
    GTEST_SKIP() << "this processor's gathers are slow";
  }
  EXPECT_EQ(suggestion<host>(equal_rows()).format, sparse_format::ell);
  EXPECT_EQ(suggestion<host>(similar_rows()).format, sparse_format::sell);
  const auto uneven = suggestion<host>(uneven_rows());
  EXPECT_EQ(uneven.format, sparse_format::csr);
  EXPECT_NE(uneven.reason.find("90"), std::string::npos) << uneven.reason;
}

TEST(SuggestFormat, CountsTheProductsThatPayForConversion) {
  if (!detail::spmv::gathers_are_fast()) GTEST_SKIP() << "this processor's gathers are slow";
  EXPECT_EQ(suggestion<host>(equal_rows(), {.products = 64}).format, sparse_format::ell);
  EXPECT_EQ(suggestion<host>(similar_rows(), {.products = 200}).format, sparse_format::sell);
  const auto few = suggestion<host>(equal_rows(), {.products = 63});
  EXPECT_EQ(few.format, sparse_format::csr);
  EXPECT_NE(few.reason.find("63 products"), std::string::npos) << few.reason;
  EXPECT_EQ(suggestion<host>(similar_rows(), {.products = 199}).format, sparse_format::csr);
}

TEST(SuggestFormat, TakesCsrForComplexValues) {
  EXPECT_EQ(suggestion<host>(equal_rows(), {.value_bytes = 16, .complex_values = true}).format, sparse_format::csr);
}

// The size that decides is all that a product reads and writes.
TEST(SuggestFormat, TakesCsrOutOfCache) {
  if (!detail::spmv::gathers_are_fast()) GTEST_SKIP() << "this processor's gathers are slow";
  const std::int64_t rows = detail::host_l2_bytes() / (9 * 12);
  const auto m = random_rows<double>("", rows, 100, [](std::int64_t) { return 9; });
  const auto choice = suggestion<host>(m);
  EXPECT_EQ(choice.format, sparse_format::csr);
  EXPECT_NE(choice.reason.find("L2"), std::string::npos) << choice.reason;
  EXPECT_EQ(suggestion<host>(m, {.value_bytes = 4}).format, sparse_format::ell);
}

TEST(SuggestFormat, RefusesNonsense) {
  EXPECT_THROW((void)suggestion<host>(equal_rows(), {.value_bytes = 0}), error);
  EXPECT_THROW((void)suggestion<host>(equal_rows(), {.products = -1}), error);
}

TEST(SuggestFormat, SurvivesNothing) {
  EXPECT_EQ(suggestion<host>({"", 0, 0, {}}).format, sparse_format::csr);
  EXPECT_EQ(suggestion<device>({"", 10, 0, {}}).format, sparse_format::csr);
}

TEST(SuggestFormat, NamesEveryFormat) {
  EXPECT_EQ(to_string(sparse_format::csr), "csr");
  EXPECT_EQ(to_string(sparse_format::coo), "coo");
  EXPECT_EQ(to_string(sparse_format::ell), "ell");
  EXPECT_EQ(to_string(sparse_format::sell), "sell");
}

}  // namespace
}  // namespace spargo::test
