// The dense product's inner kernels for x86: all registers but those for a row of B and an element of A hold sums.
#include "core/instantiate.hpp"
#include "primitives/simd/matmul_outer.hpp"

namespace spargo::detail::matmul {

namespace {

template <class V>
[[gnu::target("avx512f,avx512vl,fma,prefer-vector-width=512")]] void avx512_kernel(std::int64_t k, const V* a,
                                                                                   const V* b, V* sum) {
  outer_product<V, 64, 12, 2>(k, a, b, sum);
}

template <class V>
[[gnu::target("avx2,fma")]] void avx2_kernel(std::int64_t k, const V* a, const V* b, V* sum) {
  outer_product<V, 32, 6, 2>(k, a, b, sum);
}

template <class V>
void sse2_kernel(std::int64_t k, const V* a, const V* b, V* sum) {
  outer_product<V, 16, 4, 2>(k, a, b, sum);
}

}  // namespace

template <class V>
micro_kernel<V> best_kernel() {
  constexpr int size = static_cast<int>(sizeof(V));
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    return {12, 2 * 64 / size, avx512_kernel<V>};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, 2 * 32 / size, avx2_kernel<V>};
  return {4, 2 * 16 / size, sse2_kernel<V>};
}

#define INSTANTIATE(V) template micro_kernel<V> best_kernel();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::matmul
