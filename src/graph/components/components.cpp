// Names, checks, the choice of an algorithm, and the plan: everything that does not read the graph's contents.
#include "graph/components/algorithms.hpp"
#include "graph/components/executor.hpp"
#include "graph/plan.hpp"

#include <spargo/core/error.hpp>
#include <spargo/graph/bfs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace spargo {

namespace detail::components {

namespace {

struct tuning {
  // Below this many vertices plus edges one thread ends before a second could start (about 10 us).
  static constexpr std::int64_t sequential_below = 8192;
};

void expect_to_find(components_algorithm requested, bool strong) {
  SPARGO_EXPECTS(finds_strong(requested) == strong,
                 fmt::format("components: algorithm {} finds {} components (expected one for {} ones)",
                             to_string(requested), strong ? "weak" : "strong", strong ? "strong" : "weak"));
}

// The requested algorithm, or the one that the labels require.
template <class Space>
components_algorithm with_labels(const components_options& options) {
  if (options.labels != components_labels::sinks_first) return options.algorithm;
  if (!std::same_as<Space, host>) {
    throw error(error_code::unsupported, "components: labels with sinks first are computed on the host only");
  }
  SPARGO_EXPECTS(
      options.algorithm == components_algorithm::automatic || options.algorithm == components_algorithm::tarjan,
      fmt::format("components: labels with sinks first come from tarjan, not from {}", to_string(options.algorithm)));
  return components_algorithm::tarjan;
}

// `size`: vertices plus stored edges.
template <class Space>
choice choose(components_algorithm requested, bool strong, bool can_skip, std::int64_t size) {
  if (auto named = choose_by_name<Space>(algorithms, "components", requested)) {
    expect_to_find(requested, strong);
    return *std::move(named);
  }
  const auto parallel = strong ? components_algorithm::forward_backward : components_algorithm::afforest;
  if (std::same_as<Space, host> && size < tuning::sequential_below) {
    return {strong ? components_algorithm::tarjan : components_algorithm::union_find,
            "the graph is too small to share among threads"};
  }
  if (strong) return {parallel, "a hub's component is usually the largest by far"};
  return {parallel,
          can_skip ? "it skips most edges within the largest component" : "without in-edges it follows every edge"};
}

}  // namespace

}  // namespace detail::components

template <>
enum_table<components_algorithm> enum_rows() noexcept {
  return detail::components::algorithms;
}

template <>
enum_table<components_connection> enum_rows() noexcept {
  static constexpr std::array<enum_row<components_connection>, 2> rows{{
      {components_connection::weak, "weak"},
      {components_connection::strong, "strong"},
  }};
  return rows;
}

template <>
enum_table<components_labels> enum_rows() noexcept {
  static constexpr std::array<enum_row<components_labels>, 3> rows{{
      {components_labels::smallest_vertex, "smallest_vertex"},
      {components_labels::dense, "dense"},
      {components_labels::sinks_first, "sinks_first"},
  }};
  return rows;
}

// Time: R-MAT 22, directed, takes 16 threads 40 ms.
plan_estimate estimate(const graph_shape& s, const components_options& options) {
  using algorithm = components_algorithm;
  const bool directed = s.direction == direction_kind::directed;
  const algorithm requested = options.labels == components_labels::sinks_first ? algorithm::tarjan : options.algorithm;
  const bool strong =
      detail::components::finds_strong(requested) ||
      (directed && requested == algorithm::automatic && options.connection == components_connection::strong);
  const bool small = s.vertices + s.entries < detail::components::tuning::sequential_below;
  const std::int64_t index = s.index_bytes;
  const std::int64_t tarjan = s.vertices * (4 * index + s.offset_bytes);
  plan_estimate of;
  of.host_bytes = s.vertices * index * (options.labels == components_labels::smallest_vertex ? 1 : 2);
  // Labels, a list of vertices, numbers, and one bit per vertex.
  const std::int64_t arrays = options.labels == components_labels::smallest_vertex ? 2 : 3;
  of.device_bytes = s.vertices * arrays * index + s.vertices / 8 + s.entries / 128 + (std::int64_t{1} << 20);
  if (strong) {
    of.host_bytes += tarjan;
    const plan_estimate search = estimate(s, bfs_options{.output = bfs_output::levels});
    if (requested == algorithm::forward_backward || (requested == algorithm::automatic && !small)) {
      of.host_bytes += 2 * search.host_bytes + s.missing_in_bytes();
    }
    of.device_bytes += 2 * search.device_bytes + s.vertices * (4 + 10 * index) + s.entries / 16 + s.missing_in_bytes();
  }
  of.host_seconds = detail::expected_seconds(s, strong ? 25 : 5);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<components_plan<I, O, Space>> : detail::executor_state<detail::components::executor<I, Space>> {
};

template <index_type I, index_type O, class Space>
components_plan<I, O, Space>::components_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                              const components_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("components", g);
    const bool undirected = g.direction == direction_kind::undirected;
    // In an undirected graph weak and strong components are the same; the requested algorithm decides.
    const components_algorithm requested = detail::components::with_labels<Space>(options);
    const bool strong =
        undirected ? detail::components::finds_strong(requested) : options.connection == components_connection::strong;
    auto choice = detail::components::choose<Space>(requested, strong, undirected || g.has_in_edges(),
                                                    std::int64_t{g.vertices()} + g.out.nnz());
    auto executor = detail::components::make_executor<I, O>(ctx, g, choice.algorithm, options.labels);
    this->state_ = {std::move(choice), std::make_unique<state>(state{{g.vertices(), std::move(executor)}})};
  } else {
    detail::no_device("components");
  }
} catch (...) {
  detail::rethrow("components");
}

template <index_type I, index_type O, class Space>
void components_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("components");
}
template <index_type I, index_type O, class Space>
span<const I, Space> components_plan<I, O, Space>::labels() const noexcept {
  return this->state_->executor->labels();
}
template <index_type I, index_type O, class Space>
std::int64_t components_plan<I, O, Space>::count() const try {
  return this->state_->executor->count();
} catch (...) {
  detail::rethrow("components");
}

template <index_type I, index_type O, class Space>
components_result<I, Space> components(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                       const components_options& options) try {
  components_plan<I, O, Space> plan(ctx, g, options);
  plan.run();
  components_result<I, Space> result;
  result.labels = clone(ctx, plan.labels());
  result.count = plan.count();
  result.algorithm = plan.algorithm();
  return result;
} catch (...) {
  detail::rethrow("components");
}

template <index_type I>
std::vector<std::int64_t> component_sizes(span<const I, host> labels) try {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(labels.size()));
  for (std::int64_t v = 0; v < labels.size(); ++v) {
    SPARGO_EXPECTS(
        labels[v] >= 0 && labels[v] < labels.size(),
        fmt::format("components: vertex {} has label {} (expected 0 to {})", v, labels[v], labels.size() - 1));
    ++sizes[static_cast<std::size_t>(labels[v])];
  }
  std::erase(sizes, 0);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
} catch (...) {
  detail::rethrow("components");
}

#define INSTANTIATE(I, O, S)                                                                          \
  template class components_plan<I, O, S>;                                                            \
  template components_result<I, S> components<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                       const components_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
#define INSTANTIATE_SIZES(I) template std::vector<std::int64_t> component_sizes<I>(span<const I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_SIZES)

}  // namespace spargo
