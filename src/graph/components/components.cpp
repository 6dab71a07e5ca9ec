// Names, checks, the choice of algorithm and the plan around an executor: all that does not touch the graph's contents.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/components/algorithms.hpp"
#include "graph/components/executor.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace spargo {

namespace detail::components {

namespace {

struct tuning {
  // Below this many vertices plus edges one thread is done before a second has woken up (about 10 us).
  static constexpr std::int64_t sequential_below = 8192;
};

template <class I, class O, class Space>
void check_part(const csr_pattern_view<I, O, Space>& part, const char* name) {
  SPARGO_EXPECTS(part.rows >= 0 && part.rows == part.cols,
                 fmt::format("components: {}-edges are {} x {} (expected a square)", name, part.rows, part.cols));
  const std::int64_t offsets = part.offsets.size();
  SPARGO_EXPECTS(offsets == std::int64_t{part.rows} + 1 || (part.rows == 0 && offsets == 0),
                 fmt::format("components: {} offsets of {}-edges for {} vertices (expected one more than vertices)",
                             offsets, name, part.rows));
}

template <class I, class O, class Space>
void check_graph(const graph_view<I, O, Space>& g) {
  check_part(g.out, "out");
  if (!g.has_in_edges()) return;
  check_part(g.in, "in");
  SPARGO_EXPECTS(g.in.rows == g.out.rows && g.in.nnz() == g.out.nnz(),
                 fmt::format("components: {} in-edges of {} vertices beside {} out-edges of {}", g.in.nnz(), g.in.rows,
                             g.out.nnz(), g.out.rows));
}

template <class Space>
choice check_asked(components_algorithm asked, bool strong) {
  SPARGO_EXPECTS(is_in(algorithms, asked),
                 fmt::format("components: no algorithm has the number {}", static_cast<int>(asked)));
  if (!runs_on<Space>(algorithms, asked)) {
    throw error(error_code::unsupported,
                fmt::format("components: algorithm {} runs on the host only", to_string(asked)));
  }
  SPARGO_EXPECTS(finds_strong(asked) == strong,
                 fmt::format("components: algorithm {} finds {} components (expected one for {} ones)",
                             to_string(asked), strong ? "weak" : "strong", strong ? "strong" : "weak"));
  return {asked, "asked for"};
}

// The algorithm asked for, or that the labels ask for.
template <class Space>
components_algorithm with_labels(const components_options& options) {
  if (options.labels != components_labels::sinks_first) return options.algorithm;
  if (!std::same_as<Space, host>) {
    throw error(error_code::unsupported, "components: labels with sinks first are found on the host only");
  }
  SPARGO_EXPECTS(
      options.algorithm == components_algorithm::automatic || options.algorithm == components_algorithm::tarjan,
      fmt::format("components: labels with sinks first come from tarjan, not from {}", to_string(options.algorithm)));
  return components_algorithm::tarjan;
}

// `size`: vertices plus stored edges.
template <class Space>
choice choose(components_algorithm asked, bool strong, bool can_skip, std::int64_t size) {
  if (asked != components_algorithm::automatic) return check_asked<Space>(asked, strong);
  const auto parallel = strong ? components_algorithm::forward_backward : components_algorithm::afforest;
  if (std::same_as<Space, host> && size < tuning::sequential_below) {
    return {strong ? components_algorithm::tarjan : components_algorithm::union_find,
            "the graph is too small to share among threads"};
  }
  if (strong) return {parallel, "a hub's component is usually the largest by far"};
  return {parallel, can_skip ? "most edges lie within the largest component and are skipped"
                             : "without in-edges every edge is followed"};
}

}  // namespace

}  // namespace detail::components

std::string_view to_string(components_algorithm algorithm) {
  return detail::name_in(detail::components::algorithms, algorithm);
}

components_algorithm parse_components_algorithm(std::string_view name) try {
  return detail::parse_in(detail::components::algorithms, "components", name);
} catch (...) {
  detail::rethrow("components");
}

template <index_type I, index_type O, class Space>
struct components_plan<I, O, Space>::state {
  detail::components::choice choice;
  std::unique_ptr<detail::components::executor<I, Space>> executor;
};

template <index_type I, index_type O, class Space>
components_plan<I, O, Space>::components_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                              const components_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::components::check_graph(g);
    const bool undirected = g.direction == direction_kind::undirected;
    // An undirected graph's components are both; an algorithm that was asked for decides which way they are found.
    const components_algorithm asked = detail::components::with_labels<Space>(options);
    const bool strong =
        undirected ? detail::components::finds_strong(asked) : options.connection == components_connection::strong;
    auto choice = detail::components::choose<Space>(asked, strong, undirected || g.has_in_edges(),
                                                    std::int64_t{g.vertices()} + g.out.nnz());
    auto executor = detail::components::make_executor<I, O>(ctx, g, choice.algorithm, options.labels);
    state_ = std::make_unique<state>(state{std::move(choice), std::move(executor)});
  } else {
    detail::no_device("components");
  }
} catch (...) {
  detail::rethrow("components");
}
template <index_type I, index_type O, class Space>
components_plan<I, O, Space>::components_plan(components_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
components_plan<I, O, Space>& components_plan<I, O, Space>::operator=(components_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
components_plan<I, O, Space>::~components_plan() = default;

template <index_type I, index_type O, class Space>
void components_plan<I, O, Space>::run() try {
  state_->executor->run();
} catch (...) {
  detail::rethrow("components");
}
template <index_type I, index_type O, class Space>
span<const I, Space> components_plan<I, O, Space>::labels() const noexcept {
  return state_->executor->labels();
}
template <index_type I, index_type O, class Space>
std::int64_t components_plan<I, O, Space>::count() const try {
  return state_->executor->count();
} catch (...) {
  detail::rethrow("components");
}
template <index_type I, index_type O, class Space>
components_algorithm components_plan<I, O, Space>::algorithm() const noexcept {
  return state_->choice.algorithm;
}
template <index_type I, index_type O, class Space>
const std::string& components_plan<I, O, Space>::reason() const noexcept {
  return state_->choice.reason;
}
template <index_type I, index_type O, class Space>
std::int64_t components_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->executor->workspace_bytes();
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

#define INSTANTIATE_IN(I, O, S)                                                                       \
  template class components_plan<I, O, S>;                                                            \
  template components_result<I, S> components<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                       const components_options&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_IN(I, O, host) \
  INSTANTIATE_IN(I, O, device)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_SIZES(I) template std::vector<std::int64_t> component_sizes<I>(span<const I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_SIZES)

}  // namespace spargo
