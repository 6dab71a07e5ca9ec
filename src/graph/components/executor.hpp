// What a plan hides: one executor per backend, with its workspace and the labels of the last run.
#pragma once

#include <spargo/graph/components.hpp>

#include <memory>
#include <string>

namespace spargo::detail::components {

using choice = plan_choice<components_algorithm>;

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual span<const I, Space> labels() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t count() const = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;

  // For ranks, see make_rank_executor. Edges to ghosts may be unread in one tree, that of skipped(), which waits for
  // the run; -1: all are read. join_skipped() reads them.
  [[nodiscard]] virtual std::int64_t skipped() const { return -1; }
  virtual void join_skipped() {}
};

// The graph is checked, and the algorithm chosen for it.
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

// Weak components of a rank's vertices and, numbered behind them, of others' that they have edges to: ghosts, whose
// rows are empty. All other edges have both directions; a row has ghosts last. The label of a ghost may be any
// ancestor's, and count() tells nothing. Of every so many vertices one is joined with its last neighbour, whatever tree
// it is in.
inline constexpr std::int64_t vertices_per_ghost = 16;
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_rank_executor(const context<host>& ctx,
                                                                    const graph_view<I, O, host>& g);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_rank_executor(const context<device>& ctx,
                                                                      const graph_view<I, O, device>& g);

// Of strong components.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_strong_executor(const context<device>& ctx,
                                                                        const graph_view<I, O, device>& g,
                                                                        components_labels labels);

}  // namespace spargo::detail::components
