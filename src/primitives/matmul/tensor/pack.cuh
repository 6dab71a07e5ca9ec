// Rounds and pads operands for the tensor cores: the copy engine needs 16-byte aligned rows.
//
// Straight copies move 8 elements per thread; TF32 operands contiguous in m (n) are transposed through 64 x 64 tiles in
// shared memory. Every element of the padded rows is written. Cost: one read and one write of the operand.
#pragma once

#include <spargo/core/device_features.cuh>

#include <cstdint>

namespace spargo::detail::matmul::tensor {

// A row-major matrix in device memory, as a kernel argument.
template <class T>
struct plane {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  // elements between rows
};

using bf16_bits = std::uint16_t;
using tf32_bits = std::uint32_t;

inline constexpr int packed_together = 8;  // elements per thread of a straight copy
inline constexpr int pack_tile = 64;
inline constexpr int pack_threads = 256;

// To nearest, ties to even; NaN is kept.
__device__ __forceinline__ void round_to(float from, bf16_bits& to) {
  if constexpr (has_tensor_rounding) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to) : "f"(from));
  } else {
    const unsigned bits = __float_as_uint(from);
    to = static_cast<bf16_bits>((from != from ? bits | 1U << 22 : bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  }
}
// To nearest, ties away from zero: the chip's only rounding to TF32.
__device__ __forceinline__ void round_to(float from, tf32_bits& to) {
  if constexpr (has_tensor_rounding) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to) : "f"(from));
  } else {
    const unsigned bits = __float_as_uint(from);
    to = (from != from ? bits | 1U << 22 : bits + (1U << 12)) & ~((1U << 13) - 1);
  }
}
__device__ __forceinline__ void round_to(bf16_bits from, bf16_bits& to) { to = from; }

template <class From>
__device__ __forceinline__ void load_together(const From* from, std::int64_t left, bool aligned,
                                              From (&values)[packed_together]) {
  if (aligned && left >= packed_together) {
    constexpr int vectors = packed_together * static_cast<int>(sizeof(From)) / 16;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      reinterpret_cast<uint4*>(values)[v] = reinterpret_cast<const uint4*>(from)[v];
    }
  } else {
#pragma unroll
    for (int e = 0; e < packed_together; ++e) values[e] = e < left ? from[e] : From{0};
  }
}

// Same orientation. to.stride is a multiple of packed_together, to.data 16-byte aligned; columns up to to.stride are
// written. Grid: x over the groups of a row, y over rows.
template <class From, class To>
__global__ void __launch_bounds__(pack_threads) pack_kernel(plane<const From> from, plane<To> to) {
  const bool aligned = from.stride * sizeof(From) % 16 == 0 && reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
  const std::int64_t groups = to.stride / packed_together;
  for (std::int64_t row = blockIdx.y; row < to.rows; row += gridDim.y) {
    for (std::int64_t group = std::int64_t{blockIdx.x} * pack_threads + threadIdx.x; group < groups;
         group += std::int64_t{gridDim.x} * pack_threads) {
      const std::int64_t first = group * packed_together;
      alignas(16) From values[packed_together];
      alignas(16) To rounded[packed_together];
      load_together(from.data + row * from.stride + first, from.columns - first, aligned, values);
#pragma unroll
      for (int e = 0; e < packed_together; ++e) round_to(values[e], rounded[e]);
      constexpr int vectors = packed_together * static_cast<int>(sizeof(To)) / 16;
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        reinterpret_cast<uint4*>(to.data + row * to.stride + first)[v] = reinterpret_cast<const uint4*>(rounded)[v];
      }
    }
  }
}

// to(j, i) = from(i, j), rounded. to.stride is a multiple of 4, to.data 16-byte aligned; to.columns == from.rows, and
// columns up to to.stride are written. Grid: x over tiles of from's columns, y over tiles of its rows.
template <class Rounded>
__global__ void __launch_bounds__(pack_threads) pack_transposed_kernel(plane<const float> from, plane<Rounded> to) {
  __shared__ Rounded tile[pack_tile][pack_tile + 1];
  const bool aligned = from.stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0;
  const int x = static_cast<int>(threadIdx.x) % 16 * 4;
  const int y = static_cast<int>(threadIdx.x) / 16;
  for (std::int64_t top = std::int64_t{blockIdx.y} * pack_tile; top < to.stride;
       top += std::int64_t{gridDim.y} * pack_tile) {
    for (std::int64_t left = std::int64_t{blockIdx.x} * pack_tile; left < from.columns;
         left += std::int64_t{gridDim.x} * pack_tile) {
#pragma unroll
      for (int part = 0; part < pack_tile; part += pack_threads / 16) {
        const std::int64_t i = top + y + part;
        const std::int64_t j = left + x;
        const float* source = from.data + i * from.stride + j;
        alignas(16) float values[4] = {};
        if (i < from.rows) {
          if (aligned && j + 4 <= from.columns) {
            *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(source);
          } else {
#pragma unroll
            for (int e = 0; e < 4; ++e) values[e] = j + e < from.columns ? source[e] : 0;
          }
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) round_to(values[e], tile[y + part][x + e]);
      }
      __syncthreads();
#pragma unroll
      for (int part = 0; part < pack_tile; part += pack_threads / 16) {
        const std::int64_t j = left + y + part;
        const std::int64_t i = top + x;
        if (j < from.columns && i < to.stride) {
          const uint4 four{tile[x][y + part], tile[x + 1][y + part], tile[x + 2][y + part], tile[x + 3][y + part]};
          *reinterpret_cast<uint4*>(to.data + j * to.stride + i) = four;
        }
      }
      __syncthreads();
    }
  }
}

}  // namespace spargo::detail::matmul::tensor
