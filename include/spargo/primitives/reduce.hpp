// Reductions to one value, returned to the host (a device reduction therefore synchronises the stream).
#pragma once

#include <spargo/core/array.hpp>

namespace spargo {

// T: int32, int64, float, double. Deterministic: fixed order for any thread count or launch shape. Float sums are
// pairwise over blocks: error at most about (log2(n) + 32) * eps * sum |x|. An empty range sums to 0.
template <class T, class Space>
[[nodiscard]] SPARGO_EXPORT T reduce_sum(const context<Space>& ctx, span<const T, Space> values);

// The largest element; throws invalid_argument on an empty range. NaN: propagates.
template <class T, class Space>
[[nodiscard]] SPARGO_EXPORT T reduce_max(const context<Space>& ctx, span<const T, Space> values);

}  // namespace spargo
