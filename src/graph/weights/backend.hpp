// What the host and the device each do with weights; see weights.hpp.
#pragma once

#include <spargo/graph/weights.hpp>

namespace spargo::detail::weights {

// Of an integer W, whose least is a power of two as -least is.
template <class W>
[[nodiscard]] SPARGO_HD bool is_integer(double weight, double least) {
  return weight >= least && weight < -least && weight == static_cast<double>(static_cast<W>(weight));
}

template <class Space>
[[nodiscard]] weight_summary summarize(const context<Space>& ctx, span<const double, Space> from);

// The first that is not an integer of W; their number if all are.
template <class W, class Space>
[[nodiscard]] std::int64_t convert(const context<Space>& ctx, span<const double, Space> from, span<W, Space> to);

template <class I, class O, class Space>
void draw(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges, std::uint64_t seed,
          span<std::int32_t, Space> to);

template <class Space>
void fill_ones(const context<Space>& ctx, span<std::int32_t, Space> to);

}  // namespace spargo::detail::weights
