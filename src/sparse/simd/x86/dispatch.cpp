// Chooses the inner loops on x86-64 by processor features.
#include "core/instantiate.hpp"
#include "sparse/simd/portable.hpp"
#include "sparse/simd/x86/fast_gathers.hpp"
#include "sparse/simd/x86/vector_kernels.hpp"

namespace spargo::detail::spmv {

namespace {

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

}  // namespace

template <class V, class I, class O>
std::vector<const host_kernels<V, I, O>*> usable_host_kernels() {
  std::vector<const host_kernels<V, I, O>*> all{&portable::table<V, I, O>};
  if constexpr (real_type<V>) {
    if (has_avx2()) all.push_back(avx2_kernels<V, I, O>());
    if (has_avx512()) {
      all.push_back(avx512_gather_kernels<V, I, O>());
      all.push_back(avx512_kernels<V, I, O>());
    }
  }
  return all;
}

template <class V, class I, class O>
const host_kernels<V, I, O>& best_host_kernels() {
  static const host_kernels<V, I, O>& best = *usable_host_kernels<V, I, O>().back();
  return best;
}

template <class V, class I, class O>
const host_kernels<V, I, O>& best_cached_kernels() {
  if constexpr (real_type<V>) {
    if (has_fast_gathers()) return *avx512_gather_kernels<V, I, O>();
  }
  return best_host_kernels<V, I, O>();
}

bool gathers_are_fast() { return has_fast_gathers(); }

#define INSTANTIATE(V, I, O)                                                         \
  template std::vector<const host_kernels<V, I, O>*> usable_host_kernels<V, I, O>(); \
  template const host_kernels<V, I, O>& best_host_kernels<V, I, O>();                \
  template const host_kernels<V, I, O>& best_cached_kernels<V, I, O>();
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
