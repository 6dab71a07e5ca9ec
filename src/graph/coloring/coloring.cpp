// Checks and the plan around an executor.
#include "graph/coloring/executor.hpp"
#include "graph/greedy/plan.hpp"

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
  this->state_ = detail::greedy::make_state<state>(
      "coloring", ctx, g, options, greedy_order::largest_first,
      [](auto&&... from) { return detail::coloring::make_executor<I, O>(std::forward<decltype(from)>(from)...); });
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
  using plan_type = coloring_plan<I, O, Space>;
  return detail::greedy::run_once<plan_type>("coloring", ctx, g, options, [&](const plan_type& plan) {
    return coloring_result<I, Space>{clone(ctx, plan.colors()), plan.count(), plan.algorithm()};
  });
} catch (...) {
  detail::rethrow("coloring");
}

#define INSTANTIATE(I, O, S)                                                                      \
  template class coloring_plan<I, O, S>;                                                          \
  template coloring_result<I, S> coloring<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                   const coloring_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
