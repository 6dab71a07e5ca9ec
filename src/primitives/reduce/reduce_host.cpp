// Host reductions over blocks of fixed size, whose values are combined pairwise: the result depends on the number of
// elements only, not on threads or instruction set.
//
// A block is 32 or 64 chunks of 16 vectors of 128 bytes, combined lane by lane, then lanes and chunks pairwise
// (simd/reduce_block.hpp): a sum's error is at most about (log2(n) + 12) * eps / 2 * sum |x|. Pairwise summation:
// Higham, SIAM J. Sci. Comput. 14(4), 1993. Cost: n reads; one element of scratch per block.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "primitives/simd/reduce.hpp"

#include <algorithm>

namespace spargo::detail::reduce {

template <class T>
void run_host(const context<host>& ctx, source_kind source, operation op, operands<T> in, T* result) {
  const block_function<T> of_block = best_block_function<T>(source, op);
  if (in.size <= block_size) {
    *result = of_block(in.a, in.b, in.size);
    return;
  }
  array<T, host> values(ctx, div_up(in.size, block_size));
  T* const data = values.data();
  const std::int64_t blocks = values.size();
  parallel_for(ctx.threads(), blocks, div_up(grain::elements, block_size), [&](std::int64_t k) {
    const std::int64_t first = k * block_size;
    data[k] = of_block(in.a + first, in.b == nullptr ? nullptr : in.b + first, std::min(block_size, in.size - first));
  });
  with_reduction<T>("reduce", source, op,
                    [&](auto apply, auto) { *result = combine_pairwise<decltype(apply)>(data, blocks); });
}

#define INSTANTIATE(T) template void run_host(const context<host>&, source_kind, operation, operands<T>, T*);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
