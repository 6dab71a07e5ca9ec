// Convolution of a line by register windows.
//
// A thread writes several 16-byte vectors of outputs, a block apart. For each it reads the aligned vectors that the
// filter covers (3 for float and K <= 9) with 16-byte loads: one from memory, the others from the L1 cache, filled by
// the neighbouring lanes' loads. Taps are kernel parameters at constant indices. Outputs determine the alignment;
// inputs are then `Shift` elements past a 16-byte boundary, so that the window starts at a constant place in the loaded
// registers. The first block's threads compute the outputs before the first whole vector and after the last.
// Cost: each input is read once from memory, each output written once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace spargo::detail::convolve {

template <class T, int K>
struct line_filter {
  static constexpr int width = K;
  T tap[K];
};

// out[i] for i in [first, first + vectors * vec); out + first is 16-byte aligned; `size` is the line's length.
template <class T>
struct line_part {
  const T* in;
  T* out;
  std::int64_t size;
  std::int64_t first;
  std::int64_t vectors;
};

inline constexpr int line_threads = 256;

template <class T, int K, int Shift>
struct line_window {
  static constexpr int vec = 16 / static_cast<int>(sizeof(T));
  static constexpr int half = K / 2;
  static constexpr int below = (half - Shift + vec - 1) / vec;  // vectors before the first output's
  static constexpr int above = (Shift + vec - 1 + half) / vec;  // vectors after it
  static constexpr int vectors = below + 1 + above;
  static constexpr int begin = below * vec + Shift - half;  // start of the window within the loaded elements
};

template <class T, int K>
__device__ void store_single(const line_part<T>& line, const line_filter<T, K>& filter, std::int64_t i) {
  T sum{0};
#pragma unroll
  for (int t = 0; t < K; ++t) {
    const std::int64_t from = i + t - K / 2;
    if (from >= 0 && from < line.size) sum = fma(line.in[from], filter.tap[t], sum);
  }
  line.out[i] = sum;
}

template <class T, int K, int Shift, int PerThread>
__global__ void __launch_bounds__(line_threads)
    line_kernel(const __grid_constant__ line_part<T> line, const __grid_constant__ line_filter<T, K> filter) {
  using w = line_window<T, K, Shift>;
  const std::int64_t tile = std::int64_t{blockIdx.x} * line_threads * PerThread;
  const std::int64_t first = line.first + tile * w::vec;
  const bool inside = first >= w::half + w::vec * 2 && tile + line_threads * PerThread <= line.vectors &&
                      first + (line_threads * PerThread + w::above + 1) * w::vec <= line.size;
  if (blockIdx.x == 0) {
    const std::int64_t last = line.first + line.vectors * w::vec;
    if (threadIdx.x < line.first) store_single(line, filter, threadIdx.x);
    if (last + threadIdx.x < line.size) store_single(line, filter, last + threadIdx.x);
  }
  T loaded[PerThread][w::vectors * w::vec];
#pragma unroll
  for (int u = 0; u < PerThread; ++u) {
    const std::int64_t at = first + (u * line_threads + static_cast<int>(threadIdx.x)) * w::vec;  // output index
    const T* from = line.in + at - Shift - w::below * w::vec;
    if (inside) {
#pragma unroll
      for (int k = 0; k < w::vectors; ++k) {
        *reinterpret_cast<int4*>(loaded[u] + k * w::vec) = __ldg(reinterpret_cast<const int4*>(from) + k);
      }
    } else {
#pragma unroll
      for (int k = 0; k < w::vectors * w::vec; ++k) {
        const std::int64_t i = at - Shift - w::below * w::vec + k;
        loaded[u][k] = i >= 0 && i < line.size ? line.in[i] : T{0};
      }
    }
  }
#pragma unroll
  for (int u = 0; u < PerThread; ++u) {
    const std::int64_t v = tile + u * line_threads + static_cast<int>(threadIdx.x);
    T sum[w::vec] = {};
#pragma unroll
    for (int t = 0; t < K; ++t) {
#pragma unroll
      for (int c = 0; c < w::vec; ++c) sum[c] = fma(loaded[u][w::begin + c + t], filter.tap[t], sum[c]);
    }
    if (v < line.vectors) {
      __stcs(reinterpret_cast<int4*>(line.out + line.first) + v, *reinterpret_cast<const int4*>(sum));
    }
  }
}

}  // namespace spargo::detail::convolve
