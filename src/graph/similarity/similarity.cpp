// Names, checks and the plan around an executor.
#include "graph/plan.hpp"
#include "graph/similarity/executor.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace spargo {

template <>
enum_table<similarity_algorithm> enum_rows() noexcept {
  return detail::similarity::algorithms;
}

template <>
enum_table<similarity_measure> enum_rows() noexcept {
  static constexpr std::array<enum_row<similarity_measure>, 7> rows{{
      {similarity_measure::jaccard, "jaccard"},
      {similarity_measure::overlap, "overlap"},
      {similarity_measure::sorensen, "sorensen"},
      {similarity_measure::cosine, "cosine"},
      {similarity_measure::adamic_adar, "adamic-adar", true, true, "adamic_adar"},
      {similarity_measure::resource_allocation, "resource-allocation", true, true, "resource_allocation"},
      {similarity_measure::common_neighbors, "common-neighbors", true, true, "common_neighbors"},
  }};
  return rows;
}

namespace {

using detail::similarity::wanted_pairs;

// Checks graph and options. O(1).
template <class I, class O, class Space>
void check(const graph_view<I, O, Space>& g, const wanted_pairs<I, Space>& pairs, const similarity_options& options) {
  detail::expect_graph("similarity", g);
  detail::expect_named("similarity", "measure", options.measure);
  SPARGO_EXPECTS(options.top >= 0, fmt::format("similarity: top is {} (expected 0 or more)", options.top));
  if (pairs.kind == similarity_pairs::given) {
    SPARGO_EXPECTS(options.top == 0, fmt::format("similarity: top is {} and pairs are given", options.top));
    SPARGO_EXPECTS(pairs.sources.size() == pairs.targets.size(),
                   fmt::format("similarity: {} sources for {} targets", pairs.sources.size(), pairs.targets.size()));
  }
}

}  // namespace

void detail::similarity::refuse_pair(std::int64_t k, std::int64_t u, std::int64_t v, std::int64_t vertices) {
  throw error(error_code::invalid_argument,
              fmt::format("similarity: pair {} is ({}, {}) (expected vertices 0 to {})", k, u, v, vertices - 1));
}

// Edges: results, the first edge of each vertex, a bit per vertex and thread. The top K: results before and after they
// are compacted; counts and a list of vertices per thread. Sums over d(w): 8 bytes per vertex.
plan_estimate estimate(const graph_shape& s, const similarity_options& options) {
  const bool directed = s.direction == direction_kind::directed;
  const bool terms =
      options.measure == similarity_measure::adamic_adar || options.measure == similarity_measure::resource_allocation;
  const std::int64_t n = s.vertices;
  const std::int64_t pairs = options.top > 0 ? n * std::min(options.top, n) : s.entries / (directed ? 1 : 2);
  const std::int64_t results = pairs * (2 * s.index_bytes + std::int64_t{sizeof(double)});
  const std::int64_t of_thread = options.top > 0 ? n * (s.index_bytes + (terms ? 8 : s.index_bytes)) : n / 8;
  constexpr double edge_ns = 200;   // R-MAT 20, degree 16
  constexpr double path_ns = 1500;  // R-MAT 16
  plan_estimate of;
  of.host_bytes = results + 8 * (n + 1) + (terms ? 8 * n : 0) + 64 + s.threads * (of_thread + 8);
  // Results, of the top K twice; of edges the pairs that blocks take, or a copy by rank with supports, or items of
  // blocks; paths, rooms, sizes and terms of vertices.
  const std::int64_t of_edges = directed ? 17 * s.entries : terms ? s.entries / 2 : s.entries / 2 * 31;
  of.device_bytes = (options.top > 0 ? 2 : 1) * results + (options.top > 0 ? s.entries / 2 : of_edges) +
                    8 * n * (options.top > 0 ? 6 : 3) + (std::int64_t{4} << 20);
  of.host_seconds = detail::expected_seconds(s, options.top > 0 ? path_ns : edge_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<similarity_plan<I, O, Space>> : detail::executor_state<detail::similarity::executor<I, Space>> {
  static detail::plan_state<state_of, similarity_algorithm> make(const context<Space>& ctx,
                                                                 const graph_view<I, O, Space>& g,
                                                                 const wanted_pairs<I, Space>& pairs,
                                                                 const similarity_options& options) {
    check(g, pairs, options);
    return detail::plan_only<state_of>(
        detail::similarity::algorithms, "similarity", options.algorithm, ctx, [&](const auto& where) {
          if (pairs.kind == similarity_pairs::top && detail::lacks_in_edges(g)) {
            detail::refuse_without_in_edges("similarity");
          }
          auto executor = detail::similarity::make_executor<I, O>(where, g, pairs, options);
          return std::make_unique<state_of>(state_of{{g.vertices(), std::move(executor)}});
        });
  }
};

template <index_type I, index_type O, class Space>
similarity_plan<I, O, Space>::similarity_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                              const similarity_options& options) try {
  this->state_ =
      state::make(ctx, g, {.kind = options.top == 0 ? similarity_pairs::edges : similarity_pairs::top}, options);
} catch (...) {
  detail::rethrow("similarity");
}
template <index_type I, index_type O, class Space>
similarity_plan<I, O, Space>::similarity_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                              std::type_identity_t<span<const I, Space>> sources,
                                              std::type_identity_t<span<const I, Space>> targets,
                                              const similarity_options& options) try {
  this->state_ = state::make(ctx, g, {similarity_pairs::given, sources, targets}, options);
} catch (...) {
  detail::rethrow("similarity");
}

template <index_type I, index_type O, class Space>
void similarity_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("similarity");
}
template <index_type I, index_type O, class Space>
span<const I, Space> similarity_plan<I, O, Space>::sources() const noexcept {
  return this->state_->executor->sources();
}
template <index_type I, index_type O, class Space>
span<const I, Space> similarity_plan<I, O, Space>::targets() const noexcept {
  return this->state_->executor->targets();
}
template <index_type I, index_type O, class Space>
span<const double, Space> similarity_plan<I, O, Space>::values() const noexcept {
  return this->state_->executor->values();
}

template <index_type I, index_type O, class Space>
similarity_result<I, Space> similarity(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                       const similarity_options& options) try {
  detail::expect_graph("similarity", g);
  detail::expect_runs_on<Space>(detail::similarity::algorithms, "similarity", options.algorithm);
  const auto result = [&](const graph_view<I, O, Space>& whole) -> similarity_result<I, Space> {
    similarity_plan<I, O, Space> plan(ctx, whole, options);
    plan.run();
    return {clone(ctx, plan.sources()), clone(ctx, plan.targets()), clone(ctx, plan.values())};
  };
  if (options.top <= 0) return result(g);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  return result(pulled.view());
} catch (...) {
  detail::rethrow("similarity");
}

template <index_type I, index_type O, class Space>
array<double, Space> similarity(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                std::type_identity_t<span<const I, Space>> sources,
                                std::type_identity_t<span<const I, Space>> targets,
                                const similarity_options& options) try {
  similarity_plan<I, O, Space> plan(ctx, g, sources, targets, options);
  plan.run();
  return clone(ctx, plan.values());
} catch (...) {
  detail::rethrow("similarity");
}

#define INSTANTIATE(I, O, S)                                                                                     \
  template class similarity_plan<I, O, S>;                                                                       \
  template similarity_result<I, S> similarity<I, O, S>(const context<S>&, const graph_view<I, O, S>&,            \
                                                       const similarity_options&);                               \
  template array<double, S> similarity<I, O, S>(const context<S>&, const graph_view<I, O, S>&, span<const I, S>, \
                                                span<const I, S>, const similarity_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
