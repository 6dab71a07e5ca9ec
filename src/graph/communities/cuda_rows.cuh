// Label propagation on the device: rows processed by a thread or a warp.
//
// A thread compares all labels of its row pairwise. A warp first tests whether most labels are the vertex's own, which
// is common. Otherwise it counts labels by hash in shared memory; a counter bounds the count of each of its labels.
// Repeatedly, the smallest label of the fullest counter is counted exactly; it wins if it fills its counter, otherwise
// it competes with the next.
#pragma once

#include "graph/communities/cuda_labels.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail::communities {

// --- Rows of a thread -----------------------------------------------------

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    tiny_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                     active_vertices active, tallies* all) {
  constexpr int most = cuda_tuning::thread_row;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t r = global_thread(); r < rows; r += grid_threads()) {
    const std::int64_t v = order[r];
    if (!active.has(v)) continue;
    const neighbour_list<I> row = lists.of(v);
    I labels[most];
#pragma unroll
    for (int k = 0; k < most; ++k) labels[k] = k < row.size ? row[k] : I{-1};
#pragma unroll
    for (int k = 0; k < most; ++k) labels[k] = labels[k] >= 0 ? arrays.label_of(labels[k]) : I{-1};
    vote<I> mine = no_vote<I>;
#pragma unroll
    for (int k = 0; k < most; ++k) {
      unsigned count = 0;
#pragma unroll
      for (int other = 0; other < most; ++other) count += labels[other] == labels[k] ? 1 : 0;
      if (labels[k] >= 0) mine.offer({count, labels[k]});
    }
    arrays.settle(v, mine.label, changed, unlike);
  }
  __syncwarp();
  add_to_tallies(all, changed, unlike);
}

// --- Rows of a warp -------------------------------------------------------

// One byte per hash, in shared memory; all zero between rows.
struct hash_counters {
  static constexpr unsigned words = 256;
  static_assert(cuda_tuning::warp_row < 256);
  unsigned* bytes;

  template <class I>
  __device__ static unsigned slot(I label) {
    return static_cast<unsigned>(label) * 2654435769U >> 22;
  }
  __device__ void add(unsigned slot) const { atomicAdd(bytes + slot / 4, 1U << 8 * (slot % 4)); }
  [[nodiscard]] __device__ unsigned count(unsigned slot) const { return bytes[slot / 4] >> 8 * (slot % 4) & 0xffU; }
  // Clears the slot's whole word.
  __device__ void clear(unsigned slot) const { bytes[slot / 4] = 0; }
};

template <class I>
__device__ __forceinline__ I warp_least(I mine) {
  constexpr I most = std::numeric_limits<I>::max();
  return most - warp_max(static_cast<I>(most - mine));
}

// Most frequent of `size` labels, distributed over the lanes; -1: none. All lanes call it.
template <int Count, class I>
__device__ __forceinline__ I most_frequent(const I (&labels)[Count], int size, I own, const hash_counters& counters) {
  const auto count_of = [&](I label) {
    int count = 0;
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      if (k * warp_size < size) count += __popc(__ballot_sync(full_mask, labels[k] == label));
    }
    return static_cast<unsigned>(count);
  };
  if (2 * count_of(own) > static_cast<unsigned>(size)) return own;
  unsigned most[Count];  // upper bound of the label's count; 0: none, or counted
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    if (labels[k] >= 0) counters.add(counters.slot(labels[k]));
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Count; ++k) most[k] = labels[k] >= 0 ? counters.count(counters.slot(labels[k])) : 0;
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    if (labels[k] >= 0) counters.clear(counters.slot(labels[k]));
  }
  __syncwarp();
  vote<I> best = no_vote<I>;
  for (;;) {
    unsigned highest = 0;
#pragma unroll
    for (int k = 0; k < Count; ++k) highest = most[k] > highest ? most[k] : highest;
    highest = warp_max(highest);
    if (highest == 0 || highest < best.count) return best.label;
    I label = std::numeric_limits<I>::max();
#pragma unroll
    for (int k = 0; k < Count; ++k) label = most[k] == highest && labels[k] < label ? labels[k] : label;
    label = warp_least(label);
    const unsigned count = count_of(label);
    best.offer({count, label});
    if (count == highest) return best.label;
#pragma unroll
    for (int k = 0; k < Count; ++k) most[k] = labels[k] == label ? 0 : most[k];
  }
}

template <class I>
__device__ neighbour_list<I> shuffle_row(const neighbour_list<I>& row, int lane) {
  const auto pointer = [lane](const I* p) {
    return reinterpret_cast<const I*>(shuffle(reinterpret_cast<std::uintptr_t>(p), lane));
  };
  const auto length = [lane](std::int64_t size) { return std::int64_t{shuffle(static_cast<int>(size), lane)}; };
  return {pointer(row.out), pointer(row.in), length(row.out_size), length(row.size)};
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads, resident_blocks(cuda_tuning::warp_blocks, block_threads))
    small_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                      active_vertices active, tallies* all) {
  constexpr int per_lane = cuda_tuning::warp_row / warp_size;
  __shared__ unsigned bytes[warps_per_block][hash_counters::words];
  const hash_counters counters{bytes[threadIdx.x / warp_size]};
  for (unsigned k = static_cast<unsigned>(lane_id()); k < hash_counters::words; k += warp_size) counters.bytes[k] = 0;
  __syncwarp();
  const std::int64_t warps = grid_threads() / warp_size;
  std::int64_t tile = (rows + warps - 1) / warps;  // rows whose bounds the lanes load together
  tile = tile > warp_size ? warp_size : tile;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t base = global_thread() / warp_size * tile; base < rows; base += warps * tile) {
    const std::int64_t r = base + lane_id();
    const I v = lane_id() < tile && r < rows ? order[r] : I{-1};
    const bool wanted = v >= 0 && active.has(v);
    neighbour_list<I> mine{};
    I own = 0;
    if (wanted) {
      mine = lists.of(v);
      own = arrays.now[v];
    }
    I label = 0;
    for (unsigned left = __ballot_sync(full_mask, wanted); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const neighbour_list<I> row = shuffle_row(mine, owner);
      I labels[per_lane];
#pragma unroll
      for (int k = 0; k < per_lane; ++k) {
        const int at = lane_id() + k * warp_size;
        labels[k] = at < row.size ? row[at] : I{-1};
      }
#pragma unroll
      for (int k = 0; k < per_lane; ++k) labels[k] = labels[k] >= 0 ? arrays.label_of(labels[k]) : I{-1};
      const I found = most_frequent(labels, static_cast<int>(row.size), shuffle(own, owner), counters);
      if (lane_id() == owner) label = found;
    }
    if (wanted) arrays.settle(v, label, changed, unlike);
  }
  add_to_tallies(all, changed, unlike);
}

}  // namespace spargo::detail::communities
