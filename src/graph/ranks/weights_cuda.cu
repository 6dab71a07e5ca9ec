// Weights as doubles on the device, one thread per weight.
#include "core/device/launch.cuh"
#include "graph/ranks/double_weights.hpp"

namespace spargo::detail::ranks {

template <class W, class Space>
array<double, Space> to_doubles(const context<Space>& ctx, span<const W, Space> weights) {
  array<double, device> doubles(ctx, weights.size());
  for_each(ctx, weights.size(), [to = doubles.data(), from = weights.data()] __device__(std::int64_t e) {
    to[e] = static_cast<double>(from[e]);
  });
  return doubles;
}
template array<double, device> to_doubles(const context<device>&, span<const std::int32_t, device>);
template array<double, device> to_doubles(const context<device>&, span<const std::int64_t, device>);
template array<double, device> to_doubles(const context<device>&, span<const float, device>);

}  // namespace spargo::detail::ranks
