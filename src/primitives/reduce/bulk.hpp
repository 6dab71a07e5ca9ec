// Tiles through shared memory by Hopper's bulk copies.
#pragma once

#include "primitives/reduce/backend.hpp"

namespace spargo::detail {

// Whether the device has them and the library was built for it.
bool has_bulk_tiles(const context<device>& ctx);

// The tree of tiles.cuh into *result, for more elements than a tile has. `blocks` of the launch; 0: chosen.
template <class T>
void reduce_bulk_tiles(const context<device>& ctx, reduce_source source, operation op, const reduce_input<T>& in,
                       T* result, std::int64_t blocks);

}  // namespace spargo::detail
