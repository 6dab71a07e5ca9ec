// What the host and the device builder share: the steps around the copying of pairs.
//
// A builder needs one function of its own, `proper_pairs`: all pairs that are not loops, then (undirected) the same
// pairs turned round. The conversion to CSR sorts them and drops duplicates.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/graph/graph.hpp>

#include <string>

namespace spargo::detail {

// Throws invalid_argument unless the pairs' matrix is square and every pair has two ends.
void check_pair_shape(std::int64_t rows, std::int64_t cols, std::int64_t froms, std::int64_t tos);
[[noreturn]] void throw_bad_pair(std::int64_t entry, std::int64_t from, std::int64_t to, std::int64_t vertices);

template <class I, class O, class Space>
[[nodiscard]] csr_view<const pattern, I, O, Space> with_pattern(const csr_pattern_view<I, O, Space>& edges) {
  return {edges, {}};
}

template <class I, class Space>
void check_pairs(const coo_pattern_view<I, Space>& pairs) {
  check_pair_shape(pairs.rows, pairs.cols, pairs.row_indices.size(), pairs.col_indices.size());
}

// `pairs` are without loops, and mirrored if the graph is undirected.
template <class O, class I, class Space>
[[nodiscard]] graph<I, O, Space> graph_of_pairs(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                                const graph_options& options) {
  auto out = to_csr<O>(ctx, coo_view<const pattern, I, Space>{pairs, {}});
  graph<I, O, Space> g(std::move(out), {}, options.direction);
  if (options.in_edges) add_in_edges(ctx, g);
  return g;
}

}  // namespace spargo::detail
