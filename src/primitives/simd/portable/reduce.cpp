// Reductions' inner loops where there is one instruction set, with vectors of 16 bytes.
#include "core/instantiate.hpp"
#include "primitives/simd/reduce_block.hpp"

namespace spargo::detail {

template <class T>
reduce_block<T> best_reduce_block(reduce_source source, operation op) {
  reduce_block<T> best = nullptr;
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    best = [](const T* a, const T* b, std::int64_t n) {
      return reduce_one_block<decltype(apply), decltype(which)::value, T, 16>(a, b, n);
    };
  });
  return best;
}

#define INSTANTIATE(T) template reduce_block<T> best_reduce_block(reduce_source, operation);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail
