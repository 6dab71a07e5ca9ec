// Laplacians against their definition on dense matrices in long double.
#include "support/message.hpp"
#include "support/number.hpp"

#include <spargo/sparse/laplacian.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <random>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using test::number;
using test::widened;
using wide = std::complex<long double>;

template <class V>
struct rows {
  i32 n = 0;
  std::vector<i32> offsets{0}, indices{};
  std::vector<V> values{};
  [[nodiscard]] csr_view<const V, i32, i32, host> view() const { return {{n, n, offsets, indices}, values}; }
};

// Unsorted rows with duplicates, self-loops and empty rows.
template <class V>
rows<V> random_rows_of(i32 n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.25, 1);
  rows<V> a{n};
  for (i32 r = 0; r < n; ++r) {
    const std::size_t size = r % 5 == 2 ? 0 : random() % 7;
    for (std::size_t k = 0; k < size; ++k) {
      a.indices.push_back(static_cast<i32>(random() % static_cast<std::uint64_t>(n)));
      a.values.push_back(number<V>(uniform(random), uniform(random)));
    }
    a.offsets.push_back(static_cast<i32>(a.indices.size()));
  }
  return a;
}

using dense = std::map<std::pair<i32, i32>, wide>;

template <class V>
dense expected_of(const rows<V>& a, laplacian_kind kind) {
  std::vector<long double> sums(static_cast<std::size_t>(a.n));
  dense found;
  for (i32 r = 0; r < a.n; ++r) {
    for (i32 k = a.offsets[r]; k < a.offsets[r + 1]; ++k) sums[r] += widened(a.values[k]).real();
  }
  const auto scale = [&](i32 r) { return sums[r] > 0 ? 1 / std::sqrt(sums[r]) : 0; };
  const bool plain = kind == laplacian_kind::combinatorial;
  for (i32 r = 0; r < a.n; ++r) {
    found[{r, r}] += plain ? sums[r] : sums[r] > 0 ? 1 : 0;
    for (i32 k = a.offsets[r]; k < a.offsets[r + 1]; ++k) {
      found[{r, a.indices[k]}] -= widened(a.values[k]) * (plain ? 1 : scale(r) * scale(a.indices[k]));
    }
  }
  return found;
}

template <class V>
class Laplacian : public testing::Test {};
using value_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Laplacian, value_types);

TYPED_TEST(Laplacian, IsItsDefinition) {
  using V = TypeParam;
  const long double tolerance = sizeof(test::real_t<V>) == 4 ? 1e-5L : 1e-13L;
  for (const i32 n : {0, 1, 2, 33, 400}) {
    const auto a = random_rows_of<V>(n, static_cast<unsigned>(n));
    for (const auto kind : {laplacian_kind::combinatorial, laplacian_kind::normalized}) {
      const dense expected = expected_of(a, kind);
      for (const int threads : {1, 3}) {
        const auto found = laplacian<V, i32, i32>(context<host>({.threads = threads}), a.view(), kind);
        ASSERT_EQ(found.nnz(), std::ssize(expected));
        auto next = expected.begin();
        for (i32 r = 0; r < n; ++r) {
          for (i32 k = found.offsets()[r]; k < found.offsets()[r + 1]; ++k, ++next) {
            ASSERT_EQ(std::pair(r, found.indices()[k]), next->first);
            ASSERT_LE(std::abs(widened(found.values()[k]) - next->second), tolerance) << n << ", row " << r;
          }
        }
      }
    }
  }
}

TEST(LaplacianErrors, AreNamed) {
  const context<host> ctx;
  const rows<double> negative{3, {0, 1, 2, 3}, {1, 0, 2}, {1, 1, -2}};
  EXPECT_EQ(laplacian(ctx, negative.view()).nnz(), 5);
  const auto normalized = [&] { (void)laplacian(ctx, negative.view(), laplacian_kind::normalized); };
  EXPECT_EQ(test::message_of(error_code::invalid_data, normalized),
            "laplacian: row 2 (from 0) has the sum -2 (expected 0 or more)");
  const std::vector<i32> offsets{0, 0};
  const csr_view<const double, i32, i32, host> wide_one{{1, 2, offsets, {}}, {}};
  EXPECT_EQ(test::message_of(error_code::invalid_argument, [&] { (void)laplacian(ctx, wide_one); }),
            "laplacian: a matrix of 1 x 2 (expected a square one)");
}

}  // namespace
}  // namespace spargo
