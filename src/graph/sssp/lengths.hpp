// Path lengths inside a search, on both backends.
//
// They are unsigned or double: 32 bits where no path can be longer, else 64 bits. A search is dominated by random reads
// of lengths, and 32 bits halve their cache footprint.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace spargo::detail::sssp {

// Length of unreached vertices; longer than any path.
template <class D>
inline constexpr D unreached = std::numeric_limits<D>::max();
template <>
inline constexpr std::uint64_t unreached<std::uint64_t> = std::numeric_limits<std::int64_t>::max();
template <>
inline constexpr double unreached<double> = std::numeric_limits<double>::infinity();

// For weights W that need more than 32 bits.
template <class W>
using wide_length = std::conditional_t<std::is_integral_v<W>, std::uint64_t, double>;

// Whether 32 bits suffice: a path has fewer edges than there are vertices, plus one edge being relaxed.
[[nodiscard]] inline bool fit_32_bits(double largest_weight, std::int64_t vertices) {
  return largest_weight * (static_cast<double>(vertices) + 1) < static_cast<double>(unreached<std::uint32_t>);
}

// Length of a path extended by an edge. Does not wrap: both are below 2^63; 32 bits are used only where they suffice.
template <class D, class W>
[[nodiscard]] constexpr D longer(D path, W edge) {
  return path + static_cast<D>(edge);
}

// Limits of a search.
template <class D>
struct search_limits {
  std::int64_t target = -1;
  D length = unreached<D>;  // exclusive
};

// The smallest length beyond the cutoff.
template <class D>
[[nodiscard]] D length_limit(double cutoff) {
  if constexpr (std::integral<D>) {
    return cutoff >= static_cast<double>(unreached<D>) ? unreached<D> : static_cast<D>(cutoff) + 1;
  } else {
    return std::nextafter(cutoff, unreached<D>);
  }
}

}  // namespace spargo::detail::sssp
