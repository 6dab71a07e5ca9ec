// Names, checks, the choice of an algorithm, and the plan around an executor.
#include "graph/forest/executor.hpp"
#include "graph/plan.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace spargo {

namespace {

struct tuning {
  // Vertices plus entries below which sorting all edges is fastest.
  static constexpr std::int64_t sort_below = 4096;
};

detail::plan_choice<forest_algorithm> choose_on_host(std::int64_t size) {
  if (size < tuning::sort_below) return {forest_algorithm::kruskal, "the graph is small"};
  return {forest_algorithm::boruvka, "most edges lie within trees of lighter ones and need no sorting"};
}

// Checks graph and options. O(1).
template <class W, class I, class O, class Space>
void check(const weighted_graph_view<W, I, O, Space>& g, const forest_options& options) {
  detail::expect_graph("forest", g);
  detail::expect_named("forest", "objective", options.objective);
  detail::expect_named("forest", "treatment of NaN", options.nan);
  if (g.direction == direction_kind::directed) {
    throw error(error_code::unsupported, "forest: a directed graph (expected an undirected one)");
  }
}

}  // namespace

template <>
enum_table<forest_algorithm> enum_rows() noexcept {
  return detail::forest::algorithms;
}

template <>
enum_table<forest_objective> enum_rows() noexcept {
  static constexpr std::array<enum_row<forest_objective>, 2> rows{{
      {forest_objective::minimum, "minimum"},
      {forest_objective::maximum, "maximum"},
  }};
  return rows;
}

template <>
enum_table<nan_weights> enum_rows() noexcept {
  static constexpr std::array<enum_row<nan_weights>, 2> rows{{
      {nan_weights::refuse, "refuse"},
      {nan_weights::ignore, "ignore"},
  }};
  return rows;
}

void detail::forest::refuse_nan(std::int64_t from, std::int64_t to) {
  throw error(error_code::invalid_data,
              fmt::format("forest: edge ({}, {}) has weight NaN (expected a number)", from, to));
}

std::int64_t detail::forest::total_of(const integer_sum& sum) {
  const std::int64_t high = sum.high + (sum.low >> 32);
  if (high != static_cast<std::int32_t>(high)) {
    throw error(error_code::invalid_data, "forest: the total weight exceeds 64 bits");
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(high) << 32 |
                                   (static_cast<std::uint64_t>(sum.low) & 0xffffffffU));
}

// Parents, first edges and results of each vertex; two lists of edges; a bit per entry. Device: also two lists of
// roots.
plan_estimate estimate(const graph_shape& s, const forest_options& options) {
  constexpr double entry_ns = 10;  // R-MAT 20, degree 16: 310 ms by one thread, uniform 360
  const std::int64_t key = s.value_bytes == 4 ? 8 : 16;
  const std::int64_t held = detail::forest::held_edges(s.vertices, s.entries);
  const std::int64_t results = s.vertices * (2 * s.index_bytes + s.value_bytes) + s.entries / 8;
  plan_estimate of;
  const bool sorts = options.algorithm == forest_algorithm::kruskal ||
                     (options.algorithm == forest_algorithm::automatic && s.vertices + s.entries < tuning::sort_below);
  if (sorts) {
    of.host_bytes = results + s.vertices * s.index_bytes + s.entries / 2 * (key + 2 * s.index_bytes);
  } else {
    of.host_bytes = results + s.vertices * (s.index_bytes + key) + 2 * held * (key + 2 * s.index_bytes) +
                    s.threads * std::int64_t{40'000};
  }
  of.device_bytes = results + s.vertices * (3 * s.index_bytes + key) + 2 * held * (key + 2 * s.index_bytes) +
                    s.entries / 128 + (std::int64_t{1} << 20);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <detail::scalar W, index_type I, index_type O, class Space>
struct detail::state_of<forest_plan<W, I, O, Space>> : detail::executor_state<detail::forest::executor<W, I, Space>> {
  [[nodiscard]] const auto& found() const noexcept { return this->executor->found(); }
};

template <detail::scalar W, index_type I, index_type O, class Space>
forest_plan<W, I, O, Space>::forest_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                         const forest_options& options) try {
  if constexpr (detail::is_built<Space>) {
    check(g, options);
    auto chosen = detail::choose_by_name<Space>(detail::forest::algorithms, "forest", options.algorithm);
    if (!chosen && std::same_as<Space, host>) chosen = choose_on_host(g.vertices() + g.out.nnz());
    if (!chosen) chosen = {forest_algorithm::boruvka, "the device has no other algorithm"};
    forest_options settled = options;
    settled.algorithm = chosen->algorithm;
    const auto facts = detail::forest::examine_graph<W, I, O>(ctx, g, options.nan);
    this->state_ = {
        *std::move(chosen),
        std::make_unique<state>(state{{g.vertices(), detail::forest::make_executor<W, I, O>(ctx, g, facts, settled)}})};
  } else {
    detail::no_device("forest");
  }
} catch (...) {
  detail::rethrow("forest");
}

template <detail::scalar W, index_type I, index_type O, class Space>
void forest_plan<W, I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("forest");
}
template <detail::scalar W, index_type I, index_type O, class Space>
span<const I, Space> forest_plan<W, I, O, Space>::sources() const noexcept {
  return this->state_->found().sources;
}
template <detail::scalar W, index_type I, index_type O, class Space>
span<const I, Space> forest_plan<W, I, O, Space>::targets() const noexcept {
  return this->state_->found().targets;
}
template <detail::scalar W, index_type I, index_type O, class Space>
span<const W, Space> forest_plan<W, I, O, Space>::weights() const noexcept {
  return this->state_->found().weights;
}
template <detail::scalar W, index_type I, index_type O, class Space>
forest_weight<W> forest_plan<W, I, O, Space>::total_weight() const noexcept {
  return this->state_->found().total;
}
template <detail::scalar W, index_type I, index_type O, class Space>
std::int64_t forest_plan<W, I, O, Space>::trees() const noexcept {
  return this->state_->vertices - this->state_->found().sources.size();
}

#define INSTANTIATE(W, I, O, S) template class forest_plan<W, I, O, S>;
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE)

}  // namespace spargo
