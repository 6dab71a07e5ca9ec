// Triangles of ascending rows as stored, on the device: an edge is followed from its end of higher id, so every
// triangle is found once, at its highest vertex. For graphs with short rows, which are read once or twice from L1.
//
// A warp inserts v's neighbours below v into a filter. For each of them, u, except the first, pairs of lanes with eight
// entries each test u's row below u against the filter; hits are verified by a search in v's row. Rows of a few entries
// get a thread instead of a warp; it searches u's row for v's entries below u. So do the lanes of a warp if v's row is
// long. Cost: the sum over the edges of the row at the lower end.
#pragma once

#include "graph/triangles/cuda_count.cuh"

#include <limits>

namespace spargo::detail::triangles {

// Times: H200, uniform graph of 2^22 vertices, rows of 32, ms.
struct cuda_rows_tuning {
  static constexpr std::int64_t thread_row = 8;    // up to here all vertices get a thread each; untuned
  static constexpr std::int64_t filter_row = 128;  // up to here a filter; untuned
  // Lanes per row, and entries per lane. 2 and 8: 4.2, 1 and 8: 4.5, 4 and 4: 4.5, 4 and 8: 4.6.
  static constexpr int lanes = 2;
  static constexpr int entries = 8;
  static constexpr int blocks = 64;  // launched per multiprocessor. 6: 4.4, 16: 4.4, 64: 4.0
};

// Adds a triangle to all three vertices; directed: for the links of a directed graph.
template <triangles_output Output, class I>
struct row_tally {
  count_sums sums;  // [vertex]
  device_rows<I, std::int64_t> directed;
  std::int64_t total = 0;

  __device__ __forceinline__ void add_triangle(I v, I u, I w) {
    ++total;
    if constexpr (Output != triangles_output::total) {
      for (const I x : {v, u, w}) atomicAdd(sums.counts + x, count64{1});
    }
    if constexpr (Output == triangles_output::links) {
      atomicAdd(sums.links + v, count64{1 + joined_both_ways(directed, u, w)});
      atomicAdd(sums.links + u, count64{1 + joined_both_ways(directed, v, w)});
      atomicAdd(sums.links + w, count64{1 + joined_both_ways(directed, v, u)});
    }
  }
};

// Calls f(w) for the intersection of two ascending lists: iterates over the shorter and searches the longer.
template <class I, class F>
__device__ void for_common(const I* a, std::int64_t a_size, const I* b, std::int64_t b_size, F f) {
  const bool swapped = b_size < a_size;
  const I* const shorter = swapped ? b : a;
  const I* longer = swapped ? a : b;
  const std::int64_t shorter_size = swapped ? b_size : a_size;
  std::int64_t longer_size = swapped ? a_size : b_size;
  for (std::int64_t k = 0; k < shorter_size && longer_size > 0; ++k) {
    const std::int64_t at = lower_bound(longer, longer_size, shorter[k]);
    longer += at;
    longer_size -= at;
    if (longer_size > 0 && *longer == shorter[k]) f(shorter[k]);
  }
}

// v with its k-th neighbour u: intersects both rows below u.
template <triangles_output Output, class I, class O>
__device__ __forceinline__ void count_by_search(const device_rows<I, O>& rows, std::int64_t v, std::int64_t first,
                                                std::int64_t k, row_tally<Output, I>& mine) {
  const I u = rows.indices[first + k];
  const std::int64_t theirs = rows.offsets[u];
  for_common(rows.indices + first, k, rows.indices + theirs, rows.offsets[u + 1] - theirs,
             [&](I w) { mine.add_triangle(static_cast<I>(v), u, w); });
}

template <triangles_output Output, class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_rows_by_threads_kernel(device_rows<I, O> rows, row_tally<Output, I> mine, count_control* control) {
  for (std::int64_t v = global_thread(); v < rows.vertices; v += grid_threads()) {
    const std::int64_t first = rows.offsets[v];
    const std::int64_t size = rows.offsets[v + 1] - first;
    for (std::int64_t k = 1; k < size && rows.indices[first + k] < static_cast<I>(v); ++k) {
      count_by_search(rows, v, first, k, mine);
    }
  }
  __syncwarp();
  add_total(mine.total, control);
}

// Bloom-like filter of ids by their low bits, in shared memory: no false negatives.
struct id_filter {
  static constexpr unsigned words = 256;
  unsigned* bits;

  template <class I>
  __device__ __forceinline__ void insert(I id) const {
    atomicOr(bits + static_cast<unsigned>(id) / 32 % words, 1U << static_cast<unsigned>(id) % 32);
  }
  // Clears the id's whole word; once all inserted ids are erased, the filter is empty.
  template <class I>
  __device__ __forceinline__ void erase(I id) const {
    bits[static_cast<unsigned>(id) / 32 % words] = 0;
  }
  template <class I>
  [[nodiscard]] __device__ __forceinline__ unsigned may_have(I id) const {
    const auto low = static_cast<unsigned>(id);
    return __funnelshift_r(bits[low / 32 % words], 0, low) & 1;
  }
};

// Loads entries from `at`, which is 16-byte aligned and may be out of range; max for entries outside [0, size).
template <int Entries, class I>
__device__ __forceinline__ void load_entries(const I* indices, std::int64_t size, std::int64_t at, I (&w)[Entries]) {
  constexpr int per_load = 16 / sizeof(I);
  if (at >= 0 && at + Entries <= size) {
#pragma unroll
    for (int q = 0; q < Entries / per_load; ++q) {
      const uint4 words = __ldg(reinterpret_cast<const uint4*>(indices + at) + q);
      if constexpr (sizeof(I) == 4) {
        w[4 * q] = static_cast<I>(words.x);
        w[4 * q + 1] = static_cast<I>(words.y);
        w[4 * q + 2] = static_cast<I>(words.z);
        w[4 * q + 3] = static_cast<I>(words.w);
      } else {
        w[2 * q] = static_cast<I>(count64{words.y} << 32 | words.x);
        w[2 * q + 1] = static_cast<I>(count64{words.w} << 32 | words.z);
      }
    }
  } else {
#pragma unroll
    for (int j = 0; j < Entries; ++j) {
      w[j] = at + j >= 0 && at + j < size ? indices[at + j] : std::numeric_limits<I>::max();
    }
  }
}

// Counts triangles of v with its `size` neighbours below it, from entry `first`, which are in the filter. All lanes of
// a warp call it; each group of lanes follows an edge, then takes the next one. u's row contains v, so its entries
// below u end before the row does.
template <triangles_output Output, class I, class O>
__device__ __forceinline__ void count_by_filter(const device_rows<I, O>& rows, std::int64_t all_entries, I v,
                                                std::int64_t first, int size, const id_filter& filter,
                                                row_tally<Output, I>& mine) {
  constexpr int lanes = cuda_rows_tuning::lanes;
  constexpr int entries = cuda_rows_tuning::entries;
  constexpr unsigned group_mask = (1U << lanes) - 1;
  constexpr int per_load = 16 / sizeof(I);
  const int in_group = lane_id() % lanes;
  const int group_first = lane_id() - in_group;
  const auto misplaced = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(rows.indices) / sizeof(I)) % per_load;
  for (int base = 1; base < size; base += warp_size) {
    const int edges = size - base < warp_size ? size - base : warp_size;
    I lower = 0;
    O row_first = 0;
    if (lane_id() < edges) {
      lower = rows.indices[first + base + lane_id()];
      row_first = rows.offsets[lower];
    }
    int edge = lane_id() / lanes;
    int next = warp_size / lanes;
    bool fresh = true;  // the group starts a new list
    I u = shuffle(lower, edge);
    O begin = shuffle(row_first, edge);
    std::int64_t at = 0;
    while (__any_sync(full_mask, edge < edges ? 1 : 0) != 0) {
      // Entries before an unaligned list are loaded and ignored.
      const int skipped = fresh ? static_cast<int>((static_cast<unsigned>(begin) + misplaced) % per_load) : 0;
      if (fresh) at = static_cast<std::int64_t>(begin) - skipped + in_group * entries;
      I w[entries];
      if (edge < edges) {
        load_entries(rows.indices, all_entries, at, w);
      } else {
#pragma unroll
        for (int j = 0; j < entries; ++j) w[j] = std::numeric_limits<I>::max();
      }
#pragma unroll
      for (int j = 0; j < per_load - 1; ++j) w[j] = in_group == 0 && j < skipped ? I{-1} : w[j];
      unsigned below = 0;  // bit mask of the entries
      unsigned found = 0;
      bool goes_on = true;
#pragma unroll
      for (int j = 0; j < entries; ++j) {
        goes_on = goes_on && w[j] < u;
        below = goes_on ? below | 1U << j : below;
        found |= filter.may_have(w[j]) << j;
      }
      found &= below;
      const unsigned ends = __ballot_sync(full_mask, !goes_on) >> group_first & group_mask;
      if (found != 0 && (ends & ((1U << in_group) - 1)) == 0) {  // otherwise the list has ended in an earlier lane
#pragma unroll
        for (int j = 0; j < entries; ++j) {
          if ((found >> j & 1) == 0) continue;
          const std::int64_t place = lower_bound(rows.indices + first, size, w[j]);
          if (place < size && rows.indices[first + place] == w[j]) mine.add_triangle(v, u, w[j]);
        }
      }
      __syncwarp();
      fresh = ends != 0;
      at += lanes * entries;
      const unsigned finished = __ballot_sync(full_mask, fresh && edge < edges && in_group == 0);
      if (fresh && edge < edges) edge = next + __popc(finished & ((1U << group_first) - 1));
      next += __popc(finished);
      u = shuffle(lower, edge % warp_size);
      begin = shuffle(row_first, edge % warp_size);
    }
  }
}

template <triangles_output Output, class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_rows_by_warps_kernel(device_rows<I, O> rows, row_tally<Output, I> mine, count_control* control) {
  using tuning = cuda_rows_tuning;
  __shared__ unsigned filters[block_threads / warp_size][id_filter::words];
  const id_filter filter{filters[threadIdx.x / warp_size]};
  for (unsigned k = static_cast<unsigned>(lane_id()); k < id_filter::words; k += warp_size) filter.bits[k] = 0;
  __syncwarp();
  const std::int64_t all_entries = rows.offsets[rows.vertices];
  for (std::int64_t v = global_warp(); v < rows.vertices; v += grid_warps()) {
    const std::int64_t first = rows.offsets[v];
    const std::int64_t row_size = rows.offsets[v + 1] - first;
    if (row_size > tuning::filter_row) {
      const std::int64_t size = lower_bound(rows.indices + first, row_size, v);
      for (std::int64_t k = 1 + lane_id(); k < size; k += warp_size) count_by_search(rows, v, first, k, mine);
      __syncwarp();
      continue;
    }
    int size = 0;  // neighbours below v
    for (int k = lane_id(); __any_sync(full_mask, k < row_size ? 1 : 0) != 0; k += warp_size) {
      const I w = k < row_size ? rows.indices[first + k] : std::numeric_limits<I>::max();
      const bool below = w < static_cast<I>(v);
      if (below) filter.insert(w);
      size += __popc(__ballot_sync(full_mask, below));
    }
    __syncwarp();
    count_by_filter(rows, all_entries, static_cast<I>(v), first, size, filter, mine);
    __syncwarp();
    for (int k = lane_id(); k < size; k += warp_size) filter.erase(rows.indices[first + k]);
    __syncwarp();
  }
  add_total(mine.total, control);
}

// --- Survey of rows -------------------------------------------------------

struct row_findings {
  count64 longest;
  unsigned disorder;  // nonzero: some row does not ascend, or has a loop
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    survey_rows_kernel(device_rows<I, O> rows, std::int64_t parts, row_findings* found) {
  std::int64_t longest = 0;
  bool disorder = false;
  for (std::int64_t v = global_thread(); v < rows.vertices; v += grid_threads()) {
    const std::int64_t size = rows.offsets[v + 1] - rows.offsets[v];
    longest = size > longest ? size : longest;
  }
  for (std::int64_t part = global_warp(); part < parts; part += grid_warps()) {
    for_each_entry(rows.vertices, rows.offsets, part, [&](const row_entry(&lane_entries)[traversal_tuning::steps]) {
      for (const auto& [row, entry, valid] : lane_entries) {
        if (!valid) continue;
        const I neighbour = rows.indices[entry];
        disorder = disorder || neighbour == static_cast<I>(row) ||
                   (entry > rows.offsets[row] && rows.indices[entry - 1] >= neighbour);
      }
    });
  }
  longest = warp_max(longest);
  if (lane_id() == 0 && longest > 0) atomicMax(&found->longest, static_cast<count64>(longest));
  if (disorder) atomicOr(&found->disorder, 1U);
}

}  // namespace spargo::detail::triangles
