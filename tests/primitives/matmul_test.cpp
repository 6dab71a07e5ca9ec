// The dense product, every algorithm on both backends, against long double loops.
#include "primitives/matmul/algorithms.hpp"
#include "primitives/matmul/backend.hpp"
#include "support/device.hpp"

#include <spargo/primitives/matmul.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace spargo {
namespace {

struct shape {
  std::int64_t m, n, k;
};

const std::vector<shape> shapes = {{1, 1, 1},      {1, 1, 0},       {3, 5, 0},      {1, 33, 7},     {31, 1, 65},
                                   {32, 32, 32},   {33, 31, 17},    {64, 128, 16},  {65, 129, 15},  {127, 255, 33},
                                   {128, 256, 64}, {129, 257, 100}, {255, 63, 257}, {16, 16, 2000}, {300, 520, 130}};
const std::vector<matmul_algorithm> device_algorithms = detail::algorithms_on<device>(detail::matmul::algorithms);

// tensor_core is for doubles on Hopper, in a library built for it.
template <class V>
bool is_missing(const context<device>& ctx, matmul_algorithm algorithm) {
  if (algorithm != matmul_algorithm::tensor_core) return false;
  if constexpr (config::has_cuda && std::same_as<V, double>) {
    return !detail::matmul::has_tensor_double(ctx);
  } else {
    return true;
  }
}

template <class V>
std::vector<V> random_values(std::int64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<V> values(static_cast<std::size_t>(size));
  for (V& v : values) v = static_cast<V>(draw(random));
  return values;
}

template <class V>
struct problem {
  shape size;
  transpose_kind op_b;
  std::int64_t gap;  // elements between rows
  std::vector<V> a, b, c;

  problem(shape s, transpose_kind op, std::int64_t space) : size(s), op_b(op), gap(space) {
    a = random_values<V>(s.m * lda(), 1);
    b = random_values<V>((op == transpose_kind::none ? s.k : s.n) * ldb(), 2);
    c = random_values<V>(s.m * ldc(), 3);
  }
  [[nodiscard]] std::int64_t lda() const { return size.k + gap; }
  [[nodiscard]] std::int64_t ldb() const { return (op_b == transpose_kind::none ? size.n : size.k) + gap; }
  [[nodiscard]] std::int64_t ldc() const { return size.n + gap; }
  [[nodiscard]] long double b_at(std::int64_t p, std::int64_t j) const {
    return b[static_cast<std::size_t>(op_b == transpose_kind::none ? p * ldb() + j : j * ldb() + p)];
  }
  template <class Space>
  [[nodiscard]] dense_view<const V, Space> a_view(span<const V, Space> data) const {
    return {size.m, size.k, lda(), data};
  }
  template <class Space>
  [[nodiscard]] dense_view<const V, Space> b_view(span<const V, Space> data) const {
    return {op_b == transpose_kind::none ? size.k : size.n, op_b == transpose_kind::none ? size.n : size.k, ldb(),
            data};
  }
  template <class Space>
  [[nodiscard]] dense_view<V, Space> c_view(span<V, Space> data) const {
    return {size.m, size.n, ldc(), data};
  }

  // Every element within the documented bound, and gaps between rows unchanged.
  void expect(const std::vector<V>& got, V alpha, V beta) const {
    const long double unit = static_cast<long double>(std::numeric_limits<V>::epsilon()) / 2;
    for (std::int64_t i = 0; i < size.m; ++i) {
      for (std::int64_t j = 0; j < ldc(); ++j) {
        const auto at = static_cast<std::size_t>(i * ldc() + j);
        if (j >= size.n) {
          ASSERT_EQ(got[at], c[at]) << "between rows " << i << " and " << i + 1;
          continue;
        }
        long double sum = 0;
        long double magnitude = 0;
        for (std::int64_t p = 0; alpha != V{0} && p < size.k; ++p) {
          const long double product = static_cast<long double>(a[static_cast<std::size_t>(i * lda() + p)]) * b_at(p, j);
          sum += product;
          magnitude += std::abs(product);
        }
        long double expected = alpha * sum;
        long double scale = std::abs(static_cast<long double>(alpha)) * magnitude;
        if (beta != V{0}) {
          expected += static_cast<long double>(beta) * c[at];
          scale += std::abs(static_cast<long double>(beta) * c[at]);
        }
        const long double bound = static_cast<long double>(size.k + 3) * unit * scale;
        ASSERT_LE(std::abs(static_cast<long double>(got[at]) - expected), bound) << "element " << i << ", " << j;
      }
    }
  }
};

template <class V>
std::string name_of(const problem<V>& p, matmul_algorithm algorithm) {
  return std::string(to_string(algorithm)) + " of " + std::to_string(p.size.m) + " x " + std::to_string(p.size.n) +
         " x " + std::to_string(p.size.k) + (p.op_b == transpose_kind::none ? "" : ", B transposed") + ", gap " +
         std::to_string(p.gap);
}

template <class V>
void check_host(const problem<V>& p, V alpha, V beta, matmul_algorithm algorithm, int threads) {
  SCOPED_TRACE(name_of(p, algorithm));
  const context<host> ctx({.threads = threads});
  std::vector<V> c = p.c;
  if (beta == V{0} && p.gap == 0) std::fill(c.begin(), c.end(), std::numeric_limits<V>::quiet_NaN());
  matmul<V, host>(ctx, alpha, p.template a_view<host>(p.a), p.template b_view<host>(p.b), beta,
                  p.template c_view<host>(c), {.algorithm = algorithm, .op_b = p.op_b});
  p.expect(c, alpha, beta);
}

// `offset` elements of padding before each matrix: 1 rules out 16-byte loads.
template <class V>
void check_device(const context<device>& ctx, const problem<V>& p, V alpha, V beta, matmul_algorithm algorithm,
                  std::int64_t offset) {
  SCOPED_TRACE(name_of(p, algorithm) + ", offset " + std::to_string(offset));
  const auto upload = [&](std::vector<V> values) {
    values.insert(values.begin(), static_cast<std::size_t>(offset), V{0});
    values.push_back(V{0});
    return to_device(ctx, span<const V, host>(values));
  };
  std::vector<V> start = p.c;
  if (beta == V{0} && p.gap == 0) std::fill(start.begin(), start.end(), std::numeric_limits<V>::quiet_NaN());
  const auto a = upload(p.a);
  const auto b = upload(p.b);
  auto c = upload(start);
  const auto part = [&](const array<V, device>& whole) {
    return whole.view().subspan(offset, whole.size() - offset - 1);
  };
  matmul<V, device>(ctx, alpha, p.template a_view<device>(part(a)), p.template b_view<device>(part(b)), beta,
                    p.template c_view<device>(c.view().subspan(offset, c.size() - offset - 1)),
                    {.algorithm = algorithm, .op_b = p.op_b});
  const auto back = to_host(ctx, std::as_const(c).view());
  ctx.synchronize();
  p.expect(std::vector<V>(back.data() + offset, back.data() + back.size() - 1), alpha, beta);
}

template <class V>
class Matmul : public testing::Test {};
using multiplied = testing::Types<float, double>;
TYPED_TEST_SUITE(Matmul, multiplied);

TYPED_TEST(Matmul, HostShapes) {
  using V = TypeParam;
  for (const shape& s : shapes) {
    for (const auto op : {transpose_kind::none, transpose_kind::transpose}) {
      for (const std::int64_t gap : {0, 3}) {
        const problem<V> p(s, op, gap);
        check_host<V>(p, V(1.5), V(-0.75), matmul_algorithm::blocked, 2);
        check_host<V>(p, V(1), V(0), matmul_algorithm::blocked, 1);
        check_host<V>(p, V(1), V(1), matmul_algorithm::automatic, 2);
      }
    }
  }
}

// Several k steps and column blocks; the same bits for every thread count.
TYPED_TEST(Matmul, HostBlocksAndThreads) {
  using V = TypeParam;
  const problem<V> p({70, 3300, 600}, transpose_kind::none, 0);
  std::vector<V> once;
  for (const int threads : {1, 2, 5}) {
    const context<host> ctx({.threads = threads});
    std::vector<V> c = p.c;
    matmul<V, host>(ctx, V(1), p.template a_view<host>(p.a), p.template b_view<host>(p.b), V(0.5),
                    p.template c_view<host>(c), {.algorithm = matmul_algorithm::blocked});
    if (once.empty()) {
      once = c;
      p.expect(c, V(1), V(0.5));
    }
    EXPECT_EQ(c, once) << threads << " threads";
  }
}

TYPED_TEST(Matmul, DeviceShapes) {
  using V = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const shape& s : shapes) {
    for (const auto op : {transpose_kind::none, transpose_kind::transpose}) {
      const problem<V> p(s, op, 0);
      const problem<V> spread(s, op, 5);
      for (const auto algorithm : device_algorithms) {
        if (is_missing<V>(ctx, algorithm)) continue;
        check_device<V>(ctx, p, V(1), V(0), algorithm, 0);
        check_device<V>(ctx, p, V(1.5), V(-0.75), algorithm, 1);
        check_device<V>(ctx, spread, V(-2), V(1), algorithm, 0);
      }
    }
  }
}

// One ragged shape, for compute-sanitizer.
TYPED_TEST(Matmul, DeviceSmall) {
  using V = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const auto op : {transpose_kind::none, transpose_kind::transpose}) {
    const problem<V> p({33, 66, 520}, op, 3);
    for (const auto algorithm : device_algorithms) {
      if (is_missing<V>(ctx, algorithm)) continue;
      check_device<V>(ctx, p, V(0.5), V(2), algorithm, 1);
    }
  }
}

// Large enough for the large tiles, whole and ragged; checked against `naive`, which the test above checks.
TYPED_TEST(Matmul, DeviceLarge) {
  using V = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const shape& s : {shape{2048, 2304, 512}, shape{1999, 2311, 517}}) {
    for (const auto op : {transpose_kind::none, transpose_kind::transpose}) {
      const problem<V> p(s, op, 0);
      const auto a = to_device(ctx, span<const V, host>(p.a));
      const auto b = to_device(ctx, span<const V, host>(p.b));
      const auto run = [&](matmul_algorithm algorithm) {
        auto c = to_device(ctx, span<const V, host>(p.c));
        matmul<V, device>(ctx, V(1), p.template a_view<device>(a.view()), p.template b_view<device>(b.view()), V(2),
                          p.template c_view<device>(c.view()), {.algorithm = algorithm, .op_b = op});
        auto back = to_host(ctx, std::as_const(c).view());
        ctx.synchronize();
        return back;
      };
      const auto plain = run(matmul_algorithm::naive);
      for (const auto algorithm : device_algorithms) {
        if (is_missing<V>(ctx, algorithm)) continue;
        SCOPED_TRACE(name_of(p, algorithm));
        const auto got = run(algorithm);
        // Both are within k eps / 2 sum |a||b| <= k^2 eps / 2 of the exact sum.
        const double bound = 2.0 * static_cast<double>((s.k + 3) * (s.k + 2)) *
                             static_cast<double>(std::numeric_limits<V>::epsilon()) / 2;
        double worst = 0;
        for (std::int64_t i = 0; i < got.size(); ++i) {
          const double difference = std::abs(static_cast<double>(got[i]) - static_cast<double>(plain[i]));
          worst = difference <= worst ? worst : difference;  // keeps NaN
        }
        EXPECT_LE(worst, bound);
      }
    }
  }
}

TYPED_TEST(Matmul, ZeroFactorsReadNothing) {
  using V = TypeParam;
  const V nan = std::numeric_limits<V>::quiet_NaN();
  const std::vector<V> bad(12, nan);
  std::vector<V> c = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const context<host> ctx({.threads = 2});
  const dense_view<const V, host> a{3, 4, 4, bad};
  const dense_view<const V, host> b{4, 3, 3, bad};
  matmul<V, host>(ctx, V(0), a, b, V(2), dense_view<V, host>{3, 3, 3, c}, {.algorithm = matmul_algorithm::blocked});
  EXPECT_EQ(c, (std::vector<V>{2, 4, 6, 8, 10, 12, 14, 16, 18}));
  std::fill(c.begin(), c.end(), nan);
  matmul<V, host>(ctx, V(0), a, b, V(0), dense_view<V, host>{3, 3, 3, c}, {.algorithm = matmul_algorithm::blocked});
  EXPECT_EQ(c, std::vector<V>(9, V(0)));
}

TYPED_TEST(Matmul, DeviceZeroFactorsReadNothing) {
  using V = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const V nan = std::numeric_limits<V>::quiet_NaN();
  const auto bad = to_device(ctx, span<const V, host>(std::vector<V>(12, nan)));
  for (const auto algorithm : device_algorithms) {
    if (is_missing<V>(ctx, algorithm)) continue;
    for (const V beta : {V(2), V(0)}) {
      const std::vector<V> start(9, beta == V(0) ? nan : V(3));
      auto c = to_device(ctx, span<const V, host>(start));
      matmul<V, device>(ctx, V(0), {3, 4, 4, bad.view()}, {4, 3, 3, bad.view()}, beta,
                        dense_view<V, device>{3, 3, 3, c.view()}, {.algorithm = algorithm});
      const auto back = to_host(ctx, std::as_const(c).view());
      ctx.synchronize();
      EXPECT_EQ(std::vector<V>(back.data(), back.data() + 9), std::vector<V>(9, beta == V(0) ? V(0) : V(6)))
          << to_string(algorithm);
    }
  }
}

void expect_message(const char* part, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with '" << part << "'";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(MatmulErrors, ThrownBeforeAnythingRuns) {
  const context<host> ctx;
  const std::vector<float> twelve(12, 1.0F);
  std::vector<float> nine(9);
  const dense_view<const float, host> a{3, 4, 4, twelve};
  const dense_view<const float, host> b{4, 3, 3, twelve};
  const dense_view<float, host> c{3, 3, 3, nine};
  const auto run = [&](const dense_view<const float, host>& left, const dense_view<const float, host>& right,
                       const dense_view<float, host>& to, const matmul_options& options = {}) {
    return [=, &ctx] { matmul<float, host>(ctx, 1.0F, left, right, 0.0F, to, options); };
  };
  expect_message("op(B) 3 x 4", run(a, {3, 4, 4, twelve}, c));
  expect_message("op(B) 3 x 4", run(a, b, c, {.op_b = transpose_kind::transpose}));
  expect_message("C 2 x 3", run(a, b, {2, 3, 3, nine}));
  expect_message("stride of 2", run(a, {4, 3, 2, twelve}, c));
  expect_message("A has 12 elements (expected at least 14)", run({3, 4, 5, twelve}, b, c));
  expect_message("A is null", run({3, 4, 4, {nullptr, 12}}, b, c));
  expect_message("tiled does not run on the host (expected one of blocked)",
                 run(a, b, c, {.algorithm = matmul_algorithm::tiled}));
  expect_message("tensor_core", run(a, b, c, {.algorithm = matmul_algorithm::tensor_core}));
  std::vector<float> shared(30, 1.0F);
  const span<float, host> all(shared);
  expect_message("C overlaps A", [&] {
    matmul<float, host>(ctx, 1.0F, {3, 4, 4, all.subspan(0, 12)}, b, 0.0F,
                        dense_view<float, host>{3, 3, 3, all.subspan(11, 9)});
  });
  const std::vector<float> empty;
  std::vector<float> nothing;
  run({0, 4, 4, empty}, b, {0, 3, 3, nothing})();  // an empty product is valid
}

TEST(MatmulErrors, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const array<float, device> values(ctx, 16);
  array<float, device> c(ctx, 16);
  const dense_view<const float, device> a{4, 4, 4, values.view()};
  expect_message("blocked does not run on the device (expected one of naive", [&] {
    matmul<float, device>(ctx, 1.0F, a, a, 0.0F, dense_view<float, device>{4, 4, 4, c.view()},
                          {.algorithm = matmul_algorithm::blocked});
  });
  expect_message("tensor_core is for double", [&] {
    matmul<float, device>(ctx, 1.0F, a, a, 0.0F, dense_view<float, device>{4, 4, 4, c.view()},
                          {.algorithm = matmul_algorithm::tensor_core});
  });
}

// C has more than 2^31 elements; one row and one column of ones show what is at its end.
TEST(MatmulHuge, ElementsPast2To31) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t m = 46350;
  const std::int64_t n = 46349;
  if (ctx.memory().free_bytes < 3 * m * n * 4) GTEST_SKIP() << "the device has too little free memory";
  array<float, device> a(ctx, m);
  array<float, device> b(ctx, n);
  array<float, device> c(ctx, m * n);
  for (const auto algorithm : {matmul_algorithm::register_tiled, matmul_algorithm::naive, matmul_algorithm::tiled}) {
    fill_zero(ctx, a.view());
    fill_zero(ctx, b.view());
    detail::fill_bytes(ctx, c.data(), 0xff, static_cast<std::size_t>(m * n) * 4);
    const std::vector<float> three = {3.0F};
    copy<float>(ctx, span<const float, host>(three), a.view().subspan(m - 1, 1));
    copy<float>(ctx, span<const float, host>(three), b.view().subspan(n - 1, 1));
    matmul<float, device>(ctx, 1.0F, {m, 1, 1, a.view()}, {1, n, n, b.view()}, 0.0F,
                          dense_view<float, device>{m, n, n, c.view()}, {.algorithm = algorithm});
    const auto last = to_host(ctx, std::as_const(c).view().subspan(m * n - 2, 2));
    const auto first = to_host(ctx, std::as_const(c).view().subspan(0, 2));
    ctx.synchronize();
    EXPECT_EQ(last[0], 0.0F) << to_string(algorithm);
    EXPECT_EQ(last[1], 9.0F) << to_string(algorithm);
    EXPECT_EQ(first[0], 0.0F) << to_string(algorithm);
  }
}

}  // namespace
}  // namespace spargo
