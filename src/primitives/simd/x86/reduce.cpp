// Reductions' inner loops for x86, compiled for two instruction sets and chosen at run time. From about 16 MiB on both
// are memory-bound; registers wider than AVX2's gain nothing.
#include "core/instantiate.hpp"
#include "primitives/simd/reduce_block.hpp"

namespace spargo::detail::reduce {

namespace {

// Without FMA, so that products are rounded as elsewhere.
template <class Op, source_kind Source, class T>
[[gnu::target("avx2")]] T avx2_block(const T* a, const T* b, std::int64_t n) {
  return reduce_one_block<Op, Source, T, 32>(a, b, n);
}

template <class Op, source_kind Source, class T>
T sse2_block(const T* a, const T* b, std::int64_t n) {
  return reduce_one_block<Op, Source, T, 16>(a, b, n);
}

}  // namespace

template <class T>
block_function<T> best_block_function(source_kind source, operation op) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  block_function<T> best = nullptr;
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    using op_type = decltype(apply);
    constexpr source_kind of = decltype(which)::value;
    best = avx2 ? avx2_block<op_type, of, T> : sse2_block<op_type, of, T>;
  });
  return best;
}

#define INSTANTIATE(T) template block_function<T> best_block_function(source_kind, operation);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
