// Names, checks and the plan around an executor.
#include "graph/cores/algorithms.hpp"
#include "graph/cores/executor.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

namespace spargo {

template <>
enum_table<cores_algorithm> enum_rows() noexcept {
  return detail::cores::algorithms;
}

namespace detail::cores {

template <class I>
void expect_narrow_degree(std::int64_t largest) {
  constexpr std::int64_t limit = std::numeric_limits<I>::max() - most_levels_ahead;
  if (largest <= limit) return;
  throw error(error_code::unsupported,
              fmt::format("cores: a vertex has {} edges (expected at most {} with {}-bit indices)", largest, limit,
                          8 * sizeof(I)));
}

#define INSTANTIATE_DEGREE(I) template void expect_narrow_degree<I>(std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_DEGREE)

}  // namespace detail::cores

// Nanoseconds: R-MAT 20, degree 16, 143 ms by one thread, uniform 207. Device: seven indices per vertex, and chunks of
// long rows, four indices per 1024 entries of each side.
plan_estimate estimate(const graph_shape& s, const cores_options&) {
  constexpr double entry_ns = 5;
  const std::int64_t index = s.index_bytes;
  plan_estimate of;
  of.host_bytes = 6 * s.vertices * index + 6 * 64;
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  const std::int64_t sides = s.direction == direction_kind::directed ? 2 : 1;
  of.device_bytes = 7 * s.vertices * index + sides * (s.entries / 256 * index + 2 * index) + (std::int64_t{4} << 10);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<cores_plan<I, O, Space>> : detail::executor_state<detail::cores::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
cores_plan<I, O, Space>::cores_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                    const cores_options& options) try {
  detail::expect_graph("cores", g);
  this->state_ =
      detail::plan_only<state>(detail::cores::algorithms, "cores", options.algorithm, ctx, [&](const auto& where) {
        if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("cores");
        return std::make_unique<state>(state{{g.vertices(), detail::cores::make_executor<I, O>(where, g)}});
      });
} catch (...) {
  detail::rethrow("cores");
}

template <index_type I, index_type O, class Space>
void cores_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("cores");
}
template <index_type I, index_type O, class Space>
span<const I, Space> cores_plan<I, O, Space>::cores() const noexcept {
  return this->state_->executor->cores();
}
template <index_type I, index_type O, class Space>
I cores_plan<I, O, Space>::max_core() const try {
  return this->state_->executor->max_core();
} catch (...) {
  detail::rethrow("cores");
}

template <index_type I, index_type O, class Space>
cores_result<I, Space> cores(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                             const cores_options& options) try {
  detail::expect_graph("cores", g);
  detail::expect_runs_on<Space>(detail::cores::algorithms, "cores", options.algorithm);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  cores_plan<I, O, Space> plan(ctx, pulled.view(), options);
  plan.run();
  return {clone(ctx, plan.cores()), plan.max_core(), plan.algorithm()};
} catch (...) {
  detail::rethrow("cores");
}

template <index_type I>
array<I, host> k_core_vertices(const context<host>& ctx, span<const I, host> cores, std::type_identity_t<I> k) try {
  std::vector<I> vertices;
  for (std::int64_t v = 0; v < cores.size(); ++v) {
    if (cores[v] >= k) vertices.push_back(static_cast<I>(v));
  }
  return clone(ctx, vertices);
} catch (...) {
  detail::rethrow("k_core_vertices");
}

#define INSTANTIATE(I, O, S)          \
  template class cores_plan<I, O, S>; \
  template cores_result<I, S> cores<I, O, S>(const context<S>&, const graph_view<I, O, S>&, const cores_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

#define INSTANTIATE_VERTICES(I) \
  template array<I, host> k_core_vertices<I>(const context<host>&, span<const I, host>, I);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_VERTICES)

}  // namespace spargo
