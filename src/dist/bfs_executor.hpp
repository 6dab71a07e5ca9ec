// What a distributed search hides: a rank's vertices in one memory space, and the levels' steps.
#pragma once

#include <spargo/dist/graph.hpp>

#include <memory>
#include <string_view>

namespace spargo::detail::dist {

// Of the frontier.
struct level_sums {
  std::int64_t size = 0;
  std::int64_t edges = 0;  // out of it
};

template <class I, class Space>
class bfs_executor {
 public:
  bfs_executor() = default;
  bfs_executor(const bfs_executor&) = delete;
  bfs_executor& operator=(const bfs_executor&) = delete;
  virtual ~bfs_executor() = default;

  virtual void begin(std::int64_t source) = 0;  // of all vertices
  virtual level_sums sum_level() = 0;           // this rank's part of the frontier
  // The next frontier, which has this level. Collective.
  virtual void push(std::int32_t level) = 0;
  virtual void pull(std::int32_t level) = 0;
  virtual void end() = 0;
  [[nodiscard]] virtual span<const std::int32_t, Space> found_levels() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> found_parents() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;
};

// Collective. The host's borrows the graph.
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, host>> make_bfs_executor(const communicator& comm,
                                                                       const context<host>& ctx,
                                                                       const distributed_graph<I>& g,
                                                                       const exchange_options& links);
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, device>> make_bfs_executor(const communicator& comm,
                                                                         const context<device>& ctx,
                                                                         const distributed_graph<I>& g,
                                                                         const exchange_options& links);

}  // namespace spargo::detail::dist
