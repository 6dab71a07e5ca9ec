// Lengths of paths inside a search, on both backends.
//
// They are unsigned or double: 32 bits where no path can be longer (a search is about random reads of lengths, and they
// then take half the cache), else 64 bits.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace spargo::detail::sssp {

// Of vertices that are not reached; no path is as long.
template <class D>
inline constexpr D unreached = std::numeric_limits<D>::max();
template <>
inline constexpr std::uint64_t unreached<std::uint64_t> = std::numeric_limits<std::int64_t>::max();
template <>
inline constexpr double unreached<double> = std::numeric_limits<double>::infinity();

// For weights W, where 32 bits do not do.
template <class W>
using wide_length = std::conditional_t<std::is_integral_v<W>, std::uint64_t, double>;

// Whether 32 bits do: no path has as many edges as there are vertices, and one edge more is offered to its end.
[[nodiscard]] inline bool fit_32_bits(double largest_weight, std::int64_t vertices) {
  return largest_weight * (static_cast<double>(vertices) + 1) < static_cast<double>(unreached<std::uint32_t>);
}

// The length of a path with one edge more. Does not wrap: both are below 2^63, and 32 bits are taken only where they
// hold every path.
template <class D, class W>
[[nodiscard]] constexpr D longer(D path, W edge) {
  return path + static_cast<D>(edge);
}

// Where a search ends.
template <class D>
struct search_limits {
  std::int64_t target = -1;
  D length = unreached<D>;  // paths are shorter
};

// The first length that is too long.
template <class D>
[[nodiscard]] D length_limit(double cutoff) {
  if constexpr (std::integral<D>) {
    return cutoff >= static_cast<double>(unreached<D>) ? unreached<D> : static_cast<D>(cutoff) + 1;
  } else {
    return std::nextafter(cutoff, unreached<D>);
  }
}

}  // namespace spargo::detail::sssp
