// A library built with CUDA but without code for Hopper: products on tensor cores say what they need.
#include "primitives/matmul_tensor.hpp"

namespace spargo::detail::tensor {

void expect_tensor_cores(const context<device>&) {
  throw error(
      error_code::unsupported,
      "matmul_tensor: tensor cores need a library built for compute capability 9.0 (CMAKE_CUDA_ARCHITECTURES with 90)");
}

void multiply(const context<device>& ctx, precision, const operand<void>&, const operand<void>&, const product&) {
  expect_tensor_cores(ctx);
}

}  // namespace spargo::detail::tensor
