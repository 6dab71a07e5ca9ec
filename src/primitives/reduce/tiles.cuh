// The tree of `bulk_copies`, defined by the number of elements alone.
//
// A tile of 64 KiB has 256 columns: column t holds the elements t, t + 256, t + 512, ... and adds them in 8
// accumulators in turn; then the accumulators by halves, the columns of each 32 and the groups of columns by halves.
// The values of 16384 tiles are combined by 1024 columns of 16 elements in 4 accumulators, and so on by levels until
// one value is left. Elements beyond the end add nothing. Depth: 19 per tile of 4-byte values (15 of 8), 16 per level.
#pragma once

#include "core/device/early_launch.cuh"
#include "primitives/reduce/kernels.cuh"

namespace spargo::detail::reduce {

inline constexpr int tile_threads = 256;
inline constexpr int tile_accumulators = 8;
inline constexpr int tile_bytes = 1 << 16;
inline constexpr int stage_bytes = 1 << 14;  // what is loaded at a time
inline constexpr int level_threads = 1024;
inline constexpr int level_items = 16;  // a thread
inline constexpr std::int64_t level_size = level_threads * level_items;

template <source_kind Source>
inline constexpr bool pairs = Source != source_kind::values;

template <class T>
inline constexpr std::int64_t tile_size = tile_bytes / static_cast<std::int64_t>(sizeof(T));

// An operand that adds nothing, in place of elements beyond the end.
template <class Op, source_kind Source, class T>
__device__ constexpr T padding() {
  return Source == source_kind::values ? Op::identity : T{0};
}

// A register array by halves.
template <class Op, int Size, class T>
__device__ __forceinline__ T reduce_registers(T (&value)[Size]) {
#pragma unroll
  for (int half = Size / 2; half > 0; half /= 2) {
#pragma unroll
    for (int j = 0; j < half; ++j) value[j] = Op::apply(value[j], value[j + half]);
  }
  return value[0];
}

// The part of column threadIdx.x of a stage, from memory with bounds; `a` and `b` point to the stage.
template <class Op, source_kind Source, int Bytes, class T>
__device__ __forceinline__ void accumulate_from_memory(T (&sum)[tile_accumulators], const T* a, const T* b,
                                                       std::int64_t left) {
  constexpr int items = Bytes / static_cast<int>(sizeof(T)) / tile_threads;
  T x[items];
  T y[items];
#pragma unroll
  for (int e = 0; e < items; ++e) {
    const int i = e * tile_threads + static_cast<int>(threadIdx.x);
    x[e] = i < left ? __ldg(a + i) : padding<Op, Source, T>();
    y[e] = pairs<Source> && i < left ? __ldg(b + i) : T{0};
  }
#pragma unroll
  for (int e = 0; e < items; ++e) {
    sum[e % tile_accumulators] = Op::apply(sum[e % tile_accumulators], device_item<Source>(x[e], y[e]));
  }
}

template <class Op, class T>
__device__ __forceinline__ void clear(T (&sum)[tile_accumulators]) {
#pragma unroll
  for (T& each : sum) each = Op::identity;
}

// A tile by ordinary loads of `Bytes` at a time; in thread 0.
template <class Op, source_kind Source, int Bytes, class T>
__device__ T reduce_tile(const T* a, const T* b, std::int64_t size, std::int64_t tile, T* of_warp) {
  constexpr int step = Bytes / static_cast<int>(sizeof(T));
  const std::int64_t first = tile * tile_size<T>;
  T sum[tile_accumulators];
  clear<Op>(sum);
#pragma unroll 1
  for (std::int64_t i = first; i < first + tile_size<T> && i < size; i += step) {
    accumulate_from_memory<Op, Source, Bytes>(sum, a + i, pairs<Source> ? b + i : b, size - i);
  }
  return reduce_block<Op, tile_threads>(reduce_registers<Op>(sum), of_warp);
}

// values[k] of tile k, by ordinary loads: single tiles, and devices without bulk copies.
template <class Op, source_kind Source, class T>
__global__ void __launch_bounds__(tile_threads)
    reduce_tiles_kernel(const T* a, const T* b, std::int64_t size, std::int64_t tiles, T* values) {
  constexpr int bytes = pairs<Source> ? tile_bytes / 2 : tile_bytes;
  __shared__ T of_warp[2][tile_threads / warp_size];
  int turn = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
    const T value = reduce_tile<Op, Source, bytes>(a, b, size, tile, of_warp[turn]);
    if (threadIdx.x == 0) values[tile] = value;
  }
}

// One level: block k combines the values [k * level_size, (k + 1) * level_size). It may be launched while the kernel
// before it still runs, and waits for its end here.
template <class Op, class T>
__global__ void __launch_bounds__(level_threads) combine_kernel(const T* values, std::int64_t size, T* results) {
  constexpr int accumulators = 4;
  __shared__ T of_warp[level_threads / warp_size];
  wait_for_kernel_in_front();
  const std::int64_t first = std::int64_t{blockIdx.x} * level_size + threadIdx.x;
  T item[level_items];
#pragma unroll
  for (int e = 0; e < level_items; ++e) {
    const std::int64_t i = first + e * level_threads;
    item[e] = i < size ? __ldcg(values + i) : Op::identity;
  }
  T sum[accumulators];
#pragma unroll
  for (int e = 0; e < level_items; ++e) {
    sum[e % accumulators] = e < accumulators ? item[e] : Op::apply(sum[e % accumulators], item[e]);
  }
  const T all = reduce_block<Op, level_threads>(reduce_registers<Op>(sum), of_warp);
  if (threadIdx.x == 0) results[blockIdx.x] = all;
}

// Combines the values of tiles to one.
template <class Op, class T>
void combine_values(const context<device>& ctx, array<T, device> values, T* result) {
  while (values.size() > 1) {
    const std::int64_t groups = div_up(values.size(), level_size);
    array<T, device> next = groups > 1 ? array<T, device>(ctx, groups) : array<T, device>();
    launch_early(ctx, dim3(static_cast<unsigned>(groups)), level_threads, combine_kernel<Op, T>,
                 std::as_const(values).data(), values.size(), groups > 1 ? next.data() : result);
    if (groups == 1) return;
    values = std::move(next);  // the level below is freed in stream order, after its last use
  }
}

}  // namespace spargo::detail::reduce
