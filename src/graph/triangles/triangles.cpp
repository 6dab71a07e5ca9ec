// Names, checks, the choice of an algorithm, and the plan; clustering coefficients.
#include "core/counted.hpp"
#include "core/parallel.hpp"
#include "graph/plan.hpp"
#include "graph/triangles/algorithms.hpp"
#include "graph/triangles/executor.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spargo {

namespace detail::triangles {

namespace {

struct tuning {
  // Merging rows as stored is faster than orienting the graph if no row is longer. Sapphire Rapids, one thread, ms
  // merged and oriented: grid 2000^2, rows of 4: 18, 201; 2^20 random rows of up to about 14: 49, 120; 22: 333, 168.
  static constexpr std::int64_t short_rows = 12;
  // H200, ms merged and oriented: grid 2048^2 0.05, 2.2; 2^22 random rows of 32 on average 4.0, 12.7; longer: untimed.
  static constexpr std::int64_t short_device_rows = 128;
};

using choice = plan_choice<triangles_algorithm>;

template <class Space>
choice choose(triangles_algorithm requested, const row_survey& survey) {
  constexpr std::int64_t short_rows = std::same_as<Space, host> ? tuning::short_rows : tuning::short_device_rows;
  if (auto named = choose_by_name<Space>(algorithms, "triangles", requested)) return *std::move(named);
  if (survey.canonical && survey.longest <= short_rows) {
    return {triangles_algorithm::merge, fmt::format("no vertex has more than {}: merging rows as stored is fastest",
                                                    counted(survey.longest, "neighbour"))};
  }
  return {triangles_algorithm::bitmap, "a look-up in a bitmap costs less than a step of a merge"};
}

}  // namespace

}  // namespace detail::triangles

template <>
enum_table<triangles_algorithm> enum_rows() noexcept {
  return detail::triangles::algorithms;
}

// For `bitmap`, which needs more than `merge`; the choice of `automatic` depends on the rows. entry_ns: R-MAT 22,
// degree 8, takes 16 threads 280 ms. Device: 24 bytes per oriented edge, and copies of a directed graph.
plan_estimate estimate(const graph_shape& s, const triangles_options& options) {
  constexpr double entry_ns = 65;
  const bool directed = s.direction == direction_kind::directed;
  const bool counts = options.output != triangles_output::total;
  const bool links = options.output == triangles_output::links;
  const bool mutual = directed && links;
  const std::int64_t n = s.vertices;
  const std::int64_t index = s.index_bytes;
  const std::int64_t entries = s.entries * (directed ? 2 : 1);
  constexpr std::int64_t block = 512;  // ranks, one bit each
  const auto root = static_cast<std::int64_t>(std::sqrt(256 * static_cast<double>(entries)));
  const std::int64_t hubs = std::min<std::int64_t>({n, root + 1, counts ? 1 << 14 : 1 << 15});
  const std::int64_t blocks = (hubs + block - 1) / block;
  const std::int64_t bits = counts ? hubs * blocks * (block / 8) : block * (blocks * (blocks + 1) / 2) * (block / 8);
  const std::int64_t marks = (n / block + 1) * (block / 8) + (counts ? std::min<std::int64_t>(n, 1 << 15) * 8 : 0);
  plan_estimate of;
  of.host_bytes = n * (3 * index + 8 + (counts ? index + 16 : 0) + (links ? 8 : 0) + (mutual ? 8 : 0)) +
                  entries * (index + (mutual ? 1 : 0)) + bits * (mutual ? 2 : 1) +
                  s.threads * marks * (mutual ? 2 : 1) + std::min<std::int64_t>(4 * s.threads, n / 4096 + 1) * 32776 +
                  s.missing_in_bytes() + 8 + 2 * index + 8 * s.threads;
  of.device_bytes = n * 120 + s.entries * (directed ? 60 : 16) + (std::int64_t{64} << 20);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<triangles_plan<I, O, Space>> : detail::executor_state<detail::triangles::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
triangles_plan<I, O, Space>::triangles_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                            const triangles_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("triangles", g);
    const auto output = static_cast<int>(options.output);
    SPARGO_EXPECTS(output >= 0 && output <= static_cast<int>(triangles_output::links),
                   fmt::format("triangles: no output has the number {}", output));
    const auto survey = detail::triangles::survey_rows(ctx, g);
    auto choice = detail::triangles::choose<Space>(options.algorithm, survey);
    auto executor = detail::triangles::make_executor<I, O>(
        ctx, g, {.output = options.output, .algorithm = choice.algorithm}, survey);
    this->state_ = {std::move(choice), std::make_unique<state>(state{{g.vertices(), std::move(executor)}})};
  } else {
    detail::no_device("triangles");
  }
} catch (...) {
  detail::rethrow("triangles");
}

template <index_type I, index_type O, class Space>
void triangles_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("triangles");
}
template <index_type I, index_type O, class Space>
std::int64_t triangles_plan<I, O, Space>::total() const try {
  return this->state_->executor->total();
} catch (...) {
  detail::rethrow("triangles");
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, Space> triangles_plan<I, O, Space>::per_vertex() const noexcept {
  return this->state_->executor->per_vertex();
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, Space> triangles_plan<I, O, Space>::links() const noexcept {
  return this->state_->executor->links();
}
template <index_type I, index_type O, class Space>
span<const I, Space> triangles_plan<I, O, Space>::degrees() const noexcept {
  return this->state_->executor->degrees();
}

template <index_type I, index_type O, class Space>
triangles_result<I, Space> triangles(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                     const triangles_options& options) try {
  triangles_plan<I, O, Space> plan(ctx, g, options);
  plan.run();
  triangles_result<I, Space> result;
  result.total = plan.total();
  result.per_vertex = clone(ctx, plan.per_vertex());
  result.links = clone(ctx, plan.links());
  result.degrees = clone(ctx, plan.degrees());
  result.algorithm = plan.algorithm();
  return result;
} catch (...) {
  detail::rethrow("triangles");
}

namespace {

template <class I, class Space>
array<double, Space> coefficients_of(const context<Space>& ctx, span<const std::int64_t, Space> counts,
                                     span<const I, Space> degrees, clustering_counts kind) try {
  SPARGO_EXPECTS(counts.size() == degrees.size(),
                 fmt::format("local_clustering: {} counts for {} degrees", counts.size(), degrees.size()));
  if constexpr (detail::is_built<Space>) {
    array<double, Space> coefficients(ctx, counts.size());
    detail::triangles::find_coefficients<I>(ctx, counts, degrees, kind == clustering_counts::triangles ? 2 : 1,
                                            coefficients.view());
    return coefficients;
  } else {
    detail::no_device("local_clustering");
  }
} catch (...) {
  detail::rethrow("local_clustering");
}

}  // namespace

template <index_type I>
array<double, host> local_clustering(const context<host>& ctx, span<const std::int64_t, host> counts,
                                     span<const I, host> degrees, clustering_counts kind) {
  return coefficients_of(ctx, counts, degrees, kind);
}
template <index_type I>
array<double, device> local_clustering(const context<device>& ctx, span<const std::int64_t, device> counts,
                                       span<const I, device> degrees, clustering_counts kind) {
  return coefficients_of(ctx, counts, degrees, kind);
}

template <index_type I, index_type O, class Space>
array<double, Space> local_clustering(const context<Space>& ctx, const graph_view<I, O, Space>& g) try {
  triangles_plan<I, O, Space> plan(ctx, g, {.output = triangles_output::links});
  plan.run();
  return local_clustering(ctx, plan.links(), plan.degrees(), clustering_counts::links);
} catch (...) {
  detail::rethrow("local_clustering");
}

double average_local(span<const double, host> coefficients) {
  double sum = 0;
  for (const double one : coefficients) sum += one;
  return coefficients.empty() ? 0 : sum / static_cast<double>(coefficients.size());
}

template <index_type I>
double transitivity(std::int64_t triangles, span<const I, host> degrees) {
  double pairs = 0;
  for (const I degree : degrees) pairs += static_cast<double>(degree) * (static_cast<double>(degree) - 1) / 2;
  return pairs == 0 ? 0 : 3 * static_cast<double>(triangles) / pairs;
}

#define INSTANTIATE(I, O, S)                                                                        \
  template class triangles_plan<I, O, S>;                                                           \
  template triangles_result<I, S> triangles<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                     const triangles_options&);                     \
  template array<double, S> local_clustering<I, O, S>(const context<S>&, const graph_view<I, O, S>&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
#define INSTANTIATE_DEGREES_IN(I, S)                                                                              \
  template array<double, S> local_clustering<I>(const context<S>&, span<const std::int64_t, S>, span<const I, S>, \
                                                clustering_counts);
#define INSTANTIATE_DEGREES(I)      \
  INSTANTIATE_DEGREES_IN(I, host)   \
  INSTANTIATE_DEGREES_IN(I, device) \
  template double transitivity<I>(std::int64_t, span<const I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_DEGREES)

}  // namespace spargo
