// The tree of tiles.cuh: one tile is one block's work and one launch; more go through bulk copies where the
// device has them, and through ordinary loads elsewhere.
#include "core/instantiate.hpp"
#include "primitives/reduce/tiles.cuh"

#include "primitives/reduce/bulk.hpp"

#include <algorithm>

namespace spargo::detail::reduce {

namespace {

template <class Op, source_kind Source, class T>
void run_tiles(const context<device>& ctx, const operands<T>& in, T* result, std::int64_t wanted) {
  const std::int64_t tiles = div_up(in.size, tile_size<T>);
  array<T, device> values = tiles > 1 ? array<T, device>(ctx, tiles) : array<T, device>();
  const std::int64_t blocks = wanted > 0 ? wanted : std::min<std::int64_t>(tiles, INT32_MAX);
  reduce_tiles_kernel<Op, Source><<<static_cast<unsigned>(blocks), tile_threads, 0, ctx.stream()>>>(
      in.a, in.b, in.size, tiles, tiles > 1 ? values.data() : result);
  SPARGO_CUDA_TRY(cudaGetLastError());
  if (tiles > 1) combine_values<Op>(ctx, std::move(values), result);
}

}  // namespace

template <class T>
void run_by_tiles(const context<device>& ctx, source_kind source, operation op, const operands<T>& in, T* result,
                  std::int64_t blocks) {
  if (in.size > tile_size<T> && has_bulk_tiles(ctx)) {
    run_by_bulk_tiles(ctx, source, op, in, result, blocks);
    return;
  }
  const device_guard guard(ctx);
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    run_tiles<decltype(apply), decltype(which)::value>(ctx, in, result, blocks);
  });
}

#define INSTANTIATE(T) \
  template void run_by_tiles(const context<device>&, source_kind, operation, const operands<T>&, T*, std::int64_t);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
