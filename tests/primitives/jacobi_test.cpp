// Jacobi's iteration against cell-by-cell sweeps: same bits, same residual, same count.
#include "primitives/expect_error.hpp"
#include "primitives/stencil/algorithms.hpp"
#include "support/device.hpp"

#include <spargo/primitives/jacobi.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

using enum jacobi_algorithm;

struct shape {
  std::int64_t rows, cols, pitch, offset;
};
const std::vector<shape> shapes = {{1, 1, 1, 0},      {1, 9, 9, 0},      {9, 1, 1, 0},       {2, 2, 2, 0},
                                   {3, 3, 3, 0},      {3, 4, 7, 1},      {33, 31, 32, 0},    {40, 112, 112, 0},
                                   {64, 113, 116, 0}, {65, 120, 120, 4}, {31, 129, 129, 1},  {140, 257, 260, 0},
                                   {50, 900, 900, 0}, {600, 40, 40, 0},  {29, 4200, 4200, 0}};

template <class T>
std::vector<T> random_values(std::int64_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / static_cast<T>(7);
  return values;
}

template <class T>
struct outcome {
  std::vector<T> cells;
  jacobi_result result;
};

// One sweep at a time; the residual of every check_every-th and of the last.
template <class T>
outcome<T> sweep_by_sweep(std::vector<T> u, const shape& s, const jacobi_options& options) {
  jacobi_result result;
  while (result.iterations < options.max_iterations) {
    auto next = u;
    T largest = 0;
    for (std::int64_t i = 1; i + 1 < s.rows; ++i) {
      for (std::int64_t j = 1; j + 1 < s.cols; ++j) {
        const auto k = static_cast<std::size_t>(s.offset + i * s.pitch + j);
        const auto pitch = static_cast<std::size_t>(s.pitch);
        const T across = u[k - 1] + u[k + 1];
        const T down = u[k - pitch] + u[k + pitch];
        const T value = (across + down) / 4;
        const T change = std::abs(value - u[k]);
        if (std::isnan(change) || change > largest) largest = change;
        next[k] = value;
      }
    }
    u = next;
    ++result.iterations;
    const bool tested = result.iterations % options.check_every == 0 || result.iterations == options.max_iterations;
    if (!tested) continue;
    result.residual = static_cast<double>(largest);
    result.converged = result.residual < options.tolerance;
    if (result.converged) break;
  }
  return {u, result};
}

template <class T>
image_view<T, host> view_of(std::vector<T>& u, const shape& s) {
  return {s.rows, s.cols, s.pitch, span<T, host>(u.data() + s.offset, (s.rows - 1) * s.pitch + s.cols)};
}

template <class T>
outcome<T> iterated(const context<host>& ctx, std::vector<T> u, const shape& s, const jacobi_options& options) {
  const auto result = jacobi<T, host>(ctx, view_of(u, s), options);
  return {u, result};
}

template <class T>
outcome<T> iterated(const context<device>& ctx, const std::vector<T>& u, const shape& s,
                    const jacobi_options& options) {
  auto there = to_device(ctx, span<const T, host>(u));
  const auto result = jacobi<T, device>(
      ctx, {s.rows, s.cols, s.pitch, there.view().subspan(s.offset, (s.rows - 1) * s.pitch + s.cols)}, options);
  const auto back = to_host(ctx, std::as_const(there).view());
  return {{back.begin(), back.end()}, result};
}

template <class T>
void expect_same(const outcome<T>& want, const outcome<T>& got, const std::string& what) {
  EXPECT_EQ(got.result.iterations, want.result.iterations) << what;
  EXPECT_EQ(got.result.converged, want.result.converged) << what;
  EXPECT_TRUE(got.result.residual == want.result.residual ||
              (std::isnan(got.result.residual) && std::isnan(want.result.residual)))
      << what << ": residual " << got.result.residual << ", not " << want.result.residual;
  ASSERT_EQ(got.cells.size(), want.cells.size());
  for (std::size_t k = 0; k < want.cells.size(); ++k) {
    const bool both_nan = std::isnan(want.cells[k]) && std::isnan(got.cells[k]);
    ASSERT_TRUE(both_nan || std::memcmp(&want.cells[k], &got.cells[k], sizeof(T)) == 0)
        << what << ", element " << k << ": " << got.cells[k] << ", not " << want.cells[k];
  }
}

std::string name_of(const shape& s, jacobi_algorithm algorithm, std::int64_t sweeps) {
  return std::string(to_string(algorithm)) + ", " + std::to_string(s.rows) + " x " + std::to_string(s.cols) +
         ", pitch " + std::to_string(s.pitch) + ", " + std::to_string(sweeps) + " sweeps";
}

// Every number of sweeps up to a limit, so that passes of every depth occur, with tests in between.
template <class T, class Space>
void expect_sweeps(const context<Space>& ctx, const std::vector<jacobi_algorithm>& algorithms) {
  for (const shape& s : shapes) {
    const auto u = random_values<T>(s.offset + s.rows * s.pitch + 5);
    for (const std::int64_t sweeps : {0, 1, 2, 3, 4, 5, 6, 9, 10, 17, 32}) {
      for (const std::int64_t check : {1, 5, 100}) {
        if (check == 1 && sweeps > 6) continue;
        const jacobi_options limits{.tolerance = 0, .max_iterations = sweeps, .check_every = check};
        const auto want = sweep_by_sweep(u, s, limits);
        for (const auto algorithm : algorithms) {
          jacobi_options options = limits;
          options.algorithm = algorithm;
          expect_same(want, iterated(ctx, u, s, options), name_of(s, algorithm, sweeps));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

// Stops at the first test below the tolerance, and the cells solve the equation to that accuracy.
template <class T, class Space>
void expect_convergence(const context<Space>& ctx, const std::vector<jacobi_algorithm>& algorithms) {
  const shape s{40, 37, 40, 0};
  std::vector<T> u(static_cast<std::size_t>(s.rows * s.pitch));
  for (std::int64_t j = 0; j < s.cols; ++j) u[static_cast<std::size_t>(j)] = static_cast<T>(100);
  const jacobi_options stop{.tolerance = 1e-3, .max_iterations = 100000, .check_every = 7};
  const auto want = sweep_by_sweep(u, s, stop);
  EXPECT_TRUE(want.result.converged);
  EXPECT_GT(want.result.iterations, 100);
  for (const auto algorithm : algorithms) {
    jacobi_options options = stop;
    options.algorithm = algorithm;
    expect_same(want, iterated(ctx, u, s, options), name_of(s, algorithm, want.result.iterations));
  }
}

// A NaN spreads by one cell per sweep, and its residual is below no tolerance.
template <class T, class Space>
void expect_nan(const context<Space>& ctx, const std::vector<jacobi_algorithm>& algorithms) {
  const shape s{60, 300, 300, 0};
  for (const T special : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    auto u = random_values<T>(s.rows * s.pitch);
    u[30 * 300 + 140] = special;
    const jacobi_options limits{.tolerance = 1e30, .max_iterations = 20, .check_every = 10};
    const auto want = sweep_by_sweep(u, s, limits);
    EXPECT_FALSE(want.result.converged);
    for (const auto algorithm : algorithms) {
      jacobi_options options = limits;
      options.algorithm = algorithm;
      expect_same(want, iterated(ctx, u, s, options), name_of(s, algorithm, 20));
    }
  }
}

const std::vector<jacobi_algorithm> host_rungs = detail::algorithms_on<host>(detail::stencil::jacobi_algorithms);
const std::vector<jacobi_algorithm> device_rungs = detail::algorithms_on<device>(detail::stencil::jacobi_algorithms);

template <class T>
class Jacobi : public testing::Test {};
using real_types = testing::Types<float, double>;
TYPED_TEST_SUITE(Jacobi, real_types);

TYPED_TEST(Jacobi, Host) {
  for (const int threads : {1, 3}) expect_sweeps<TypeParam>(context<host>({.threads = threads}), host_rungs);
}
TYPED_TEST(Jacobi, HostConverges) { expect_convergence<TypeParam>(context<host>(), host_rungs); }
TYPED_TEST(Jacobi, HostSpecialValues) { expect_nan<TypeParam>(context<host>(), host_rungs); }

// Wide and tall enough for several bands of rows and blocks of columns.
TYPED_TEST(Jacobi, HostLarge) {
  const shape s{150, 10007, 10007, 0};
  const auto u = random_values<TypeParam>(s.rows * s.pitch);
  const jacobi_options limits{.tolerance = 0, .max_iterations = 9, .check_every = 9};
  const auto want = sweep_by_sweep(u, s, limits);
  for (const auto algorithm : host_rungs) {
    jacobi_options options = limits;
    options.algorithm = algorithm;
    expect_same(want, iterated(context<host>({.threads = 4}), u, s, options), name_of(s, algorithm, 9));
  }
}

TYPED_TEST(Jacobi, Device) {
  SPARGO_TEST_NEEDS_GPU();
  expect_sweeps<TypeParam>(context<device>(), device_rungs);
}
TYPED_TEST(Jacobi, DeviceConverges) {
  SPARGO_TEST_NEEDS_GPU();
  expect_convergence<TypeParam>(context<device>(), device_rungs);
}
TYPED_TEST(Jacobi, DeviceSpecialValues) {
  SPARGO_TEST_NEEDS_GPU();
  expect_nan<TypeParam>(context<device>(), device_rungs);
}

TYPED_TEST(Jacobi, DeviceLarge) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const shape& s : {shape{4099, 4093, 4093, 0}, shape{4099, 4093, 4096, 0}}) {
    const auto u = random_values<TypeParam>(s.rows * s.pitch);
    const jacobi_options limits{.algorithm = tiled, .tolerance = 0, .max_iterations = 16, .check_every = 16};
    const auto want = iterated(context<host>(), u, s, limits);
    for (const auto algorithm : device_rungs) {
      jacobi_options options = limits;
      options.algorithm = algorithm;
      const auto got = iterated(ctx, u, s, options);
      EXPECT_EQ(got.result.residual, want.result.residual);
      EXPECT_EQ(std::memcmp(got.cells.data(), want.cells.data(), sizeof(TypeParam) * want.cells.size()), 0)
          << name_of(s, algorithm, 16);
    }
  }
}

// The heat of one cell in the last rows of more than 2^31 cells spreads exactly as far as the number of sweeps.
TEST(JacobiHuge, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t cols = 46343;
  const std::int64_t rows = 46340;  // 2^31 + 50,973 cells
  if (ctx.memory().free_bytes < 10 * rows * cols) GTEST_SKIP() << "not enough memory for 2^31 cells twice";
  array<float, device> u(ctx, rows * cols);
  fill_zero(ctx, u.view());
  const std::vector<float> mark = {65536.0F};
  const std::int64_t cell = (rows - 20) * cols + cols / 2;
  copy<float>(ctx, span<const float, host>(mark), u.view().subspan(cell, 1));
  ctx.synchronize();
  const auto result =
      jacobi<float, device>(ctx, {rows, cols, cols, u.view()}, {.tolerance = 0, .max_iterations = 9, .check_every = 9});
  EXPECT_EQ(result.iterations, 9);
  EXPECT_GT(result.residual, 0);
  const auto row = to_host(ctx, std::as_const(u).view().subspan(cell - 11, 23));
  // Along the row after 9 sweeps: paths of 9 steps that end k columns away, C(9, (9 - k) / 2)^2 of 4^9.
  const std::vector<double> choose = {1, 9, 36, 84, 126};
  for (int k = -11; k <= 11; ++k) {
    const int away = std::abs(k);
    double want = 0;
    if (away <= 9 && away % 2 == 1) {
      const double paths = choose[static_cast<std::size_t>((9 - away) / 2)];
      want = 65536.0 * paths * paths / 262144.0;
    }
    EXPECT_EQ(static_cast<double>(row[k + 11]), want) << k;
  }
}

TEST(JacobiErrors, All) {
  const context<host> ctx;
  std::vector<float> data(12, 1.0F);
  const image_view<float, host> u{3, 4, 4, span<float, host>(data)};
  const auto run = [&](const image_view<float, host>& on, const jacobi_options& options) {
    static_cast<void>(jacobi<float, host>(ctx, on, options));
  };
  test::expect_error([&] { run(u, {.algorithm = register_marched}); }, "register_marched", error_code::unsupported);
  test::expect_error([&] { run(u, {.algorithm = static_cast<jacobi_algorithm>(9)}); }, "number 9");
  test::expect_error([&] { run(u, {.max_iterations = -1}); }, "max_iterations");
  test::expect_error([&] { run(u, {.check_every = 0}); }, "check_every");
  test::expect_error([&] { run(u, {.tolerance = std::numeric_limits<double>::quiet_NaN()}); }, "tolerance");
  test::expect_error([&] { run({3, 4, 3, u.data}, {}); }, "stride of 3");
  test::expect_error([&] { run({4, 4, 4, u.data}, {}); }, "expected at least 16");
  test::expect_error([&] { run({3, 4, 4, span<float, host>(nullptr, 12)}, {}); }, "null");
}

TEST(JacobiEmpty, NothingToDo) {
  const context<host> ctx;
  const auto settled = jacobi<float, host>(ctx, {0, 5, 5, {}}, {.check_every = 3});
  EXPECT_EQ(settled.iterations, 3);
  EXPECT_TRUE(settled.converged);
  const auto none = jacobi<float, host>(ctx, {0, 5, 5, {}}, {.tolerance = 0, .max_iterations = 8});
  EXPECT_EQ(none.iterations, 8);
  EXPECT_FALSE(none.converged);
}

TEST(JacobiNames, All) {
  EXPECT_EQ(to_string(automatic), "automatic");
  EXPECT_EQ(to_string(naive), "naive");
  EXPECT_EQ(to_string(tiled), "tiled");
  EXPECT_EQ(to_string(register_marched), "register_marched");
  EXPECT_EQ(to_string(temporal), "temporal");
  EXPECT_EQ(to_string(static_cast<jacobi_algorithm>(17)), "unknown");
}

}  // namespace
}  // namespace spargo
