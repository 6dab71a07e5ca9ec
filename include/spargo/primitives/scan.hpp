// Prefix sums.
#pragma once

#include <spargo/core/array.hpp>

namespace spargo {

// out[i] = in[0] + ... + in[i-1], out[0] = 0. `in` and `out` have equal sizes and may be the same range; any
// length. Overflow wraps. T: int32, int64; the sum is formed in T.
// 2n element moves; asynchronous on a device; deterministic.
template <class T, class Space>
SPARGO_EXPORT void exclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                                  span<T, Space> out);

// out[i] = in[0] + ... + in[i].
template <class T, class Space>
SPARGO_EXPORT void inclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                                  span<T, Space> out);

}  // namespace spargo
