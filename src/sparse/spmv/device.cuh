// Shared by the SpMV kernels: loads, and staging of products in shared memory.
//
// Staging turns rows of any length into one coalesced stream: a block loads consecutive entries of any rows, 16 bytes
// per thread, multiplies them by x and stores the products in shared memory, where rows are summed. Loads start at a
// multiple of four entries; up to three entries before the first one needed are multiplied but never used. `skewed`
// shifts products by one element per 128 bytes: rows of even length would otherwise be read from one bank.
#pragma once

#include "core/cuda.cuh"
#include "core/device/complex.cuh"
#include "core/device/warp.cuh"
#include "sparse/device.cuh"
#include "sparse/spmv/executor.hpp"

#include <cstdint>
#include <type_traits>

namespace spargo::detail::spmv {

inline constexpr int threads_per_block = 256;

// Products staged per block: two rounds of 16-byte index loads for 4-byte values, one for wider ones. With two rounds
// of 8-byte values the compiler keeps few gathers in flight (32 registers), and the stages of 8 blocks leave only 28
// KiB of L1 to gathers: R-MAT 22 in fp64 1.13 ms on an H200, with one round 0.55.
template <class D>
inline constexpr int stage_capacity = sizeof(D) <= 4 ? 2048 : 1024;

[[nodiscard]] inline bool aligned_to_16(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

// A matrix's entries as a kernel argument. If there is an entry, valid indices imply cols > 0.
template <class D, class I>
struct device_entries {
  const D* values;
  const I* indices;
  std::int64_t nnz;
  bool aligned;  // both arrays are 16-byte aligned
};

template <class V, class I>
[[nodiscard]] device_entries<device_value_t<V>, I> entries_of(const V* values, const I* indices, std::int64_t nnz) {
  return {device_cast(values), indices, nnz, aligned_to_16(values) && aligned_to_16(indices)};
}

template <class T>
struct quad {
  T v[4];
};

// Four elements from a 16-byte aligned address, by a streaming load so that x stays in the caches.
template <class T>
__device__ quad<T> load_quad(const T* p) {
  constexpr int words = static_cast<int>(sizeof(quad<T>) / 16);
  int4 raw[words];
#pragma unroll
  for (int w = 0; w < words; ++w) raw[w] = __ldcs(reinterpret_cast<const int4*>(p) + w);
  quad<T> q;
  __builtin_memcpy(&q, raw, sizeof(q));
  return q;
}

// Entries e .. e+3; e is a multiple of four below nnz. Past the end: index 0, which exists, and a value to ignore.
template <class D, class I>
__device__ void load_entries(const device_entries<D, I>& a, std::int64_t e, quad<D>& values, quad<I>& indices) {
  if (a.aligned && e + 4 <= a.nnz) {
    values = load_quad(a.values + e);
    indices = load_quad(a.indices + e);
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const bool inside = e + j < a.nnz;
    values.v[j] = inside ? a.values[e + j] : D{};
    indices.v[j] = inside ? a.indices[e + j] : I{0};
  }
}

template <class D>
__device__ int skewed(int k) {
  constexpr int stride = static_cast<int>(128 / sizeof(D));
  return k + k / stride;
}

template <class D>
inline constexpr int stage_elements = stage_capacity<D> + stage_capacity<D> / static_cast<int>(128 / sizeof(D));

// products[skewed(k)] = value * x for entry origin + k < end. `origin` is a multiple of four, end - origin at most
// stage_capacity. All loads of a thread are in flight before the first is used. Needs barriers before and after.
template <class D, class I>
__device__ void stage_products(const device_entries<D, I>& a, const D* x, std::int64_t origin, std::int64_t end,
                               D* products) {
  constexpr int rounds = stage_capacity<D> / (4 * threads_per_block);
  quad<D> values[rounds];
  quad<I> indices[rounds];
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const std::int64_t e = origin + 4 * (r * threads_per_block + static_cast<int>(threadIdx.x));
    if (e < end) load_entries(a, e, values[r], indices[r]);
  }
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    if (origin + 4 * (r * threads_per_block + static_cast<int>(threadIdx.x)) < end) {
#pragma unroll
      for (int j = 0; j < 4; ++j) values[r].v[j] = values[r].v[j] * read(x + indices[r].v[j]);
    }
  }
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const int k = 4 * (r * threads_per_block + static_cast<int>(threadIdx.x));
    if (origin + k < end) {
#pragma unroll
      for (int j = 0; j < 4; ++j) products[skewed<D>(k + j)] = values[r].v[j];
    }
  }
}

// A warp instead of a thread sums longer segments.
inline constexpr int long_segment = 32;

// The long segments of a block's stage, in any order; the order within each sum is fixed.
template <class D>
struct long_segments {
  int count;
  int items[stage_capacity<D> / long_segment + 1];
};

// emit(j, sum of products bounds[j] .. bounds[j+1]-1) for j < segments, each by one thread. The whole block calls it;
// before that `list.count` must be 0 and all staged products visible.
template <class D, class Bound, class Emit>
__device__ void sum_segments(const D* products, const Bound* bounds, int segments, long_segments<D>& list, Emit emit) {
  for (int j = static_cast<int>(threadIdx.x); j < segments; j += threads_per_block) {
    const int first = bounds[j];
    const int last = bounds[j + 1];
    if (last - first > long_segment) {
      list.items[atomicAdd(&list.count, 1)] = j;
      continue;
    }
    D sum{};
    for (int k = first; k < last; ++k) sum += products[skewed<D>(k)];
    emit(j, sum);
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int i = static_cast<int>(threadIdx.x) / warp_size; i < list.count; i += threads_per_block / warp_size) {
    const int j = list.items[i];
    D sum{};
    for (int k = bounds[j] + lane; k < bounds[j + 1]; k += warp_size) sum += products[skewed<D>(k)];
    sum = group_sum(sum, warp_size);
    if (lane == 0) emit(j, sum);
  }
}

// y[rows[t]] += alpha * (carries[t] + carries[t+1] + ...) for each run of equal rows[t] >= 0, by one warp per run: adds
// the sums of rows that span tiles.
template <class D, class I>
void add_carries(const context<device>& ctx, const I* rows, const D* carries, std::int64_t tiles, D alpha, D* y);

// CSR by merge path and by blocks of rows: see csr/merge_cuda.cu and csr/row_blocks_cuda.cu.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_merge_executor(const context<device>& ctx,
                                                  const csr_view<const V, I, O, device>& matrix);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_blocks_executor(const context<device>& ctx,
                                                   const csr_view<const V, I, O, device>& matrix);

}  // namespace spargo::detail::spmv
