// The reduction in one launch: resident blocks process tiles of fixed size in grid-stride order, and the block that
// finishes last combines the tiles' values.
//
// Whichever block computes it, a tile's value goes to partials[tile], and the last block combines them in a fixed
// order: the result depends on the number of elements only. Each thread has eight 16-byte loads in flight, enough to
// saturate memory at 2048 threads per SM. Memory order: thread 0 of a block writes its partials, fences and increments
// a counter; the block that counts last fences and reads. The counter is scratch of the call, cleared on its stream, so
// calls on other streams share nothing. Cost: n reads, one write per 64 KiB.
#include "core/instantiate.hpp"
#include "primitives/reduce/kernels.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail::reduce {

namespace {

struct tuning {
  static constexpr int threads = 512;
  static constexpr int loads = 8;  // of 16 bytes, in flight per thread
  static constexpr int blocks_per_sm = 4;
};

template <class T>
inline constexpr int vector_items = 16 / static_cast<int>(sizeof(T));

template <class T>
inline constexpr std::int64_t tile_items = std::int64_t{tuning::threads} * tuning::loads* vector_items<T>;

template <class T>
struct alignas(16) vector_of {
  T item[16 / sizeof(T)];
};

// 16 bytes that are read only once.
template <class T>
__device__ vector_of<T> load_vector(const T* p) {
  const int4 raw = __ldcs(reinterpret_cast<const int4*>(p));
  vector_of<T> v;
  __builtin_memcpy(&v, &raw, sizeof(v));
  return v;
}

// A full tile of 16-byte aligned ranges, in the same order as `partial_tile`.
template <class Op, source_kind Source, class T>
__device__ T full_tile(const operands<T>& in, std::int64_t first) {
  constexpr int width = vector_items<T>;
  vector_of<T> a[tuning::loads];
  vector_of<T> b[Source == source_kind::values ? 1 : tuning::loads];
#pragma unroll
  for (int j = 0; j < tuning::loads; ++j) {
    const std::int64_t i = first + (std::int64_t{j} * tuning::threads + threadIdx.x) * width;
    a[j] = load_vector(in.a + i);
    if constexpr (Source != source_kind::values) b[j] = load_vector(in.b + i);
  }
  T sum[width];
#pragma unroll
  for (int k = 0; k < width; ++k) {
    T item[tuning::loads];
#pragma unroll
    for (int j = 0; j < tuning::loads; ++j) {
      if constexpr (Source == source_kind::values) {
        item[j] = a[j].item[k];
      } else {
        item[j] = device_item<Source>(a[j].item[k], b[j].item[k]);
      }
    }
    sum[k] = combine_all<Op>(item);
  }
  return combine_all<Op>(sum);
}

// The last tile, or one of an unaligned range: element by element.
template <class Op, source_kind Source, class T>
__device__ T partial_tile(const operands<T>& in, std::int64_t first) {
  constexpr int width = vector_items<T>;
  T sum[width];
#pragma unroll
  for (int k = 0; k < width; ++k) {
    T item[tuning::loads];
#pragma unroll
    for (int j = 0; j < tuning::loads; ++j) {
      const std::int64_t i = first + (std::int64_t{j} * tuning::threads + threadIdx.x) * width + k;
      item[j] = i < in.size ? load_item<Source>(in, i) : Op::identity;
    }
    sum[k] = combine_all<Op>(item);
  }
  return combine_all<Op>(sum);
}

// All of partials[0, count), in an order that depends on `count` only; in thread 0.
template <class Op, class T, int Warps>
__device__ T combine_partials(const T* partials, std::int64_t count, T (&of_warps)[Warps]) {
  constexpr int batch = 8;
  T sum = Op::identity;
  for (std::int64_t i = threadIdx.x; i < count; i += std::int64_t{batch} * tuning::threads) {
    T item[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const std::int64_t at = i + std::int64_t{j} * tuning::threads;
      item[j] = at < count ? __ldcg(partials + at) : Op::identity;
    }
    sum = Op::apply(sum, combine_all<Op>(item));
  }
  return reduce_block<Op>(sum, of_warps);
}

template <class Op, source_kind Source, class T>
__global__ void __launch_bounds__(tuning::threads, resident_blocks(tuning::blocks_per_sm, tuning::threads))
    single_pass_kernel(operands<T> in, std::int64_t tiles, bool aligned, T* partials, unsigned* finished, T* result) {
  __shared__ T of_warps[2][tuning::threads / warp_size];  // two buffers, so that one barrier per tile suffices
  int turn = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
    const std::int64_t first = tile * tile_items<T>;
    const bool full = aligned && first + tile_items<T> <= in.size;
    const T mine = full ? full_tile<Op, Source>(in, first) : partial_tile<Op, Source>(in, first);
    const T all = reduce_block<Op>(mine, of_warps[turn]);
    if (threadIdx.x == 0) (tiles == 1 ? result : partials)[tile] = all;
  }
  if (tiles == 1) return;
  if (!block_arrives_last(finished, gridDim.x)) return;
  const T all = combine_partials<Op>(partials, tiles, of_warps[turn]);
  if (threadIdx.x == 0) *result = all;
}

[[nodiscard]] bool aligned_to_16(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

template <class Op, source_kind Source, class T>
void single_pass(const context<device>& ctx, const operands<T>& in, T* result, int blocks) {
  const std::int64_t tiles = div_up(in.size, tile_items<T>);
  const std::int64_t resident =
      blocks > 0 ? blocks : std::int64_t{ctx.properties().multiprocessors} * tuning::blocks_per_sm;
  const std::int64_t grid = std::min(tiles, resident);
  const bool aligned = aligned_to_16(in.a) && aligned_to_16(in.b);
  array<T, device> partials;
  array<unsigned, device> finished;
  if (tiles > 1) {
    partials = {ctx, tiles};
    finished = {ctx, 1};
    fill_zero(ctx, finished.view());
  }
  launch_kernel(ctx, {grid, tuning::threads}, single_pass_kernel<Op, Source, T>, in, tiles, aligned, partials.data(),
                finished.data(), result);
}

}  // namespace

template <class T>
void run_device(const context<device>& ctx, source_kind source, operation op, operands<T> in, T* result,
                const reduce_options& options) {
  const device_guard guard(ctx);
  if (options.algorithm != reduce_algorithm::automatic && options.algorithm != reduce_algorithm::single_pass) {
    run_by_levels(ctx, source, op, in, result, options.algorithm);
    return;
  }
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    single_pass<decltype(apply), decltype(which)::value>(ctx, in, result, options.blocks);
  });
}

#define INSTANTIATE(T) \
  template void run_device(const context<device>&, source_kind, operation, operands<T>, T*, const reduce_options&);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
