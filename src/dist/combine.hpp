// What an iteration does to its vectors.
#pragma once

#include "core/parallel.hpp"

#include <spargo/core/array.hpp>

namespace spargo::detail::dist {

// to[i] = a * x[i] + b * y[i]; asynchronous on a device. `to` may be x or y.
inline void combine(const context<host>& ctx, double a, span<const double, host> x, double b,
                    span<const double, host> y, span<double, host> to) {
  parallel_for(ctx.threads(), to.size(), grain::elements, [&](std::int64_t i) { to[i] = a * x[i] + b * y[i]; });
}
void combine(const context<device>& ctx, double a, span<const double, device> x, double b, span<const double, device> y,
             span<double, device> to);

}  // namespace spargo::detail::dist
