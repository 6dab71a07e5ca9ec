// OpenBLAS's dense product, with the same number of threads as ours.
#include "bench/matmul_cases.hpp"

#include <cblas.h>

namespace spargo::bench {

namespace {

template <class V>
void add_type() {
  add_peer(matmul_group<V>() + "openblas", [](benchmark::State& state) {
    openblas_set_num_threads(host_threads());
    return measure_matmul<V>(state, [](const V* a, const V* b, V* c) {
      constexpr auto n = static_cast<blasint>(matmul_side);
      const auto call = [&](auto gemm) {
        gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, V(1), a, n, b, n, V(0), c, n);
      };
      if constexpr (sizeof(V) == 4) {
        call(cblas_sgemm);
      } else {
        call(cblas_dgemm);
      }
    });
  });
}

void add_all() {
  if (!current_settings().host) return;
  add_type<float>();
  add_type<double>();
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
