// Tiles through shared memory by Hopper's bulk copies.
#pragma once

#include "primitives/reduce/backend.hpp"

namespace spargo::detail::reduce {

// Whether the device has them and the library was built for it.
bool has_bulk_tiles(const context<device>& ctx);

// The tree of tiles.cuh into *result, for more elements than a tile has. `blocks` of the launch; 0: chosen.
template <class T>
void run_by_bulk_tiles(const context<device>& ctx, source_kind source, operation op, const operands<T>& in, T* result,
                       std::int64_t blocks);

}  // namespace spargo::detail::reduce
