// What distributed components hide: a rank's vertices and ghosts in one memory space.
//
// A rank's edges make trees of its vertices and ghosts, by the algorithm of one process, whose first idea is to skip
// the largest tree's edges: each is seen from its other end. From there a cut edge is another rank's to see, whose
// largest tree it may lead to, and then nobody reads it. Some are read all the same, so that these trees get one label
// wherever the graph has a large component. The ranks look, when labels have settled, whether something else may be
// missing, and if so read the edges that were skipped.
#pragma once

#include "core/parallel.hpp"
#include "distributed/exchange/local_columns.hpp"
#include "graph/components/executor.hpp"

#include <spargo/distributed/graph.hpp>

#include <memory>

namespace spargo::detail::distributed {

// What a rank has found when labels have settled.
struct components_news {
  std::int64_t count = 0;     // of own vertices that are their own label
  std::int64_t skipped = -1;  // the label of the tree that was skipped; -1: all edges to ghosts are read
  std::int64_t larger = 0;    // ghosts with a larger label than the tree here that they are in
};

// The trees are those of all edges: no edge that a rank has read joins two labels, nor does one between skipped trees,
// since these have one label.
[[nodiscard]] inline bool is_settled(const std::vector<components_news>& ranks) {
  std::int64_t skipped = -1;
  return std::none_of(ranks.begin(), ranks.end(), [&](const components_news& each) {
    if (each.larger > 0) return true;
    if (each.skipped < 0) return false;
    if (skipped < 0) skipped = each.skipped;
    return each.skipped != skipped;
  });
}

template <class I, class Space>
class components_executor {
 public:
  components_executor() = default;
  components_executor(const components_executor&) = delete;
  components_executor& operator=(const components_executor&) = delete;
  virtual ~components_executor() = default;

  // What this rank's edges join; a vertex has the least of its tree as its label.
  virtual void start() = 0;
  virtual void start_with_all() = 0;  // the same with the edges that were skipped
  // Labels go from owners to ghosts, and the least of each tree to all its vertices. Collective. Whether any label here
  // has changed.
  virtual bool spread() = 0;
  [[nodiscard]] virtual components_news news() = 0;
  [[nodiscard]] virtual span<const I, Space> labels() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;  // they travel
};

// A rank's rows and the ghosts', which are empty.
template <class I>
[[nodiscard]] std::vector<std::int64_t> offsets_with_ghosts(const csr_pattern_view<I, std::int64_t, host>& out,
                                                            const local_columns& columns) {
  std::vector<std::int64_t> offsets(out.offsets.begin(), out.offsets.end());
  offsets.resize(static_cast<std::size_t>(columns.size()) + 1, out.nnz());
  return offsets;
}
// In each row.
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
