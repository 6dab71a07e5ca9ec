// The textbook reductions: each block reduces one tile to one value, level by level until one is left.
//
// The tree depends on the number of elements only, so results are deterministic on every device. Cost per level: n
// reads, n / tile writes, one launch. They follow M. Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007).
#include "core/instantiate.hpp"
#include "primitives/reduce/kernels.cuh"

namespace spargo::detail::reduce {

namespace {

constexpr int coarse_items = 8;  // loads in flight per thread

template <reduce_algorithm A>
constexpr int items_per_thread =
    A == reduce_algorithm::add_on_load ? 2
    : A == reduce_algorithm::coarsened || A == reduce_algorithm::warp_shuffle || A == reduce_algorithm::deterministic
        ? coarse_items
        : 1;

// The thread's elements, coalesced over the block; loads first, then a tree.
template <int Items, class Op, source_kind Source, class T>
__device__ T load_and_combine(const operands<T>& in, std::int64_t first) {
  T item[Items];
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    const std::int64_t i = first + std::int64_t{j} * block_threads;
    item[j] = i < in.size ? load_item<Source>(in, i) : Op::identity;
  }
  return combine_all<Op>(item);
}

// shared[0] = all of shared[0 .. block_threads), with the algorithm's own assignment of threads to additions.
template <reduce_algorithm A, class Op, class T>
__device__ void combine_shared(T* shared) {
  const int t = static_cast<int>(threadIdx.x);
  if constexpr (A == reduce_algorithm::interleaved_divergent) {
    for (int stride = 1; stride < block_threads; stride *= 2) {
      if (t % (2 * stride) == 0) shared[t] = Op::apply(shared[t], shared[t + stride]);
      __syncthreads();
    }
  } else if constexpr (A == reduce_algorithm::interleaved_strided) {
    for (int stride = 1; stride < block_threads; stride *= 2) {
      const int i = 2 * stride * t;
      if (i < block_threads) shared[i] = Op::apply(shared[i], shared[i + stride]);
      __syncthreads();
    }
  } else {
    for (int stride = block_threads / 2; stride > 0; stride /= 2) {
      if (t < stride) shared[t] = Op::apply(shared[t], shared[t + stride]);
      __syncthreads();
    }
  }
}

template <reduce_algorithm A, class Op, source_kind Source, class T>
__global__ void __launch_bounds__(block_threads) level_kernel(operands<T> in, T* results) {
  constexpr int items = items_per_thread<A>;
  const std::int64_t first = std::int64_t{blockIdx.x} * (block_threads * items) + threadIdx.x;
  const T mine = load_and_combine<items, Op, Source>(in, first);
  if constexpr (A == reduce_algorithm::warp_shuffle || A == reduce_algorithm::deterministic) {
    __shared__ T of_warps[block_threads / warp_size];
    const T all = reduce_block<Op>(mine, of_warps);
    if (threadIdx.x == 0) results[blockIdx.x] = all;
  } else {
    __shared__ T shared[block_threads];
    shared[threadIdx.x] = mine;
    __syncthreads();
    combine_shared<A, Op>(shared);
    if (threadIdx.x == 0) results[blockIdx.x] = shared[0];
  }
}

template <reduce_algorithm A, class Op, source_kind Source, class T>
void launch_level(const context<device>& ctx, const operands<T>& in, T* results, std::int64_t blocks) {
  launch_kernel(ctx, {blocks, block_threads}, level_kernel<A, Op, Source, T>, in, results);
}

// The last level writes to `result`, the others to scratch that is freed in stream order.
template <reduce_algorithm A, class Op, source_kind Source, class T>
void reduce_all(const context<device>& ctx, const operands<T>& in, T* result) {
  constexpr std::int64_t tile = std::int64_t{block_threads} * items_per_thread<A>;
  const std::int64_t blocks = div_up(in.size, tile);
  if (blocks == 1) {
    launch_level<A, Op, Source>(ctx, in, result, 1);
    return;
  }
  array<T, device> level(ctx, blocks);
  launch_level<A, Op, Source>(ctx, in, level.data(), blocks);
  while (level.size() > tile) {
    array<T, device> next(ctx, div_up(level.size(), tile));
    launch_level<A, Op, source_kind::values>(ctx, operands<T>{level.data(), nullptr, level.size()}, next.data(),
                                             next.size());
    level = std::move(next);
  }
  launch_level<A, Op, source_kind::values>(ctx, operands<T>{level.data(), nullptr, level.size()}, result, 1);
}

template <class Op, source_kind Source, class T>
void reduce_by(const context<device>& ctx, const operands<T>& in, T* result, reduce_algorithm algorithm) {
  using enum reduce_algorithm;
  switch (algorithm) {
    case interleaved_divergent:
      return reduce_all<interleaved_divergent, Op, Source>(ctx, in, result);
    case interleaved_strided:
      return reduce_all<interleaved_strided, Op, Source>(ctx, in, result);
    case sequential:
      return reduce_all<sequential, Op, Source>(ctx, in, result);
    case add_on_load:
      return reduce_all<add_on_load, Op, Source>(ctx, in, result);
    case coarsened:
      return reduce_all<coarsened, Op, Source>(ctx, in, result);
    case warp_shuffle:
      return reduce_all<warp_shuffle, Op, Source>(ctx, in, result);
    default:
      return reduce_all<deterministic, Op, Source>(ctx, in, result);
  }
}

}  // namespace

template <class T>
void run_by_levels(const context<device>& ctx, source_kind source, operation op, operands<T> in, T* result,
                   reduce_algorithm algorithm) {
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    reduce_by<decltype(apply), decltype(which)::value>(ctx, in, result, algorithm);
  });
}

#define INSTANTIATE(T) \
  template void run_by_levels(const context<device>&, source_kind, operation, operands<T>, T*, reduce_algorithm);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
