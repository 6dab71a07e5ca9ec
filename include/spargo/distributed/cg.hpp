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
  double residual = 0;  // relative, the true one
  bool converged = false;
};

// Solves A x = b for a symmetric positive definite A by the cg of distributed_krylov_plan. Each call allocates and
// connects ranks anew, over the fastest link; for many right-hand sides use the plan. b and x are this rank's elements;
// x holds the initial guess. Sums over ranks: the same bits on every run with the same number of ranks. b is scaled by
// a power of 2, so is A where squares would leave the range. A device is synchronised. Throws invalid_data if A is
// found not to be positive definite, or if b or a product is not finite. Memory: seven vectors, on hosts with ghosts.
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, host>& a, span<const double, host> b,
                                       span<double, host> x, const cg_options& options = {});
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, device>& a, span<const double, device> b,
                                       span<double, device> x, const cg_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
