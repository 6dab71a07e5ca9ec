// Which bin an element belongs to: function objects for host and device code, the same on both.
//
// bins(v) is the bin, or at least `most` and at least the number of counts where there is none. Signed keys arrive as
// their unsigned twins: the negative ones are then larger than any bin.
#pragma once

#include <spargo/core/types.hpp>

#include <concepts>
#include <cstdint>
#include <limits>

namespace spargo::detail::histogram {

// Itself.
template <std::unsigned_integral Key>
struct key_bins {
  using value = Key;
  using index = std::conditional_t<sizeof(Key) <= 4, std::uint32_t, std::uint64_t>;

  SPARGO_HD index operator()(Key key) const { return key; }
};

// Equal widths. The difference and the product are rounded once each; there is no sum after the product that a compiler
// could fuse with it, so every machine gives the same bin.
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

// The number of edges that are not above v, less one: by halving steps, each a comparison and a selection. NaN is above
// none, so that it and everything below the first edge become 0 - 1, the largest index.
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
// is too large by at most x / 65536, less than the 1 / group that could change its whole part while group < 2520; from
// 26 on it is below 1, as it should be.
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
