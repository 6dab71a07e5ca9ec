// Conjugate gradients over the ranks of a distributed matrix.
#pragma once

#include <spargo/distributed/spmv.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT cg_options {
  double tolerance = 1e-8;  // on the 2-norm of the residual relative to that of b
  std::int64_t max_iterations = 1000;
};
struct SPARGO_EXPORT cg_result {
  std::int64_t iterations = 0;
  double residual = 0;  // relative, from the recurrence
  bool converged = false;
};

// Solves A x = b for a symmetric positive definite A by conjugate gradients (Hestenes, Stiefel, 1952). b and x are this
// rank's elements; x holds the initial guess. Sums over ranks: the same bits on every run with the same number of
// ranks. On a device the host waits for each sum, but not for the last update of x, which is on the context's stream.
// Throws invalid_data if A is found not to be positive definite, or if b or a product is not finite. If the square of b
// is out of range, b is scaled by a power of 2. Memory: three vectors, four on a device.
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, host>& a, span<const double, host> b,
                                       span<double, host> x, const cg_options& options = {});
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, device>& a, span<const double, device> b,
                                       span<double, device> x, const cg_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
