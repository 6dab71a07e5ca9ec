// The row of an entry of a graph, wherever the graph is: for messages.
#pragma once

#include "core/search.hpp"
#include "primitives/element.hpp"

#include <spargo/formats/csr.hpp>

namespace spargo::detail {

// O(log rows) elements read; on a device each synchronizes.
template <class I, class O, class Space>
[[nodiscard]] std::int64_t row_of(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges,
                                  std::int64_t entry) {
  return first_where(std::int64_t{1}, std::int64_t{edges.rows},
                     [&](std::int64_t row) { return std::int64_t{element<O>(ctx, edges.offsets, row)} > entry; }) -
         1;
}

}  // namespace spargo::detail
