// The in-edges of a weighted graph, for any type of weight: sources of each vertex ascend, parallel edges keep their
// order.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo::detail::weighted {

template <class W, class I, class O>
struct transposed_rows {
  csr_matrix<pattern, I, O, host> edges;
  array<W, host> weights;
};

// A counting sort by target on one thread, O(vertices + edges).
template <class W, class I, class O>
[[nodiscard]] transposed_rows<W, I, O> transpose(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows,
                                                 const span<const W, host>& weights) {
  array<O, host> offsets(ctx, std::int64_t{rows.rows} + 1);
  array<I, host> indices(ctx, rows.nnz());
  array<W, host> moved(ctx, rows.nnz());
  std::fill(offsets.begin(), offsets.end(), O{0});
  for (const I v : rows.indices) ++offsets[std::int64_t{v} + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<O> next(offsets.begin(), offsets.end() - 1);
  for (I u = 0; u < rows.rows; ++u) {
    for (O e = rows.offsets[u]; e < rows.offsets[std::int64_t{u} + 1]; ++e) {
      const O to = next[static_cast<std::size_t>(rows.indices[e])]++;
      indices[to] = u;
      moved[to] = weights[e];
    }
  }
  return {{rows.rows, rows.rows, std::move(offsets), std::move(indices), {}}, std::move(moved)};
}

}  // namespace spargo::detail::weighted
