// Counting.
#pragma once

#include <spargo/core/array.hpp>

namespace spargo {

// counts[k] = how often k occurs in `keys`, for k in [0, counts.size()); keys outside are ignored. `counts` is
// overwritten. Key, Count: int32, int64. Asynchronous on a device; deterministic.
template <class Key, class Count, class Space>
SPARGO_EXPORT void histogram(const context<Space>& ctx, span<const Key, Space> keys, span<Count, Space> counts);

}  // namespace spargo
