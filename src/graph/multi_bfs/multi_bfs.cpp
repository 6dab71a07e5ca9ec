// Names, checks, the choice of an algorithm, and the plan.
#include "graph/bfs/host_steps.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/multi_bfs/algorithms.hpp"
#include "graph/multi_bfs/executor.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace spargo {

template <>
enum_table<multi_bfs_algorithm> enum_rows() noexcept {
  return detail::multi_bfs::algorithms;
}

namespace detail::multi_bfs {

choice choose(bool can_pull, std::int64_t max_sources, const multi_bfs_options& options) {
  SPARGO_EXPECTS(max_sources >= 1, fmt::format("multi_bfs: room for {} sources (expected 1 or more)", max_sources));
  if (options.direction == bfs_direction::pull && !can_pull) {
    throw error(error_code::unsupported, "multi_bfs: a pull needs in-edges, which this directed graph lacks");
  }
  choice choice;
  choice.algorithm = options.algorithm;
  if (choice.algorithm == multi_bfs_algorithm::automatic) {
    choice.algorithm = max_sources <= 64 ? multi_bfs_algorithm::one_word : multi_bfs_algorithm::four_words;
  }
  choice.direction = can_pull ? options.direction : bfs_direction::push;
  return choice;
}

void check_sources(std::int64_t sources, std::int64_t max_sources) {
  SPARGO_EXPECTS(sources <= max_sources,
                 fmt::format("multi_bfs: {} sources in a plan for at most {}", sources, max_sources));
}

}  // namespace detail::multi_bfs

// entry_ns is not measured: a few times that of a single search, for a word of 64.
plan_estimate estimate(const graph_shape& s, std::int64_t max_sources, const multi_bfs_options& options) {
  constexpr double entry_ns = 12;
  const bool narrow = options.algorithm == multi_bfs_algorithm::one_word ||
                      (options.algorithm == multi_bfs_algorithm::automatic && max_sources <= 64);
  const std::int64_t words = narrow ? 1 : 4;
  const bool levels = options.output == multi_bfs_output::counts_and_levels;
  const std::int64_t shared = 24 * words + 2 * s.index_bytes + (levels ? 4 * max_sources : 0);  // bytes per vertex
  plan_estimate of;
  of.host_bytes = s.vertices * shared + s.vertices / 8 +
                  s.threads * detail::bfs::host_tuning::buffer_entries * s.index_bytes + 512 * words + 64;
  of.device_bytes =
      s.vertices * (shared + (levels ? 32 * words : 0)) + s.vertices / 4 + s.entries / 16 + (std::int64_t{1} << 20);
  const std::int64_t batches = (max_sources + 64 * words - 1) / (64 * words);
  of.host_seconds = detail::expected_seconds(s, entry_ns * static_cast<double>(words * batches));
  return of;
}

template <index_type I, index_type O, class Space>
struct multi_bfs_plan<I, O, Space>::state : detail::executor_state<detail::multi_bfs::executor<I, Space>> {
  std::int64_t max_sources;
};

template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::multi_bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                            std::int64_t max_sources, const multi_bfs_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("multi_bfs", g);
    auto named = detail::choose_by_name<Space>(detail::multi_bfs::algorithms, "multi_bfs", options.algorithm);
    const auto choice = detail::multi_bfs::choose(detail::bfs::facts_of(g).can_pull, max_sources, options);
    auto executor = detail::multi_bfs::make_executor<I, O>(ctx, g, choice, max_sources, options.output);
    const char* const why =
        max_sources <= 64 ? "a word of 64 bits holds all sources" : "the sources exceed one word of 64 bits";
    state_ = {named.value_or(detail::plan_choice<multi_bfs_algorithm>{choice.algorithm, why}),
              std::make_unique<state>(state{{g.vertices(), std::move(executor)}, max_sources})};
  } else {
    detail::no_device("multi_bfs");
  }
} catch (...) {
  detail::rethrow("multi_bfs");
}

template <index_type I, index_type O, class Space>
void multi_bfs_plan<I, O, Space>::run(span<const I, host> sources) try {
  detail::multi_bfs::check_sources(sources.size(), state_->max_sources);
  for (const I source : sources) detail::expect_source("multi_bfs", source, state_->vertices);
  state_->executor->run(sources);
} catch (...) {
  detail::rethrow("multi_bfs");
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> multi_bfs_plan<I, O, Space>::levels() const noexcept {
  return state_->executor->levels();
}
template <index_type I, index_type O, class Space>
const std::vector<multi_bfs_counts>& multi_bfs_plan<I, O, Space>::counts() const noexcept {
  return state_->executor->counts();
}

template <index_type I, index_type O, class Space>
multi_bfs_result<I, Space> multi_bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                     std::type_identity_t<span<const I, host>> sources,
                                     const multi_bfs_options& options) try {
  detail::expect_graph("multi_bfs", g);
  std::optional<detail::with_in_edges<I, O, Space>> pulled;
  if (options.direction == bfs_direction::pull) pulled.emplace(ctx, g);
  multi_bfs_plan<I, O, Space> plan(ctx, pulled.has_value() ? pulled->view() : g,
                                   std::max<std::int64_t>(1, sources.size()), options);
  plan.run(sources);
  multi_bfs_result<I, Space> result;
  result.levels = clone(ctx, plan.levels());
  result.counts = plan.counts();
  result.algorithm = plan.algorithm();
  return result;
} catch (...) {
  detail::rethrow("multi_bfs");
}

#define INSTANTIATE(I, O, S)                                                                        \
  template class multi_bfs_plan<I, O, S>;                                                           \
  template multi_bfs_result<I, S> multi_bfs<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                     span<const I, host>, const multi_bfs_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
