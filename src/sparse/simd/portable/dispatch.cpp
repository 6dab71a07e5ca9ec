#include "core/instantiate.hpp"
#include "sparse/simd/portable.hpp"

namespace spargo::detail::spmv {

template <class V, class I, class O>
std::vector<const host_kernels<V, I, O>*> usable_host_kernels() {
  return {&portable::table<V, I, O>};
}

template <class V, class I, class O>
const host_kernels<V, I, O>& best_host_kernels() {
  return portable::table<V, I, O>;
}

template <class V, class I, class O>
const host_kernels<V, I, O>& best_cached_kernels() {
  return portable::table<V, I, O>;
}

bool gathers_are_fast() { return false; }

#define INSTANTIATE(V, I, O)                                                         \
  template std::vector<const host_kernels<V, I, O>*> usable_host_kernels<V, I, O>(); \
  template const host_kernels<V, I, O>& best_host_kernels<V, I, O>();                \
  template const host_kernels<V, I, O>& best_cached_kernels<V, I, O>();
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
