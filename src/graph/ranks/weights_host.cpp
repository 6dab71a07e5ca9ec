// Weights as doubles on the host.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/ranks/double_weights.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace spargo::detail::ranks {

template <class W, class Space>
array<double, Space> to_doubles(const context<Space>& ctx, span<const W, Space> weights) {
  array<double, Space> doubles(ctx, weights.size());
  parallel_for(ctx.threads(), weights.size(), grain::elements,
               [&](std::int64_t e) { doubles[e] = static_cast<double>(weights[e]); });
  return doubles;
}
template array<double, host> to_doubles(const context<host>&, span<const std::int32_t, host>);
template array<double, host> to_doubles(const context<host>&, span<const std::int64_t, host>);
template array<double, host> to_doubles(const context<host>&, span<const float, host>);

template <class I, class O>
void expect_finite_weights(std::string_view operation, const csr_pattern_view<I, O, host>& edges,
                           span<const double, host> weights) {
  for (I v = 0; v < edges.rows; ++v) {
    for (O e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
      if (weights[e] >= 0 && std::isfinite(weights[e])) continue;
      throw error(error_code::invalid_data,
                  fmt::format("{}: edge ({}, {}) has weight {} (expected finite ones of 0 or more)", operation, v,
                              edges.indices[e], weights[e]));
    }
  }
}
#define INSTANTIATE(I, O) \
  template void expect_finite_weights(std::string_view, const csr_pattern_view<I, O, host>&, span<const double, host>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::ranks
