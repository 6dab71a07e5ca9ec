// Calls as users write them: owners, containers and views of mutable elements, without template arguments.
#include <spargo/core/array.hpp>
#include <spargo/core/dense.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace spargo {
namespace {

double first(span<const double, host> values) { return values[0]; }

TEST(Calls, SpansOfContainers) {
  std::vector<double> vector{1, 2};
  const std::array<double, 2> fixed{3, 4};
  const std::span<const double> standard(fixed);
  const span<double, host> changeable = vector;
  EXPECT_EQ(first(vector), 1);
  EXPECT_EQ(first(fixed), 3);
  EXPECT_EQ(first(standard), 3);
  EXPECT_EQ(first(changeable), 1);
  const std::string letters = "ab";
  EXPECT_EQ((span<const char, host>(letters).size()), 2);
  static_assert(!std::convertible_to<const std::vector<double>&, span<double, host>>);
  static_assert(!std::convertible_to<std::vector<double>, span<double, host>>);
  static_assert(!std::convertible_to<std::vector<float>&, span<const double, host>>);
  static_assert(!std::convertible_to<std::vector<double>&, span<const double, device>>);
}

TEST(Calls, CopiesOfArraysAndContainers) {
  const context<host> ctx;
  const std::vector<int> from{1, 2, 3};
  array<int, host> to(ctx, 3);
  copy(ctx, from, to);
  EXPECT_EQ(to[2], 3);
  std::vector<int> back(3);
  copy(ctx, to, back);
  EXPECT_EQ(back, from);
  copy(ctx, to.view(), back);
  copy(ctx, from, span<int, host>(back));
  EXPECT_EQ(clone(ctx, to)[1], 2);
  EXPECT_EQ(clone(ctx, from)[1], 2);
  EXPECT_EQ(clone(ctx, to.view())[1], 2);
  fill_zero(ctx, to);
  fill_zero(ctx, back);
  EXPECT_EQ(to[2] + back[2], 0);
}

// Only compiled and linked: without a GPU there is no context to call it with.
[[maybe_unused]] void copies_of_device_arrays(const context<device>& ctx) {
  std::vector<int> there{1, 2, 3};
  array<int, device> here = to_device(ctx, there);
  copy(ctx, there, here);
  copy(ctx, here, here);
  copy(ctx, here, there);
  fill_zero(ctx, here);
  const array<int, host> back = to_host(ctx, here);
  const array<int, device> again = clone(ctx, here);
  (void)to_device(ctx, back);
}

TEST(Calls, ElementsOfDenseMatrices) {
  const context<host> ctx;
  dense_matrix<double, host> m(ctx, 2, 3);
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) m(i, j) = static_cast<double>(10 * i + j);
  }
  const auto& constant = m;
  EXPECT_EQ(constant(1, 2), 12);
  EXPECT_EQ(m.view().data[5], 12);  // row-major
  const dense_view<const double, host> view = m.view();
  EXPECT_EQ(view(1, 0), 10);
  std::vector<double> padded(8, -1);
  const dense_view<double, host> strided{2, 3, 5, padded};
  strided(1, 2) = 7;
  EXPECT_EQ(padded[7], 7);
  const auto of_an_owner = [](const dense_view<const double, host>& v) { return v(0, 1); };
  EXPECT_EQ(of_an_owner(m), 1);
  EXPECT_EQ(of_an_owner(strided), -1);
}

TEST(Calls, AnArrayIsNoLargerForItsContext) {
  EXPECT_LE(sizeof(array<int, host>), 6 * sizeof(void*));
  const array<int, host> none;
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace spargo
