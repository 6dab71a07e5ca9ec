// The checks of benchmark results: they accept a right result and refuse one with a single wrong element or an element
// that was never written.
#include "bench/check.hpp"
#include "bench/references.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace spargo::bench {
namespace {

// `right` passes; it fails with any single element changed or still poisoned.
template <class T>
void expect_every_element_counts(std::vector<T> right, T change,
                                 const std::function<void(span<const T, host>)>& check) {
  EXPECT_NO_THROW(check(right));
  std::mt19937_64 random(1);
  const std::size_t step = std::max<std::size_t>(1, right.size() / 97);
  for (std::size_t k = 0; k < right.size(); k += 1 + random() % step) {
    const T was = right[k];
    right[k] = was + change;
    EXPECT_THROW(check(right), wrong_result) << "element " << k;
    poison(span<T, host>(right.data() + k, 1));
    EXPECT_THROW(check(right), wrong_result) << "element " << k << " as it was poisoned";
    right[k] = was;
  }
  right.back() += change;
  EXPECT_THROW(check(right), wrong_result) << "the last element";
}

TEST(poison, is_nan_or_minus_one) {
  std::vector<float> reals(3);
  std::vector<std::int32_t> numbers(3);
  poison<float>(reals);
  poison<std::int32_t>(numbers);
  for (const float v : reals) EXPECT_TRUE(std::isnan(v));
  for (const std::int32_t v : numbers) EXPECT_EQ(v, -1);
  poison(span<double, host>());
}

TEST(whole_number, sums_are_exact_and_show_what_is_left_out) {
  constexpr std::int64_t size = 1 << 20;
  float forwards = 0;
  float strided = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    EXPECT_LE(std::abs(whole_number<int>(i)), 8);
    forwards += whole_number<float>(i);
    strided += whole_number<float>(i % 1024 * 1024 + i / 1024);
  }
  EXPECT_EQ(static_cast<std::int64_t>(forwards), whole_sum(size));
  EXPECT_EQ(forwards, strided);
  for (const std::int64_t block : {17, 32, 255, 4096}) EXPECT_NE(whole_sum(size - block), whole_sum(size)) << block;
  EXPECT_NE(whole_sum(size, 1), whole_sum(size));
  EXPECT_NE(whole_dot(size, 0, 1), whole_dot(size, 0, 0));
}

TEST(checks, of_scans) {
  for (const auto direction : {scan_direction::inclusive, scan_direction::exclusive}) {
    std::vector<std::int32_t> out;
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < 5000; ++i) {
      const std::int32_t before = sum;
      sum += whole_number<std::int32_t>(i);
      out.push_back(direction == scan_direction::inclusive ? sum : before);
    }
    expect_every_element_counts<std::int32_t>(out, 1, [&](span<const std::int32_t, host> got) {
      scan_checker<std::int32_t> check(direction);
      check.expect(got.subspan(0, 1000));
      check.expect(got.subspan(1000, got.size() - 1000));
    });
  }
}

// Without the sum of earlier blocks a block's scan is wrong: the numbers do not cancel.
TEST(checks, of_scans_see_a_lost_carry) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0, sum = 0; i < 4096; ++i) {
    if (i % 256 == 0) sum = 0;
    out.push_back(static_cast<std::int32_t>(sum += whole_number<std::int32_t>(i)));
  }
  scan_checker<std::int32_t> check(scan_direction::inclusive);
  EXPECT_THROW(check.expect(out), wrong_result);
}

TEST(checks, of_convolutions) {
  for (const auto& [rows, cols, down, across] :
       std::vector<std::array<std::int64_t, 4>>{{40, 50, 3, 3}, {17, 9, 7, 7}, {1, 300, 1, 15}, {3, 4, 5, 5}}) {
    std::vector<float> filter(static_cast<std::size_t>(down * across));
    for (std::size_t k = 0; k < filter.size(); ++k) filter[k] = 0.5F + static_cast<float>(k % 5);
    std::vector<float> out;
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t x = 0; x < cols; ++x) {
        float sum = 0;
        for (std::int64_t s = 0; s < down; ++s) {
          for (std::int64_t t = 0; t < across; ++t) {
            const std::int64_t r = y + s - down / 2, c = x + t - across / 2;
            if (r < 0 || r >= rows || c < 0 || c >= cols) continue;
            sum += random_input<float>(r * cols + c) * filter[static_cast<std::size_t>(s * across + t)];
          }
        }
        out.push_back(sum);
      }
    }
    expect_every_element_counts<float>(out, 0.01F,
                                       [&, r = rows, c = cols, d = down, a = across](span<const float, host> got) {
                                         expect_convolved<float>(r, c, filter, d, a, got);
                                       });
  }
}

TEST(checks, of_window_averages_and_maxima) {
  for (const std::int64_t radius : {1, 2, 16, 700}) {
    constexpr std::int64_t size = 1000;
    std::vector<double> averages;
    std::vector<double> maxima;
    for (std::int64_t i = 0; i < size; ++i) {
      double sum = 0;
      double largest = -2;
      for (std::int64_t j = std::max<std::int64_t>(0, i - radius); j <= std::min(size - 1, i + radius); ++j) {
        sum += random_input<double>(j);
      }
      for (std::int64_t j = i; j < std::min(size, i + 2 * radius + 1); ++j) {
        largest = std::max(largest, random_input<double>(j));
      }
      averages.push_back(sum / (2.0 * static_cast<double>(radius) + 1));
      maxima.push_back(largest);
    }
    expect_every_element_counts<double>(
        averages, 1e-9, [&](span<const double, host> got) { expect_window_averages<double>(radius, got); });
    expect_every_element_counts<double>(
        maxima, 1e-9, [&](span<const double, host> got) { expect_window_maxima<double>(2 * radius + 1, got); });
  }
}

TEST(checks, of_cube_maxima) {
  constexpr std::int64_t side = 9, window = 4;
  std::vector<float> out;
  for (std::int64_t i = 0; i < side * side * side; ++i) {
    float largest = -2;
    for (std::int64_t k = 0; k < window * window * window; ++k) {
      const std::int64_t p = i / side / side + k / window / window;
      const std::int64_t r = i / side % side + k / window % window;
      const std::int64_t c = i % side + k % window;
      if (p < side && r < side && c < side) largest = std::max(largest, random_input<float>((p * side + r) * side + c));
    }
    out.push_back(largest);
  }
  expect_every_element_counts<float>(
      out, 1e-6F, [&](span<const float, host> got) { expect_cube_maxima<float>(side, window, got); });
}

TEST(checks, of_stencils) {
  constexpr std::int64_t side = 23;
  const auto in = [](std::int64_t r, std::int64_t c) { return random_input<float>(r * side + c); };
  std::vector<float> averages, swept(side * side);
  for (std::int64_t i = 0; i < side * side; ++i) swept[static_cast<std::size_t>(i)] = random_input<float>(i);
  const auto inner = [](std::int64_t i) {
    return i / side > 0 && i % side > 0 && i / side + 1 < side && i % side + 1 < side;
  };
  for (std::int64_t i = 0; i < side * side; ++i) {
    const std::int64_t r = i / side, c = i % side;
    averages.push_back(!inner(i) ? in(r, c)
                                 : (((in(r, c - 1) + in(r, c + 1)) + (in(r - 1, c) + in(r + 1, c))) + in(r, c)) * 0.2F);
  }
  expect_every_element_counts<float>(
      averages, 1e-6F, [&](span<const float, host> got) { expect_five_point_averages<float>(side, got); });
  for (int sweep = 0; sweep < 3; ++sweep) {
    const std::vector<float> old = swept;
    for (std::size_t i = 0; i < swept.size(); ++i) {
      if (inner(static_cast<std::int64_t>(i)))
        swept[i] = ((old[i - 1] + old[i + 1]) + (old[i - side] + old[i + side])) * 0.25F;
    }
  }
  expect_every_element_counts<float>(swept, 1e-6F,
                                     [&](span<const float, host> got) { expect_jacobi<float>(side, 3, got); });
}

TEST(checks, of_products) {
  constexpr std::int64_t n = 31;
  std::vector<float> a, b, c(n * n);
  for (std::int64_t i = 0; i < n * n; ++i) {
    a.push_back(random_input<float>(i));
    b.push_back(random_input<float>(i + 7777));
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = n; l-- > 0;) c[i * n + j] += a[i * n + l] * b[l * n + j];  // another order
    }
  }
  // A tolerance that ignores the operands would accept 1e-3 * n.
  expect_every_element_counts<float>(c, 1e-3F,
                                     [&](span<const float, host> got) { expect_product<float>(n, a, b, got); });
}

TEST(checks, of_sparse_products) {
  const std::vector<std::int32_t> offsets = {0, 2, 2, 5}, indices = {0, 3, 1, 2, 3};
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const auto x = [](std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j + 1); };
  const std::vector<double> y = {1 * 1 + 2 * 31,           1 * 2 + 2 * 32,          0, 0,
                                 3 * 11 + 4 * 21 + 5 * 31, 3 * 12 + 4 * 22 + 5 * 32};
  expect_every_element_counts<double>(y, 1e-9, [&](span<const double, host> got) {
    expect_sparse_product<double, std::int32_t>(3, 2, offsets.data(), indices.data(), values.data(), x, got);
  });
}

}  // namespace
}  // namespace spargo::bench
