// Pairs as keys: how the device builds a graph.
//
// A pair becomes one 64-bit key, one end above the other, so that sorting keys sorts pairs. An undirected edge is one
// key with its smaller end above; sorted and made distinct, these keys are the upper half of every row, ascending. A
// stable sort of the same keys by their lower end gives the other half, and a row is the one behind the other. So
// half as many keys are sorted as a matrix of both directions has entries, and the second sort looks at half the bits.
// A graph of more than 2^32 vertices, whose pairs fill no 64-bit key, goes through the conversion of COO instead.
#pragma once

#include "graph/graph/build.hpp"

#include <bit>

namespace spargo::detail {

struct key_format {
  int bits = 0;  // of one end; at most 32
  self_loops loops = self_loops::drop;

  [[nodiscard]] SPARGO_HD std::uint64_t pack(std::uint64_t high, std::uint64_t low) const { return high << bits | low; }
  [[nodiscard]] SPARGO_HD std::uint64_t high(std::uint64_t key) const { return key >> bits; }
  [[nodiscard]] SPARGO_HD std::uint64_t low(std::uint64_t key) const { return key & ((std::uint64_t{1} << bits) - 1); }
  [[nodiscard]] SPARGO_HD bool is_loop(std::uint64_t key) const { return high(key) == low(key); }
  // Loops stay among the keys until the distinct ones are picked.
  [[nodiscard]] SPARGO_HD bool is_edge(std::uint64_t key) const { return loops == self_loops::keep || !is_loop(key); }
};

[[nodiscard]] constexpr key_format format_for(std::int64_t vertices, self_loops loops = self_loops::drop) {
  return {vertices < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices - 1))), loops};
}
[[nodiscard]] constexpr bool fits_keys(std::int64_t vertices) { return format_for(vertices).bits <= 32; }

// Of ascending keys those that are edges, each once. Synchronises.
[[nodiscard]] array<std::uint64_t, device> distinct_edges(const context<device>& ctx, array<std::uint64_t, device> keys,
                                                          const key_format& format);

// The way that knows no limit to the vertices.
template <index_type O, index_type I>
[[nodiscard]] graph<I, O, device> build_wide(const context<device>& ctx, const coo_pattern_view<I, device>& edges,
                                             const graph_options& options);

}  // namespace spargo::detail
