// Distributed BFS: the host's loop over levels, for all memory spaces. All ranks derive the same direction from sums.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "distributed/bfs/executor.hpp"
#include "graph/bfs/host_levels.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

namespace spargo {

namespace detail::distributed {

namespace {

level_sums sum_of(const std::vector<level_sums>& parts) {
  level_sums all;
  for (const level_sums& each : parts) {
    all.size += each.size;
    all.edges += each.edges;
  }
  return all;
}

}  // namespace

template <class I, class Space>
bfs_record stepped_bfs<I, Space>::search(std::int64_t source) {
  bfs::direction_rule rule;
  if constexpr (std::same_as<Space, host>) rule = bfs::host_pull_rule::of(task_.vertices, task_.entries);
  begin(source);
  bfs_record record;
  bfs_direction direction = bfs_direction::push;
  std::int64_t unexplored = task_.entries;
  std::int64_t previous = 0;
  for (;;) {
    const level_sums now = sum_of(comm_.all_gather(sum_level()));
    if (now.size == 0) break;
    record.sizes.push_back(now.size);
    record.reached += now.size;
    direction = task_.allowed != bfs_direction::automatic
                    ? task_.allowed
                    : bfs::next_direction(direction, {task_.vertices, previous, now.size, now.edges, unexplored}, rule);
    unexplored -= now.edges;
    previous = now.size;
    const auto level = static_cast<std::int32_t>(record.sizes.size());
    if (direction == bfs_direction::pull) {
      pull(level);
      ++record.pulled;
    } else {
      push(level);
    }
  }
  end();
  return record;
}

#define INSTANTIATE(I)                 \
  template class stepped_bfs<I, host>; \
  template class stepped_bfs<I, device>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace detail::distributed

template <index_type I, class Space>
struct distributed_bfs_plan<I, Space>::state {
  std::int64_t vertices;
  int ranks;
  std::unique_ptr<detail::distributed::bfs_executor<I, Space>> executor{};
  detail::distributed::bfs_record found{};
};

namespace {

// Derives the task from options and graph; throws if the graph does not allow it.
template <class Space, class Graph>
detail::distributed::bfs_task task_of(const Graph& g, const distributed_bfs_options& options) {
  const bool both = g.direction() == direction_kind::undirected;
  const bool can_pull = both || !g.in().offsets.empty();
  if (options.direction == bfs_direction::pull && !can_pull) {
    throw agreed_error(error_code::unsupported, "bfs: direction pull on a directed graph without in-edges");
  }
  if (std::same_as<Space, device> && options.parents == bfs_parents::smallest) {
    throw agreed_error(error_code::unsupported, "bfs: smallest parents are not available on several devices");
  }
  const bfs_direction allowed = can_pull ? options.direction : bfs_direction::push;
  return {g.vertices(), g.edges() * (both ? 2 : 1), allowed, options.parents};
}

}  // namespace

template <index_type I, class Space>
distributed_bfs_plan<I, Space>::distributed_bfs_plan(const communicator& comm, const context<Space>& ctx,
                                                     const distributed_graph<I>& g,
                                                     const distributed_bfs_options& options,
                                                     const exchange_options& links) {
  if constexpr (detail::is_built<Space>) {
    const detail::distributed::bfs_task task = task_of<Space>(g, options);
    state_ = comm.agree_on([&] { return detail::new_state<state>(g.vertices(), comm.size()); });
    if constexpr (std::same_as<Space, host>) {
      state_->executor = detail::distributed::make_bfs_executor(comm, ctx, g, task, links);
    } else {
      const distributed_graph<I, device> device_graph(comm, ctx, g, task.allowed != bfs_direction::push);
      state_->executor = detail::distributed::make_bfs_executor(comm, ctx, device_graph, task, links);
    }
  } else {
    detail::no_device("bfs");
  }
}
template <index_type I, class Space>
distributed_bfs_plan<I, Space>::distributed_bfs_plan(
    const communicator& comm, const context<device>& ctx, const distributed_graph<I, device>& g,
    const distributed_bfs_options& options, const exchange_options& links) requires std::same_as<Space, device> {
  if constexpr (detail::is_built<device>) {
    const detail::distributed::bfs_task task = task_of<device>(g, options);
    state_ = comm.agree_on([&] { return detail::new_state<state>(g.vertices(), comm.size()); });
    state_->executor = detail::distributed::make_bfs_executor(comm, ctx, g, task, links);
  } else {
    detail::no_device("bfs");
  }
}

template <index_type I, class Space>
void distributed_bfs_plan<I, Space>::run(std::int64_t source) {
  detail::expect_source("bfs", source, state_->vertices);
  state_->found = state_->executor->search(source);
}
template <index_type I, class Space>
span<const std::int32_t, Space> distributed_bfs_plan<I, Space>::levels() const noexcept {
  return state_->executor->found_levels();
}
template <index_type I, class Space>
span<const I, Space> distributed_bfs_plan<I, Space>::parents() const noexcept {
  return state_->executor->found_parents();
}
template <index_type I, class Space>
std::int64_t distributed_bfs_plan<I, Space>::reached() const noexcept {
  return state_->found.reached;
}
template <index_type I, class Space>
span<const std::int64_t, host> distributed_bfs_plan<I, Space>::level_sizes() const noexcept {
  return state_->found.sizes;
}
template <index_type I, class Space>
std::int64_t distributed_bfs_plan<I, Space>::pulled_levels() const noexcept {
  return state_->found.pulled;
}
template <index_type I, class Space>
std::int64_t distributed_bfs_plan<I, Space>::narrow_levels() const noexcept {
  return state_->found.alone;
}
template <index_type I, class Space>
std::string distributed_bfs_plan<I, Space>::reason() const {
  return fmt::format("vertices distributed over {} ranks by edges, levels {}", state_->ranks, steps());
}
template <index_type I, class Space>
std::string_view distributed_bfs_plan<I, Space>::how() const noexcept {
  return state_->executor->how();
}
template <index_type I, class Space>
std::string_view distributed_bfs_plan<I, Space>::steps() const noexcept {
  return state_->executor->steps();
}

#define INSTANTIATE(I)                          \
  template class distributed_bfs_plan<I, host>; \
  template class distributed_bfs_plan<I, device>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
