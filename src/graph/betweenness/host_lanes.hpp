// Shortest-path counts for several sources at once, one lane each, and their sums without overflow.
//
// A count is factor * 2^(1000 * exponent) with a factor in [2^-500, 2^500). Counts below 2^500 have exponent 0; a level
// with only such counts ignores exponents, so graphs with few shortest paths pay nothing. A grid of 2000 x 2000 has up
// to 2^3995. Factors 1000 or more bits apart add up to the larger one.
#pragma once

#include "graph/betweenness/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace spargo::detail::betweenness {

using lane_set = std::uint8_t;  // one bit per lane

// [set]: a mask of all ones for each lane in the set.
template <int L>
inline constexpr auto lane_bits = [] {
  std::array<std::array<std::uint64_t, L>, 1 << L> bits{};
  for (std::size_t set = 0; set < bits.size(); ++set) {
    for (std::size_t k = 0; k < L; ++k) bits[set][k] = (set >> k & 1) != 0 ? ~std::uint64_t{0} : 0;
  }
  return bits;
}();

// The value in lanes of the set, 0 in others.
[[nodiscard]] inline double masked(double value, std::uint64_t bits) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & bits);
}

template <class F>
void for_each_lane(unsigned set, F&& f) {
  for (; set != 0; set &= set - 1) f(std::countr_zero(set));
}

// L sums of terms without exponents.
template <int L>
struct plain_sums {
  std::array<double, L> sums{};

  void add(const double* factors, unsigned set) {
    const auto& bits = lane_bits<L>[set];
    for (std::size_t k = 0; k < L; ++k) sums[k] += masked(factors[k], bits[k]);
  }
};

// L sums of terms with exponents.
template <int L>
struct wide_sums {
  std::array<double, L> sums{};
  std::array<std::int32_t, L> exponents{};

  void add(const double* factors, const std::int32_t* exponents_of, unsigned set) {
    for_each_lane(set, [&](int lane) {
      const auto k = static_cast<std::size_t>(lane);
      const std::int32_t up = exponents_of[k] - exponents[k];
      if (up > 0) {
        sums[k] *= up == 1 ? number_range::down : 0;
        exponents[k] += up;
      }
      sums[k] += factors[k] * (up >= 0 ? 1 : up == -1 ? number_range::down : 0);
    });
  }

  void normalize() {
    for (std::size_t k = 0; k < L; ++k) {
      if (sums[k] < number_range::end) continue;
      sums[k] *= number_range::down;
      ++exponents[k];
    }
  }
};

}  // namespace spargo::detail::betweenness
