// cuBLAS on tensor cores as a peer: bfloat16 inputs, float result; and floats in TF32 mode (low bits dropped).
#include "bench/matmul_tensor_cases.hpp"

#include <cublas_v2.h>

namespace spargo::bench {

namespace {

void expect(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

// C = A * op(B), row-major; in column-major terms C^T = op(B)^T * A^T.
void multiply(cublasHandle_t handle, tensor_problem& p, tensor_inputs inputs, transpose_kind op_b) {
  const float one = 1;
  const float zero = 0;
  const int n = static_cast<int>(p.n);
  const bool narrow = inputs == tensor_inputs::bf16;
  const cudaDataType type = narrow ? CUDA_R_16BF : CUDA_R_32F;
  const void* a = narrow ? static_cast<const void*>(p.a_narrow.data()) : p.a.data();
  const void* b = narrow ? static_cast<const void*>(p.b_narrow.data()) : p.b.data();
  expect(cublasGemmEx(handle, op_b == transpose_kind::none ? CUBLAS_OP_N : CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, b,
                      type, n, a, type, n, &zero, p.c.data(), CUDA_R_32F, n,
                      narrow ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
}

double measure(benchmark::State& state, tensor_inputs inputs, transpose_kind op_b, std::int64_t n) {
  constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
  auto& p = cached<tensor_problem>(n);
  const array<char, device> workspace(p.ctx, workspace_bytes);
  cublasHandle_t handle = nullptr;
  expect(cublasCreate(&handle));
  expect(cublasSetStream(handle, p.ctx.stream()));
  expect(cublasSetWorkspace(handle, const_cast<char*>(workspace.data()), workspace_bytes));
  const double seconds = measure_tensor(state, p, inputs, op_b, [&] { multiply(handle, p, inputs, op_b); });
  expect(cublasDestroy(handle));
  return seconds;
}

void add_all() {
  if (!current_settings().device) return;
  for (const std::int64_t n : tensor_sizes) {
    for (const auto op_b : {transpose_kind::none, transpose_kind::transpose}) {
      for (const auto inputs : {tensor_inputs::bf16, tensor_inputs::tf32}) {
        add_peer(tensor_group(inputs, op_b, n) + "cublas",
                 [=](benchmark::State& state) { return measure(state, inputs, op_b, n); });
      }
    }
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
