// Every set of inner loops that this processor supports, against plain sums.
#include "sparse/simd/kernels.hpp"
#include "sparse/spmv_cases.hpp"

namespace spargo::test {
namespace {

template <class V_, class I_>
struct config {
  using V = V_;
  using I = I_;
};

template <class Config>
class Simd : public testing::Test {};
using configs = testing::Types<config<float, std::int32_t>, config<float, std::int64_t>, config<double, std::int32_t>,
                               config<double, std::int64_t>, config<std::complex<float>, std::int32_t>,
                               config<std::complex<double>, std::int64_t>>;
TYPED_TEST_SUITE(Simd, configs);

template <class V>
std::complex<long double> wide(V v) {
  return {std::real(v), std::imag(v)};
}

template <class V>
void expect_near(V got, std::complex<long double> want, long double magnitude, std::int64_t length, const char* where) {
  const long double eps = std::numeric_limits<real_t<V>>::epsilon() * (complex_type<V> ? 3.0L : 1.0L);
  ASSERT_LE(std::abs(wide(got) - want), static_cast<long double>(length + 2) * eps * magnitude)
      << where << ", length " << length;
}

TYPED_TEST(Simd, DotIsRightForEveryLength) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  const auto x = random_vector<V>(97, 1);
  const auto values = random_vector<V>(200, 2);
  std::vector<I> indices(200);
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = static_cast<I>(k * 37 % 97);
  for (const auto* kernels : detail::spmv::usable_host_kernels<V, I, I>()) {
    for (std::size_t count = 0; count < 140; ++count) {
      for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        std::complex<long double> sum{};
        long double magnitude = 0;
        for (std::size_t k = first; k < first + count; ++k) {
          const V xk = x[static_cast<std::size_t>(indices[k])];
          sum += wide(values[k]) * wide(xk);
          magnitude += std::abs(wide(values[k])) * std::abs(wide(xk));
        }
        expect_near(
            kernels->dot(values.data() + first, indices.data() + first, static_cast<std::int64_t>(count), x.data()),
            sum, magnitude, static_cast<std::int64_t>(count), kernels->name);
      }
    }
  }
}

// Both ways of writing y, from any place in a cache line; no other rows are written.
TYPED_TEST(Simd, RowsAreWrittenFromAnyPlace) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  const auto x = random_vector<V>(97, 4);
  const auto values = random_vector<V>(3000, 5);
  std::vector<I> indices(values.size());
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = static_cast<I>(k * 53 % 97);
  std::vector<I> offsets{0};
  for (I row = 0; row < 90; ++row) offsets.push_back(offsets.back() + row * 7 % 45);
  ASSERT_LE(static_cast<std::size_t>(offsets.back()), values.size());
  const V alpha = number<V>(-1.5, 0.5);
  const V mark = number<V>(-7, 0);
  for (const auto* kernels : detail::spmv::usable_host_kernels<V, I, I>()) {
    for (const auto loop : {kernels->csr_rows, kernels->stream_rows}) {
      for (std::size_t shift = 0; shift < 17; ++shift) {
        for (const std::int64_t last : {3, 17, 40, 90}) {
          std::vector<V> y(120, mark);
          loop(offsets.data(), indices.data(), values.data(), x.data(), alpha, V{}, y.data() + shift, 3, last);
          for (std::int64_t row = -static_cast<std::int64_t>(shift); row < 120 - static_cast<std::int64_t>(shift);
               ++row) {
            const V got = y[static_cast<std::size_t>(row + static_cast<std::int64_t>(shift))];
            if (row < 3 || row >= last) {
              ASSERT_EQ(got, mark) << kernels->name << ": row " << row << " of 3 to " << last;
              continue;
            }
            std::complex<long double> sum{};
            long double magnitude = 0;
            const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
            const auto end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]);
            for (std::size_t k = begin; k < end; ++k) {
              const V xk = x[static_cast<std::size_t>(indices[k])];
              sum += wide(alpha) * wide(values[k]) * wide(xk);
              magnitude += std::abs(wide(alpha)) * std::abs(wide(values[k])) * std::abs(wide(xk));
            }
            expect_near(got, sum, magnitude, static_cast<std::int64_t>(end - begin), kernels->name);
          }
        }
      }
    }
  }
}

// Lanes of every length side by side; past a lane's length are NaN values and the index of an infinite x.
TYPED_TEST(Simd, LaneSumsStopAtEachLength) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  constexpr std::size_t width = 13;
  auto x = random_vector<V>(50, 3);
  x[0] = number<V>(std::numeric_limits<double>::infinity(), 0);
  for (const auto* kernels : detail::spmv::usable_host_kernels<V, I, I>()) {
    for (std::size_t lanes = 1; lanes < 140; ++lanes) {
      const std::size_t stride = lanes + 5;
      std::vector<V> values(stride * width, number<V>(std::nan(""), 0));
      std::vector<I> indices(stride * width, 0);
      std::vector<I> lengths(lanes);
      std::vector<std::complex<long double>> sums(lanes);
      std::vector<long double> magnitudes(lanes);
      std::mt19937_64 random(lanes);
      for (std::size_t l = 0; l < lanes; ++l) {
        lengths[l] = static_cast<I>(random() % (width + 1));
        for (std::size_t k = 0; k < static_cast<std::size_t>(lengths[l]); ++k) {
          values[k * stride + l] = random_number<V>(random);
          indices[k * stride + l] = static_cast<I>(1 + random() % 49);
          const V xk = x[static_cast<std::size_t>(indices[k * stride + l])];
          sums[l] += wide(values[k * stride + l]) * wide(xk);
          magnitudes[l] += std::abs(wide(values[k * stride + l])) * std::abs(wide(xk));
        }
      }
      std::vector<V> got(lanes + 1, number<V>(-7, 0));
      kernels->lane_sums(values.data(), indices.data(), static_cast<std::int64_t>(stride), lengths.data(),
                         static_cast<std::int64_t>(lanes), x.data(), got.data());
      for (std::size_t l = 0; l < lanes; ++l) expect_near(got[l], sums[l], magnitudes[l], lengths[l], kernels->name);
      ASSERT_EQ(got[lanes], number<V>(-7, 0)) << kernels->name << ": written past " << lanes << " lanes";
    }
  }
}

// Rows of CSR matrices, cut and written in various ways: each sum depends on its row only, bit by bit. Arrays end with
// the last row, so that address sanitizers detect reads past them.
TYPED_TEST(Simd, SumsDependOnTheRowAlone) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  const auto x = random_vector<V>(97, 6);
  std::vector<I> offsets{0};
  for (I row = 0; row < 80; ++row) offsets.push_back(offsets.back() + row * row % 43);
  const auto values = random_vector<V>(offsets.back(), 7);
  std::vector<I> indices(values.size());
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = static_cast<I>(k * 53 % 97);
  for (const auto* kernels : detail::spmv::usable_host_kernels<V, I, I>()) {
    std::vector<V> whole(80);
    const auto rows = [&](auto loop, std::int64_t first, std::int64_t last, std::vector<V>& y) {
      loop(offsets.data(), indices.data(), values.data(), x.data(), V{1}, V{}, y.data(), first, last);
    };
    rows(kernels->csr_rows, 0, 80, whole);
    for (const std::int64_t cut : {1, 2, 17, 32, 33, 63, 79}) {
      for (const auto loop : {kernels->csr_rows, kernels->stream_rows}) {
        std::vector<V> y(80);
        rows(loop, 0, cut, y);
        rows(loop, cut, 80, y);
        ASSERT_EQ(y, whole) << kernels->name << ", cut at " << cut;
      }
    }
    for (std::size_t row = 0; row < 80; ++row) {
      const I begin = offsets[row];
      EXPECT_EQ(kernels->dot(values.data() + begin, indices.data() + begin, offsets[row + 1] - begin, x.data()),
                whole[row])
          << kernels->name << ", row " << row;
    }
  }
}

// Rows between rows of NaN whose columns hold infinities: neighbours must not affect a sum.
TYPED_TEST(Simd, NeighboursOfARowDoNotReachItsSum) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  constexpr std::size_t longest = 40;
  auto x = random_vector<V>(50, 8);
  x[0] = number<V>(std::numeric_limits<double>::infinity(), 0);
  for (const auto* kernels : detail::spmv::usable_host_kernels<V, I, I>()) {
    for (std::size_t length = 0; length <= longest; ++length) {
      const std::size_t before = 11;
      const std::size_t after = length + 19;
      auto values = random_vector<V>(static_cast<std::int64_t>(after) + 19, 9);
      std::vector<I> indices(values.size(), 0);
      std::complex<long double> sum{};
      long double magnitude = 0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (k < before || k >= before + length) {
          values[k] = number<V>(std::nan(""), 0);
          continue;
        }
        indices[k] = static_cast<I>(1 + k * 7 % 49);
        const V xk = x[static_cast<std::size_t>(indices[k])];
        sum += wide(values[k]) * wide(xk);
        magnitude += std::abs(wide(values[k])) * std::abs(wide(xk));
      }
      const std::vector<I> offsets{0, static_cast<I>(before), static_cast<I>(before + length),
                                   static_cast<I>(values.size())};
      std::vector<V> y(3);
      kernels->csr_rows(offsets.data(), indices.data(), values.data(), x.data(), V{1}, V{}, y.data(), 0, 3);
      expect_near(y[1], sum, magnitude, static_cast<std::int64_t>(length), kernels->name);
      EXPECT_TRUE(std::isnan(std::real(y[0]))) << kernels->name;
      EXPECT_TRUE(std::isnan(std::real(y[2]))) << kernels->name;
    }
  }
}

TEST(SimdChoice, TakesTheLastUsable) {
  const auto all = detail::spmv::usable_host_kernels<double, std::int32_t, std::int32_t>();
  const auto& best = detail::spmv::best_host_kernels<double, std::int32_t, std::int32_t>();
  EXPECT_EQ(all.back(), &best);
  EXPECT_STREQ(all.front()->name, "portable");
}

}  // namespace
}  // namespace spargo::test
