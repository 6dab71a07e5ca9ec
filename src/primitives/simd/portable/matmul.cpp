// The dense product's inner kernel for any processor with 16-byte vectors.
#include "primitives/simd/matmul_outer.hpp"

namespace spargo::detail {

namespace {

template <class V>
void kernel(std::int64_t k, const V* a, const V* b, V* sum) {
  matmul_outer<V, 16, 8, 2>(k, a, b, sum);
}

}  // namespace

template <class V>
matmul_micro_kernel<V> best_matmul_kernel() {
  return {8, 2 * 16 / static_cast<int>(sizeof(V)), kernel<V>};
}

template matmul_micro_kernel<float> best_matmul_kernel();
template matmul_micro_kernel<double> best_matmul_kernel();

}  // namespace spargo::detail
