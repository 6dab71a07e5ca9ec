// The dense product's inner kernel for any processor, with 16-byte vectors.
#include "core/instantiate.hpp"
#include "primitives/simd/matmul_outer.hpp"

namespace spargo::detail::matmul {

namespace {

template <class V>
void kernel(std::int64_t k, const V* a, const V* b, V* sum) {
  outer_product<V, 16, 8, 2>(k, a, b, sum);
}

}  // namespace

template <class V>
micro_kernel<V> best_kernel() {
  return {8, 2 * 16 / static_cast<int>(sizeof(V)), kernel<V>};
}

#define INSTANTIATE(V) template micro_kernel<V> best_kernel();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::matmul
