// Names, checks, the choice of an algorithm, and the plan: everything that does not read the graph's contents.
#include "graph/betweenness/executor.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace spargo {

namespace detail::betweenness {

namespace {

struct tuning {
  // Below this many vertices plus stored edges each thread searches from its own sources: most levels are then too
  // small to pay for a barrier (about 5 us).
  static constexpr std::int64_t small = std::int64_t{1} << 18;
  // Stored edges per vertex from which a graph has few levels, whose lanes share vertices. CPU time from 4 sources,
  // Zen 5, by_level / by_source: grid 2000 x 2000 (4 per vertex) 3.5 / 0.33 s; uniform 2^20 with 4 per vertex 0.62 /
  // 0.32 s, with 8 0.55 / 0.49 s, where by_level can use more threads than sources.
  static constexpr std::int64_t few_edges = 6;
};

void check_options(const betweenness_options& o) {
  const auto is_one_of = [](auto value, auto... named) { return ((value == named) || ...); };
  expect_named("betweenness", "normalization", o.normalization);
  SPARGO_EXPECTS(is_one_of(o.endpoints, betweenness_endpoints::excluded, betweenness_endpoints::included),
                 fmt::format("betweenness: endpoints have no case {}", static_cast<int>(o.endpoints)));
  SPARGO_EXPECTS(is_one_of(o.edges, betweenness_edges::left_out, betweenness_edges::counted),
                 fmt::format("betweenness: edges have no case {}", static_cast<int>(o.edges)));
}

template <class Space>
choice choose(const betweenness_options& options, std::int64_t vertices, std::int64_t edges) {
  const betweenness_algorithm requested = options.algorithm;
  auto named = choose_by_name<Space>(algorithms, "betweenness", requested);
  const bool of_edges = options.edges == betweenness_edges::counted;
  if (of_edges && requested == betweenness_algorithm::by_source) {
    throw error(error_code::unsupported, "betweenness: only by_level computes values of edges");
  }
  if (named) return *std::move(named);
  if constexpr (!std::same_as<Space, host>)
    return {betweenness_algorithm::by_level, "the device has no other algorithm"};
  if (of_edges) return {betweenness_algorithm::by_level, "no other algorithm computes values of edges"};
  if (vertices + edges < tuning::small) {
    return {betweenness_algorithm::by_source, "the graph is too small for threads to share its levels"};
  }
  if (edges < tuning::few_edges * vertices) {
    return {betweenness_algorithm::by_source, "few edges per vertex mean many narrow levels"};
  }
  return {betweenness_algorithm::by_level, "the levels are large enough to share"};
}

}  // namespace

}  // namespace detail::betweenness

template <>
enum_table<betweenness_algorithm> enum_rows() noexcept {
  return detail::betweenness::algorithms;
}

template <>
enum_table<betweenness_normalization> enum_rows() noexcept {
  static constexpr std::array<enum_row<betweenness_normalization>, 3> rows{{
      {betweenness_normalization::none, "none"},
      {betweenness_normalization::pairs, "pairs"},
      {betweenness_normalization::by_maximum, "maximum", true, true, "max"},
  }};
  return rows;
}

plan_estimate estimate(const graph_shape& s, const betweenness_options& options) {
  constexpr double entry_ns = 4.5;
  constexpr std::int64_t lanes = 4;
  const std::int64_t n = s.vertices;
  const std::int64_t index = s.index_bytes;
  const bool of_edges = options.edges == betweenness_edges::counted;
  const std::int64_t results = 8 * (n + (of_edges ? s.entries : 0));
  plan_estimate of;
  const bool by_source =
      detail::betweenness::choose<host>(options, n, s.entries).algorithm == betweenness_algorithm::by_source;
  if (by_source) {  // rows of sums, and one search per thread
    const std::int64_t rows = n < (std::int64_t{1} << 20) ? 16 : 4;
    of.host_bytes = results + (rows - 1) * 8 * n +
                    std::min<std::int64_t>(s.threads, rows) * (n * (3 * index + 12) + s.entries * index);
  } else {
    of.host_bytes = results + n * (2 * lanes * 12 + 4 + lanes * (index + 1) + 9);
  }
  of.host_bytes += s.missing_in_bytes() + 64;
  of.device_bytes = n * (lanes * (24 + index) + 24 + (of_edges ? 8 * lanes : 0)) + (of_edges ? 8 * s.entries : 0) +
                    s.entries / 4 + s.missing_in_bytes() + (std::int64_t{1} << 20);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<betweenness_plan<I, O, Space>>
    : detail::executor_state<detail::betweenness::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
betweenness_plan<I, O, Space>::betweenness_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                const betweenness_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::betweenness::check_options(options);
    detail::expect_graph("betweenness", g);
    auto choice = detail::betweenness::choose<Space>(options, std::int64_t{g.vertices()}, std::int64_t{g.out.nnz()});
    betweenness_options reduced = options;
    reduced.algorithm = choice.algorithm;
    auto executor = detail::betweenness::make_executor<I, O>(ctx, g, reduced);
    this->state_ = {std::move(choice), std::make_unique<state>(state{{g.vertices(), std::move(executor)}})};
  } else {
    detail::no_device("betweenness");
  }
} catch (...) {
  detail::rethrow("betweenness");
}

template <index_type I, index_type O, class Space>
void betweenness_plan<I, O, Space>::run(betweenness_sources<I> sources) try {
  if (sources.has_value() && sources->empty()) return this->state_->executor->clear();
  const span<const I, host> given = sources.value_or(span<const I, host>());
  for (const I source : given) detail::expect_source("betweenness", source, this->state_->vertices);
  this->state_->executor->run(given);
} catch (...) {
  detail::rethrow("betweenness");
}
template <index_type I, index_type O, class Space>
span<const double, Space> betweenness_plan<I, O, Space>::values() const noexcept {
  return this->state_->executor->values();
}
template <index_type I, index_type O, class Space>
span<const double, Space> betweenness_plan<I, O, Space>::edges() const noexcept {
  return this->state_->executor->edges();
}

template <index_type I, index_type O, class Space>
betweenness_result<Space> betweenness(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                      std::type_identity_t<betweenness_sources<I>> sources,
                                      const betweenness_options& options) try {
  betweenness_plan<I, O, Space> plan(ctx, g, options);
  plan.run(sources);
  return {clone(ctx, plan.values()), clone(ctx, plan.edges()), plan.algorithm()};
} catch (...) {
  detail::rethrow("betweenness");
}

#define INSTANTIATE(I, O, S)                                                                         \
  template class betweenness_plan<I, O, S>;                                                          \
  template betweenness_result<S> betweenness<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                      std::type_identity_t<betweenness_sources<I>>,  \
                                                      const betweenness_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
