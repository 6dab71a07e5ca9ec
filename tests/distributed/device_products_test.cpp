// Back-to-back products: each has its own x and y, though both are overwritten right after and one rank is late.
#include "distributed/devices.hpp"

#include <spargo/distributed/spmm.hpp>
#include <spargo/distributed/spmv.hpp>
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::on_devices;
using entries = coo_matrix<double, std::int64_t, host>;

constexpr int rounds = 12;

// Multiples of 1/2: sums are exact in any order.
double x_of(std::int64_t element, int round) { return static_cast<double>((element * 7 + round * 13) % 31) / 2; }

// The first rows have columns of all ranks, all other rows only their own: most ranks send and never receive, so only
// the first rank's report of what it has read holds them back.
entries one_way(const context<host>& cpu) {
  constexpr std::int64_t n = 1024;
  constexpr std::int64_t each = 16;
  array<std::int64_t, host> rows(cpu, n + 128 * each);
  array<std::int64_t, host> columns(cpu, rows.size());
  array<double, host> values(cpu, rows.size());
  for (std::int64_t k = 0; k < rows.size(); ++k) {
    const std::int64_t later = k - n;
    rows[k] = later < 0 ? k : later / each;
    columns[k] = later < 0 ? k : (later / each + 1 + later % each * (n / each)) % n;
    values[k] = 1;
  }
  return {n, n, std::move(rows), std::move(columns), std::move(values)};
}

entries share_of(const entries& all, const communicator& comm) {
  const context<host> cpu({.threads = 1});
  const auto part = [&](const auto& values) {
    const std::int64_t first = values.size() * comm.rank() / comm.size();
    const std::int64_t last = values.size() * (comm.rank() + 1) / comm.size();
    return clone(cpu, values.view().subspan(first, last - first));
  };
  return {all.rows(), all.cols(), part(all.row_indices()), part(all.col_indices()), part(all.values())};
}

// run(alpha, x, beta, y) with `width` values per element, each time with another x.
template <class Run>
void expect_each_product(const communicator& comm, const context<device>& ctx, const distributed_matrix<double>& a,
                         std::int64_t ghosts, std::int64_t width, const Run& run) {
  const auto own = a.own();
  const std::int64_t first = a.column_parts().first(comm.rank());
  const std::int64_t owned = a.column_parts().count(comm.rank()) * width;
  const std::vector<double> nothing(static_cast<std::size_t>(own.rows * width), std::nan(""));
  const std::vector<double> ones(nothing.size(), 1.0);
  const auto clear = to_device(ctx, nothing);
  const auto start = to_device(ctx, ones);
  std::vector<array<double, device>> given;
  std::vector<array<double, device>> found;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < owned; ++k) {
      values.push_back(x_of(first + k / width, round) + static_cast<double>(k % width));
    }
    given.push_back(to_device(ctx, values));
    found.push_back(to_device(ctx, nothing));
  }
  const auto spoilt =
      to_device(ctx, std::vector<double>(static_cast<std::size_t>(owned + ghosts * width), std::nan("")));
  array<double, device> x(ctx, spoilt.size());
  auto y = to_device(ctx, nothing);
  array<char, device> ballast(ctx, std::int64_t{1} << 26);
  for (int round = 0; round < rounds; ++round) {
    const bool is_late = round % 3 == 0 && (round / 3 + 1) % comm.size() == comm.rank();  // the others run ahead
    for (int k = 0; k < 60 && is_late; ++k) fill_zero(ctx, ballast.view());
    copy<double>(ctx, std::as_const(given[static_cast<std::size_t>(round)]).view(), x.view().subspan(0, owned));
    copy<double>(ctx, std::as_const(start).view(), y.view());
    run(2.0, x.view(), -1.0, y.view());
    copy<double>(ctx, std::as_const(y).view(), found[static_cast<std::size_t>(round)].view());
    copy<double>(ctx, std::as_const(spoilt).view(), x.view());
    copy<double>(ctx, std::as_const(clear).view(), y.view());
  }
  for (int round = 0; round < rounds; ++round) {
    const auto host_y = to_host(ctx, found[static_cast<std::size_t>(round)]);
    for (std::int64_t k = 0; k < host_y.size(); ++k) {
      double sum = 0;
      for (std::int64_t e = own.offsets[k / width]; e < own.offsets[k / width + 1]; ++e) {
        sum += own.values[e] * (x_of(own.indices[e], round) + static_cast<double>(k % width));
      }
      ASSERT_EQ(host_y[k], 2 * sum - 1) << "round " << round << ", row " << k / width;
    }
  }
}

void expect_products(const entries& all) {
  on_devices([&](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    const context<host> cpu({.threads = 1});
    const distributed_matrix<double> a(comm, cpu, share_of(all, comm).view());
    for (const product_split how : {product_split::automatic, product_split::rows, product_split::columns}) {
      SCOPED_TRACE(static_cast<int>(how));
      const distributed_spmv_plan<double, device> plan(comm, ctx, a, options, how);
      expect_each_product(comm, ctx, a, plan.ghosts(), 1,
                          [&](double alpha, span<double, device> x, double beta, span<double, device> y) {
                            plan.run(alpha, x, beta, y);
                          });
    }
    SCOPED_TRACE("several vectors");
    const std::int64_t width = 3;
    const distributed_spmm_plan<double, device> plan(comm, ctx, a, width, options);
    expect_each_product(
        comm, ctx, a, plan.ghosts(), width,
        [&](double alpha, span<double, device> x, double beta, span<double, device> y) {
          plan.run(alpha, {plan.local_columns(), width, width, x}, beta, {plan.own_rows(), width, width, y});
        });
  });
}

TEST(DeviceProductsInARow, OfALaplacian) {
  SPARGO_TEST_NEEDS_GPU();
  expect_products(generate<double, std::int64_t>(context<host>({.threads = 1}), "gen:laplacian2d:n=100"));
}

TEST(DeviceProductsInARow, WhereMostRanksOnlySend) {
  SPARGO_TEST_NEEDS_GPU();
  expect_products(one_way(context<host>({.threads = 1})));
}

}  // namespace
}  // namespace spargo
