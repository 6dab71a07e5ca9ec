// Vectors on the device: constant values and multiples. Asynchronous.
#pragma once

#include "core/device/launch.cuh"

namespace spargo::detail::ranks {

inline void fill_values(const context<device>& ctx, array<double, device>& values, double value) {
  for_each(ctx, values.size(), [to = values.data(), value] __device__(std::int64_t v) { to[v] = value; });
}
inline void scale_values(const context<device>& ctx, array<double, device>& values, double factor) {
  for_each(ctx, values.size(), [to = values.data(), factor] __device__(std::int64_t v) { to[v] *= factor; });
}

}  // namespace spargo::detail::ranks
