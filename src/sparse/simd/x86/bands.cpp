// The inner loops over bands for x86, compiled for three instruction sets and chosen at run time.
#include "core/instantiate.hpp"
#include "sparse/simd/band_rows.hpp"

namespace spargo::detail::spmv {

namespace {

template <class V>
[[gnu::target("avx512f,avx512vl,fma,prefer-vector-width=512")]] void avx512_rows(const band_job<V>& job) {
  band_rows<V, 64>(job);
}
template <class V>
[[gnu::target("avx2,fma")]] void avx2_rows(const band_job<V>& job) {
  band_rows<V, 32>(job);
}
template <class V>
void sse2_rows(const band_job<V>& job) {
  band_rows<V, 16>(job);
}

}  // namespace

template <class V>
std::vector<band_loops<V>> usable_band_loops() {
  __builtin_cpu_init();
  std::vector<band_loops<V>> all{{sse2_rows<V>, "16-byte vectors"}};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    all.push_back({avx2_rows<V>, "AVX2"});
  }
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
    all.push_back({avx512_rows<V>, "AVX-512"});
  }
  return all;
}

#define INSTANTIATE(V) template std::vector<band_loops<V>> usable_band_loops<V>();
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::spmv
