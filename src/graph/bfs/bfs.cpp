// Names, checks, the choice of an algorithm, and the plan: everything that does not read the graph's contents.
#include "graph/bfs/algorithms.hpp"
#include "graph/bfs/executor.hpp"
#include "graph/bfs/host_narrow.hpp"
#include "graph/bfs/host_push.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace spargo {

namespace {

struct tuning {
  // Below this many vertices plus edges a host search ends before a second thread could start (about 10 us).
  static constexpr std::int64_t sequential_below = 4096;
};

void check_backend(detail::bfs::backend_kind backend, bfs_algorithm algorithm) {
  if (backend == detail::bfs::backend_kind::host) {
    detail::expect_runs_on<host>(detail::bfs::algorithms, "bfs", algorithm);
  } else {
    detail::expect_runs_on<device>(detail::bfs::algorithms, "bfs", algorithm);
  }
}

void check_pull(const detail::bfs::graph_facts& facts, bfs_algorithm algorithm) {
  if (algorithm != bfs_algorithm::automatic && algorithm != bfs_algorithm::direction_optimizing) {
    throw error(
        error_code::unsupported,
        fmt::format("bfs: algorithm {} only pushes (direction pull needs direction_optimizing)", to_string(algorithm)));
  }
  if (!facts.can_pull) {
    throw error(error_code::unsupported,
                "bfs: direction pull on a directed graph without in-edges (add_in_edges builds them)");
  }
}

void check_limits(const detail::bfs::graph_facts& facts, const bfs_options& options) {
  detail::expect_target("bfs", options.target, facts.vertices);
  SPARGO_EXPECTS(options.max_depth >= -1,
                 fmt::format("bfs: depth limit {} (expected at least 0, or -1 for none)", options.max_depth));
}

detail::bfs::choice choose_automatically(detail::bfs::backend_kind backend, const detail::bfs::graph_facts& facts,
                                         bfs_direction direction) {
  const bool on_host = backend == detail::bfs::backend_kind::host;
  if (direction == bfs_direction::pull) {
    return {bfs_algorithm::direction_optimizing, direction, "pull was requested, and no other algorithm pulls"};
  }
  if (on_host && facts.vertices + facts.edges < tuning::sequential_below) {
    return {bfs_algorithm::sequential, bfs_direction::push, "the graph is too small to share among threads"};
  }
  if (direction == bfs_direction::automatic && facts.can_pull) {
    return {bfs_algorithm::direction_optimizing, direction, "large frontiers can be pulled along in-edges"};
  }
  const std::string why =
      direction == bfs_direction::push ? "push was requested" : "without in-edges a search only pushes";
  return {bfs_algorithm::load_balanced, bfs_direction::push, why};
}

}  // namespace

template <>
enum_table<bfs_algorithm> enum_rows() noexcept {
  return detail::bfs::algorithms;
}

template <>
enum_table<bfs_direction> enum_rows() noexcept {
  static constexpr std::array<enum_row<bfs_direction>, 3> rows{{
      {bfs_direction::automatic, "automatic"},
      {bfs_direction::push, "push"},
      {bfs_direction::pull, "pull"},
  }};
  return rows;
}

template <>
enum_table<bfs_parents> enum_rows() noexcept {
  static constexpr std::array<enum_row<bfs_parents>, 2> rows{{
      {bfs_parents::any, "any"},
      {bfs_parents::smallest, "smallest"},
  }};
  return rows;
}

namespace detail::bfs {

choice choose(backend_kind backend, const graph_facts& facts, const bfs_options& options) {
  check_backend(backend, options.algorithm);
  check_limits(facts, options);
  if (options.direction == bfs_direction::pull) check_pull(facts, options.algorithm);
  switch (options.algorithm) {
    case bfs_algorithm::automatic:
      return choose_automatically(backend, facts, options.direction);
    case bfs_algorithm::direction_optimizing:
      if (options.direction == bfs_direction::automatic && !facts.can_pull) {
        return {options.algorithm, bfs_direction::push, "asked for; without in-edges it only pushes"};
      }
      return {options.algorithm, options.direction, "asked for"};
    default:
      return {options.algorithm, bfs_direction::push, "asked for"};
  }
}

}  // namespace detail::bfs

// entry_ns: R-MAT 22, degree 8, takes 16 threads 4.4 ms. Device: levels, parents, a queue, candidate parents and
// bitmaps take at most 16 bytes and two indices per vertex; hubs take chunks.
plan_estimate estimate(const graph_shape& s, const bfs_options& options) {
  constexpr double entry_ns = 1.05;
  const bool small = s.vertices + s.entries < tuning::sequential_below && options.direction != bfs_direction::pull;
  const bool sequential =
      options.algorithm == bfs_algorithm::sequential || (options.algorithm == bfs_algorithm::automatic && small);
  const bool levels = detail::bfs::wants_levels(options.output) || options.parents == bfs_parents::smallest;
  const std::int64_t index = s.index_bytes;
  plan_estimate of;
  of.host_bytes = s.vertices * ((levels ? 4 : 0) + (detail::bfs::wants_parents(options.output) ? 2 : 1) * index + 8);
  if (!sequential) {
    const std::int64_t bins =
        index == 4 ? sizeof(detail::bfs::host_bins<std::int32_t>) : sizeof(detail::bfs::host_bins<std::int64_t>);
    of.host_bytes += 4 * (s.vertices / 8 + 8) + detail::bfs::most_chunks(s.entries) * 2 * s.offset_bytes +
                     s.threads * bins + (s.threads > 1 ? detail::bfs::narrow_entries(s.threads) * index : 0);
  }
  of.device_bytes = s.vertices * (16 + 2 * index) + s.entries / 32 + (std::int64_t{1} << 20);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<bfs_plan<I, O, Space>> : detail::executor_state<detail::bfs::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                const bfs_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("bfs", g);
    const auto choice = detail::bfs::choose(detail::bfs::backend_of<Space>, detail::bfs::facts_of(g), options);
    auto executor = detail::bfs::make_executor<I, O>(ctx, g, choice, options);
    this->state_ = {{choice.algorithm, choice.reason},
                    std::make_unique<state>(state{{g.vertices(), std::move(executor)}})};
  } else {
    detail::no_device("bfs");
  }
} catch (...) {
  detail::rethrow("bfs");
}

template <index_type I, index_type O, class Space>
void bfs_plan<I, O, Space>::run(I source) try {
  detail::expect_source("bfs", source, this->state_->vertices);
  this->state_->executor->run(source);
} catch (...) {
  detail::rethrow("bfs");
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> bfs_plan<I, O, Space>::levels() const noexcept {
  return this->state_->executor->levels();
}
template <index_type I, index_type O, class Space>
span<const I, Space> bfs_plan<I, O, Space>::parents() const noexcept {
  return this->state_->executor->parents();
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::reached() const noexcept {
  return this->state_->executor->reached();
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, host> bfs_plan<I, O, Space>::level_sizes() const noexcept {
  return this->state_->executor->level_sizes();
}

template <index_type I, index_type O, class Space>
bfs_result<I, Space> bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g, std::int64_t source,
                         const bfs_options& options) try {
  detail::expect_source("bfs", source, g.vertices());
  detail::expect_graph("bfs", g);
  std::optional<detail::with_in_edges<I, O, Space>> pulled;
  if (options.direction == bfs_direction::pull) pulled.emplace(ctx, g);
  bfs_plan<I, O, Space> plan(ctx, pulled.has_value() ? pulled->view() : g, options);
  plan.run(static_cast<I>(source));
  bfs_result<I, Space> result;
  result.levels = clone(ctx, plan.levels());
  result.parents = clone(ctx, plan.parents());
  result.source = static_cast<I>(source);
  result.reached = plan.reached();
  result.level_sizes.assign(plan.level_sizes().begin(), plan.level_sizes().end());
  result.algorithm = plan.algorithm();
  return result;
} catch (...) {
  detail::rethrow("bfs");
}

#define INSTANTIATE(I, O, S)                                                                          \
  template class bfs_plan<I, O, S>;                                                                   \
  template bfs_result<I, S> bfs<I, O, S>(const context<S>&, const graph_view<I, O, S>&, std::int64_t, \
                                         const bfs_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
