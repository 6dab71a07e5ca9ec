// Ranks of vertices, and what the greedy algorithms share: keys, orders, the choice of a plan.
#pragma once

#include "core/algorithm_table.hpp"
#include "core/plan_executor.hpp"

#include <spargo/core/array.hpp>
#include <spargo/graph/estimate.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/greedy_order.hpp>
#include <spargo/graph/weights.hpp>

#include <array>
#include <string_view>

namespace spargo::detail::greedy {

inline constexpr algorithm_table<greedy_algorithm, 2> algorithms{{
    {greedy_algorithm::automatic, "automatic"},
    {greedy_algorithm::in_order, "in_order"},
}};

// A permutation and its inverse: order[rank[v]] = v.
template <class I, class Space>
struct ranking {
  array<I, Space> order;
  array<I, Space> rank;
  std::int64_t giants = 0;     // vertices of `giant_row` edges or more, first in the order
  std::int64_t long_rows = 0;  // vertices of `long_row` edges or more, giants included
};

// Bits of the hash that breaks ties: enough that a vertex has few neighbours of the same degree and hash, whose order
// is that of their numbers. Fewer bits leave more vertices in the order of memory.
[[nodiscard]] constexpr int hash_bits(std::int64_t vertices, std::int64_t entries) {
  int bits = 4;
  while (bits < 12 && (vertices << bits) < 8 * entries) ++bits;
  return bits;
}

// Keys by which vertices are sorted, ascending: `major`, then the hash.
struct key_maker {
  std::uint64_t seed;
  int bits;

  [[nodiscard]] SPARGO_HD std::uint64_t operator()(std::uint64_t major, std::int64_t v) const {
    const std::uint64_t hash = mixed_bits(seed, static_cast<std::uint64_t>(v)) >> (64 - random_bits - bits);
    return major << bits | (hash & ((std::uint64_t{1} << bits) - 1));
  }
  // The major part in a random order.
  static constexpr int random_bits = 24;
  [[nodiscard]] SPARGO_HD std::uint64_t random_major(std::int64_t v) const {
    return mixed_bits(seed, static_cast<std::uint64_t>(v)) >> (64 - random_bits);
  }
};

// The rows of a vertex's neighbours: out-edges, and in-edges of a directed graph.
template <class I, class O, class Space>
[[nodiscard]] std::array<csr_pattern_view<I, O, Space>, 2> sides_of(const graph_view<I, O, Space>& g) {
  return {g.out, g.direction == direction_kind::directed ? g.in : csr_pattern_view<I, O, Space>()};
}

template <class I, class O, class Space>
[[nodiscard]] key_maker keys_of(const graph_view<I, O, Space>& g, std::uint64_t seed) {
  const auto sides = sides_of(g);
  return {seed, hash_bits(g.vertices(), sides[0].nnz() + sides[1].nnz())};
}

// A warp decides each vertex of at least this many edges.
inline constexpr std::int64_t long_row = 64;
// A block decides each vertex of at least this many edges, if the algorithm supports that.
inline constexpr std::int64_t giant_row = 2048;

// Peak memory for making the ranks, and for the loop over them.
[[nodiscard]] std::int64_t host_bytes(const graph_shape& shape, greedy_order order);
[[nodiscard]] std::int64_t device_bytes(const graph_shape& shape, greedy_order order);

// Throws invalid_argument for an order that does not exist. `automatic` becomes `usual`.
[[nodiscard]] greedy_order choose_order(std::string_view operation, greedy_order asked, greedy_order usual);

template <class I, class O>
[[nodiscard]] ranking<I, host> rank_vertices(const context<host>& ctx, const graph_view<I, O, host>& g,
                                             greedy_order order, std::uint64_t seed);
// Throws unsupported for more than 2^32 vertices. Synchronizes.
template <class I, class O>
[[nodiscard]] ranking<I, device> rank_vertices(const context<device>& ctx, const graph_view<I, O, device>& g,
                                               greedy_order order, std::uint64_t seed);

}  // namespace spargo::detail::greedy
