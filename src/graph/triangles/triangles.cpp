// Names, checks, the choice of algorithm and the plan around an executor; clustering coefficients.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/triangles/algorithms.hpp"
#include "graph/triangles/executor.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace spargo {

namespace detail::triangles {

namespace {

struct tuning {
  // Rows up to here are sooner merged as they are than the graph is oriented. Sapphire Rapids, one thread, ms merged
  // and oriented: grid 2000^2, rows of 4: 18, 201; random ones of 2^20 vertices, of up to about 14: 49, 120; 22: 333,
  // 168.
  static constexpr std::int64_t short_rows = 12;
  // On a device. H200, ms merged and oriented: grid 2048^2 0.05, 2.2; random rows of 2^22 vertices, of 32 on
  // average 4.0, 12.7. Longer ones are not timed.
  static constexpr std::int64_t short_device_rows = 128;
};

struct choice {
  triangles_algorithm algorithm;
  std::string reason;
};

template <class Space>
choice choose(triangles_algorithm asked, const row_survey& survey) {
  constexpr std::int64_t short_rows = std::same_as<Space, host> ? tuning::short_rows : tuning::short_device_rows;
  expect_runs_on<Space>(algorithms, "triangles", asked);
  if (asked != triangles_algorithm::automatic) return {asked, "asked for"};
  if (survey.canonical && survey.longest <= short_rows) {
    return {triangles_algorithm::merge,
            fmt::format("no vertex has more than {} neighbours, so that rows are merged as they are", survey.longest)};
  }
  return {triangles_algorithm::bitmap, "a look-up in a bitmap costs less than a step of a merge"};
}

template <class I, class O, class Space>
void check_part(const csr_pattern_view<I, O, Space>& part, const char* name) {
  SPARGO_EXPECTS(part.rows >= 0 && part.rows == part.cols,
                 fmt::format("triangles: {}-edges are {} x {} (expected a square)", name, part.rows, part.cols));
  const std::int64_t offsets = part.offsets.size();
  SPARGO_EXPECTS(offsets == std::int64_t{part.rows} + 1 || (part.rows == 0 && offsets == 0),
                 fmt::format("triangles: {} offsets of {}-edges for {} vertices (expected one more than vertices)",
                             offsets, name, part.rows));
}

template <class I, class O, class Space>
void check_graph(const graph_view<I, O, Space>& g) {
  check_part(g.out, "out");
  if (g.direction == direction_kind::undirected || !g.has_in_edges()) return;
  check_part(g.in, "in");
  SPARGO_EXPECTS(g.in.rows == g.out.rows && g.in.nnz() == g.out.nnz(),
                 fmt::format("triangles: {} in-edges of {} vertices beside {} out-edges of {}", g.in.nnz(), g.in.rows,
                             g.out.nnz(), g.out.rows));
}

}  // namespace

}  // namespace detail::triangles

std::string_view to_string(triangles_algorithm algorithm) {
  return detail::name_in(detail::triangles::algorithms, algorithm);
}

triangles_algorithm parse_triangles_algorithm(std::string_view name) try {
  return detail::parse_in(detail::triangles::algorithms, "triangles", name);
} catch (...) {
  detail::rethrow("triangles");
}

template <index_type I, index_type O, class Space>
struct triangles_plan<I, O, Space>::state {
  detail::triangles::choice choice;
  std::unique_ptr<detail::triangles::executor<I, Space>> executor;
};

template <index_type I, index_type O, class Space>
triangles_plan<I, O, Space>::triangles_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                            const triangles_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::triangles::check_graph(g);
    const auto output = static_cast<int>(options.output);
    SPARGO_EXPECTS(output >= 0 && output <= static_cast<int>(triangles_output::links),
                   fmt::format("triangles: no output has the number {}", output));
    const auto survey = detail::triangles::survey_rows(ctx, g);
    auto choice = detail::triangles::choose<Space>(options.algorithm, survey);
    auto executor = detail::triangles::make_executor<I, O>(
        ctx, g, {.output = options.output, .algorithm = choice.algorithm}, survey);
    state_ = std::make_unique<state>(state{std::move(choice), std::move(executor)});
  } else {
    detail::no_device("triangles");
  }
} catch (...) {
  detail::rethrow("triangles");
}
template <index_type I, index_type O, class Space>
triangles_plan<I, O, Space>::triangles_plan(triangles_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
triangles_plan<I, O, Space>& triangles_plan<I, O, Space>::operator=(triangles_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
triangles_plan<I, O, Space>::~triangles_plan() = default;

template <index_type I, index_type O, class Space>
void triangles_plan<I, O, Space>::run() try {
  state_->executor->run();
} catch (...) {
  detail::rethrow("triangles");
}
template <index_type I, index_type O, class Space>
std::int64_t triangles_plan<I, O, Space>::total() const try {
  return state_->executor->total();
} catch (...) {
  detail::rethrow("triangles");
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, Space> triangles_plan<I, O, Space>::per_vertex() const noexcept {
  return state_->executor->per_vertex();
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, Space> triangles_plan<I, O, Space>::links() const noexcept {
  return state_->executor->links();
}
template <index_type I, index_type O, class Space>
span<const I, Space> triangles_plan<I, O, Space>::degrees() const noexcept {
  return state_->executor->degrees();
}
template <index_type I, index_type O, class Space>
triangles_algorithm triangles_plan<I, O, Space>::algorithm() const noexcept {
  return state_->choice.algorithm;
}
template <index_type I, index_type O, class Space>
const std::string& triangles_plan<I, O, Space>::reason() const noexcept {
  return state_->choice.reason;
}
template <index_type I, index_type O, class Space>
std::int64_t triangles_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->executor->workspace_bytes();
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
                 fmt::format("local_clustering: {} counts beside {} degrees", counts.size(), degrees.size()));
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

#define INSTANTIATE_IN(I, O, S)                                                                     \
  template class triangles_plan<I, O, S>;                                                           \
  template triangles_result<I, S> triangles<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                     const triangles_options&);                     \
  template array<double, S> local_clustering<I, O, S>(const context<S>&, const graph_view<I, O, S>&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_IN(I, O, host) \
  INSTANTIATE_IN(I, O, device)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_DEGREES_IN(I, S)                                                                              \
  template array<double, S> local_clustering<I>(const context<S>&, span<const std::int64_t, S>, span<const I, S>, \
                                                clustering_counts);
#define INSTANTIATE_DEGREES(I)      \
  INSTANTIATE_DEGREES_IN(I, host)   \
  INSTANTIATE_DEGREES_IN(I, device) \
  template double transitivity<I>(std::int64_t, span<const I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_DEGREES)

}  // namespace spargo
