// The single-pass scan for any chip: decoupled look-back over tiles that a block holds in registers.
//
// A block takes the next tile number from a counter, folds the tile, publishes its total, looks back as lookback.cuh
// does (the same windows, so the same order of operations for any timing; see there for progress), and scans the tile
// in registers. Items pass through shared memory so that global accesses are coalesced; the layout skips one word in 17
// to avoid bank conflicts. Cost: n elements read and written, one counter, one descriptor per tile.
#pragma once

#include "primitives/scan/lookback.cuh"

namespace spargo::detail::scan {

struct tiles_tuning {  // a tile of 4096: windows of 2^18 elements, on which the documented error relies
  static constexpr int threads = 256;
  static constexpr int items = 16;  // per thread
  static constexpr int warps = threads / warp_size;
  static constexpr int tile = threads * items;
  static constexpr int blocks = 8;  // per SM
};

template <class T>
struct tile_memory {
  T values[tiles_tuning::tile + tiles_tuning::threads];
  T totals[tiles_tuning::warps];    // of the warps
  T prefixes[tiles_tuning::warps];  // folds before the warps
  std::int64_t tile;

  [[nodiscard]] __device__ T& at(int i) { return values[i + i / tiles_tuning::items]; }
};

// The fold of everything before the thread's items, given the fold of them.
template <class Op, class T>
__device__ T before_items(tile_memory<T>& shared, const tile_task<T>& task, std::int64_t tile, T total) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const T upto = scan_warp<Op>(total);
  if (lane == warp_size - 1) shared.totals[warp] = upto;
  __syncthreads();
  if (warp == 0) {
    const T own = lane < tiles_tuning::warps ? shared.totals[lane] : Op::identity;
    const T upto_warp = scan_warp<Op>(own);
    const T all = __shfl_sync(full_mask, upto_warp, tiles_tuning::warps - 1);
    T before = Op::identity;
    if (task.totals != nullptr) {
      if (lane == 0) task.totals[tile].publish(all);
      before = look_back<Op>(task, tile, all, lane);
    }
    const T prefix = Op::apply(before, shift_up(upto_warp, Op::identity));
    if (lane < tiles_tuning::warps) shared.prefixes[lane] = prefix;
  }
  __syncthreads();
  return Op::apply(shared.prefixes[warp], shift_up(upto, Op::identity));
}

// Grid: any number of blocks; 1 for a single tile.
template <scan_kind Kind, class Op, class T>
__global__ void __launch_bounds__(tiles_tuning::threads) lookback_tiles_kernel(const tile_task<T> task) {
  using tuning = tiles_tuning;
  __shared__ tile_memory<T> shared;
  const int thread = static_cast<int>(threadIdx.x);
  while (true) {
    if (thread == 0)
      shared.tile = task.next_tile == nullptr ? 0 : static_cast<std::int64_t>(atomicAdd(task.next_tile, 1ULL));
    __syncthreads();  // and the previous tile has been written
    const std::int64_t tile = shared.tile;
    if (tile >= task.tiles) return;
    const std::int64_t first = tile * tuning::tile;
    const std::int64_t left = task.size - first;
#pragma unroll
    for (int k = 0; k < tuning::items; ++k) {
      const int i = k * tuning::threads + thread;
      shared.at(i) = i < left ? task.in[first + i] : Op::identity;
    }
    __syncthreads();
    T item[tuning::items];
#pragma unroll
    for (int k = 0; k < tuning::items; ++k) item[k] = shared.at(thread * tuning::items + k);
    T total = item[0];
#pragma unroll
    for (int k = 1; k < tuning::items; ++k) total = Op::apply(total, item[k]);
    T before = before_items<Op>(shared, task, tile, total);
#pragma unroll
    for (int k = 0; k < tuning::items; ++k) {
      const T with = Op::apply(before, item[k]);
      shared.at(thread * tuning::items + k) = Kind == scan_kind::inclusive ? with : before;
      before = with;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tuning::items; ++k) {
      const int i = k * tuning::threads + thread;
      if (i < left) task.out[first + i] = shared.at(i);
    }
    if (task.next_tile == nullptr) return;
  }
}

template <scan_kind Kind, class Op, class T>
void scan_by_tiles(const context<device>& ctx, span<const T, device> in, span<T, device> out) {
  using tuning = tiles_tuning;
  tile_task<T> task{.in = in.data(),
                    .out = out.data(),
                    .size = in.size(),
                    .tiles = div_up(in.size(), std::int64_t{tuning::tile}),
                    .bulk_in = false,
                    .bulk_out = false,
                    .next_tile = nullptr,
                    .totals = nullptr,
                    .prefixes = nullptr};
  array<tile_descriptor<T>, device> scratch;
  if (task.tiles > 1) scratch = share_tiles(ctx, task);
  const std::int64_t blocks =
      std::min<std::int64_t>(task.tiles, std::int64_t{tuning::blocks} * ctx.properties().multiprocessors);
  launch_kernel(ctx, {blocks, tuning::threads}, lookback_tiles_kernel<Kind, Op, T>, task);
}

}  // namespace spargo::detail::scan
