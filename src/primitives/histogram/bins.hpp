// Maps elements to bins: function objects for host and device code with equal results.
//
// bins(v) is the bin, or at least `most` and at least the number of counts if there is none. Signed keys are passed as
// unsigned, so that negative keys exceed any bin.
#pragma once

#include <spargo/core/types.hpp>

#include <concepts>
#include <cstdint>
#include <limits>

namespace spargo::detail::histogram {

template <std::unsigned_integral Key>
struct key_bins {
  using value = Key;
  using index = std::conditional_t<sizeof(Key) <= 4, std::uint32_t, std::uint64_t>;

  SPARGO_HD index operator()(Key key) const { return key; }
};

// Equal widths. Difference and product are rounded once each, and no sum follows that a compiler could fuse with the
// product, so every machine gives the same bin.
template <std::floating_point T>
struct even_bins {
  using value = T;
  using index = std::uint64_t;

  double lower;
  double upper;
  double scale;  // bins / (upper - lower)
  std::uint64_t bins;

  SPARGO_HD index operator()(T v) const {
    const double x = v;
    if (!(x >= lower && x < upper)) return ~index{0};
    const auto bin = static_cast<index>(static_cast<std::int64_t>((x - lower) * scale));
    return bin < bins ? bin : bins - 1;
  }
};

// Number of edges <= v, minus one: a branchless binary search. NaN and v below all edges give 0 - 1, the largest index.
template <std::floating_point T>
struct edge_bins {
  using value = T;
  using index = std::uint64_t;

  const T* edges;
  std::uint64_t bins;

  SPARGO_HD index operator()(T v) const {
    index first = 0;
    for (index size = bins + 1; size > 0;) {
      const index half = size / 2;
      const bool right = edges[first + half] <= v;
      first += right ? half + 1 : 0;
      size = right ? size - half - 1 : half;
    }
    return first - 1;
  }
};

// Groups of letters. For x < 26, x / group = x * inverse >> 16 where inverse = floor(65536 / group) + 1: the quotient
// is too large by at most x / 65536, less than the 1 / group needed to change its integer part while group < 2520; for
// group >= 26 it is below 1, as it should be.
struct letter_bins {
  using value = std::uint8_t;
  using index = std::uint32_t;

  std::uint32_t inverse;

  explicit letter_bins(int group) : inverse(65536U / static_cast<std::uint32_t>(group) + 1) {}

  SPARGO_HD index operator()(std::uint8_t c) const {
    const index x = index{c} - 'a';
    return x < 26 ? x * inverse >> 16 : ~index{0};
  }
};

}  // namespace spargo::detail::histogram
