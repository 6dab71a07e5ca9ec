// Interface of a distributed search: a rank's vertices in one memory space, and the steps of a level.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/distributed/bfs.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace spargo::detail::distributed {

// Sums over the frontier.
struct level_sums {
  std::int64_t size = 0;
  std::int64_t edges = 0;  // out-edges
};

// Common to all searches of a plan.
struct bfs_task {
  std::int64_t vertices = 0;  // of all ranks
  std::int64_t entries = 0;
  bfs_direction allowed = bfs_direction::automatic;
  bfs_parents parents = bfs_parents::any;
};

// Result of a search, the same on all ranks.
struct bfs_record {
  std::vector<std::int64_t> sizes;  // per level
  std::int64_t reached = 0;
  std::int64_t pulled = 0;  // number of pulled levels
  std::int64_t alone = 0;   // number of levels run by one rank's device
};

template <class I, class Space>
class bfs_executor : public executor_base {
 public:
  [[nodiscard]] virtual bfs_record search(std::int64_t source) = 0;  // `source`: of all vertices. Collective
  [[nodiscard]] virtual span<const std::int32_t, Space> found_levels() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> found_parents() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;
  [[nodiscard]] virtual std::string_view steps() const noexcept = 0;
};

// A search whose host steps through the levels.
template <class I, class Space>
class stepped_bfs : public bfs_executor<I, Space> {
 public:
  stepped_bfs(const communicator& comm, const bfs_task& task) : comm_(comm), task_(task) {}
  [[nodiscard]] bfs_record search(std::int64_t source) final;
  [[nodiscard]] std::string_view steps() const noexcept final { return "stepped by the host"; }

 protected:
  virtual void begin(std::int64_t source) = 0;
  virtual level_sums sum_level() = 0;  // over this rank's part of the frontier
  // Compute the next frontier, which gets this level. Collective.
  virtual void push(std::int32_t level) = 0;
  virtual void pull(std::int32_t level) = 0;
  virtual void end() = 0;

  communicator comm_;
  bfs_task task_;
};

// Collective. The host executor borrows the graph, the device executor shares it.
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, host>> make_bfs_executor(const communicator& comm,
                                                                       const context<host>& ctx,
                                                                       const distributed_graph<I>& g,
                                                                       const bfs_task& task,
                                                                       const exchange_options& links);
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, device>> make_bfs_executor(const communicator& comm,
                                                                         const context<device>& ctx,
                                                                         const distributed_graph<I, device>& g,
                                                                         const bfs_task& task,
                                                                         const exchange_options& links);

}  // namespace spargo::detail::distributed
