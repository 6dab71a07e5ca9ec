// Replaces double_sm90a.cu in a library not built for compute capability 9.0.
#include "primitives/matmul/backend.hpp"

namespace spargo::detail::matmul {

bool has_tensor_double(const context<device>&) { return false; }

void run_tensor_double(const context<device>&, const dense_job<double>&) {
  throw error(error_code::unsupported, "matmul: tensor_core needs a library built for compute capability 9.0");
}

}  // namespace spargo::detail::matmul
