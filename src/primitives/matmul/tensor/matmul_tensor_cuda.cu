// Prepares operands for the tensor-core product, and computes products without work.
//
// pack.cuh copies to scratch what the copy engine cannot read: floats to round, rows not aligned to 16 bytes, TF32
// contiguous in m or n. Cost: at most one read and one write of each operand besides the 2 m n k operations.
#include "core/device/launch.cuh"
#include "primitives/matmul/tensor/backend.hpp"
#include "primitives/matmul/tensor/pack.cuh"

#include <algorithm>
#include <optional>

namespace spargo::detail::matmul::tensor {

namespace {

inline constexpr std::int64_t most_rows_of_blocks = 65535;  // limit of a grid's second dimension

struct extent {
  std::int64_t rows;
  std::int64_t columns;
};

extent stored(major order, std::int64_t mn, std::int64_t k) {
  return order == major::k ? extent{mn, k} : extent{k, mn};
}

// An operand for `multiply`, and the scratch that holds it if it was copied.
template <class T>
struct prepared {
  std::optional<array<T, device>> scratch;
  operand<void> ready;
};

dim3 pack_grid(std::int64_t x, std::int64_t y) {
  return dim3(static_cast<unsigned>(std::clamp<std::int64_t>(x, 1, 1024)),
              static_cast<unsigned>(std::clamp<std::int64_t>(y, 1, most_rows_of_blocks)));
}

std::int64_t padded(std::int64_t columns) { return div_up<std::int64_t>(columns, packed_together) * packed_together; }

// Copied and rounded, same orientation.
template <class To, class From>
prepared<To> pack(const context<device>& ctx, const From* from, std::int64_t stride, major order, extent size) {
  const std::int64_t to_stride = padded(size.columns);
  prepared<To> result{array<To, device>(ctx, size.rows * to_stride), {}};
  To* to = result.scratch->data();
  const dim3 grid = pack_grid(div_up<std::int64_t>(to_stride / packed_together, pack_threads), size.rows);
  launch_kernel(ctx, {grid, pack_threads}, pack_kernel<From, To>,
                plane<const From>{from, size.rows, size.columns, stride},
                plane<To>{to, size.rows, size.columns, to_stride});
  result.ready = {to, to_stride, order};
  return result;
}

// Rounded to TF32 and transposed to major::k.
prepared<tf32_bits> pack_transposed(const context<device>& ctx, const operand<float>& from, extent size) {
  const std::int64_t to_stride = padded(size.rows);
  prepared<tf32_bits> result{array<tf32_bits, device>(ctx, size.columns * to_stride), {}};
  tf32_bits* to = result.scratch->data();
  const dim3 grid =
      pack_grid(div_up<std::int64_t>(size.columns, pack_tile), div_up<std::int64_t>(to_stride, pack_tile));
  launch_kernel(ctx, {grid, pack_threads}, pack_transposed_kernel<tf32_bits>,
                plane<const float>{from.data, size.rows, size.columns, from.stride},
                plane<tf32_bits>{to, size.columns, size.rows, to_stride});
  result.ready = {to, to_stride, major::k};
  return result;
}

prepared<tf32_bits> to_tf32(const context<device>& ctx, const operand<float>& from, extent size) {
  if (from.order == major::mn) return pack_transposed(ctx, from, size);
  return pack<tf32_bits>(ctx, from.data, from.stride, from.order, size);
}

// Used in place if the copy engine can read it.
prepared<bf16_bits> to_bf16(const context<device>& ctx, const operand<bfloat16>& from, extent size) {
  const bool readable = reinterpret_cast<std::uintptr_t>(from.data) % 16 == 0 && from.stride % 8 == 0;
  if (readable) return {std::nullopt, {from.data, from.stride, from.order}};
  return pack<bf16_bits>(ctx, reinterpret_cast<const bf16_bits*>(from.data), from.stride, from.order, size);
}

prepared<bf16_bits> to_bf16(const context<device>& ctx, const operand<float>& from, extent size) {
  return pack<bf16_bits>(ctx, from.data, from.stride, from.order, size);
}

__global__ void __launch_bounds__(block_threads) scale_kernel(product p) {
  const std::int64_t size = std::int64_t{p.m} * p.n;
  for (std::int64_t e = global_thread(); e < size; e += grid_threads()) {
    float* c = p.c + e / p.n * p.c_stride + e % p.n;
    *c = p.beta == 0 ? 0 : p.beta * *c;
  }
}

// True if nothing is left to multiply: then C = beta * C, and A and B are not read.
bool scaled_only(const context<device>& ctx, const product& p) {
  if (p.m == 0 || p.n == 0) return true;
  if (p.k != 0 && p.alpha != 0) return false;
  if (p.beta == 1) return true;
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, std::int64_t{p.m} * p.n), scale_kernel, p);
  return true;
}

void multiply_anywhere(const context<device>& ctx, precision inputs, const operand<void>& a, const operand<void>& b,
                       const product& p) {
  return has_tensor_cores(ctx) ? multiply(ctx, inputs, a, b, p) : multiply_portable(ctx, inputs, a, b, p);
}

}  // namespace

void run(const context<device>& ctx, precision inputs, const operand<float>& a, const operand<float>& b,
         const product& p) {
  if (scaled_only(ctx, p)) return;
  const device_guard guard(ctx);
  const extent a_size = stored(a.order, p.m, p.k);
  const extent b_size = stored(b.order, p.n, p.k);
  if (inputs == precision::tf32) {
    const auto left = to_tf32(ctx, a, a_size);
    const auto right = to_tf32(ctx, b, b_size);
    multiply_anywhere(ctx, inputs, left.ready, right.ready, p);
  } else {
    const auto left = to_bf16(ctx, a, a_size);
    const auto right = to_bf16(ctx, b, b_size);
    multiply_anywhere(ctx, inputs, left.ready, right.ready, p);
  }
}

void run(const context<device>& ctx, const operand<bfloat16>& a, const operand<bfloat16>& b, const product& p) {
  if (scaled_only(ctx, p)) return;
  const device_guard guard(ctx);
  const auto left = to_bf16(ctx, a, stored(a.order, p.m, p.k));
  const auto right = to_bf16(ctx, b, stored(b.order, p.n, p.k));
  multiply_anywhere(ctx, precision::bf16, left.ready, right.ready, p);
}

}  // namespace spargo::detail::matmul::tensor
