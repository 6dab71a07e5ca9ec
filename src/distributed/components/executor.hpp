// Interface of distributed components: a rank's vertices and ghosts in one memory space.
//
// A rank's edges form trees of its vertices and ghosts, by the single-process algorithm, which skips the edges of the
// largest tree because their other ends see them too. The other end of a cut edge belongs to another rank and may be in
// that rank's largest tree; then neither rank reads the edge. Each rank therefore reads some of its skipped cut edges,
// which gives these trees one label if the graph has a large component. When labels have settled, the ranks check
// whether an unread edge may matter, and if so read the skipped edges.
#pragma once

#include "core/parallel.hpp"
#include "core/plan_executor.hpp"
#include "distributed/exchange/local_columns.hpp"
#include "graph/components/executor.hpp"

#include <spargo/distributed/components.hpp>

#include <memory>

namespace spargo::detail::distributed {

// What a rank reports when labels have settled.
struct components_summary {
  std::int64_t count = 0;     // own vertices that are their own label
  std::int64_t skipped = -1;  // label of the tree whose edges were skipped; -1: all edges to ghosts were read
  std::int64_t larger = 0;    // ghosts whose label is larger than that of their local tree
};

// Whether the trees are those of all edges: no edge read joins two labels, nor one between skipped trees (one label).
[[nodiscard]] inline bool is_settled(const std::vector<components_summary>& ranks) {
  std::int64_t skipped = -1;
  return std::none_of(ranks.begin(), ranks.end(), [&](const components_summary& each) {
    if (each.larger > 0) return true;
    if (each.skipped < 0) return false;
    if (skipped < 0) skipped = each.skipped;
    return each.skipped != skipped;
  });
}

template <class I, class Space>
class components_executor : public executor_base {
 public:
  // Unites along this rank's edges; each vertex is labelled with the smallest of its tree.
  virtual void start() = 0;
  virtual void start_with_all() = 0;  // also along the skipped edges
  // Sends labels to ghosts and labels every tree with its smallest; returns whether a label here changed. Collective.
  virtual bool spread() = 0;
  [[nodiscard]] virtual components_summary summary() = 0;
  [[nodiscard]] virtual span<const I, Space> labels() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;  // transport of labels
};

// Row offsets with empty rows for the ghosts.
template <class I>
[[nodiscard]] std::vector<std::int64_t> offsets_with_ghosts(const csr_pattern_view<I, std::int64_t, host>& out,
                                                            const local_columns& columns) {
  std::vector<std::int64_t> offsets(out.offsets.begin(), out.offsets.end());
  offsets.resize(static_cast<std::size_t>(columns.size()) + 1, out.nnz());
  return offsets;
}
// Moves own columns before ghosts in each row.
inline void put_own_first(int threads, const std::vector<std::int64_t>& offsets, local_columns& columns) {
  parallel_for(threads, columns.own, grain::rows, [&](std::int64_t row) {
    const std::int64_t first = offsets[static_cast<std::size_t>(row)];
    const std::int64_t last = offsets[static_cast<std::size_t>(row) + 1];
    std::stable_partition(columns.indices.data() + first, columns.indices.data() + last,
                          [&](std::int32_t column) { return column < columns.own; });
  });
}
template <class Space>
[[nodiscard]] auto make_trees(const context<Space>& ctx, span<const std::int64_t, Space> offsets,
                              span<const std::int32_t, Space> indices) {
  const auto n = static_cast<std::int32_t>(offsets.size() - 1);
  const graph_view<std::int32_t, std::int64_t, Space> g{{n, n, offsets, indices}, {}, direction_kind::undirected};
  return components::make_rank_executor(ctx, g);
}

// Collective.
template <class I>
[[nodiscard]] std::unique_ptr<components_executor<I, host>> make_components_executor(const communicator& comm,
                                                                                     const context<host>& ctx,
                                                                                     const distributed_graph<I>& g,
                                                                                     local_columns columns,
                                                                                     const exchange_options& links);
template <class I>
[[nodiscard]] std::unique_ptr<components_executor<I, device>> make_components_executor(const communicator& comm,
                                                                                       const context<device>& ctx,
                                                                                       const distributed_graph<I>& g,
                                                                                       local_columns columns,
                                                                                       const exchange_options& links);

}  // namespace spargo::detail::distributed
