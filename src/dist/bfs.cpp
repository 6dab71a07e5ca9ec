// Breadth-first search over vertices that are shared out: the loop over levels, the same for all memory spaces. The
// directions are those of direction.hpp, from sums over ranks, hence the same everywhere.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "dist/bfs_executor.hpp"
#include "graph/bfs/host_levels.hpp"

#include <fmt/format.h>

namespace spargo {

template <index_type I, class Space>
struct distributed_bfs_plan<I, Space>::state {
  communicator comm;
  std::int64_t vertices;
  std::int64_t entries;
  bfs_direction allowed;
  std::unique_ptr<detail::dist::bfs_executor<I, Space>> executor;
  std::int64_t reached = 0;
  std::vector<std::int64_t> sizes;
  std::int64_t pulled = 0;

  [[nodiscard]] detail::dist::level_sums sum_level() const {
    detail::dist::level_sums all;
    for (const detail::dist::level_sums& each : comm.all_gather(executor->sum_level())) {
      all.size += each.size;
      all.edges += each.edges;
    }
    return all;
  }

  [[nodiscard]] detail::bfs::direction_rule rule() const {
    if constexpr (std::same_as<Space, host>) return detail::bfs::host_pull_rule::of(vertices, entries);
    return {};
  }

  void search(std::int64_t source) {
    executor->begin(source);
    sizes.clear();
    reached = pulled = 0;
    bfs_direction direction = bfs_direction::push;
    std::int64_t unexplored = entries;
    std::int64_t previous = 0;
    for (auto now = sum_level(); now.size > 0; now = sum_level()) {
      sizes.push_back(now.size);
      reached += now.size;
      direction =
          allowed != bfs_direction::automatic
              ? allowed
              : detail::bfs::next_direction(direction, {vertices, previous, now.size, now.edges, unexplored}, rule());
      unexplored -= now.edges;
      previous = now.size;
      const auto level = static_cast<std::int32_t>(sizes.size());
      if (direction == bfs_direction::pull) {
        executor->pull(level);
        ++pulled;
      } else {
        executor->push(level);
      }
    }
    executor->end();
  }
};

template <index_type I, class Space>
distributed_bfs_plan<I, Space>::distributed_bfs_plan(const communicator& comm, const context<Space>& ctx,
                                                     const distributed_graph<I>& g, bfs_direction direction,
                                                     const exchange_options& links) {
  if constexpr (detail::is_built<Space>) {
    const bool both = g.direction() == direction_kind::undirected;
    const bool can_pull = both || !g.in().offsets.empty();
    if (direction == bfs_direction::pull && !can_pull) {
      throw agreed_error(error_code::unsupported, "bfs: direction pull on a directed graph without in-edges");
    }
    if (!can_pull) direction = bfs_direction::push;
    state_ = comm.agree_on([&] {
      return std::make_unique<state>(
          state{comm, g.vertices(), g.edges() * (both ? 2 : 1), direction, nullptr, 0, {}, 0});
    });
    state_->executor = detail::dist::make_bfs_executor(comm, ctx, g, links);
  } else {
    detail::no_device("bfs");
  }
}
template <index_type I, class Space>
distributed_bfs_plan<I, Space>::distributed_bfs_plan(distributed_bfs_plan&&) noexcept = default;
template <index_type I, class Space>
distributed_bfs_plan<I, Space>& distributed_bfs_plan<I, Space>::operator=(distributed_bfs_plan&&) noexcept = default;
template <index_type I, class Space>
distributed_bfs_plan<I, Space>::~distributed_bfs_plan() = default;

template <index_type I, class Space>
void distributed_bfs_plan<I, Space>::run(std::int64_t source) {
  SPARGO_EXPECTS(source >= 0 && source < state_->vertices,
                 fmt::format("bfs: source {} is not one of {} vertices", source, state_->vertices));
  state_->search(source);
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
  return state_->reached;
}
template <index_type I, class Space>
span<const std::int64_t, host> distributed_bfs_plan<I, Space>::level_sizes() const noexcept {
  return state_->sizes;
}
template <index_type I, class Space>
std::int64_t distributed_bfs_plan<I, Space>::pulled_levels() const noexcept {
  return state_->pulled;
}
template <index_type I, class Space>
std::string_view distributed_bfs_plan<I, Space>::how() const noexcept {
  return state_->executor->how();
}

#define INSTANTIATE(I)                          \
  template class distributed_bfs_plan<I, host>; \
  template class distributed_bfs_plan<I, device>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
