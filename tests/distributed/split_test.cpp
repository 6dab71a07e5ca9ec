// Products split by columns, on hosts and devices: within rounding of naive sums.
#include "distributed/spaces.hpp"

#include <spargo/distributed/spmv.hpp>
#include <spargo/io/generate.hpp>

#include <gmock/gmock.h>

#include <cmath>

namespace spargo {
namespace {

using testing::HasSubstr;
using entries = coo_matrix<double, std::int64_t, host>;

double x_of(std::int64_t column) { return 1.0 / (1.0 + static_cast<double>(column % 1009)) - 0.25; }

array<double, host> placed(const context<host>& ctx, const std::vector<double>& values) { return clone(ctx, values); }
array<double, device> placed(const context<device>& ctx, const std::vector<double>& values) {
  return to_device(ctx, values);
}
array<double, host> fetched(const context<host>& ctx, const array<double, host>& values) { return clone(ctx, values); }
array<double, host> fetched(const context<device>& ctx, const array<double, device>& values) {
  return to_host(ctx, values);
}

template <class Space>
class SplitProduct : public testing::Test {
 protected:
  using context_in = context<Space>;
  using plan = distributed_spmv_plan<double, Space>;

  // 1.5 * A * x, as 0.75 * A * x added twice.
  static std::vector<double> multiply(const communicator& comm, const context_in& ctx,
                                      const distributed_matrix<double>& a, const exchange_options& options,
                                      product_split how) {
    const plan split(comm, ctx, a, options, how);
    std::vector<double> x(static_cast<std::size_t>(split.local_columns()), std::nan(""));
    for (std::int64_t i = 0; i < split.own_columns(); ++i) {
      x[static_cast<std::size_t>(i)] = x_of(a.column_parts().first(comm.rank()) + i);
    }
    auto x_in_space = placed(ctx, x);
    auto y = placed(ctx, std::vector<double>(static_cast<std::size_t>(split.own_rows()), std::nan("")));
    for (int k = 0; k < 3; ++k) split.run(0.75, x_in_space.view(), 0.0, y.view());
    split.run(0.75, x_in_space.view(), 1.0, y.view());
    return comm.all_gather(span<const double, host>(fetched(ctx, y)));
  }
};

using spaces = testing::Types<host, device>;
TYPED_TEST_SUITE(SplitProduct, spaces, );

TYPED_TEST(SplitProduct, IsTheProduct) {
  if constexpr (std::same_as<TypeParam, device>) SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  for (const char* spec : {"gen:uniform:rows=3000,degree=9", "gen:rmat:scale=11,degree=8", "gen:laplacian2d:n=61",
                           "gen:uniform:rows=700,cols=2100,degree=3", "gen:uniform:rows=2100,cols=50,degree=3",
                           "gen:banded:rows=900,degree=47", "gen:star:n=9000", "gen:path:n=130", "gen:path:n=1"}) {
    SCOPED_TRACE(spec);
    const auto all = generate<double, std::int64_t>(cpu, spec);
    const auto whole = to_csr<std::int64_t>(cpu, all.view());
    std::vector<double> sums;
    std::vector<double> bounds;
    for (std::int64_t row = 0; row < whole.rows(); ++row) {
      double sum = 0;
      double size = 0;
      for (std::int64_t e = whole.offsets()[row]; e < whole.offsets()[row + 1]; ++e) {
        sum += 1.5 * whole.values()[e] * x_of(whole.indices()[e]);
        size += 1.5 * std::abs(whole.values()[e] * x_of(whole.indices()[e]));
      }
      sums.push_back(sum);
      bounds.push_back((static_cast<double>(whole.offsets()[row + 1] - whole.offsets()[row]) + 6) * 3e-16 * size);
    }
    test::on_spaces<TypeParam>([&](const communicator& comm, const auto& ctx, const exchange_options& options) {
      const entries share = generate_part<double, std::int64_t>(cpu, spec, comm.rank(), comm.size());
      const distributed_matrix<double> a(comm, cpu, share.view());
      for (const product_split how : {product_split::automatic, product_split::columns}) {
        const std::vector<double> found = this->multiply(comm, ctx, a, options, how);
        ASSERT_EQ(found.size(), sums.size());
        for (std::size_t row = 0; row < found.size(); ++row) ASSERT_NEAR(found[row], sums[row], bounds[row]) << row;
        EXPECT_EQ(this->multiply(comm, ctx, a, options, how), found);  // the same bits as before
      }
    });
  }
}

TYPED_TEST(SplitProduct, ReportsWhichRowsWait) {
  if constexpr (std::same_as<TypeParam, device>) SPARGO_TEST_NEEDS_GPU();
  test::on_spaces<TypeParam>([](const communicator& comm, const auto& ctx, const exchange_options& options) {
    const context<host> cpu({.threads = 1});
    const distributed_matrix<double> a(
        comm, cpu, generate_part<double, std::int64_t>(cpu, "gen:laplacian2d:n=128", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, TypeParam> split(comm, ctx, a, options, product_split::columns);
    const int neighbours = comm.size() == 1 ? 0 : comm.rank() == 0 || comm.rank() == comm.size() - 1 ? 1 : 2;
    EXPECT_EQ(split.ghosts(), 128 * neighbours);
    EXPECT_EQ(split.own_columns(), a.column_parts().count(comm.rank()));
    EXPECT_EQ(split.interior_rows(), split.own_rows() - 128 * neighbours);
    EXPECT_THAT(split.reason(), HasSubstr("split into own columns and ghosts"));
    for (const product_split how : {product_split::automatic, product_split::rows}) {
      const distributed_spmv_plan<double, TypeParam> rows(comm, ctx, a, options, how);
      EXPECT_EQ(rows.interior_rows(), split.interior_rows());
      EXPECT_THAT(rows.reason(), testing::Not(HasSubstr("own columns")));
    }
  });
}

TYPED_TEST(SplitProduct, IsByColumnsWhereDevicesGainByIt) {
  if constexpr (std::same_as<TypeParam, device>) SPARGO_TEST_NEEDS_GPU();
  test::on_spaces<TypeParam>([](const communicator& comm, const auto& ctx, const exchange_options& options) {
    const context<host> cpu({.threads = 1});
    const distributed_matrix<double> a(
        comm, cpu,
        generate_part<double, std::int64_t>(cpu, "gen:uniform:rows=3000,degree=9", comm.rank(), comm.size()).view());
    const bool gains = std::same_as<TypeParam, device> && comm.size() > 1 && a.own().rows > 0;
    const distributed_spmv_plan<double, TypeParam> chosen(comm, ctx, a, options);
    EXPECT_EQ(chosen.reason().find("own columns") != std::string::npos, gains);
    const distributed_spmv_plan<double, TypeParam> rows(comm, ctx, a, options, product_split::rows);
    EXPECT_EQ(rows.reason().find("own columns"), std::string::npos);
    EXPECT_EQ(rows.algorithm(), spmv_algorithm::row_per_thread);
  });
}

}  // namespace
}  // namespace spargo
