// The quality of communities, in exact integers: modularity and the constant Potts model (CPM).
//
// Weights are integers of 64 bits, either those given or fixed-point numbers (fixed_point.hpp). A community's penalty
// is resolution * K^2 / 2m with K the sum of its degrees (modularity), or resolution * size^2 (CPM). Both are one rule:
// a node v of mass k gains
//
//   link * (weight of v's edges into the community) - penalty * k * (mass of the community without v)
//
// by joining a community, and nothing by staying alone. For a directed graph edges count in both directions, and masses
// are out-degrees times in-degrees both ways. Gains are compared in 128 bits, so they do not depend on the order of
// summation: not on threads, nor on the backend.
//
// Sources: Newman, Girvan, Phys. Rev. E 69, 2004; Leicht, Newman, Phys. Rev. Lett. 100, 2008 (directed); Traag, Van
// Dooren, Nesterov, Phys. Rev. E 84, 2011 (CPM).
#pragma once

#include <spargo/graph/communities.hpp>
#include <spargo/graph/weights.hpp>

#include <cstdint>

#include <spargo/core/macros_push.hpp>

namespace spargo::detail::communities {

__extension__ using int128 = __int128;

// A symmetric graph whose nodes are vertices, or groups of them. Borrowed. Sequential moves depend on the rows' order.
template <class I, class O>
struct level_graph {
  std::int64_t nodes = 0;
  const O* offsets = nullptr;
  const I* neighbours = nullptr;
  const std::int64_t* weights = nullptr;  // of the entries; null: each weighs 1
  const std::int64_t* mass = nullptr;     // [node] degree (directed: out-degree); CPM: number of vertices
  const std::int64_t* in_mass = nullptr;  // [node] in-degree of directed modularity, else null

  std::int64_t entries_on_device = 0;  // where the arrays are in device memory

  [[nodiscard]] std::int64_t entries() const { return nodes > 0 ? std::int64_t{offsets[nodes]} : 0; }
  [[nodiscard]] SPARGO_HD std::int64_t weight(std::int64_t e) const { return weights != nullptr ? weights[e] : 1; }
};

// The masses of a node or a community.
struct masses {
  std::int64_t out = 0;
  std::int64_t in = 0;  // 0 unless directed modularity
};

[[nodiscard]] SPARGO_HD inline masses without(const masses& all, const masses& part) {
  return {all.out - part.out, all.in - part.in};
}

struct gain_rule {
  int128 link = 1;
  std::int64_t penalty = 1;
  bool narrow = false;  // undirected, weights and masses are below 2^31 in sum, and gains below 2^62
  int unit = 0;         // gains are summed in multiples of 2^unit, so that those of all nodes stay below 2^62

  [[nodiscard]] SPARGO_HD std::int64_t summed(int128 gain) const { return static_cast<std::int64_t>(gain >> unit); }
  // Below 2^125 for any node and community.
  [[nodiscard]] SPARGO_HD int128 penalty_of(const masses& node, const masses& community) const {
    const int128 first = static_cast<int128>(penalty) * node.out;
    if (node.in == 0 && community.in == 0) return first * community.out;
    return first * community.in + static_cast<int128>(penalty) * node.in * community.out;
  }
  // The same in numbers that hold it: of 64 bits if the rule is narrow.
  template <class Gain>
  [[nodiscard]] SPARGO_HD Gain gain_in(std::int64_t weight, const masses& node, const masses& community) const {
    if constexpr (sizeof(Gain) > sizeof(std::int64_t)) {
      return gain(weight, node, community);
    } else {
      return weight * static_cast<Gain>(link) - penalty * node.out * community.out;
    }
  }
  [[nodiscard]] SPARGO_HD int128 gain(std::int64_t weight, const masses& node, const masses& community) const {
    return weight * link - penalty_of(node, community);
  }
};

[[nodiscard]] SPARGO_HD inline std::uint64_t blur_key(std::uint64_t seed, std::int64_t node) {
  return mixed_bits(mixed_bits(seed, 0x9e3779b97f4a7c15U), static_cast<std::uint64_t>(node));
}
// A positive gain, less a random part of it of up to 1/32; others as they are. Positive gains stay positive.
template <class Gain>
[[nodiscard]] SPARGO_HD Gain blurred_gain(Gain gain, std::uint64_t key, std::int64_t group) {
  if (gain <= 0) return gain;
  const auto part = static_cast<std::int64_t>(mixed_bits(key, static_cast<std::uint64_t>(group)) & 1023);
  return gain - (gain >> 15) * part - ((gain & 32767) * part >> 15);
}

// `total`: the sum of all degrees (directed: of out-degrees), in units of 2^-exponent. Throws invalid_argument for a
// resolution so large that penalties exceed their bits.
[[nodiscard]] gain_rule make_gain_rule(const communities_options& options, direction_kind direction, std::int64_t total,
                                       std::int64_t vertices, int exponent);

}  // namespace spargo::detail::communities

#include <spargo/core/macros_pop.hpp>
