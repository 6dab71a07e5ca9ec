// The suggested format follows the row profile.
#include "sparse/spmv_cases.hpp"

namespace spargo::test {
namespace {

template <class Target>
format_choice suggestion(const triplets<double>& m) {
  const context<host> ctx({.threads = 2});
  const auto matrix = as_csr<double, std::int32_t, std::int64_t>(ctx, m);
  return suggest_format<Target>(ctx, matrix.view());
}

TEST(SuggestFormat, TakesCsrForFewEntries) {
  const auto m = random_rows<double>("", 100, 100, [](std::int64_t) { return 5; });
  EXPECT_EQ(suggestion<host>(m).format, sparse_format::csr);
  EXPECT_EQ(suggestion<device>(m).format, sparse_format::csr);
}

TEST(SuggestFormat, TakesEllForEqualRowsOnADevice) {
  const auto m = random_rows<double>("", 5000, 100, [](std::int64_t) { return 9; });
  EXPECT_EQ(suggestion<device>(m).format, sparse_format::ell);
}

TEST(SuggestFormat, TakesCsrOnAHost) {
  for (const auto& m : {random_rows<double>("equal", 5000, 100, [](std::int64_t) { return 9; }),
                        random_rows<double>("slow", 6400, 100, [](std::int64_t r) { return 8 + r / 640; })}) {
    EXPECT_EQ(suggestion<host>(m).format, sparse_format::csr) << m.name;
  }
}

TEST(SuggestFormat, TakesSellForRowsThatChangeSlowly) {
  const auto m = random_rows<double>("", 6400, 100, [](std::int64_t r) { return 8 + r / 640; });
  EXPECT_EQ(suggestion<device>(m).format, sparse_format::sell);
}

TEST(SuggestFormat, TakesCsrForUnevenRows) {
  const auto m = random_rows<double>("", 20'000, 100, [](std::int64_t r) { return r % 97 == 0 ? 90 : 1; });
  const auto choice = suggestion<device>(m);
  EXPECT_EQ(choice.format, sparse_format::csr);
  EXPECT_NE(choice.reason.find("90"), std::string::npos) << choice.reason;
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
