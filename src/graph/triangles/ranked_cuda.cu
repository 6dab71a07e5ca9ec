// Graphs by rank: built by two sorts of the edges, and their supports by the kernels of cuda_supports.cuh.
#include "graph/triangles/ranked.hpp"

#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/triangles/cuda_supports.cuh"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/primitives/scan.hpp>

#include <bit>
#include <utility>

namespace spargo::detail::triangles {

namespace {

// Up to this longest row vertices are ranked by descending id, so that edges and places have the same order, reversed.
constexpr std::int64_t flat_row = 128;  // untuned

// Ranks vertices by descending degree, or by descending id where all rows are short: rank [vertex].
template <class I, class O>
array<int, device> rank_vertices(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                 std::int64_t longest) {
  const std::int64_t n = rows.rows;
  array<int, device> ranks(ctx, n);
  if (longest <= flat_row) {
    for_each(ctx, n, [n, ranks = ranks.data()] __device__(std::int64_t v) { ranks[v] = static_cast<int>(n - 1 - v); });
    return ranks;
  }
  array<std::uint32_t, device> keys(ctx, n), vertices(ctx, n), spare_keys(ctx, n), spare_vertices(ctx, n);
  for_each(ctx, n,
           [offsets = rows.offsets.data(), longest, keys = keys.data(),
            vertices = vertices.data()] __device__(std::int64_t v) {
             keys[v] = static_cast<std::uint32_t>(longest - (offsets[v + 1] - offsets[v]));
             vertices[v] = static_cast<std::uint32_t>(v);
           });
  sort_pairs(ctx, n, keys, vertices, spare_keys, spare_vertices, 0,
             std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest)))));
  for_each(ctx, n, [vertices = vertices.data(), ranks = ranks.data()] __device__(std::int64_t r) {
    ranks[vertices[r]] = static_cast<int>(r);
  });
  return ranks;
}

// The edges of canonical rows in the order of results, and as keys (higher rank, lower rank).
template <class I, class O>
void list_edges(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, const int* ranks, int bits,
                I* sources, I* targets, std::uint64_t* keys, std::uint32_t* places) {
  const std::int64_t n = rows.rows;
  array<O, device> middles(ctx, n);  // the first entry of a higher neighbour
  array<O, device> starts(ctx, n + 1);
  for_each(ctx, n + 1,
           [n, offsets = rows.offsets.data(), indices = rows.indices.data(), middles = middles.data(),
            starts = starts.data()] __device__(std::int64_t v) {
             starts[v] = 0;
             if (v == n) return;
             middles[v] =
                 static_cast<O>(offsets[v] + lower_bound(indices + offsets[v], offsets[v + 1] - offsets[v], v));
             starts[v] = offsets[v + 1] - middles[v];
           });
  exclusive_scan<O, device>(ctx, std::as_const(starts).view(), starts.view());
  for_each(ctx, rows.nnz(),
           [=, offsets = rows.offsets.data(), indices = rows.indices.data(), middles = middles.data(),
            starts = starts.data()] __device__(std::int64_t entry) {
             const std::int64_t u = lower_bound(offsets, n + 1, entry + 1) - 1;
             const I v = indices[entry];
             if (static_cast<std::int64_t>(v) < u) return;
             const std::int64_t place = starts[u] + (entry - middles[u]);
             sources[place] = static_cast<I>(u);
             targets[place] = v;
             const auto a = static_cast<std::uint64_t>(ranks[u]);
             const auto b = static_cast<std::uint64_t>(ranks[v]);
             keys[place] = (a < b ? b : a) << bits | (a < b ? a : b);
             places[place] = static_cast<std::uint32_t>(place);
           });
}

// Fills the rows of a graph from its edges as keys, unsorted, and their places.
void fill_rows(const context<device>& ctx, int bits, array<std::uint64_t, device>& keys,
               array<std::uint32_t, device>& payload, const ranked_rows& g) {
  const std::int64_t n = g.vertices;
  const std::int64_t edges = g.edges;
  sort_pairs(ctx, keys, payload, 0, 2 * bits);
  for_each(ctx, n + 1, [g, edges, bits, keys = keys.data()] __device__(std::int64_t v) {
    g.first[v] = static_cast<int>(lower_bound(keys, edges, v << bits));
  });
  for_each(ctx, edges, [g, bits, keys = keys.data(), payload = payload.data()] __device__(std::int64_t e) {
    g.from[e] = static_cast<int>(keys[e] >> bits);
    g.to[e] = static_cast<int>(keys[e] & ((std::uint64_t{1} << bits) - 1));
    g.place[e] = static_cast<int>(payload[e]);
  });
  for_each(ctx, edges, [g, keys = keys.data(), payload = payload.data()] __device__(std::int64_t e) {
    keys[e] = static_cast<std::uint64_t>(g.to[e]);
    payload[e] = static_cast<std::uint32_t>(e);
  });
  sort_pairs(ctx, keys, payload, 0, bits);
  // A row begins behind the lower and the upper entries of the rows before it.
  for_each(ctx, n + 1, [g, edges, keys = keys.data()] __device__(std::int64_t v) {
    g.offsets[v] = g.first[v] + static_cast<int>(lower_bound(keys, edges, v));
  });
  for_each(ctx, edges, [g, keys = keys.data(), payload = payload.data()] __device__(std::int64_t e) {
    const int lower = g.offsets[g.from[e]] - g.first[g.from[e]] + static_cast<int>(e);
    g.ends[lower] = g.to[e];
    if (g.numbers != nullptr) g.numbers[lower] = static_cast<int>(e);
    const auto id = static_cast<int>(payload[e]);  // the e-th edge by its lower end
    const int upper = g.first[keys[e] + 1] + static_cast<int>(e);
    g.ends[upper] = g.from[id];
    if (g.numbers != nullptr) g.numbers[upper] = id;
  });
}

}  // namespace

template <class I, class O>
void fill_ranked(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, std::int64_t longest,
                 I* sources, I* targets, const ranked_rows& to) {
  const device_guard guard(ctx);
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(to.vertices))));
  const array<int, device> ranks = rank_vertices(ctx, rows, longest);
  array<std::uint64_t, device> keys(ctx, to.edges);
  array<std::uint32_t, device> payload(ctx, to.edges);
  list_edges(ctx, rows, ranks.data(), bits, sources, targets, keys.data(), payload.data());
  fill_rows(ctx, bits, keys, payload, to);
}

support_counter::support_counter(const context<device>& ctx, std::int64_t edges, const support_limits& limits)
    : ctx_(ctx),
      limits_(limits),
      packed_(ctx, div_up(edges, std::int64_t{4})),
      sums_(ctx, edges),
      items_(ctx, most_support_items(edges)),
      control_(ctx, 1) {}

std::int64_t support_counter::bytes() const { return bytes_of(packed_, sums_, items_, control_); }

void support_counter::run(const ranked_rows& g, int* support) {
  using tuning = cuda_support_tuning;
  if (g.edges == 0) return;
  const device_guard guard(ctx_);
  fill_bytes(ctx_, packed_.data(), 0, static_cast<std::size_t>(div_up(g.edges, std::int64_t{4})) * sizeof(count64));
  fill_bytes(ctx_, sums_.data(), 0, static_cast<std::size_t>(g.edges) * sizeof(int));
  fill_zero(ctx_, control_);
  launch_kernel(ctx_, grid_stride(ctx_, g.vertices), list_support_items_kernel, g, items_.data(), control_.data());
  const support_sums sums{packed_.data(), sums_.data()};
  launch_kernel(ctx_, {std::int64_t{tuning::blocks_per_sm} * ctx_.properties().multiprocessors, tuning::block},
                supports_by_blocks_kernel, g, limits_, items_.data(), sums, control_.data());
  launch_kernel(ctx_, {blocks_for(ctx_, g.vertices, tuning::warp_block), tuning::warp_block}, supports_by_warps_kernel,
                g, sums);
  for_each(ctx_, g.edges,
           [support, packed = reinterpret_cast<const unsigned short*>(packed_.data()),
            sums = sums_.data()] __device__(std::int64_t e) { support[e] = sums[e] + packed[e]; });
}

#define INSTANTIATE(I, O)                                                                                        \
  template void fill_ranked(const context<device>&, const csr_pattern_view<I, O, device>&, std::int64_t, I*, I*, \
                            const ranked_rows&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::triangles
