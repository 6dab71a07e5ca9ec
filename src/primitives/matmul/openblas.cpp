// The product by OpenBLAS, in a library built with it.
//
// OpenBLAS's number of threads is a setting of the whole process, which a library must not change: it is used only when
// that number is the context's. Its sizes are 32-bit.
#include "primitives/matmul/backend.hpp"

#include <cblas.h>

#include <algorithm>

namespace spargo::detail {

template <class V>
bool matmul_openblas(const context<host>& ctx, const matmul_job<V>& job) {
  const std::int64_t largest = std::max({job.m, job.n, job.k, job.lda, job.ldb, job.ldc});
  if (openblas_get_num_threads() != ctx.threads() || largest > INT32_MAX) return false;
  const auto narrow = [](std::int64_t size) { return static_cast<blasint>(size); };
  const auto call = [&](auto gemm) {
    gemm(CblasRowMajor, CblasNoTrans, job.op_b == transpose_kind::none ? CblasNoTrans : CblasTrans, narrow(job.m),
         narrow(job.n), narrow(job.k), job.alpha, job.a, narrow(job.lda), job.b, narrow(job.ldb), job.beta, job.c,
         narrow(job.ldc));
  };
  if constexpr (std::same_as<V, float>) {
    call(cblas_sgemm);
  } else {
    call(cblas_dgemm);
  }
  return true;
}

template bool matmul_openblas(const context<host>&, const matmul_job<float>&);
template bool matmul_openblas(const context<host>&, const matmul_job<double>&);

}  // namespace spargo::detail
