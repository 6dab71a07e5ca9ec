// Dense matrix product on tensor cores, C = alpha * op(A) * op(B) + beta * C, row-major. 7 times (TF32) to 14 times
// (bfloat16) as fast as `matmul` in float, for inputs with fewer bits.
//
// op(A) is m x k, op(B) is k x n, C is m x n; any sizes, 0 included, and any strides and alignment. Inputs are rounded
// to nearest (bfloat16: 8 significant bits; TF32: 11), products are exact, sums are float. With u the rounding of an
// input (2^-8 and 2^-11 relative; 0 for bfloat16 inputs) each element's error is at most about (2 u + k * 2^-22) *
// |alpha| * sum |a||b| + 2^-23 * |beta c|: the tensor cores' sums may truncate. beta = 0 does not read C; alpha = 0 or
// k = 0 reads neither A nor B. NaN and infinity propagate as in float. Deterministic. C must not overlap A or B.
//
// Uses tensor cores on compute capability 9.0 (Hopper) if the library is built for it; elsewhere ordinary instructions
// with the same roundings, slower than `matmul`. Throws, before any work, `unsupported` for m, n or k above 2^31 - 1024
// and invalid_argument for mismatched shapes, short data or overlap. Asynchronous on the context's stream. 2 m n k
// operations; scratch for a rounded copy of float inputs, and of bfloat16 inputs whose rows are not 16-byte aligned.
#pragma once

#include <spargo/core/bfloat16.hpp>
#include <spargo/core/dense.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/primitives/transpose_kind.hpp>

#include <string_view>

namespace spargo {

enum class tensor_inputs {
  tf32,  // float's range, 11 significant bits
  bf16,  // float's range, 8 significant bits
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<tensor_inputs> enum_rows() noexcept;

struct SPARGO_EXPORT matmul_tensor_options {
  tensor_inputs inputs = tensor_inputs::tf32;  // precision that float inputs are rounded to
  transpose_kind op_a = transpose_kind::none;  // transpose: A is given as k x m
  transpose_kind op_b = transpose_kind::none;  // transpose: B is given as n x k
};

SPARGO_EXPORT void matmul_tensor(const context<device>& ctx, float alpha, const dense_view<const float, device>& a,
                                 const dense_view<const float, device>& b, float beta,
                                 const dense_view<float, device>& c, const matmul_tensor_options& options = {});

// For bfloat16 inputs, which are not rounded; options.inputs must be bf16.
SPARGO_EXPORT void matmul_tensor(const context<device>& ctx, float alpha, const dense_view<const bfloat16, device>& a,
                                 const dense_view<const bfloat16, device>& b, float beta,
                                 const dense_view<float, device>& c,
                                 const matmul_tensor_options& options = {.inputs = tensor_inputs::bf16});

}  // namespace spargo
