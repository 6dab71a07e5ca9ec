// Pairs as keys: how the device builds a graph.
//
// A pair becomes one 64-bit key, one end in the high bits, so that sorting keys sorts pairs. An undirected edge is one
// key with its smaller end high; sorted and deduplicated, these keys are the upper half of every row, ascending. A
// stable sort of the same keys by their low end gives the other half; a row is the concatenation of both. So only half
// as many keys are sorted as the matrix has entries, and the second sort processes half the bits. Pairs of a graph of
// more than 2^32 vertices do not fit 64-bit keys; such a graph is converted from COO instead.
#pragma once

#include "graph/graph/build.hpp"

#include <bit>

namespace spargo::detail {

struct key_format {
  int bits = 0;  // bits per end; at most 32
  self_loops loops = self_loops::drop;

  [[nodiscard]] SPARGO_HD std::uint64_t pack(std::uint64_t high, std::uint64_t low) const { return high << bits | low; }
  [[nodiscard]] SPARGO_HD std::uint64_t high(std::uint64_t key) const { return key >> bits; }
  [[nodiscard]] SPARGO_HD std::uint64_t low(std::uint64_t key) const { return key & ((std::uint64_t{1} << bits) - 1); }
  [[nodiscard]] SPARGO_HD bool is_loop(std::uint64_t key) const { return high(key) == low(key); }
  // Loops stay among the keys until distinct keys are selected.
  [[nodiscard]] SPARGO_HD bool is_edge(std::uint64_t key) const { return loops == self_loops::keep || !is_loop(key); }
};

[[nodiscard]] constexpr key_format format_for(std::int64_t vertices, self_loops loops = self_loops::drop) {
  return {vertices < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices - 1))), loops};
}
[[nodiscard]] constexpr bool fits_keys(std::int64_t vertices) { return format_for(vertices).bits <= 32; }

// Selects the keys that are edges from ascending keys, each once. Synchronizes.
[[nodiscard]] array<std::uint64_t, device> distinct_edges(const context<device>& ctx, array<std::uint64_t, device> keys,
                                                          const key_format& format);

// For any number of vertices.
template <index_type O, index_type I>
[[nodiscard]] graph<I, O, device> build_wide(const context<device>& ctx, const coo_pattern_view<I, device>& edges,
                                             const graph_options& options);

}  // namespace spargo::detail
