// SpMM by ranks with a device each: the bits of one device, and in short rows of SpMV. One GPU is shared by all.
#include "distributed/devices.hpp"

#include <spargo/distributed/spmm.hpp>
#include <spargo/distributed/spmv.hpp>
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace spargo {
namespace {

using test::on_devices;
using entries = coo_matrix<double, std::int64_t, host>;

double x_of(std::int64_t row, std::int64_t column) {
  return 1.0 / (1.0 + static_cast<double>((row + 17 * column) % 1009)) - 0.25;
}

// -0.5 * A * X + 0.5 * (2 * A * X) = 0.5 * A * X, gathered on every rank.
std::vector<double> multiply(const communicator& comm, const context<device>& ctx, const entries& share,
                             std::int64_t width, const exchange_options& options) {
  const distributed_matrix<double> a(comm, context<host>({.threads = 1}), share.view());
  const distributed_spmm_plan<double, device> plan(comm, ctx, a, width, options);
  std::vector<double> x(static_cast<std::size_t>(plan.local_columns() * width), std::nan(""));
  for (std::int64_t k = 0; k < plan.own_columns() * width; ++k) {
    x[static_cast<std::size_t>(k)] = x_of(a.column_parts().first(comm.rank()) + k / width, k % width);
  }
  auto device_x = to_device(ctx, x);
  const std::vector<double> nothing(static_cast<std::size_t>(plan.own_rows() * width), std::nan(""));
  auto y = to_device(ctx, nothing);
  const dense_view<double, device> x_view{plan.local_columns(), width, width, device_x.view()};
  const dense_view<double, device> y_view{plan.own_rows(), width, width, y.view()};
  for (int k = 0; k < 3; ++k) plan.run(2.0, x_view, 0.0, y_view);
  plan.run(-0.5, x_view, 0.5, y_view);
  EXPECT_EQ(comm.all_reduce(plan.own_rows(), reduction::sum), a.rows());
  return comm.all_gather(span<const double, host>(to_host(ctx, y)));
}

// One column of it, computed by SpMV.
std::vector<double> column_of(const entries& all, std::int64_t column) {
  const context<device> ctx;
  const distributed_matrix<double> a(communicator(), context<host>({.threads = 1}), all.view());
  const distributed_spmv_plan<double, device> plan(communicator(), ctx, a, {}, product_split::rows);
  std::vector<double> x;
  for (std::int64_t i = 0; i < a.cols(); ++i) x.push_back(x_of(i, column));
  auto device_x = to_device(ctx, x);
  array<double, device> y(ctx, a.rows());
  plan.run(2.0, device_x.view(), 0.0, y.view());
  plan.run(-0.5, device_x.view(), 0.5, y.view());
  const auto back = to_host(ctx, y);
  return {back.begin(), back.end()};
}

void expect_product(const entries& all, std::int64_t width, const std::vector<double>& found) {
  const context<host> cpu({.threads = 1});
  const auto a = to_csr<std::int64_t>(cpu, all.view());
  ASSERT_EQ(std::ssize(found), a.rows() * width);
  for (std::int64_t j = 0; j < width; ++j) {
    const std::vector<double> alone = j < 3 ? column_of(all, j) : std::vector<double>();
    for (std::int64_t row = 0; row < a.rows(); ++row) {  // by definition
      double sum = 0;
      double size = 0;
      for (std::int64_t e = a.offsets()[row]; e < a.offsets()[row + 1]; ++e) {
        sum += a.values()[e] * x_of(a.indices()[e], j);
        size += std::abs(a.values()[e] * x_of(a.indices()[e], j));
      }
      const std::int64_t terms = a.offsets()[row + 1] - a.offsets()[row];
      const double value = found[static_cast<std::size_t>(row * width + j)];
      ASSERT_NEAR(value, 0.5 * sum, (static_cast<double>(terms) + 4) * 3e-16 * size) << "row " << row << ", " << j;
      if (terms <= 32 && !alone.empty()) {
        ASSERT_EQ(value, alone[static_cast<std::size_t>(row)]) << "row " << row << ", " << j;
      }
    }
  }
}

class DeviceSpmm : public testing::TestWithParam<const char*> {};

TEST_P(DeviceSpmm, HasTheBitsOfOneDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  const auto all = generate<double, std::int64_t>(cpu, GetParam());
  for (const std::int64_t width : {1, 2, 3, 8, 34, 35}) {  // one value or two a segment, two segments, two panels
    SCOPED_TRACE(width);
    const std::vector<double> expected = multiply(communicator(), context<device>(), all, width, {});
    expect_product(all, width, expected);
    on_devices([&](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
      if (width != 3 && width != 8 && comm.size() != 3) return;
      const entries share = generate_part<double, std::int64_t>(cpu, GetParam(), comm.rank(), comm.size());
      EXPECT_EQ(multiply(comm, ctx, share, width, options), expected);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, DeviceSpmm,
                         testing::Values("gen:laplacian2d:n=40", "gen:uniform:rows=700,cols=2100,degree=3",
                                         "gen:rmat:scale=11,degree=16", "gen:uniform:rows=2100,cols=50,degree=3",
                                         "gen:banded:rows=900,degree=47", "gen:star:n=9000", "gen:path:n=130",
                                         "gen:path:n=1"));

TEST(DeviceSpmmPlan, OverlapsAndChecks) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    const context<host> cpu({.threads = 1});
    const distributed_matrix<double> a(
        comm, cpu, generate_part<double, std::int64_t>(cpu, "gen:laplacian2d:n=128", comm.rank(), comm.size()).view());
    using spmm = distributed_spmm_plan<double, device>;
    EXPECT_THROW(spmm(comm, ctx, a, -1, options), agreed_error);
    const spmm plan(comm, ctx, a, 4, options);
    const int neighbours = comm.size() == 1 ? 0 : comm.rank() == 0 || comm.rank() == comm.size() - 1 ? 1 : 2;
    EXPECT_EQ(plan.ghosts(), 128 * neighbours);
    EXPECT_EQ(plan.interior_rows(), plan.own_rows() - 128 * neighbours);
    EXPECT_FALSE(plan.how().empty());
    dense_matrix<double, device> x(ctx, plan.local_columns(), 4);
    dense_matrix<double, device> y(ctx, plan.own_rows(), 4);
    dense_matrix<double, device> narrow(ctx, plan.own_rows(), 3);
    EXPECT_THROW(plan.run(1.0, x, 0.0, narrow), error);
    fill_zero(ctx, x.view().data);
    const traffic before = comm.sent();
    plan.run(1.0, x, 0.0, y);
    EXPECT_GE(comm.sent().bytes - before.bytes, 4 * 8 * 128 * neighbours);
    EXPECT_LE(comm.sent().bytes - before.bytes, (4 * 8 * 128 + 1) * neighbours);
    const spmm none(comm, ctx, a, 0, options);
    none.run(1.0, dense_matrix<double, device>(ctx, none.local_columns(), 0).view(), 0.0,
             dense_matrix<double, device>(ctx, none.own_rows(), 0).view());
  });
}

}  // namespace
}  // namespace spargo
