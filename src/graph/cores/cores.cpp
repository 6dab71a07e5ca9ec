// Names, checks and the plan around an executor.
#include "graph/cores/algorithms.hpp"
#include "graph/cores/executor.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <utility>
#include <vector>

namespace spargo {

template <>
enum_table<cores_algorithm> enum_rows() noexcept {
  return detail::cores::algorithms;
}

// Nanoseconds: R-MAT 20, degree 16, 143 ms by one thread, uniform 207.
plan_estimate estimate(const graph_shape& s, const cores_options&) {
  constexpr double entry_ns = 5;
  const std::int64_t index = s.index_bytes;
  plan_estimate of;
  of.host_bytes = 6 * s.vertices * index + 6 * 64;
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct cores_plan<I, O, Space>::state : detail::executor_state<detail::cores::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
cores_plan<I, O, Space>::cores_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                    const cores_options& options) try {
  detail::expect_graph("cores", g);
  auto chosen = detail::choose_by_name<Space>(detail::cores::algorithms, "cores", options.algorithm);
  if constexpr (std::same_as<Space, host>) {
    if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("cores");
    if (!chosen) chosen = {cores_algorithm::peel, "each edge is read once"};
    state_ = {*std::move(chosen),
              std::make_unique<state>(state{{g.vertices(), detail::cores::make_executor<I, O>(ctx, g)}})};
  }
} catch (...) {
  detail::rethrow("cores");
}

template <index_type I, index_type O, class Space>
void cores_plan<I, O, Space>::run() try {
  state_->executor->run();
} catch (...) {
  detail::rethrow("cores");
}
template <index_type I, index_type O, class Space>
span<const I, Space> cores_plan<I, O, Space>::cores() const noexcept {
  return state_->executor->cores();
}
template <index_type I, index_type O, class Space>
I cores_plan<I, O, Space>::max_core() const noexcept {
  return state_->executor->max_core();
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
