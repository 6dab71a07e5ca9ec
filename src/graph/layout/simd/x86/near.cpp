// The loop for x86, compiled for three instruction sets. They round differently where products are fused with sums.
#include "graph/layout/simd/near_loop.hpp"

namespace spargo::detail::layout {

namespace {

void sse2(const leaf& target, const leaf* leaves, const std::int32_t* sources, std::int64_t count, float* fx,
          float* fy) {
  sum_near_forces<4>(target, leaves, sources, count, fx, fy);
}
[[gnu::target("avx2,fma")]] void avx2(const leaf& target, const leaf* leaves, const std::int32_t* sources,
                                      std::int64_t count, float* fx, float* fy) {
  sum_near_forces<8>(target, leaves, sources, count, fx, fy);
}
[[gnu::target("avx512f,avx2,fma")]] void avx512(const leaf& target, const leaf* leaves, const std::int32_t* sources,
                                                std::int64_t count, float* fx, float* fy) {
  sum_near_forces<16>(target, leaves, sources, count, fx, fy);
}

}  // namespace

near_function near_forces() noexcept {
  if (__builtin_cpu_supports("avx512f")) return avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
  return sse2;
}

}  // namespace spargo::detail::layout
