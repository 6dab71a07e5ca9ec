// The product of rounded operands without tensor cores: for other chips than Hopper, and libraries not built for it.
//
// A block computes 64 x 64 tiles of C, a thread 4 x 4 elements 16 apart, in k steps of 16 staged as floats in shared
// memory. Each element's sum runs along k in order, in float: within the header's bound, and deterministic. Elements
// outside an operand count as 0. Cost: 2 m n k operations; A is read once per 64 columns of C, B once per 64 rows.
#include "core/device/launch.cuh"
#include "primitives/matmul/tensor/backend.hpp"

#include <algorithm>

namespace spargo::detail::matmul::tensor {

namespace {

struct portable_tuning {
  static constexpr int tile = 64;
  static constexpr int step = 16;  // of k
  static constexpr int side = 16;  // threads per side of a tile
  static constexpr int each = tile / side;
};

struct bf16_operand {
  using bits = std::uint16_t;
  static __device__ float value(bits v) { return __uint_as_float(static_cast<unsigned>(v) << 16); }
};
struct tf32_operand {
  using bits = std::uint32_t;
  static __device__ float value(bits v) { return __uint_as_float(v & ~((1U << 13) - 1)); }
};

// Stages a k step of an operand: rows (columns) first .. first + tile - 1, k from `from_k`.
template <class Operand>
__device__ void stage(float (&to)[portable_tuning::step][portable_tuning::tile + 1], const operand<void>& from,
                      std::int64_t first, std::int64_t size, std::int64_t from_k, std::int64_t k) {
  using tuning = portable_tuning;
  const auto* const data = static_cast<const typename Operand::bits*>(from.data);
  for (int e = static_cast<int>(threadIdx.x); e < tuning::step * tuning::tile; e += tuning::side * tuning::side) {
    const bool along_k = from.order == major::k;
    const int i = along_k ? e / tuning::step : e % tuning::tile;
    const int l = along_k ? e % tuning::step : e / tuning::tile;
    const std::int64_t row = first + i;
    const std::int64_t at = from_k + l;
    float value = 0;
    if (row < size && at < k) value = Operand::value(data[along_k ? row * from.stride + at : at * from.stride + row]);
    to[l][i] = value;
  }
}

template <class Operand>
__global__ void __launch_bounds__(portable_tuning::side* portable_tuning::side)
    portable_kernel(operand<void> a, operand<void> b, product p) {
  using tuning = portable_tuning;
  constexpr int each = tuning::each;
  __shared__ float left[tuning::step][tuning::tile + 1];
  __shared__ float right[tuning::step][tuning::tile + 1];
  const int x = static_cast<int>(threadIdx.x) % tuning::side;
  const int y = static_cast<int>(threadIdx.x) / tuning::side;
  const std::int64_t across = div_up<std::int64_t>(p.n, tuning::tile);
  const std::int64_t tiles = across * div_up<std::int64_t>(p.m, tuning::tile);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t row = tile / across * tuning::tile;
    const std::int64_t column = tile % across * tuning::tile;
    float sum[each][each] = {};
    for (std::int64_t l = 0; l < p.k; l += tuning::step) {
      stage<Operand>(left, a, row, p.m, l, p.k);
      stage<Operand>(right, b, column, p.n, l, p.k);
      __syncthreads();
#pragma unroll
      for (int s = 0; s < tuning::step; ++s) {
#pragma unroll
        for (int i = 0; i < each; ++i) {
#pragma unroll
          for (int j = 0; j < each; ++j) sum[i][j] += left[s][y + i * tuning::side] * right[s][x + j * tuning::side];
        }
      }
      __syncthreads();
    }
    for (int i = 0; i < each; ++i) {
      for (int j = 0; j < each; ++j) {
        const std::int64_t r = row + y + i * tuning::side;
        const std::int64_t c = column + x + j * tuning::side;
        if (r >= p.m || c >= p.n) continue;
        float* const to = p.c + r * p.c_stride + c;
        *to = p.beta == 0 ? p.alpha * sum[i][j] : p.alpha * sum[i][j] + p.beta * *to;
      }
    }
  }
}

}  // namespace

void multiply_portable(const context<device>& ctx, precision inputs, const operand<void>& a, const operand<void>& b,
                       const product& p) {
  using tuning = portable_tuning;
  const device_guard guard(ctx);
  const std::int64_t tiles = div_up<std::int64_t>(p.m, tuning::tile) * div_up<std::int64_t>(p.n, tuning::tile);
  const std::int64_t blocks = std::min<std::int64_t>(tiles, INT32_MAX);
  const auto kernel = inputs == precision::tf32 ? &portable_kernel<tf32_operand> : &portable_kernel<bf16_operand>;
  launch_kernel(ctx, {blocks, tuning::side * tuning::side}, kernel, a, b, p);
}

}  // namespace spargo::detail::matmul::tensor
