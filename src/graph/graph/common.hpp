// How a graph is built from pairs, and what the host and the device each contribute.
//
// A pair becomes one 64-bit key, one end above the other, so that sorting keys sorts pairs. An undirected edge is one
// key with its smaller end above; sorted and made distinct, these keys are the upper half of every row, ascending. A
// stable sort of the same keys by their lower end gives the other half, and a row is the one behind the other. So
// half as many keys are sorted as a matrix of both directions has entries, and the second sort looks at half the bits.
// A graph of more than 2^32 vertices, whose pairs fill no 64-bit key, goes through the conversion of COO instead.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/graph/graph.hpp>

#include <bit>
#include <string>

namespace spargo::detail {

struct key_format {
  int bits = 0;  // of one end; at most 32

  [[nodiscard]] SPARGO_HD std::uint64_t pack(std::uint64_t high, std::uint64_t low) const { return high << bits | low; }
  [[nodiscard]] SPARGO_HD std::uint64_t high(std::uint64_t key) const { return key >> bits; }
  [[nodiscard]] SPARGO_HD std::uint64_t low(std::uint64_t key) const { return key & ((std::uint64_t{1} << bits) - 1); }
  // A key without ends that are the same; loops stay among the keys until the distinct ones are picked.
  [[nodiscard]] SPARGO_HD bool is_edge(std::uint64_t key) const { return high(key) != low(key); }
};

[[nodiscard]] constexpr key_format format_for(std::int64_t vertices) {
  return {vertices < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices - 1)))};
}
[[nodiscard]] constexpr bool fits_keys(std::int64_t vertices) { return format_for(vertices).bits <= 32; }

template <class Space>
struct packed_pairs {
  array<std::uint64_t, Space> keys;
  bool ascending = false;  // already
};

// All pairs as keys, in their order; undirected ones with the smaller end above. Throws invalid_data for the first
// pair that names no vertex. Synchronises.
template <class I, class Space>
[[nodiscard]] packed_pairs<Space> pack_pairs(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                             const key_format& format, direction_kind direction);

// Of ascending keys those that are edges, each once. Synchronises.
template <class Space>
[[nodiscard]] array<std::uint64_t, Space> distinct_edges(const context<Space>& ctx, array<std::uint64_t, Space> keys,
                                                         const key_format& format);

// Rows of: the upper ends of the keys of `turned` whose lower end is the row, then the lower ends of the keys of
// `forward` whose upper end is the row. `forward` ascends; `turned` ascends by lower, then upper end.
template <class I, class O, class Space>
[[nodiscard]] csr_matrix<pattern, I, O, Space> join_rows(const context<Space>& ctx, I vertices,
                                                         const array<std::uint64_t, Space>& forward,
                                                         const array<std::uint64_t, Space>& turned,
                                                         const key_format& format);

// Bits [begin, end) of each key, ascending and stable. The device's is in primitives/sort/radix_sort.hpp.
void sort_keys(const context<host>& ctx, array<std::uint64_t, host>& keys, int begin, int end);

// The way that knows no limit to the vertices; `edges` has been checked by check_pair_shape.
template <index_type O, index_type I, class Space>
[[nodiscard]] graph<I, O, Space> build_wide(const context<Space>& ctx, const coo_pattern_view<I, Space>& edges,
                                            const graph_options& options);

[[noreturn]] void throw_bad_pair(std::int64_t entry, std::int64_t from, std::int64_t to, std::int64_t vertices);

template <class I, class O, class Space>
[[nodiscard]] csr_view<const pattern, I, O, Space> with_pattern(const csr_pattern_view<I, O, Space>& edges) {
  return {edges, {}};
}

// `pairs` are without loops, and mirrored if the graph is undirected.
template <class O, class I, class Space>
[[nodiscard]] graph<I, O, Space> graph_of_pairs(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                                const graph_options& options) {
  auto out = to_csr<O>(ctx, coo_view<const pattern, I, Space>{pairs, {}});
  graph<I, O, Space> g(std::move(out), {}, options.direction);
  if (options.in_edges) add_in_edges(ctx, g);
  return g;
}

}  // namespace spargo::detail
