// Checks and the plan around an executor.
#include "graph/coloring/executor.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <utility>

namespace spargo {

// Nanoseconds: R-MAT 20, degree 16, one thread. Device: the vertices are sorted by 8-byte keys with 4-byte payloads,
// and the same again for scratch.
plan_estimate estimate(const graph_shape& s, const coloring_options& o) {
  constexpr double entry_ns = 4;
  plan_estimate of;
  const std::int64_t sides = s.direction == direction_kind::directed ? 2 : 1;
  of.host_bytes = detail::greedy::host_bytes(s, o.order) +
                  s.threads * (detail::coloring::most_colors(s.vertices, sides * s.entries) + 1) * s.index_bytes;
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  of.device_bytes = detail::greedy::device_bytes(s, o.order);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<coloring_plan<I, O, Space>> : detail::executor_state<detail::coloring::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
coloring_plan<I, O, Space>::coloring_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                          const coloring_options& options) try {
  detail::expect_graph("coloring", g);
  const greedy_order order = detail::greedy::choose_order("coloring", options.order, greedy_order::largest_first);
  this->state_ =
      detail::plan_only<state>(detail::greedy::algorithms, "coloring", options.algorithm, ctx, [&](const auto& where) {
        if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("coloring");
        auto ranks = detail::greedy::rank_vertices(where, g, order, options.seed);
        return std::make_unique<state>(
            state{{g.vertices(), detail::coloring::make_executor<I, O>(where, g, std::move(ranks))}});
      });
} catch (...) {
  detail::rethrow("coloring");
}

template <index_type I, index_type O, class Space>
void coloring_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("coloring");
}
template <index_type I, index_type O, class Space>
span<const I, Space> coloring_plan<I, O, Space>::colors() const noexcept {
  return this->state_->executor->colors();
}
template <index_type I, index_type O, class Space>
I coloring_plan<I, O, Space>::count() const try {
  return this->state_->executor->count();
} catch (...) {
  detail::rethrow("coloring");
}

template <index_type I, index_type O, class Space>
coloring_result<I, Space> coloring(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                   const coloring_options& options) try {
  detail::expect_graph("coloring", g);
  detail::expect_runs_on<Space>(detail::greedy::algorithms, "coloring", options.algorithm);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  coloring_plan<I, O, Space> plan(ctx, pulled.view(), options);
  plan.run();
  return {clone(ctx, plan.colors()), plan.count(), plan.algorithm()};
} catch (...) {
  detail::rethrow("coloring");
}

#define INSTANTIATE(I, O, S)                                                                      \
  template class coloring_plan<I, O, S>;                                                          \
  template coloring_result<I, S> coloring<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                   const coloring_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
