// Products in passes over ranges of columns, with an x larger than L2: integers, exact in any order, against a loop.
#include "support/device.hpp"

#include <spargo/core/array.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

enum class columns { scattered, ascending, near_the_row };

// A matrix with `degree` entries in nearly all rows, small integers, and its vectors.
struct problem {
  i64 rows;
  i64 cols;
  std::vector<i32> offsets{0};
  std::vector<i32> indices;
  std::vector<double> values;
  std::vector<double> x;

  problem(i64 row_count, i64 col_count, i64 degree, columns order) : rows(row_count), cols(col_count) {
    std::mt19937_64 random(static_cast<unsigned>(rows + degree));
    indices.reserve(static_cast<std::size_t>(rows * degree));
    for (i64 r = 0; r < rows; ++r) {
      const auto first = static_cast<std::ptrdiff_t>(indices.size());
      for (i64 k = 0; r % 1000 != 3 && k < degree; ++k) {
        const auto any = static_cast<i64>(random() % static_cast<std::uint64_t>(cols));
        indices.push_back(static_cast<i32>(order == columns::near_the_row ? (r * (cols / rows) + k) % cols : any));
      }
      if (r == 0) indices.insert(indices.end(), {static_cast<i32>(cols - 1), 0});
      if (order == columns::ascending) std::sort(indices.begin() + first, indices.end());
      offsets.push_back(static_cast<i32>(indices.size()));
    }
    for (std::size_t k = 0; k < indices.size(); ++k) values.push_back(static_cast<double>(k % 11) - 5);
    for (i64 j = 0; j < cols; ++j) x.push_back(static_cast<double>(j % 97) - 48);
  }

  [[nodiscard]] double row(i64 r) const {
    double sum = 0;
    for (i32 k = offsets[static_cast<std::size_t>(r)]; k < offsets[static_cast<std::size_t>(r) + 1]; ++k) {
      sum += values[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(indices[static_cast<std::size_t>(k)])];
    }
    return sum;
  }
};

template <class T>
array<T, device> upload(const context<device>& ctx, const std::vector<T>& from) {
  array<T, device> to(ctx, static_cast<i64>(from.size()));
  copy<T>(ctx, span<const T, host>(from), to.view());
  return to;
}

struct device_problem {
  const context<device>& ctx;
  const problem& p;
  array<i32, device> offsets = upload(ctx, p.offsets);
  array<i32, device> indices = upload(ctx, p.indices);
  array<double, device> values = upload(ctx, p.values);
  array<double, device> x = upload(ctx, p.x);

  [[nodiscard]] csr_view<const double, i32, i32, device> view() const {
    return {{static_cast<i32>(p.rows), static_cast<i32>(p.cols), offsets.view(), indices.view()}, values.view()};
  }

  void check(const spmv_plan<double, i32, i32, device>& plan, double alpha, double beta) const {
    const double before = beta == 0 ? std::nan("") : 7.0;
    auto y = upload(ctx, std::vector<double>(static_cast<std::size_t>(p.rows), before));
    plan.run(alpha, x.view(), beta, y.view());
    const auto got = to_host(ctx, std::as_const(y).view());
    for (i64 r = 0; r < p.rows; ++r) {
      ASSERT_EQ(got[r], alpha * p.row(r) + (beta == 0 ? 0.0 : beta * before)) << "row " << r << ", beta " << beta;
    }
  }
};

// Twelve times L2, hence many ranges; scattered and ascending columns.
TEST(SpmvPasses, TakeEachEntryInOneOfManyRanges) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const i64 cols = 12 * ctx.properties().l2_bytes / 8 + 5;
  for (const auto order : {columns::scattered, columns::ascending}) {
    const problem p(4001, cols, 40, order);
    const device_problem there{ctx, p};
    const spmv_plan<double, i32, i32, device> plan(ctx, there.view(), {.algorithm = spmv_algorithm::column_passes});
    EXPECT_GT(plan.workspace_bytes(), 0);
    EXPECT_EQ(plan.storage(), spmv_storage::borrowed);
    for (const double beta : {0.0, 1.0, -2.0}) {
      if (!HasFatalFailure()) there.check(plan, 3.0, beta);
    }
  }
}

// One row that spans many tiles.
TEST(SpmvPasses, AddTheCarriesOfARowOverAllRanges) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const problem p(1, 1 << 20, 100'003, columns::scattered);
  const device_problem there{ctx, p};
  const spmv_plan<double, i32, i32, device> plan(ctx, there.view(), {.algorithm = spmv_algorithm::column_passes});
  there.check(plan, 1.0, 0.0);
  there.check(plan, -1.0, 2.0);
}

// Automatic chooses passes, with this reason, for columns scattered over an x larger than L2; not for columns near the
// row, nor for a small x. Every choice is exact, as is merge_path on a large x, which gathers differently.
TEST(SpmvPasses, AreChosenForAScatteredLargeX) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const i64 large = ctx.properties().l2_bytes / 8 * 5 / 4;
  const auto chosen = [&](const problem& p) {
    const device_problem there{ctx, p};
    const spmv_plan<double, i32, i32, device> plan(ctx, there.view());
    there.check(plan, 1.0, 0.0);
    if (plan.algorithm() == spmv_algorithm::column_passes) {
      EXPECT_NE(plan.reason().find("3 column blocks"), std::string::npos) << plan.reason();
      const spmv_options by_name{.algorithm = spmv_algorithm::merge_path};
      there.check(spmv_plan<double, i32, i32, device>(ctx, there.view(), by_name), -1.0, 2.0);
    }
    return plan.algorithm();
  };
  EXPECT_EQ(chosen(problem(large / 3, large, 16, columns::ascending)), spmv_algorithm::column_passes);
  EXPECT_NE(chosen(problem(large / 3, large, 16, columns::near_the_row)), spmv_algorithm::column_passes);
  EXPECT_EQ(chosen(problem(large / 3, large / 8, 16, columns::ascending)), spmv_algorithm::merge_path);
}

}  // namespace
}  // namespace spargo::test
