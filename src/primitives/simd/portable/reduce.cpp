// Reductions' inner loops for any processor, with 16-byte vectors.
#include "core/instantiate.hpp"
#include "primitives/simd/reduce_block.hpp"

namespace spargo::detail::reduce {

template <class T>
block_function<T> best_block_function(source_kind source, operation op) {
  block_function<T> best = nullptr;
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    best = [](const T* a, const T* b, std::int64_t n) {
      return reduce_one_block<decltype(apply), decltype(which)::value, T, 16>(a, b, n);
    };
  });
  return best;
}

#define INSTANTIATE(T) template block_function<T> best_block_function(source_kind, operation);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
