// The executor of a backend: workspace and the labels of the last run.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/graph/components.hpp>

#include <memory>
#include <string>

namespace spargo::detail::components {

using choice = plan_choice<components_algorithm>;

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  // Results of the last run.
  [[nodiscard]] virtual span<const I, Space> labels() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t count() const = 0;

  // For make_rank_executor. A vertex of the one tree whose edges to ghosts are still unread, -1: none. Synchronizes.
  [[nodiscard]] virtual std::int64_t skipped() const { return -1; }
  virtual void join_skipped() {}  // reads those edges
};

// Precondition: the graph is valid and supports the algorithm.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               components_algorithm algorithm,
                                                               components_labels labels);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 components_algorithm algorithm,
                                                                 components_labels labels);

// Weak components of a rank's own vertices and of ghosts: remote neighbours, numbered after them, with empty rows.
// Precondition: other edges are stored in both directions, and ghosts are last in a row. A ghost's label may be any of
// its ancestors; count() is meaningless. One in vertices_per_ghost vertices of all trees joins its last neighbour.
inline constexpr std::int64_t vertices_per_ghost = 16;
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_rank_executor(const context<host>& ctx,
                                                                    const graph_view<I, O, host>& g);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_rank_executor(const context<device>& ctx,
                                                                      const graph_view<I, O, device>& g);

// Computes strong components.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_strong_executor(const context<device>& ctx,
                                                                        const graph_view<I, O, device>& g,
                                                                        components_labels labels);

}  // namespace spargo::detail::components
