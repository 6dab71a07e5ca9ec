// Folds over sliding windows on the device.
//
// Idea (van Herk 1992; Gil and Werman 1993): cut the line into chunks and scan each from both ends. A window longer
// than a chunk is the end of one chunk, whole chunks, and the start of another, so an output is a fold of at most four
// values for any window. A thread scans 8 neighbours in registers, neighbouring lanes scan a chunk: a power of two of
// elements, at most 256 and less than the window. If the window is under twice the chunk there are no whole chunks in
// it; otherwise each chunk is first folded to one value, and the folds over those, a sliding fold of a line 256 times
// shorter, are computed before.
//
// Invariant: tiles are multiples of chunks; chunk j of a line is [shift + j chunk, shift + (j + 1) chunk), with the
// identity outside the line. Cost: one read and one write per element for windows up to 512, three reads for wider
// ones, one of them mostly from L2 if the window fits there.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "primitives/stencil/sliding_fold.hpp"

namespace spargo::detail::stencil {

struct fold_tuning {
  static constexpr int items = 8;           // per thread, in registers and in flight
  static constexpr int widest_chunk = 256;  // a warp scans it without a barrier
  static constexpr int narrowest_scan = 9;  // shorter windows are folded directly from registers: at most 8 operations
  // Resident blocks of 256 threads per SM: 64 registers, 80 for double.
  template <class T>
  static constexpr int scan_blocks = sizeof(T) == 8 ? 3 : 4;
  static constexpr int narrow_blocks = 4;
  static constexpr int tile = 1024;  // outputs of a `tiled` block, and window elements per step
};

// Skips one word in 33: a thread's 8 neighbours and a warp's 32 lanes are in different banks.
__device__ inline int padded(int i) { return i + i / 32; }
inline constexpr int padded_size(int size) { return size + div_up(size, 32); }

template <class T>
__device__ T* fold_shared() {
  extern __shared__ __align__(16) unsigned char fold_bytes[];
  return reinterpret_cast<T*>(fold_bytes);
}

template <class Fold, class T>
__device__ T fold_at(const T* line, std::int64_t size, std::int64_t position) {
  return position >= 0 && position < size ? line[position] : Fold::identity;
}

template <class Fold, class T>
__global__ void __launch_bounds__(block_threads) fold_naive_kernel(fold_job<T> job, Fold fold) {
  for (std::int64_t k = global_thread(); k < job.lines * job.size; k += grid_threads()) {
    const std::int64_t i = k % job.size;
    const T* line = job.in + (k - i);
    const std::int64_t last = min(job.size, i + job.shift + job.window);
    T all = Fold::identity;
    for (std::int64_t j = max(std::int64_t{0}, i + job.shift); j < last; ++j) all = Fold::apply(all, line[j]);
    job.out[k] = fold.finish(all);
  }
}

// Any window width, chunk by chunk: loads outputs' inputs and one chunk of the window to shared memory, then folds it.
template <class Fold, class T>
__global__ void __launch_bounds__(block_threads) fold_tiled_kernel(fold_job<T> job, Fold fold) {
  constexpr int tile = fold_tuning::tile;
  constexpr int each = tile / block_threads;
  __shared__ T near[2 * tile];
  const std::int64_t tiles = div_up(job.size, tile);
  for (std::int64_t b = blockIdx.x; b < job.lines * tiles; b += gridDim.x) {
    const std::int64_t first = b % tiles * tile;
    const T* line = job.in + b / tiles * job.size;
    T all[each];
#pragma unroll
    for (int k = 0; k < each; ++k) all[k] = Fold::identity;
    for (std::int64_t chunk = 0; chunk < job.window; chunk += tile) {
      const std::int64_t start = first + job.shift + chunk;
      if (start + 2 * tile <= 0) continue;
      if (start >= job.size) break;
      const int width = static_cast<int>(min(std::int64_t{tile}, job.window - chunk));
      for (int k = threadIdx.x; k < tile + width; k += block_threads)
        near[k] = fold_at<Fold>(line, job.size, start + k);
      __syncthreads();
      for (int t = 0; t < width; ++t) {
#pragma unroll
        for (int k = 0; k < each; ++k) {
          all[k] = Fold::apply(all[k], near[k * block_threads + static_cast<int>(threadIdx.x) + t]);
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const std::int64_t i = first + k * block_threads + static_cast<int>(threadIdx.x);
      if (i < job.size) job.out[b / tiles * job.size + i] = fold.finish(all[k]);
    }
  }
}

// Scans this lane's run within its group of `lanes` (a power of two) lanes, in place.
template <class Fold, class T>
__device__ void scan_from_start(T (&run)[fold_tuning::items], int lanes) {
#pragma unroll
  for (int v = 1; v < fold_tuning::items; ++v) run[v] = Fold::apply(run[v - 1], run[v]);
  const int in_group = static_cast<int>(threadIdx.x) & (lanes - 1);
  const T all = group_inclusive_scan(run[fold_tuning::items - 1], lanes, [](T a, T b) { return Fold::apply(a, b); });
  const T before = __shfl_up_sync(full_mask, all, 1, lanes);
  if (in_group == 0) return;
#pragma unroll
  for (int v = 0; v < fold_tuning::items; ++v) run[v] = Fold::apply(before, run[v]);
}

template <class Fold, class T>
__device__ void scan_from_end(T (&run)[fold_tuning::items], int lanes) {
#pragma unroll
  for (int v = fold_tuning::items - 2; v >= 0; --v) run[v] = Fold::apply(run[v], run[v + 1]);
  const int in_group = static_cast<int>(threadIdx.x) & (lanes - 1);
  const T all = group_suffix_scan(run[0], lanes, [](T a, T b) { return Fold::apply(a, b); });
  const T after = __shfl_down_sync(full_mask, all, 1, lanes);
  if (in_group == lanes - 1) return;
#pragma unroll
  for (int v = 0; v < fold_tuning::items; ++v) run[v] = Fold::apply(run[v], after);
}

// Run t of a shared array; a run does not cross a multiple of 32, so that it is contiguous there.
template <class T>
__device__ T* run_of(T* shared, int t) {
  return shared + padded(t * fold_tuning::items);
}
template <class T>
__device__ void read_run(const T* shared, T (&run)[fold_tuning::items]) {
#pragma unroll
  for (int v = 0; v < fold_tuning::items; ++v) run[v] = shared[v];
}
template <class T>
__device__ void write_run(T* shared, const T (&run)[fold_tuning::items]) {
#pragma unroll
  for (int v = 0; v < fold_tuning::items; ++v) shared[v] = run[v];
}

// How a window divides into chunks.
template <class T>
struct fold_plan {
  int chunk;  // elements: 2^chunk_bits, 8 to 256
  int chunk_bits;
  std::int64_t whole;       // (window - 1) / chunk, at least 1
  int rest;                 // (window - 1) % chunk
  const T* between;         // folds over whole - 1 chunks starting at each; null if whole == 1
  std::int64_t in_between;  // folds per line
};

// This thread's elements of the tile at `first`, blockDim apart, so that loads are coalesced.
template <class Fold, class T>
__device__ void load_tile(const T* line, std::int64_t size, std::int64_t first, T (&mine)[fold_tuning::items]) {
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  if (first >= 0 && first + threads * fold_tuning::items <= size) {
    const T* from = line + first + thread;
#pragma unroll
    for (int k = 0; k < fold_tuning::items; ++k) mine[k] = from[k * threads];
  } else {
#pragma unroll
    for (int k = 0; k < fold_tuning::items; ++k) mine[k] = fold_at<Fold>(line, size, first + k * threads + thread);
  }
}

template <class T>
__device__ void store_tile(const T (&mine)[fold_tuning::items], T* shared) {
  const int row = padded(static_cast<int>(blockDim.x));  // between elements of a thread
  T* to = shared + padded(static_cast<int>(threadIdx.x));
#pragma unroll
  for (int k = 0; k < fold_tuning::items; ++k) to[k * row] = mine[k];
}

// Loads raw elements to shared memory: to `ends` the tile at `first`, to `starts` the tile `whole` chunks later and one
// more chunk. If whole == 1 the latter is the continuation of `ends`, and `starts` is not filled.
template <class Fold, class T>
__device__ void load_rest(const fold_job<T>& job, const fold_plan<T>& plan, const T* line, std::int64_t first, T* ends,
                          T* starts) {
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int tile = threads * fold_tuning::items;
  if (plan.whole == 1) {
    for (int q = tile + thread; q < tile + 2 * plan.chunk; q += threads) {
      ends[padded(q)] = fold_at<Fold>(line, job.size, first + q);
    }
    return;
  }
  const std::int64_t second = first + plan.whole * plan.chunk;
  T mine[fold_tuning::items];
  load_tile<Fold>(line, job.size, second, mine);
  store_tile(mine, starts);
  for (int q = tile + thread; q < tile + plan.chunk; q += threads) {
    starts[padded(q)] = fold_at<Fold>(line, job.size, second + q);
  }
}

// Replaces raw elements by scans: each run of `ends` from the end of its chunk, each run of `starts` from its start.
template <class Fold, class T>
__device__ void scan_chunks(const fold_plan<T>& plan, T* ends, T* starts) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lanes = plan.chunk / fold_tuning::items;
  const int threads = static_cast<int>(blockDim.x);
  const auto raw_run = [&](int t) { return plan.whole == 1 ? run_of(ends, lanes + t) : run_of(starts, t); };
  T from_end[fold_tuning::items];
  T run[fold_tuning::items];
  read_run(run_of(ends, thread), from_end);
  scan_from_end<Fold>(from_end, lanes);
  read_run(raw_run(thread), run);
  scan_from_start<Fold>(run, lanes);
  write_run(run_of(starts, thread), run);
  if (thread < warp_size) {
    // The chunk past the tile; spare lanes form their own groups and store nothing.
    if (thread < lanes) read_run(raw_run(threads + thread), run);
    scan_from_start<Fold>(run, lanes);
    if (thread < lanes) write_run(run_of(starts, threads + thread), run);
  }
  __syncthreads();
  write_run(run_of(ends, thread), from_end);
}

template <class Fold, class T>
__global__ void __launch_bounds__(block_threads, fold_tuning::scan_blocks<T>)
    fold_scan_kernel(fold_job<T> job, fold_plan<T> plan, Fold fold) {
  const int tile = static_cast<int>(blockDim.x) * fold_tuning::items;
  const std::int64_t stride = std::int64_t{gridDim.x} * tile;
  T* ends = fold_shared<T>();
  T* starts = ends + padded_size(tile + 2 * plan.chunk);
  for (std::int64_t l = blockIdx.y; l < job.lines; l += gridDim.y) {
    const T* line = job.in + l * job.size;
    const T* between = plan.between == nullptr ? nullptr : plan.between + l * plan.in_between;
    T mine[fold_tuning::items];
    std::int64_t first = std::int64_t{blockIdx.x} * tile;
    if (first < job.size) load_tile<Fold>(line, job.size, first + job.shift, mine);
    for (; first < job.size; first += stride) {
      store_tile(mine, ends);
      load_rest<Fold>(job, plan, line, first + job.shift, ends, starts);
      __syncthreads();
      if (first + stride < job.size) load_tile<Fold>(line, job.size, first + stride + job.shift, mine);
      scan_chunks<Fold>(plan, ends, starts);
      __syncthreads();
      const int outputs = static_cast<int>(min(std::int64_t{tile}, job.size - first));
      T* out = job.out + l * job.size + first;
#pragma unroll 4
      for (int k = static_cast<int>(threadIdx.x); k < outputs; k += static_cast<int>(blockDim.x)) {
        const int chunk = k >> plan.chunk_bits;
        T all = ends[padded(k)];
        if (between != nullptr) {
          const std::int64_t next = (first >> plan.chunk_bits) + chunk + 1;
          if (next < plan.in_between) all = Fold::apply(all, between[next]);
        }
        if ((k & (plan.chunk - 1)) + plan.rest >= plan.chunk) {
          all = Fold::apply(all, starts[padded((chunk + 1) * plan.chunk - 1)]);
        }
        out[k] = fold.finish(Fold::apply(all, starts[padded(k + plan.rest)]));
      }
      __syncthreads();
    }
  }
}

// Windows of at most 8: each thread folds 8 outputs from its 8 elements and the next 7.
template <class Fold, class T>
__global__ void __launch_bounds__(block_threads, fold_tuning::narrow_blocks)
    fold_narrow_kernel(fold_job<T> job, Fold fold) {
  constexpr int items = fold_tuning::items;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const int tile = threads * items;
  const std::int64_t stride = std::int64_t{gridDim.x} * tile;
  T* near = fold_shared<T>();
  for (std::int64_t l = blockIdx.y; l < job.lines; l += gridDim.y) {
    const T* line = job.in + l * job.size;
    T mine[items];
    std::int64_t first = std::int64_t{blockIdx.x} * tile;
    if (first < job.size) load_tile<Fold>(line, job.size, first + job.shift, mine);
    for (; first < job.size; first += stride) {
      store_tile(mine, near);
      if (thread < items)
        near[padded(tile + thread)] = fold_at<Fold>(line, job.size, first + job.shift + tile + thread);
      __syncthreads();
      if (first + stride < job.size) load_tile<Fold>(line, job.size, first + stride + job.shift, mine);
      T from[2 * items];
#pragma unroll
      for (int v = 0; v < items; ++v) {
        from[v] = run_of(near, thread)[v];
        from[items + v] = run_of(near, thread + 1)[v];
      }
      // In place: output v reads elements after it, none before.
#pragma unroll
      for (int v = 0; v < items; ++v) {
        T all = from[v];
#pragma unroll
        for (int t = 1; t < items; ++t) {
          if (t < job.window) all = Fold::apply(all, from[v + t]);
        }
        from[v] = all;
      }
      __syncthreads();
#pragma unroll
      for (int v = 0; v < items; ++v) run_of(near, thread)[v] = from[v];
      __syncthreads();
      const int outputs = static_cast<int>(min(std::int64_t{tile}, job.size - first));
      T* out = job.out + l * job.size + first;
#pragma unroll 4
      for (int k = thread; k < outputs; k += threads) out[k] = fold.finish(near[padded(k)]);
      __syncthreads();
    }
  }
}

// Folds chunk j of each line to one value, one warp per chunk.
template <class Fold, class T>
__global__ void __launch_bounds__(block_threads) fold_chunks_kernel(fold_job<T> job, std::int64_t chunks, T* results) {
  constexpr int chunk = fold_tuning::widest_chunk;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t w = global_thread() / warp_size; w < job.lines * chunks; w += grid_threads() / warp_size) {
    const std::int64_t first = w % chunks * chunk + job.shift;
    const T* line = job.in + w / chunks * job.size;
    T mine[chunk / warp_size];
#pragma unroll
    for (int k = 0; k < chunk / warp_size; ++k) mine[k] = fold_at<Fold>(line, job.size, first + k * warp_size + lane);
    T all = mine[0];
#pragma unroll
    for (int k = 1; k < chunk / warp_size; ++k) all = Fold::apply(all, mine[k]);
    all = warp_reduce_to_first(all, [](T a, T b) { return Fold::apply(a, b); });
    if (lane == 0) results[w] = all;
  }
}

// As many threads as the line can use: a power of two of warps.
inline int fold_threads(std::int64_t size) {
  int threads = warp_size;
  while (threads < block_threads && threads * fold_tuning::items < size) threads *= 2;
  return threads;
}

// Tiles along x, limited to resident blocks, which then process several tiles; lines along y.
template <class T>
dim3 fold_grid(const context<device>& ctx, const fold_job<T>& job, int tile, int resident) {
  const std::int64_t tiles = div_up(job.size, tile);
  const std::int64_t most = std::int64_t{resident} * ctx.properties().multiprocessors;
  return {static_cast<unsigned>(std::min(tiles, most)),
          static_cast<unsigned>(std::min<std::int64_t>(65535, job.lines))};
}

template <class Fold, class T>
void fold_naive(const context<device>& ctx, const fold_job<T>& job, Fold fold) {
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, job.lines * job.size), fold_naive_kernel<Fold, T>, job, fold);
}

template <class Fold, class T>
void fold_tiled(const context<device>& ctx, const fold_job<T>& job, Fold fold) {
  const device_guard guard(ctx);
  const std::int64_t tiles = job.lines * div_up(job.size, fold_tuning::tile);
  launch_kernel(ctx, {std::min<std::int64_t>(INT32_MAX, tiles), block_threads}, fold_tiled_kernel<Fold, T>, job, fold);
}

// Scratch: the folds of chunks and those over them, for windows wider than two chunks.
template <class Fold, class T>
void fold_scanned(const context<device>& ctx, const fold_job<T>& job, Fold fold) {
  const device_guard guard(ctx);
  const int threads = fold_threads(job.size);
  const int tile = threads * fold_tuning::items;
  if (job.window < fold_tuning::narrowest_scan) {
    const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(padded_size(tile + fold_tuning::items));
    const dim3 grid = fold_grid(ctx, job, tile, fold_tuning::narrow_blocks * block_threads / threads);
    launch_kernel(ctx, {grid, static_cast<unsigned>(threads), bytes}, fold_narrow_kernel<Fold, T>, job, fold);
    return;
  }
  int bits = 3;
  while (1 << bits < fold_tuning::widest_chunk && std::int64_t{2} << bits < job.window) ++bits;
  const int chunk = 1 << bits;
  fold_plan<T> plan{chunk, bits, (job.window - 1) / chunk, static_cast<int>((job.window - 1) % chunk), nullptr, 0};
  array<T, device> chunks;
  array<T, device> between;
  if (plan.whole > 1) {
    plan.in_between = div_up(job.size - job.shift, chunk);
    chunks = array<T, device>(ctx, job.lines * plan.in_between);
    launch_kernel(ctx, grid_stride(ctx, chunks.size(), block_threads / warp_size), fold_chunks_kernel<Fold, T>, job,
                  plan.in_between, chunks.data());
    plan.between = chunks.data();
    if (plan.whole > 2) {
      between = array<T, device>(ctx, chunks.size());
      fold_scanned(ctx, fold_job<T>{chunks.data(), between.data(), job.lines, plan.in_between, 0, plan.whole - 1},
                   fold.partial());
      plan.between = between.data();
    }
  }
  const std::size_t bytes =
      sizeof(T) * static_cast<std::size_t>(padded_size(tile + 2 * chunk) + padded_size(tile + chunk));
  const dim3 grid = fold_grid(ctx, job, tile, fold_tuning::scan_blocks<T> * block_threads / threads);
  launch_kernel(ctx, {grid, static_cast<unsigned>(threads), bytes}, fold_scan_kernel<Fold, T>, job, plan, fold);
}

}  // namespace spargo::detail::stencil
