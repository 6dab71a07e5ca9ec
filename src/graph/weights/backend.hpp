// Weight operations implemented per backend; see weights.hpp.
#pragma once

#include <spargo/graph/weights.hpp>

namespace spargo::detail::weights {

// Whether `weight` is representable in the integer type W; `least` is W's minimum, a power of two.
template <class W>
[[nodiscard]] SPARGO_HD bool is_integer(double weight, double least) {
  return weight >= least && weight < -least && weight == static_cast<double>(static_cast<W>(weight));
}

template <class Space>
[[nodiscard]] weight_summary summarize(const context<Space>& ctx, span<const double, Space> from);

// Converts to integers. Returns the index of the first weight that is no integer of W, or their number if all are.
template <class W, class Space>
[[nodiscard]] std::int64_t convert(const context<Space>& ctx, span<const double, Space> from, span<W, Space> to);

template <class I, class O, class Space>
void draw(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges, std::uint64_t seed,
          span<std::int32_t, Space> to);

template <class Space>
void fill_ones(const context<Space>& ctx, span<std::int32_t, Space> to);

}  // namespace spargo::detail::weights
