// The single-pass scan: decoupled look-back over tiles that pass through a ring of stages in shared memory.
//
// One persistent block runs per SM. Its warps have three roles, which process each tile in this order:
//   copier    takes the next tile number from a counter and starts the tile's copy in, and later out;
//   scanners  fold a tile as soon as it has arrived, and scan it in place some tiles later, when its prefix is known;
//   seekers   publish a tile's total at once, then look back for the fold of all tiles before it.
// The wait for the prefix thus lies between the scanners' two passes, and copies never stop. Only the seeker of the
// block's oldest tile reads other blocks' totals: several would contend for the few cache lines that all read.
//
// Look-back works on windows of a fixed number of tiles. A tile's prefix is P(w) op the totals of the preceding tiles
// in its window w. P(w), the fold of all windows before w, is P(w-1) op the total of window w-1; it is read if
// published (by the last tile of window w-1), or computed from the totals of window w-1's tiles. Both ways apply the
// same operations in the same order, so the result's bits do not depend on timing.
//
// Progress: running blocks take tiles in order, so every tile waited for is in progress. A block publishes its tiles'
// totals before it waits for any of their prefixes.
//
// Cost: n elements read and written, one counter, one descriptor per tile. The scanners copy tiles that are not 16-byte
// aligned, and the last one. For Hopper or later, with 223 KiB of shared memory per block; tiles.cuh is for others.
// Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA technical report, 2016.
#pragma once

#include "core/device/bulk_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "primitives/function_objects.hpp"
#include "primitives/scan/backend.hpp"
#include "primitives/scan/descriptor.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail::scan {

// Fractions of a copy's rate (4.25 TB/s) for 2^28 int32 on an H200.
struct lookback_tuning {
  static constexpr int scanners = 256;  // threads; 128 to 640 with tiles of 40 to 56 KiB: 0.93 to 0.94
  // 16-byte vectors per thread; odd, so that neighbours' strides cause no bank conflicts. Tiles of 24 KiB reach 0.83.
  static constexpr int vectors = 11;
  static constexpr int stages = 5;      // as many tiles as fit shared memory
  static constexpr int ahead = 3;       // tiles folded ahead of the one being scanned: 1 0.77, 2 0.93, 3 0.94
  static constexpr int alone = 2;       // tiles scanned by one block without publishing: a third costs 2 us, blocks 1
  static constexpr int lane_tiles = 2;  // tiles of a window per seeker lane: 1 0.91, 2 0.94, 4 0.93
};

template <class T>
struct tile_shape : lookback_tuning {
  static constexpr int seekers = ahead + 1;
  static constexpr int scanner_warps = scanners / warp_size;
  static constexpr int threads = scanners + warp_size + seekers * warp_size;
  static constexpr int vector_items = 16 / sizeof(T);
  static constexpr int items = vectors * vector_items;
  static constexpr int tile = scanners * items;
  static constexpr int tile_bytes = tile * static_cast<int>(sizeof(T));
  static constexpr int window = lane_tiles * warp_size;
  static_assert(vectors % 2 == 1 && seekers < stages && scanner_warps <= warp_size && threads <= 1024);
};

template <class T>
struct stage_state {
  std::int64_t tile;        // its number; past the end: `tiles` or more
  T totals[warp_size];      // of the scanner warps
  T prefixes[warp_size];    // of the scanner warps' first items
  T inclusive;              // fold up to the tile's end, if one block takes all tiles
  shared_barrier loaded;    // the tile has arrived, or is not copied
  shared_barrier folded;    // the totals are ready
  shared_barrier resolved;  // the prefixes are ready
  shared_barrier scanned;   // the tile may be copied out
};

template <class T>
struct shared_stages {
  alignas(128) T values[tile_shape<T>::stages][tile_shape<T>::tile];
  stage_state<T> state[tile_shape<T>::stages];
};

static_assert(sizeof(shared_stages<float>) <= 227 << 10 && sizeof(shared_stages<double>) <= 227 << 10);

template <class T>
struct tile_task {
  const T* in;
  T* out;
  std::int64_t size;
  std::int64_t tiles;
  bool bulk_in;  // the input is 16-byte aligned
  bool bulk_out;
  // Null if one block takes all tiles.
  unsigned long long* next_tile;
  tile_descriptor<T>* totals;    // per tile
  tile_descriptor<T>* prefixes;  // per window

  [[nodiscard]] __device__ bool is_whole(std::int64_t t) const { return (t + 1) * tile_shape<T>::tile <= size; }
};

// A stage of the ring, and the phase of its barriers.
template <class T>
struct ring_place {
  int stage = 0;
  int phase = 0;

  __device__ void advance(int by = 1) {
    stage += by;
    if (stage >= tile_shape<T>::stages) {
      stage -= tile_shape<T>::stages;
      phase ^= 1;
    }
  }
};

__device__ inline void wait_for(shared_barrier& barrier, int phase) {
  while (!barrier.try_wait(static_cast<unsigned>(phase))) {
  }
}

template <class Op, class T>
__device__ T scan_warp(T value) {
  return warp_inclusive_scan(value, [](T a, T b) { return Op::apply(a, b); });
}

// One lane reads, the one that later arrives at the barrier for its warp.
template <class T>
__device__ std::int64_t tile_at(const stage_state<T>& state, int lane) {
  std::int64_t tile = 0;
  if (lane == 0) tile = state.tile;
  return __shfl_sync(full_mask, tile, 0);
}

// ---- The copier: one thread -----------------------------------------------------------------------------------------

template <class T>
__device__ void load_tile(shared_stages<T>& shared, int stage, const tile_task<T>& task, std::int64_t tile) {
  using shape = tile_shape<T>;
  auto& state = shared.state[stage];
  state.tile = tile;
  if (tile < task.tiles && task.bulk_in && task.is_whole(tile)) {
    state.loaded.expect_tx(shape::tile_bytes);
    bulk_copy(shared.values[stage], task.in + tile * shape::tile, shape::tile_bytes, state.loaded);
  } else {
    state.loaded.arrive();
  }
}

// The tile number after `last`; past the end no number is taken.
template <class T>
__device__ std::int64_t next_tile(const tile_task<T>& task, std::int64_t last) {
  if (last >= task.tiles) return last;
  return task.next_tile == nullptr ? last + 1 : static_cast<std::int64_t>(atomicAdd(task.next_tile, 1ULL));
}

template <class T>
__device__ void copy_tiles(shared_stages<T>& shared, const tile_task<T>& task) {
  using shape = tile_shape<T>;
  std::int64_t next = -1;
  for (int s = 0; s < shape::stages; ++s) {
    next = next_tile(task, next);
    load_tile(shared, s, task, next);
  }
  next = next_tile(task, next);  // one ahead, to hide the counter's latency
  for (ring_place<T> at;; at.advance()) {
    auto& state = shared.state[at.stage];
    const std::int64_t tile = state.tile;
    if (tile >= task.tiles) break;
    wait_for(state.scanned, at.phase);
    if (task.bulk_out && task.is_whole(tile)) {
      bulk_store(task.out + tile * shape::tile, shared.values[at.stage], shape::tile_bytes);
      wait_for_bulk_reads();
    }
    const std::int64_t coming = next;
    next = next_tile(task, next);
    load_tile(shared, at.stage, task, coming);
  }
}

// ---- Seekers: a warp for every tile between its fold and its scan ---------------------------------------------------

// A lane's part of a window's totals: tiles [first, first + lane_tiles).
template <class Op, class T>
struct window_share {
  static constexpr int count = tile_shape<T>::lane_tiles;
  const tile_descriptor<T>* first;
  typename tile_descriptor<T>::reading read[count];
  T values[count];
  bool ready[count];

  // Waits for the first `wanted` tiles of the window; the others count as the identity.
  __device__ window_share(const tile_descriptor<T>* window, int wanted, int lane) : first(window + lane * count) {
    for (int i = 0; i < count; ++i) {
      values[i] = Op::identity;
      ready[i] = lane * count + i >= wanted;
    }
  }
  __device__ void request() {
    for (int i = 0; i < count; ++i) {
      if (!ready[i]) read[i] = first[i].read();
    }
  }
  // Whether all have been published.
  __device__ bool settle() {
    bool all = true;
    for (int i = 0; i < count; ++i) {
      if (!ready[i]) ready[i] = read[i].take(values[i]);
      all = all && ready[i];
    }
    return all;
  }
  // Over the warp, in order.
  [[nodiscard]] __device__ T fold(int lane) const {
    T all = values[0];
    for (int i = 1; i < count; ++i) all = Op::apply(all, values[i]);
    return __shfl_sync(full_mask, scan_warp<Op>(all), warp_size - 1);
  }
};

// The fold of all tiles before `tile`. The last tile of a window also publishes the window's end.
template <class Op, class T>
__device__ T look_back(const tile_task<T>& task, std::int64_t tile, T total, int lane) {
  constexpr int window_tiles = tile_shape<T>::window;
  const std::int64_t window = tile / window_tiles;
  const int place = static_cast<int>(tile % window_tiles);
  const tile_descriptor<T>* const totals = task.totals + window * window_tiles;
  window_share<Op, T> own(totals, place, lane);
  window_share<Op, T> previous(totals - window_tiles, window == 0 ? 0 : window_tiles, lane);
  T prefix = Op::identity;           // of this window
  T previous_prefix = Op::identity;  // of the previous window
  bool has_prefix = window == 0;
  bool has_previous_prefix = window <= 1;
  while (true) {
    typename tile_descriptor<T>::reading at_start;
    typename tile_descriptor<T>::reading at_previous_start;
    own.request();
    if (!has_prefix) {
      previous.request();
      at_start = task.prefixes[window].read();
      if (!has_previous_prefix) at_previous_start = task.prefixes[window - 1].read();
    }
    const bool own_ready = own.settle();
    const bool previous_ready = previous.settle();
    if (!has_prefix) has_prefix = at_start.take(prefix);
    if (!has_previous_prefix) has_previous_prefix = at_previous_start.take(previous_prefix);
    if (__all_sync(full_mask, own_ready && has_prefix)) break;
    if (__all_sync(full_mask, own_ready && previous_ready && has_previous_prefix)) {
      prefix = Op::apply(previous_prefix, previous.fold(lane));
      break;
    }
  }
  const T before = Op::apply(prefix, own.fold(lane));
  if (place == window_tiles - 1) {
    if (lane == warp_size - 1) own.values[window_share<Op, T>::count - 1] = total;
    const T next = Op::apply(prefix, own.fold(lane));
    if (lane == 0) task.prefixes[window + 1].publish(next);
  }
  return before;
}

template <class Op, class T>
__device__ void seek_prefixes(shared_stages<T>& shared, const tile_task<T>& task, int seeker, int lane) {
  using shape = tile_shape<T>;
  ring_place<T> previous;  // of the block's previous tile
  ring_place<T> at;
  at.advance(seeker);
  if (seeker > 0) previous.advance(seeker - 1);
  for (bool is_first = seeker == 0;; is_first = false) {
    auto& state = shared.state[at.stage];
    wait_for(state.loaded, at.phase);
    const std::int64_t tile = tile_at(state, lane);
    if (tile >= task.tiles) return;
    wait_for(state.folded, at.phase);
    const T own = lane < shape::scanner_warps ? state.totals[lane] : Op::identity;
    const T inclusive = scan_warp<Op>(own);
    const T total = __shfl_sync(full_mask, inclusive, shape::scanner_warps - 1);
    if (task.totals != nullptr && lane == 0) task.totals[tile].publish(total);
    if (!is_first) wait_for(shared.state[previous.stage].resolved, previous.phase);
    T before = Op::identity;
    if (task.totals != nullptr) {
      before = look_back<Op>(task, tile, total, lane);
    } else if (!is_first) {
      if (lane == 0) before = shared.state[previous.stage].inclusive;
      before = __shfl_sync(full_mask, before, 0);
    }
    if (lane == 0) state.inclusive = Op::apply(before, total);
    const T prefix = Op::apply(before, shift_up(inclusive, Op::identity));
    if (lane < shape::scanner_warps) {
      state.prefixes[lane] = prefix;
      state.resolved.arrive();
    }
    previous = at;
    previous.advance(shape::seekers - 1);
    at.advance(shape::seekers);
  }
}

// ---- Scanners -------------------------------------------------------------------------------------------------------

template <class T>
struct alignas(16) scan_vector {
  T items[tile_shape<T>::vector_items];
};

template <class T>
__device__ void wait_for_scanners() {
  asm volatile("bar.sync 1, %0;" ::"n"(tile_shape<T>::scanners) : "memory");
}

// Ordinary loads for a tile that the copier did not copy; the identity past the end.
template <class Op, class T>
__device__ void fetch_tile(T* values, const tile_task<T>& task, std::int64_t tile, int thread) {
  using shape = tile_shape<T>;
  const std::int64_t first = tile * shape::tile;
  const std::int64_t left = task.size - first;
  wait_for_scanners<T>();  // all are done with the stage's old contents
#pragma unroll
  for (int k = 0; k < shape::items; ++k) {
    const int i = k * shape::scanners + thread;
    values[i] = i < left ? task.in[first + i] : Op::identity;
  }
  wait_for_scanners<T>();
}

template <class T>
__device__ void write_tile(const T* values, const tile_task<T>& task, std::int64_t tile, int thread) {
  using shape = tile_shape<T>;
  const std::int64_t first = tile * shape::tile;
  const std::int64_t left = task.size - first;
  wait_for_scanners<T>();
#pragma unroll
  for (int k = 0; k < shape::items; ++k) {
    const int i = k * shape::scanners + thread;
    if (i < left) task.out[first + i] = values[i];
  }
}

// Folds the thread's items and stores its warp's total. Returns the fold of the warp's items before them.
template <class Op, class T>
__device__ T fold_tile(shared_stages<T>& shared, const tile_task<T>& task, int stage, std::int64_t tile, int thread) {
  using shape = tile_shape<T>;
  auto& state = shared.state[stage];
  T* const values = shared.values[stage];
  if (!(task.bulk_in && task.is_whole(tile))) fetch_tile<Op>(values, task, tile, thread);
  const auto* mine = reinterpret_cast<const scan_vector<T>*>(values) + thread * shape::vectors;
  T total = Op::identity;
#pragma unroll
  for (int v = 0; v < shape::vectors; ++v) {
    const scan_vector<T> x = mine[v];
#pragma unroll
    for (int e = 0; e < shape::vector_items; ++e) total = v == 0 && e == 0 ? x.items[0] : Op::apply(total, x.items[e]);
  }
  const int lane = thread % warp_size;
  const T inclusive = scan_warp<Op>(total);
  if (lane == warp_size - 1) {
    state.totals[thread / warp_size] = inclusive;
    state.folded.arrive();
  }
  return shift_up(inclusive, Op::identity);
}

// Scans the thread's items in place after `before`, and releases the tile for copying out.
template <scan_kind Kind, class Op, class T>
__device__ void scan_tile(shared_stages<T>& shared, const tile_task<T>& task, int stage, std::int64_t tile, T before,
                          int thread) {
  using shape = tile_shape<T>;
  T* const values = shared.values[stage];
  auto* mine = reinterpret_cast<scan_vector<T>*>(values) + thread * shape::vectors;
#pragma unroll
  for (int v = 0; v < shape::vectors; ++v) {
    scan_vector<T> x = mine[v];
#pragma unroll
    for (int e = 0; e < shape::vector_items; ++e) {
      const T with = Op::apply(before, x.items[e]);
      x.items[e] = Kind == scan_kind::inclusive ? with : before;
      before = with;
    }
    mine[v] = x;
  }
  if (!(task.bulk_out && task.is_whole(tile))) write_tile(values, task, tile, thread);
  fence_for_bulk_copies();
  __syncwarp();
  if (thread % warp_size == 0) shared.state[stage].scanned.arrive();
}

template <scan_kind Kind, class Op, class T>
__device__ void scan_tiles(shared_stages<T>& shared, const tile_task<T>& task, int thread) {
  using shape = tile_shape<T>;
  const int lane = thread % warp_size;
  const int warp = thread / warp_size;
  T in_warp[shape::ahead + 1];  // per tile folded but not scanned: fold of the items before this thread's in its warp
  int waiting = 0;              // number of such tiles
  bool more = true;
  ring_place<T> folding;
  const auto fold_next = [&](T& result) {
    if (!more) return;
    auto& state = shared.state[folding.stage];
    wait_for(state.loaded, folding.phase);
    const std::int64_t tile = tile_at(state, lane);
    more = tile < task.tiles;
    if (!more) return;
    result = fold_tile<Op>(shared, task, folding.stage, tile, thread);
    ++waiting;
    folding.advance();
  };
#pragma unroll
  for (int k = 0; k < shape::ahead; ++k) fold_next(in_warp[k]);
  for (ring_place<T> at; waiting > 0; at.advance()) {
    fold_next(in_warp[shape::ahead]);
    auto& state = shared.state[at.stage];
    const std::int64_t tile = tile_at(state, lane);
    wait_for(state.resolved, at.phase);
    scan_tile<Kind, Op>(shared, task, at.stage, tile, Op::apply(state.prefixes[warp], in_warp[0]), thread);
#pragma unroll
    for (int k = 0; k < shape::ahead; ++k) in_warp[k] = in_warp[k + 1];
    --waiting;
  }
}

// ---- The kernel -----------------------------------------------------------------------------------------------------

template <scan_kind Kind, class Op, class T>
__device__ void run_ring(const tile_task<T>& task, unsigned char* memory) {
  using shape = tile_shape<T>;
  auto& shared = *reinterpret_cast<shared_stages<T>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (auto& state : shared.state) {
      state.loaded.init(1);
      state.folded.init(shape::scanner_warps);
      state.resolved.init(shape::scanner_warps);
      state.scanned.init(shape::scanner_warps);
    }
    fence_for_bulk_copies();
  }
  __syncthreads();
  const int role = thread / warp_size - shape::scanner_warps;
  const int lane = thread % warp_size;
  if (role < 0) {
    scan_tiles<Kind, Op>(shared, task, thread);
  } else if (role > 0) {
    seek_prefixes<Op>(shared, task, role - 1, lane);
  } else if (lane == 0) {
    copy_tiles(shared, task);
  }
}

template <scan_kind Kind, class Op, class T>
__global__ void __launch_bounds__(tile_shape<T>::threads, 1) lookback_kernel(const tile_task<T> task) {
  extern __shared__ __align__(128) unsigned char memory[];
  if constexpr (has_hopper_blocks) run_ring<Kind, Op>(task, memory);
}

// One allocation, cleared by one memset: the counter (in the space of a descriptor), tiles, windows.
template <class T>
[[nodiscard]] array<tile_descriptor<T>, device> share_tiles(const context<device>& ctx, tile_task<T>& task) {
  const std::int64_t descriptors = 1 + task.tiles + task.tiles / tile_shape<T>::window + 1;
  array<tile_descriptor<T>, device> scratch(ctx, descriptors);
  SPARGO_CUDA_TRY(cudaMemsetAsync(scratch.data(), 0, static_cast<std::size_t>(descriptors) * sizeof(tile_descriptor<T>),
                                  ctx.stream()));
  task.next_tile = reinterpret_cast<unsigned long long*>(scratch.data());
  task.totals = scratch.data() + 1;
  task.prefixes = task.totals + task.tiles;
  return scratch;
}

template <class T>
[[nodiscard]] bool has_ring(const context<device>& ctx) {
  return ctx.properties().code_capability >= hopper_capability &&
         ctx.properties().shared_memory_per_block >= static_cast<std::int64_t>(sizeof(shared_stages<T>));
}

template <scan_kind Kind, class Op, class T>
void scan_by_ring(const context<device>& ctx, span<const T, device> in, span<T, device> out) {
  using shape = tile_shape<T>;
  const auto is_aligned = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  tile_task<T> task{.in = in.data(),
                    .out = out.data(),
                    .size = in.size(),
                    .tiles = div_up(in.size(), std::int64_t{shape::tile}),
                    .bulk_in = is_aligned(in.data()),
                    .bulk_out = is_aligned(out.data()),
                    .next_tile = nullptr,
                    .totals = nullptr,
                    .prefixes = nullptr};
  const bool several_blocks = task.tiles > shape::alone;
  array<tile_descriptor<T>, device> scratch;
  if (several_blocks) scratch = share_tiles(ctx, task);
  const auto kernel = lookback_kernel<Kind, Op, T>;
  SPARGO_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(shared_stages<T>)));
  const std::int64_t blocks = several_blocks ? std::min<std::int64_t>(task.tiles, ctx.properties().multiprocessors) : 1;
  launch_kernel(ctx, {blocks, shape::threads, sizeof(shared_stages<T>)}, kernel, task);
}

}  // namespace spargo::detail::scan
