// The order of edges, on both backends: by weight, then by the place of their entry in the row of the smaller end.
//
// Weights become unsigned bits that are ordered alike. A narrow key packs 32 such bits and a 32-bit place into one
// word, so that one atomic minimum finds a tree's first edge; a wide key takes two, weights first. Invariant: keys of
// different edges differ.
#pragma once

#include <spargo/core/types.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace spargo::detail::forest {

template <class Bits, class W>
[[nodiscard]] SPARGO_HD inline Bits ordered_bits(W weight) {
  constexpr Bits top = Bits{1} << (8 * sizeof(Bits) - 1);
  if constexpr (std::integral<W>) {
    return static_cast<Bits>(weight) ^ top;
  } else {
    using F = std::conditional_t<sizeof(Bits) == 4, float, double>;
    const F value = static_cast<F>(weight) + F{0};  // -0.0 becomes 0.0
    Bits bits{};
    memcpy(&bits, &value, sizeof bits);
    return (bits & top) != 0 ? ~bits : bits | top;
  }
}

template <class W>
[[nodiscard]] SPARGO_HD inline bool is_nan(W weight) {
  if constexpr (std::floating_point<W>) {
    return weight != weight;
  } else {
    return false;
  }
}

// Whether 32 bits hold the weight exactly; NaN counts as held.
template <class W>
[[nodiscard]] SPARGO_HD inline bool fits_32_bits(W weight) {
  if constexpr (sizeof(W) == 4) {
    return true;
  } else if constexpr (std::integral<W>) {
    return weight == static_cast<std::int32_t>(weight);
  } else {
    // A conversion beyond float's range is undefined on the host.
    constexpr double most = std::numeric_limits<float>::max();
    if (is_nan(weight) || weight > std::numeric_limits<double>::max() || weight < -std::numeric_limits<double>::max()) {
      return true;
    }
    return weight <= most && weight >= -most && static_cast<double>(static_cast<float>(weight)) == weight;
  }
}

inline constexpr std::uint64_t no_edge = std::numeric_limits<std::uint64_t>::max();

struct narrow_key {
  using weight_bits = std::uint32_t;
  static constexpr std::int64_t most_entries = std::numeric_limits<std::uint32_t>::max();  // exclusive

  std::uint64_t bits = no_edge;

  narrow_key() = default;
  SPARGO_HD narrow_key(weight_bits weight, std::int64_t place)
      : bits(std::uint64_t{weight} << 32 | static_cast<std::uint64_t>(place)) {}
  [[nodiscard]] SPARGO_HD weight_bits weight() const { return static_cast<weight_bits>(bits >> 32); }
  [[nodiscard]] SPARGO_HD std::int64_t place() const { return static_cast<std::int64_t>(bits & 0xffffffffU); }
  [[nodiscard]] SPARGO_HD friend bool operator<(narrow_key a, narrow_key b) { return a.bits < b.bits; }
};

struct wide_key {
  using weight_bits = std::uint64_t;

  std::uint64_t high = no_edge;
  std::uint64_t low = no_edge;

  wide_key() = default;
  SPARGO_HD wide_key(weight_bits weight, std::int64_t place) : high(weight), low(static_cast<std::uint64_t>(place)) {}
  [[nodiscard]] SPARGO_HD weight_bits weight() const { return high; }
  [[nodiscard]] SPARGO_HD std::int64_t place() const { return static_cast<std::int64_t>(low); }
  [[nodiscard]] SPARGO_HD friend bool operator<(const wide_key& a, const wide_key& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
};

// Keys of weights W; with `flip` (all ones) heavier edges come first.
template <class Key, class W>
struct key_order {
  using bits = typename Key::weight_bits;
  bits flip = 0;

  [[nodiscard]] SPARGO_HD bits weight(W weight) const { return ordered_bits<bits>(weight) ^ flip; }
  [[nodiscard]] SPARGO_HD Key operator()(W weight, std::int64_t place) const { return {this->weight(weight), place}; }
};

// An edge between two trees, given by their roots.
template <class Key, class I>
struct alignas(sizeof(Key) + 2 * sizeof(I) == 16 ? 16 : 8) tree_edge {
  Key key;
  I u;
  I v;
};

// --- Edges in batches by weight ---

// Both backends collect the edges up to a threshold, join trees by them, and then collect the edges that are left
// between trees, nearly all of which lie outside the largest one.
struct batch_tuning {
  static constexpr std::int64_t light = 2;       // edges per vertex in the first batch
  static constexpr std::int64_t per_vertex = 3;  // edges per vertex that are held at a time
  static constexpr std::int64_t entries = 32;    // or one per 32 entries, if that is more
  static constexpr std::int64_t least = std::int64_t{1} << 16;
  static constexpr std::int64_t samples = 8192;
  // After that many rounds of the first batch the largest tree takes no edges any more: nearly all edges that are left
  // lead to it, so that threads would contend for its first edge. The trees at their other ends take them.
  static constexpr int rounds_of_all = 2;
};

// Edges that are held at a time. A view without its mirrored entries may have more than half of them.
[[nodiscard]] inline std::int64_t held_edges(std::int64_t vertices, std::int64_t entries) {
  const std::int64_t wanted =
      std::max({batch_tuning::per_vertex * vertices, entries / batch_tuning::entries, batch_tuning::least});
  return std::min(entries / 2 + 1, wanted);
}

// A key that about `target` edges lie below, estimated from the keys of the edges `found` among `tries` random entries;
// the largest key if there are at most `target` edges. Affects the speed only.
template <class Key>
[[nodiscard]] Key threshold(std::vector<Key>& found, std::int64_t tries, std::int64_t entries, std::int64_t target) {
  const double edges = static_cast<double>(found.size()) / static_cast<double>(tries) * static_cast<double>(entries);
  if (edges <= static_cast<double>(target)) return {};
  const auto share = static_cast<double>(target) / edges * static_cast<double>(found.size());
  const auto at = found.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(share),
                                                           static_cast<std::ptrdiff_t>(found.size()) - 1);
  std::nth_element(found.begin(), at, found.end());
  return *at;
}

// --- The total ---

// Sums of integers by 32-bit halves: exact for 2^31 weights.
struct integer_sum {
  std::int64_t high = 0;
  std::int64_t low = 0;

  integer_sum() = default;
  SPARGO_HD explicit integer_sum(std::int64_t weight) : high(weight >> 32), low(weight & 0xffffffff) {}
  SPARGO_HD friend integer_sum operator+(integer_sum a, const integer_sum& b) {
    a.high += b.high;
    a.low += b.low;
    return a;
  }
};
template <class W>
using weight_sum = std::conditional_t<std::is_integral_v<W>, integer_sum, double>;

// Sums are formed in one order on both backends: chunks of 1024, in which term k is added to term k mod 256, and those
// by halving; then the chunks' sums likewise.
struct sum_shape {
  static constexpr int lanes = 256;
  static constexpr int chunk = 1024;
};

}  // namespace spargo::detail::forest
