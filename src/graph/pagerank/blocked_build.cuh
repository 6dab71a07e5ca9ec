// Builds the copy of blocked_cuda.cu: sorts vertices by descending out-degree, renumbers edges, stores cells as
// positions within their blocks.
#pragma once

#include "core/device/launch.cuh"
#include "graph/pagerank/device.cuh"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/device.cuh"
#include "sparse/spmv/copies/blocked/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::pagerank {

using spmv::blocked_pattern;
using spmv::no_entry;

// Blocks whose vertices have a lower average out-degree are dropped: loading them costs more than it saves.
inline constexpr std::int64_t least_block_degree = 8;

// The graph with vertices sorted by descending out-degree.
struct ranked_graph {
  array<std::uint32_t, device> order;  // vertices by position
  array<std::int64_t, device> offsets;
  array<std::uint32_t, device> places;  // positions of the edges' sources
};

struct degree_totals {
  unsigned long long linked;   // positions with edges
  unsigned long long used;     // positions with out-edges
  unsigned long long dense;    // positions with at least least_block_degree out-edges
  unsigned long long popular;  // edges from the first block
};

// Sorts vertices by descending out-degree; of equal ones, those without in-edges last. Synchronizes.
template <class I, class O>
degree_totals order_vertices(const context<device>& ctx, const graph_view<I, O, device>& g, std::int64_t block,
                             array<std::uint32_t, device>& order) {
  const std::int64_t n = g.vertices();
  const std::int64_t edges = g.in.nnz();
  const O* const out = g.out.offsets.data();
  const O* const in = g.in.offsets.data();
  array<std::uint64_t, device> keys(ctx, n);
  std::uint64_t* const missing = keys.data();
  for_each(ctx, n, [=] __device__(std::int64_t v) {
    const auto degree = static_cast<std::int64_t>(out[v + 1] - out[v]);
    missing[v] = 2 * static_cast<std::uint64_t>(edges - degree) + (in[v + 1] == in[v] ? 1 : 0);
  });
  order = iota(ctx, n);
  sort_pairs(ctx, keys, order, 0, spmv::key_bits(edges + 1) + 1);
  array<degree_totals, device> totals(ctx, 1);
  fill_zero(ctx, totals.view());
  degree_totals* const total = totals.data();
  for_each(ctx, n, [=, missing = std::as_const(keys).data()] __device__(std::int64_t i) {
    const std::uint64_t none = 2 * static_cast<std::uint64_t>(edges) + 1;
    const std::uint64_t behind = i + 1 < n ? missing[i + 1] : none;
    const std::int64_t degree_here = edges - static_cast<std::int64_t>(missing[i] / 2);
    const std::int64_t next = edges - static_cast<std::int64_t>(behind / 2);
    if (missing[i] < none && behind == none) total->linked = static_cast<count64>(i + 1);
    if (degree_here > 0 && next == 0) total->used = static_cast<count64>(i + 1);
    if (degree_here >= least_block_degree && next < least_block_degree) total->dense = static_cast<count64>(i + 1);
    if (i < block) atomicAdd(&total->popular, static_cast<count64>(degree_here));
  });
  return to_host(ctx, std::as_const(totals).view())[0];
}

inline constexpr int tile_edges = 2048;

// to[e] = position of the source of edge e; edges are ordered by position of their targets.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    place_edges_kernel(const O* offsets, const I* indices, const std::uint32_t* order, const std::uint32_t* position,
                       const std::int64_t* placed_offsets, std::int64_t n, std::uint32_t* to) {
  __shared__ std::int64_t bounds[2];
  const std::int64_t edges = placed_offsets[n];
  const std::int64_t first = std::int64_t{blockIdx.x} * tile_edges;
  const std::int64_t last = min(first + tile_edges, edges);
  const auto row_of = [&](std::int64_t e, std::int64_t low, std::int64_t high) {  // within low .. high
    return low + lower_bound(placed_offsets + low, high - low + 1, e + 1) - 1;
  };
  if (threadIdx.x < 2) bounds[threadIdx.x] = row_of(threadIdx.x == 0 ? first : last - 1, 0, n - 1);
  __syncthreads();
  for (std::int64_t e = first + threadIdx.x; e < last; e += block_threads) {
    const std::int64_t row = row_of(e, bounds[0], bounds[1]);
    const std::int64_t from = static_cast<std::int64_t>(offsets[order[row]]) + (e - placed_offsets[row]);
    to[e] = position[indices[from]];
  }
}

template <class I, class O>
void place_edges(const context<device>& ctx, const csr_pattern_view<I, O, device>& in, ranked_graph& to) {
  const std::int64_t n = to.order.size();
  array<std::uint32_t, device> positions(ctx, n);
  to.offsets = {ctx, n + 1};
  to.places = {ctx, in.nnz()};
  const std::uint32_t* const order = to.order.data();
  std::uint32_t* const position = positions.data();
  std::int64_t* const placed = to.offsets.data();
  const O* const offsets = in.offsets.data();
  for_each(ctx, n + 1, [=] __device__(std::int64_t i) {
    if (i < n) position[order[i]] = static_cast<std::uint32_t>(i);
    placed[i] = i < n ? static_cast<std::int64_t>(offsets[order[i] + 1] - offsets[order[i]]) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(to.offsets).view(), to.offsets.view());
  launch_kernel(ctx, {div_up(in.nnz(), std::int64_t{tile_edges}), block_threads}, place_edges_kernel<I, O>, offsets,
                in.indices.data(), order, position, placed, n, to.places.data());
}

// Starts of the cells' chunks, in quads: the entries of a lane are padded to a multiple of four. Synchronizes.
struct cell_starts {
  array<std::uint32_t, device> quads;  // cell_chunks + 1
  std::int64_t total = 0;
};
[[nodiscard]] inline cell_starts count_quads(const context<device>& ctx, const blocked_pattern& pattern) {
  const std::int64_t chunks = pattern.cell_chunks;
  const std::uint32_t* const starts = pattern.chunk_starts.data();
  array<std::int64_t, device> counts(ctx, chunks + 1);
  cell_starts to{{ctx, chunks + 1}};
  for_each(ctx, chunks + 1, [=, count = counts.data()] __device__(std::int64_t c) {
    count[c] = c < chunks ? div_up(starts[c + 1] - starts[c], 4U) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(counts).view(), counts.view());
  for_each(ctx, chunks + 1, [before = counts.data(), quads = to.quads.data()] __device__(std::int64_t c) {
    quads[c] = static_cast<std::uint32_t>(before[c]);
  });
  to.total = element<std::int64_t>(ctx, std::as_const(counts).view(), chunks);
  return to;
}

inline constexpr std::int64_t quad_slots = 4 * warp_size;

// Slot of entry k in a chunk of `quads` quads per lane: pairs of quads interleaved by lane, an odd last quad alone.
__device__ inline std::int64_t cell_slot(std::uint32_t quads, std::uint32_t lane, std::uint32_t k) {
  const std::uint32_t pair = k / 8;
  if (pair < quads / 2) return std::int64_t{pair} * 2 * quad_slots + 8 * lane + k % 8;
  return std::int64_t{pair} * 2 * quad_slots + 4 * lane + k % 4;
}

// Positions of the cells' entries within their blocks; `block` marks padding.
[[nodiscard]] inline array<std::uint16_t, device> place_cells(const context<device>& ctx,
                                                              const blocked_pattern& pattern, const cell_starts& starts,
                                                              const std::uint32_t* places, std::uint32_t block) {
  array<std::uint16_t, device> cells(ctx, std::max(starts.total * quad_slots, std::int64_t{1}));
  for_each(ctx, pattern.cell_chunks * warp_size,
           [=, to = cells.data(), from = pattern.chunk_starts.data(), sources = pattern.sources.data(),
            first_quad = starts.quads.data()] __device__(std::int64_t i) {
             const std::int64_t chunk = i / warp_size;
             const auto lane = static_cast<std::uint32_t>(i % warp_size);
             const std::uint32_t size = from[chunk + 1] - from[chunk];
             const std::uint32_t quads = first_quad[chunk + 1] - first_quad[chunk];
             for (std::uint32_t k = 0; k < 4 * quads; ++k) {
               const std::uint32_t source = k < size ? sources[spmv::slot_of(from[chunk], size, lane, k)] : no_entry;
               to[first_quad[chunk] * quad_slots + cell_slot(quads, lane, k)] =
                   static_cast<std::uint16_t>(source == no_entry ? block : places[source] % block);
             }
           });
  return cells;
}

// Positions of the other edges' sources, interleaved by lane; `none` marks padding.
[[nodiscard]] inline array<std::uint32_t, device> place_others(const context<device>& ctx,
                                                               const blocked_pattern& pattern,
                                                               const std::uint32_t* places, std::uint32_t none) {
  array<std::uint32_t, device> others(ctx, std::max(pattern.slots - pattern.cell_slots, std::int64_t{1}));
  for_each(ctx, (pattern.chunks - pattern.cell_chunks) * warp_size,
           [=, to = others.data(), first = pattern.cell_chunks, before = pattern.cell_slots,
            from = pattern.chunk_starts.data(), sources = pattern.sources.data()] __device__(std::int64_t i) {
             const std::int64_t chunk = first + i / warp_size;
             const auto lane = static_cast<std::uint32_t>(i % warp_size);
             const std::uint32_t size = from[chunk + 1] - from[chunk];
             for (std::uint32_t k = 0; k < size; ++k) {
               const std::uint32_t source = sources[spmv::slot_of(from[chunk], size, lane, k)];
               to[(std::int64_t{from[chunk]} + k) * warp_size + lane - before] =
                   source == no_entry ? none : places[source];
             }
           });
  return others;
}

}  // namespace spargo::detail::pagerank
