// Replaces matmul_tensor_sm90a.cu in a library not built for compute capability 9.0.
#include "primitives/matmul/tensor/backend.hpp"

namespace spargo::detail::matmul::tensor {

bool has_tensor_cores(const context<device>&) { return false; }

void multiply(const context<device>&, precision, const operand<void>&, const operand<void>&, const product&) {
  throw error(error_code::unsupported, "matmul_tensor: tensor cores need a library built for compute capability 9.0");
}

}  // namespace spargo::detail::matmul::tensor
