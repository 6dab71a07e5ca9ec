// Calls as users write them: arrays, containers and views of mutable elements, without template arguments.
#include <spargo/primitives/convolve.hpp>
#include <spargo/primitives/histogram.hpp>
#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/matmul.hpp>
#include <spargo/primitives/matmul_tensor.hpp>
#include <spargo/primitives/pipeline.hpp>
#include <spargo/primitives/reduce.hpp>
#include <spargo/primitives/scan.hpp>
#include <spargo/primitives/sliding_max.hpp>
#include <spargo/primitives/stencil.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace spargo {
namespace {

const context<host> ctx({.threads = 2});

TEST(Calls, Reductions) {
  std::vector<double> v{1, 2, 3};
  const array<double, host> owner = clone(ctx, v);
  EXPECT_EQ(reduce(ctx, v), 6);
  EXPECT_EQ(reduce(ctx, owner), 6);
  EXPECT_EQ(reduce(ctx, owner.view(), operation::max), 3);
  EXPECT_EQ(reduce(ctx, span<double, host>(v)), 6);
  EXPECT_EQ(reduce(ctx, std::array<std::int32_t, 2>{3, 4}), 7);
  EXPECT_EQ(reduce_sum(ctx, v), 6);
  EXPECT_EQ(reduce_max(ctx, owner), 3);
  EXPECT_EQ(dot(ctx, v, owner), 14);
  EXPECT_EQ(max_abs_difference(ctx, owner, v), 0);
  std::vector<double> result(1);
  reduce_into(ctx, v, result);
  EXPECT_EQ(result[0], 6);
  dot_into(ctx, v, owner, result);
  EXPECT_EQ(result[0], 14);
  max_abs_difference_into(ctx, v, v, result);
  EXPECT_EQ(result[0], 0);
}

TEST(Calls, Scans) {
  const std::vector<std::int64_t> in{1, 2, 3};
  std::vector<std::int64_t> out(3);
  exclusive_scan(ctx, in, out);
  EXPECT_EQ(out, (std::vector<std::int64_t>{0, 1, 3}));
  inclusive_scan(ctx, in, out, operation::product);
  EXPECT_EQ(out, (std::vector<std::int64_t>{1, 2, 6}));
  array<std::int64_t, host> owner(ctx, 3);
  inclusive_scan(ctx, in, owner);
  EXPECT_EQ(owner[2], 6);
  exclusive_scan(ctx, owner.view(), owner.view());
  EXPECT_EQ(owner[2], 4);
}

TEST(Calls, Histograms) {
  std::vector<std::int64_t> counts(3);
  const std::vector<std::int32_t> keys{0, 1, 1, 2};
  const std::vector<std::int64_t> expected{1, 2, 1};
  histogram(ctx, keys, counts);
  EXPECT_EQ(counts, expected);
  histogram(ctx, clone(ctx, keys).view(), span<std::int64_t, host>(counts));
  EXPECT_EQ(counts, expected);
  const std::vector<double> values{0.1, 0.4, 0.5, 0.9};
  histogram_even(ctx, values, 0, 1, counts);
  EXPECT_EQ(counts, expected);
  histogram_edges(ctx, values, std::vector<double>{0, 0.2, 0.8, 1}, counts);
  EXPECT_EQ(counts, expected);
  letter_histogram(ctx, std::string("axz"), 9, counts);
  EXPECT_EQ(counts[2], 2);
}

TEST(Calls, LinesAndImages) {
  std::vector<float> in{1, 2, 3, 4};
  std::vector<float> out(4);
  convolve(ctx, in, std::vector<float>{0, 1, 0}, out);
  EXPECT_EQ(out, in);
  window_average(ctx, in, 0, out);
  EXPECT_EQ(out, in);
  sliding_max(ctx, in, 2, out);
  EXPECT_EQ(out[0], 2);
  sliding_max(ctx, in, {1, 2, 2}, {1, 2, 2}, out);
  EXPECT_EQ(out[0], 4);
  const image_view<float, host> from{2, 2, 2, in};
  const image_view<float, host> to{2, 2, 2, out};
  five_point_average(ctx, from, to);
  convolve(ctx, from, std::vector<float>{2}, to);
  EXPECT_EQ(out[3], 8);
  EXPECT_TRUE(jacobi(ctx, to).converged);
}

TEST(Calls, Products) {
  dense_matrix<double, host> a(ctx, 2, 2);
  dense_matrix<double, host> c(ctx, 2, 2);
  fill_zero(ctx, a.view().data);
  a(0, 0) = a(1, 1) = 3;
  matmul(ctx, 1, a, a, 0, c);
  EXPECT_EQ(c(1, 1), 9);
  matmul(ctx, 1.0, a.view(), a.view(), 0.0, c.view());
  EXPECT_EQ(c(0, 1), 0);
}

TEST(Calls, Pipelines) {
  const std::vector<float> in{1, 2, 3};
  std::vector<double> out(3);
  pipeline(
      ctx, in,
      [](const context<host>&, span<const float, host> x, span<double, host> y) {
        std::copy(x.begin(), x.end(), y.begin());
      },
      out);
  EXPECT_EQ(out[2], 3);
}

// Only compiled and linked: without a GPU there is no context to call it with.
[[maybe_unused]] void on_a_device(const context<device>& gpu) {
  const array<float, device> in = to_device(gpu, std::vector<float>{1, 2, 3});
  array<float, device> out = clone(gpu, in);
  (void)reduce(gpu, in);
  reduce_into(gpu, in, out);
  exclusive_scan(gpu, in, out);
  convolve(gpu, in, std::vector<float>{1}, out);
  window_average(gpu, in, 1, out);
  sliding_max(gpu, in, 1, out);
  array<std::int32_t, device> counts(gpu, 4);
  histogram_even(gpu, in, 0, 1, counts);
  dense_matrix<float, device> m(gpu, 2, 2);
  matmul(gpu, 1, m, m, 0, m);
  matmul_tensor(gpu, 1, m, m, 0, m);
}

}  // namespace
}  // namespace spargo
