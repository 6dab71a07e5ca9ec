// Reductions on the device, by levels: each block turns one tile into one number, until one number is left.
//
// The tree depends on the number of elements only, not on the device or the launch, and no floating-point atomics
// are used: the same bits every run. Its depth is log2(n), the error of a sum at most that many eps * sum |x|.
// Cost: n reads, n / 2048 writes.
#include "primitives/backend.hpp"
#include "primitives/launch.cuh"

#include "primitives/element.hpp"

#include <limits>

namespace spargo::detail {

namespace {

constexpr int items = 8;  // loads in flight a thread
constexpr std::int64_t tile = std::int64_t{block_threads} * items;

template <class T>
struct sum {
  static constexpr T identity = T{0};
  __device__ static T apply(T a, T b) {
    if constexpr (std::integral<T>) {
      using wide = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    } else {
      return a + b;
    }
  }
};

// NaN, once met, stays: it is never less than b.
template <class T>
struct maximum {
  static constexpr T identity =
      std::floating_point<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  __device__ static T apply(T a, T b) {
    if constexpr (std::floating_point<T>) {
      if (b != b) return b;
    }
    return a < b ? b : a;
  }
};

template <class Op, class T>
__device__ T reduce_warp(T value) {
  for (int step = warp_size / 2; step > 0; step /= 2)
    value = Op::apply(value, __shfl_down_sync(full_mask, value, step));
  return value;  // in lane 0
}

template <class Op, class T>
__global__ void __launch_bounds__(block_threads) reduce_tiles(const T* values, std::int64_t size, T* results) {
  const std::int64_t first = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  const T nothing = Op::identity;
  T item[items];
#pragma unroll
  for (int j = 0; j < items; ++j) {
    const std::int64_t i = first + std::int64_t{j} * block_threads;
    item[j] = i < size ? values[i] : nothing;
  }
#pragma unroll
  for (int half = items / 2; half > 0; half /= 2) {
#pragma unroll
    for (int j = 0; j < half; ++j) item[j] = Op::apply(item[j], item[j + half]);
  }

  constexpr int warps = block_threads / warp_size;
  __shared__ T of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const T mine = reduce_warp<Op>(item[0]);
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  if (warp != 0) return;
  const T all = reduce_warp<Op>(lane < warps ? of_warp[lane] : nothing);
  if (lane == 0) results[blockIdx.x] = all;
}

template <class Op, class T>
T reduce(const context<device>& ctx, span<const T, device> values) {
  const device_guard guard(ctx);
  array<T, device> results;
  do {
    array<T, device> next(ctx, div_up(values.size(), tile));
    SPARGO_EXPECTS(next.size() <= INT32_MAX, "reduce: more elements than a grid has tiles");
    reduce_tiles<Op><<<static_cast<unsigned>(next.size()), block_threads, 0, ctx.stream()>>>(
        values.data(), values.size(), next.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    results = std::move(next);  // the level below is freed in stream order, after its last use
    values = results.view();
  } while (values.size() > 1);
  return element(ctx, values, 0);
}

}  // namespace

template <class T>
T reduce_sum(const context<device>& ctx, span<const T, device> values) {
  return reduce<sum<T>>(ctx, values);
}
template <class T>
T reduce_max(const context<device>& ctx, span<const T, device> values) {
  return reduce<maximum<T>>(ctx, values);
}

#define INSTANTIATE(T)                                                  \
  template T reduce_sum(const context<device>&, span<const T, device>); \
  template T reduce_max(const context<device>&, span<const T, device>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace spargo::detail
