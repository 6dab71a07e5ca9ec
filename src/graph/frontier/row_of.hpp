// The row of an entry of a graph, wherever the graph is: for messages.
#pragma once

#include "primitives/element.hpp"

#include <spargo/formats/csr.hpp>

namespace spargo::detail {

// O(log rows) elements read; on a device each synchronizes.
template <class I, class O, class Space>
[[nodiscard]] std::int64_t row_of(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges,
                                  std::int64_t entry) {
  std::int64_t low = 0;
  std::int64_t high = edges.rows;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (std::int64_t{element<O>(ctx, edges.offsets, middle)} <= entry ? low : high) = middle;
  }
  return low;
}

}  // namespace spargo::detail
