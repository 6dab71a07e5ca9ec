// Copies are kept only if the number of products pays for them.
#include "sparse/spmv/copies/copy_cost.hpp"
#include "sparse/spmv_cases.hpp"

namespace spargo::test {
namespace {

using detail::spmv::copy_kind;
using i32 = std::int32_t;

constexpr auto all_kinds = {copy_kind::compressed, copy_kind::blocked, copy_kind::binned,    copy_kind::repeated_bands,
                            copy_kind::bands,      copy_kind::tiles,   copy_kind::transposed};

TEST(SpmvCopyCost, CountsProducts) {
  for (const auto kind : all_kinds) {
    for (const std::int64_t bytes : {4, 8, 16}) {
      const std::int64_t least = detail::spmv::pays_from(kind, bytes);
      EXPECT_GT(least, 1);
      EXPECT_EQ(detail::spmv::reason_against_copy(kind, bytes, 0), "");  // many
      EXPECT_EQ(detail::spmv::reason_against_copy(kind, bytes, least), "");
      const std::string why = detail::spmv::reason_against_copy(kind, bytes, least - 1);
      EXPECT_NE(why.find("after " + std::to_string(least) + " products"), std::string::npos) << why;
      EXPECT_NE(why.find(std::to_string(least - 1) + " were requested"), std::string::npos) << why;
    }
  }
}

triplets<double> tridiagonal(bool repeated) {
  triplets<double> m{"tridiagonal", 5000, 5000, {}};
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (const std::int64_t c : {r - 1, r, r + 1}) {
      if (c < 0 || c >= m.cols) continue;
      m.entries.push_back(
          {r, c, repeated ? static_cast<double>(2 - (r - c) * (r - c)) : 1.0 / static_cast<double>(r + c)});
    }
  }
  return m;
}

TEST(SpmvCopyCost, PlansCopyFromEnoughProductsOn) {
  const context<host> ctx({.threads = 2});
  for (const bool repeated : {true, false}) {
    const auto csr = as_csr<double, i32, i32>(ctx, tridiagonal(repeated));
    const std::int64_t least = detail::spmv::pays_from(repeated ? copy_kind::repeated_bands : copy_kind::bands, 8);
    const auto plan = [&](std::int64_t products, spmv_storage storage = spmv_storage::copied) {
      return spmv_plan<double, i32, i32, host>(ctx, csr.view(), {.storage = storage, .products = products});
    };
    EXPECT_EQ(plan(0).storage(), spmv_storage::copied);
    EXPECT_EQ(plan(least).storage(), spmv_storage::copied) << plan(least).reason();
    const auto few = plan(least - 1);
    EXPECT_EQ(few.storage(), spmv_storage::borrowed);
    EXPECT_NE(few.reason().find("after " + std::to_string(least) + " products"), std::string::npos) << few.reason();
    EXPECT_EQ(plan(least, spmv_storage::borrowed).storage(), spmv_storage::borrowed);
    EXPECT_THROW((void)plan(-1), error);
  }
}

// Algorithms requested by name are used even for one product.
TEST(SpmvCopyCost, RequestsByNameAreKept) {
  const context<host> ctx({.threads = 2});
  const auto csr = as_csr<double, i32, i32>(ctx, tridiagonal(false));
  const spmv_plan<double, i32, i32, host> plan(ctx, csr.view(),
                                               {.algorithm = spmv_algorithm::compressed, .products = 1});
  EXPECT_EQ(plan.storage(), spmv_storage::copied);
}

}  // namespace
}  // namespace spargo::test
