// Orients a graph on the device: every edge points to its end of higher degree, vertices are identified by rank.
//
// Ranks: vertices by descending degree, ties by id. An edge of ranks v > u is stored in two lists: u in v's list of
// lower ranks, which ascends and is 16-byte aligned, and v in u's list of higher ranks, in any order. The lists of
// higher ranks are filled from the rows; a stable sort of their entries by v yields the other lists, already ascending.
// So a run sorts once, over the bits of a rank. Cost: each stored entry is read twice, each time with a gather from the
// ranks (16 MB for 2^22 vertices stay in L2); a radix sort of the edges, and one more copy of them. With links, an
// edge's top bit marks that the directed graph has it both ways, which costs two searches in rows.
#pragma once

#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"

#include <spargo/graph/frontier/expansion.cuh>

namespace spargo::detail::triangles {

using rank_t = std::uint32_t;
inline constexpr rank_t mutual_bit = rank_t{1} << 31;
inline constexpr rank_t rank_mask = mutual_bit - 1;

// Marked: entries may have the mutual bit.
template <bool Marked>
__device__ __forceinline__ rank_t rank_of(rank_t entry) {
  return Marked ? entry & rank_mask : entry;
}
__device__ __forceinline__ unsigned is_mutual(rank_t entry) { return entry >> 31; }

// Ascending rows without loops or duplicates.
template <class I, class O>
struct device_rows {
  std::int64_t vertices;
  const O* offsets;
  const I* indices;
};

// out_quads[v]: start of v's list of lower ranks, in units of four entries. Beyond a list come neighbours of higher
// rank, so readers stop at the rank they came from.
template <class O>
struct oriented_lists {
  const rank_t* in;
  const O* in_offsets;
  const uint4* out;
  const O* out_quads;
  const O* out_offsets;  // differences are list sizes
};

__device__ __forceinline__ std::int64_t global_warp() { return global_thread() / warp_size; }
__device__ __forceinline__ std::int64_t grid_warps() { return grid_threads() / warp_size; }
__device__ __forceinline__ unsigned lanes_below() { return (1U << lane_id()) - 1; }

struct traversal_tuning {
  // Consecutive entries per warp. H200, R-MAT 22, ms in total, with one step: 1024: 20.1, 2048: 20.2.
  static constexpr std::int64_t entries = 2048;
  static constexpr int steps = 4;  // loads in flight together; untuned
};

// An entry of the traversal, held by one lane.
struct row_entry {
  std::int64_t row;
  std::int64_t entry;
  bool valid;
};

// Calls f(entries) with all lanes of the warp: `steps` entries per lane; consecutive lanes hold consecutive ones.
template <class O, class F>
__device__ __forceinline__ void for_each_entry(std::int64_t rows, const O* offsets, std::int64_t part, F f) {
  constexpr int steps = traversal_tuning::steps;
  std::int64_t first = part * traversal_tuning::entries;
  const std::int64_t entries = offsets[rows];
  const std::int64_t last = entries < first + traversal_tuning::entries ? entries : first + traversal_tuning::entries;
  if (first >= last) return;
  std::int64_t row = lower_bound(offsets, rows + 1, first + 1) - 1;  // the row of the first entry
  for (; first < last; row += warp_size) {
    const std::int64_t below = row + lane_id() + 1;
    const std::int64_t end = offsets[below < rows ? below : rows];
    const std::int64_t of_rows = shuffle(end, warp_size - 1);
    const std::int64_t stop = of_rows < last ? of_rows : last;
    for (; first < stop; first += steps * warp_size) {
      row_entry lane_entries[steps];
#pragma unroll
      for (int j = 0; j < steps; ++j) {
        const std::int64_t entry = first + j * warp_size + lane_id();
        lane_entries[j] = {row + owner_of(end, entry), entry, entry < stop};
      }
      f(lane_entries);
    }
    first = stop;
  }
}

template <class I, class O>
__device__ bool has_entry(const device_rows<I, O>& rows, std::int64_t row, std::int64_t wanted) {
  const I* const first = rows.indices + rows.offsets[row];
  const std::int64_t size = rows.offsets[row + 1] - rows.offsets[row];
  const std::int64_t at = lower_bound(first, size, wanted);
  return at < size && first[at] == static_cast<I>(wanted);
}

// 1 if the directed graph has edges a -> b and b -> a, else 0.
template <class I>
__device__ unsigned joined_both_ways(const device_rows<I, std::int64_t>& directed, std::int64_t a, std::int64_t b) {
  if (directed.offsets == nullptr) return 0;
  return has_entry(directed, a, b) && has_entry(directed, b, a) ? 1 : 0;
}

// Entries as edges from the end of lower rank, `mine`; `peers`: all lanes with the same `mine`.
struct row_edge {
  bool kept;
  rank_t mine;
  rank_t other;
  unsigned peers;

  [[nodiscard]] __device__ int leader() const { return __ffs(static_cast<int>(peers)) - 1; }
};
template <class I>
__device__ __forceinline__ void load_edges(const I* indices, const rank_t* ranks,
                                           const row_entry (&lane_entries)[traversal_tuning::steps],
                                           row_edge (&edges)[traversal_tuning::steps]) {
  constexpr int steps = traversal_tuning::steps;
  I ids[steps];
#pragma unroll
  for (int j = 0; j < steps; ++j) {
    ids[j] = lane_entries[j].valid ? indices[lane_entries[j].entry] : 0;
    edges[j].mine = lane_entries[j].valid ? ranks[lane_entries[j].row] : 0;
  }
#pragma unroll
  for (int j = 0; j < steps; ++j) edges[j].other = lane_entries[j].valid ? ranks[ids[j]] : 0;
#pragma unroll
  for (int j = 0; j < steps; ++j) {
    edges[j].kept = edges[j].other > edges[j].mine;
    edges[j].peers = __match_any_sync(full_mask, edges[j].kept ? edges[j].mine : ~rank_t{0});
  }
}

// Counts neighbours of higher rank in in_counts[u]; zero on entry.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_higher_kernel(device_rows<I, O> rows, std::int64_t parts, const rank_t* ranks, rank_t* in_counts) {
  for (std::int64_t part = global_warp(); part < parts; part += grid_warps()) {
    for_each_entry(rows.vertices, rows.offsets, part, [&](const row_entry(&lane_entries)[traversal_tuning::steps]) {
      row_edge edges[traversal_tuning::steps];
      load_edges(rows.indices, ranks, lane_entries, edges);
#pragma unroll
      for (const row_edge& edge : edges) {
        if (edge.kept && lane_id() == edge.leader()) {
          atomicAdd(in_counts + edge.mine, static_cast<unsigned>(__popc(edge.peers)));
        }
      }
    });
  }
}

// Fills the lists of higher ranks, a copy as sort keys, and owners' ranks per entry as values. `filled`: zero on entry.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    fill_higher_kernel(device_rows<I, O> rows, std::int64_t parts, device_rows<I, std::int64_t> directed,
                       const rank_t* ranks, const O* in_offsets, rank_t* filled, rank_t* in, rank_t* keys,
                       rank_t* values) {
  for (std::int64_t part = global_warp(); part < parts; part += grid_warps()) {
    for_each_entry(rows.vertices, rows.offsets, part, [&](const row_entry(&lane_entries)[traversal_tuning::steps]) {
      row_edge edges[traversal_tuning::steps];
      load_edges(rows.indices, ranks, lane_entries, edges);
      unsigned at[traversal_tuning::steps] = {};
#pragma unroll
      for (int j = 0; j < traversal_tuning::steps; ++j) {
        if (edges[j].kept && lane_id() == edges[j].leader()) {
          at[j] = atomicAdd(filled + edges[j].mine, static_cast<unsigned>(__popc(edges[j].peers)));
        }
      }
#pragma unroll
      for (int j = 0; j < traversal_tuning::steps; ++j) {
        const row_edge& edge = edges[j];
        at[j] = shuffle(at[j], edge.leader()) + static_cast<unsigned>(__popc(edge.peers & lanes_below()));
        if (!edge.kept) continue;
        const rank_t flag = joined_both_ways(directed, lane_entries[j].row, rows.indices[lane_entries[j].entry]) << 31;
        const std::int64_t to = in_offsets[edge.mine] + static_cast<std::int64_t>(at[j]);
        in[to] = edge.other | flag;
        keys[to] = edge.other | flag;
        values[to] = edge.mine | flag;
      }
    });
  }
}

// Copies the sorted lists to their 16-byte aligned starts.
template <class O>
__global__ void __launch_bounds__(block_threads)
    place_lower_kernel(std::int64_t vertices, std::int64_t parts, const O* out_offsets, const O* out_quads,
                       const rank_t* sorted, rank_t* out) {
  for (std::int64_t part = global_warp(); part < parts; part += grid_warps()) {
    for_each_entry(vertices, out_offsets, part, [&](const row_entry(&lane_entries)[traversal_tuning::steps]) {
#pragma unroll
      for (const auto& [v, entry, valid] : lane_entries) {
        if (valid) out[4 * static_cast<std::int64_t>(out_quads[v]) + entry - out_offsets[v]] = sorted[entry];
      }
    });
  }
}

}  // namespace spargo::detail::triangles
