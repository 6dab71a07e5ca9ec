#include "dist/combine.hpp"

#include "core/device/launch.cuh"

namespace spargo::detail::dist {

void combine(const context<device>& ctx, double a, span<const double, device> x, double b, span<const double, device> y,
             span<double, device> to) {
  for_each(ctx, to.size(), [a, b, x = x.data(), y = y.data(), to = to.data()] __device__(std::int64_t i) {
    to[i] = a * x[i] + b * y[i];
  });
}

}  // namespace spargo::detail::dist
