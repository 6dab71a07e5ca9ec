// Eigen's operations on whole matrices and its conjugate gradients, compiled for this machine (see products.hpp).
#pragma once

#include "bench/native/products.hpp"

namespace spargo::bench::native {

enum class algebra { transpose, add, product, cg };

// An operation prepared for a matrix; owned by the caller.
class algebra_call {
 public:
  algebra_call() = default;
  algebra_call(const algebra_call&) = delete;
  algebra_call& operator=(const algebra_call&) = delete;
  virtual ~algebra_call();
  virtual void run() = 0;
  // Of the last run, until the next: a matrix, or for cg a column of values without offsets.
  virtual csr_arrays<double> result() = 0;
};

// A^T, A + A^T, A A, or `iterations` of cg for A x = b from x = 0, without a preconditioner. Eigen's cg and products
// with vectors use `threads`, its operations on matrices one thread.
algebra_call* eigen_algebra(algebra operation, const csr_arrays<double>& a, const csr_arrays<double>& a_transposed,
                            const double* b, int iterations, int threads);

}  // namespace spargo::bench::native
