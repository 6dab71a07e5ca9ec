// The dense product's inner kernel for any processor with 16-byte vectors.
#include "core/instantiate.hpp"
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

#define INSTANTIATE(V) template matmul_micro_kernel<V> best_matmul_kernel();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail
