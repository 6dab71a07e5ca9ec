// Names, checks, and the loop over batches of sources.
#include "graph/closeness/algorithms.hpp"
#include "graph/closeness/executor.hpp"
#include "graph/plan.hpp"

#include <spargo/core/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo {

template <>
enum_table<closeness_algorithm> enum_rows() noexcept {
  return detail::closeness::algorithms;
}
template <>
enum_table<closeness_measure> enum_rows() noexcept {
  return detail::closeness::measures;
}

namespace detail::closeness {

namespace {

void expect_options(const closeness_options& options) {
  const bool known = options.measure == closeness_measure::closeness || options.measure == closeness_measure::harmonic;
  SPARGO_EXPECTS(known, fmt::format("closeness: no measure has the number {}", static_cast<int>(options.measure)));
  const bool scaled = options.scaling == closeness_scaling::reachable || options.scaling == closeness_scaling::none;
  SPARGO_EXPECTS(scaled, fmt::format("closeness: no scaling has the number {}", static_cast<int>(options.scaling)));
}

// The largest power of two with which `sources` inverses of 1 do not reach 2^62.
sum_rule rule_of(closeness_measure measure, std::int64_t sources) {
  if (measure == closeness_measure::closeness) return {};
  return {std::ldexp(1.0, 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(sources))))};
}

}  // namespace

}  // namespace detail::closeness

double closeness_error(std::int64_t sources, std::int64_t vertices, double probability) try {
  SPARGO_EXPECTS(sources >= 1, fmt::format("closeness_error: {} sources (expected 1 or more)", sources));
  SPARGO_EXPECTS(probability > 0 && probability < 1,
                 fmt::format("closeness_error: probability {} (expected 0 to 1, both excluded)", probability));
  if (sources >= vertices) return 0;
  const double outcomes = 2 * static_cast<double>(vertices) / (1 - probability);
  return std::sqrt(std::log(outcomes) / (2 * static_cast<double>(sources)));
} catch (...) {
  detail::rethrow("closeness_error");
}

// Nanoseconds per vertex or entry and source: R-MAT 20, degree 16.
plan_estimate estimate(const graph_shape& s, const closeness_options&) {
  constexpr double entry_ns = 150;  // for a batch of sources
  const plan_estimate searches = estimate(s, detail::closeness::batch_size, {.output = multi_bfs_output::counts});
  plan_estimate of;
  of.host_bytes = searches.host_bytes + 25 * s.vertices;
  const bool undirected = s.direction == direction_kind::undirected;
  const std::int64_t copied = undirected && detail::closeness::may_stay_narrow(s.vertices, s.entries) ? 16 : 0;
  of.device_bytes = searches.device_bytes + (25 + copied + (undirected ? s.index_bytes : 0)) * s.vertices;
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<closeness_plan<I, O, Space>> : detail::executor_state<detail::closeness::executor<I, Space>> {
  closeness_options options;
  std::vector<I> sources;  // of a run
};

template <index_type I, index_type O, class Space>
closeness_plan<I, O, Space>::closeness_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                            const closeness_options& options) try {
  detail::expect_graph("closeness", g);
  detail::closeness::expect_options(options);
  this->state_ = detail::plan_only<state>(
      detail::closeness::algorithms, "closeness", options.algorithm, ctx, [&](const auto& where) {
        auto executor = detail::closeness::make_executor<I, O>(where, g);
        return std::make_unique<state>(state{{g.vertices(), std::move(executor)}, options, {}});
      });
} catch (...) {
  detail::rethrow("closeness");
}

template <index_type I, index_type O, class Space>
void closeness_plan<I, O, Space>::run(closeness_sources<I> sources) try {
  std::vector<I>& chosen = this->state_->sources;
  if (sources.has_value()) {
    for (const I v : *sources) detail::expect_source("closeness", v, this->state_->vertices);
    chosen.assign(sources->begin(), sources->end());
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  } else {
    chosen.resize(static_cast<std::size_t>(this->state_->vertices));
    std::iota(chosen.begin(), chosen.end(), I{0});
  }
  const auto count = std::ssize(chosen);
  const closeness_options& options = this->state_->options;
  const detail::closeness::sum_rule rule = detail::closeness::rule_of(options.measure, count);
  const span<const I, host> all(chosen);
  auto& executor = *this->state_->executor;
  executor.reset();
  for (std::int64_t first = 0; first < count;) {
    interruption::look({first, count});
    const std::int64_t size = std::min(executor.batch(), count - first);
    executor.add(all.subspan(first, size), rule);
    first += size;
  }
  interruption::look({count, count});
  executor.finish({options.measure, options.scaling, this->state_->vertices, count, rule});
} catch (...) {
  detail::rethrow("closeness");
}

template <index_type I, index_type O, class Space>
span<const double, Space> closeness_plan<I, O, Space>::values() const noexcept {
  return this->state_->executor->values();
}

#define INSTANTIATE(I, O, S) template class closeness_plan<I, O, S>;
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
