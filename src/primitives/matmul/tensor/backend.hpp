#pragma once

#include <spargo/core/bfloat16.hpp>
#include <spargo/core/dense.hpp>

#include <cstdint>

namespace spargo::detail::matmul::tensor {

enum class precision { bf16, tf32 };  // rounding of both inputs, to nearest
enum class major { k, mn };           // which index of an operand is contiguous in memory

// A or B as stored, row-major: k along columns (major::k: A is m x k, B is n x k) or along rows (major::mn).
template <class T>
struct operand {
  const T* data = nullptr;
  std::int64_t stride = 0;
  major order = major::k;
};

// C(i, j) = alpha * sum over l of A(i, l) * B(l, j) + beta * C(i, j), at c[i * c_stride + j].
struct product {
  int m = 0;
  int n = 0;
  int k = 0;
  float alpha = 1;
  float beta = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
};

// Largest size for which tiles that extend past the edge still have int coordinates.
inline constexpr std::int64_t largest_size = (std::int64_t{1} << 31) - 1024;

// Whether `multiply` can run: on Hopper, in a library built for it.
[[nodiscard]] bool has_tensor_cores(const context<device>& ctx);

// The product for m, n, k > 0: on tensor cores, and on any device by ordinary instructions. Data and rows are 16-byte
// aligned; TF32 operands are major::k, floats whose low 13 bits are ignored. Asynchronous on the context's stream.
void multiply(const context<device>& ctx, precision inputs, const operand<void>& a, const operand<void>& b,
              const product& p);
void multiply_portable(const context<device>& ctx, precision inputs, const operand<void>& a, const operand<void>& b,
                       const product& p);

// Any sizes and alignment. Rounds float inputs to `inputs` in scratch; copies bfloat16 inputs only if misaligned.
void run(const context<device>& ctx, precision inputs, const operand<float>& a, const operand<float>& b,
         const product& p);
void run(const context<device>& ctx, const operand<bfloat16>& a, const operand<bfloat16>& b, const product& p);

}  // namespace spargo::detail::matmul::tensor
