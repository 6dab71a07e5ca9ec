// Checks and the plan around an executor.
#include "graph/greedy/plan.hpp"
#include "graph/matching/executor.hpp"

#include <utility>

namespace spargo {

// Nanoseconds: R-MAT 20, degree 16, one thread. Device: the vertices are sorted by 8-byte keys with 4-byte payloads,
// and the same again for scratch.
plan_estimate estimate(const graph_shape& s, const matching_options& o) {
  constexpr double entry_ns = 3;
  plan_estimate of;
  of.host_bytes = detail::greedy::host_bytes(s, o.order);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  of.device_bytes = detail::greedy::device_bytes(s, o.order);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<matching_plan<I, O, Space>> : detail::executor_state<detail::matching::executor<I, Space>> {};

template <index_type I, index_type O, class Space>
matching_plan<I, O, Space>::matching_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                          const matching_options& options) try {
  this->state_ = detail::greedy::make_state<state>(
      "matching", ctx, g, options, greedy_order::smallest_first,
      [](auto&&... from) { return detail::matching::make_executor<I, O>(std::forward<decltype(from)>(from)...); });
} catch (...) {
  detail::rethrow("matching");
}

template <index_type I, index_type O, class Space>
void matching_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("matching");
}
template <index_type I, index_type O, class Space>
span<const I, Space> matching_plan<I, O, Space>::mates() const noexcept {
  return this->state_->executor->mates();
}
template <index_type I, index_type O, class Space>
std::int64_t matching_plan<I, O, Space>::size() const try {
  return this->state_->executor->size();
} catch (...) {
  detail::rethrow("matching");
}

template <index_type I, index_type O, class Space>
matching_result<I, Space> matching(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                   const matching_options& options) try {
  using plan_type = matching_plan<I, O, Space>;
  return detail::greedy::run_once<plan_type>("matching", ctx, g, options, [&](const plan_type& plan) {
    return matching_result<I, Space>{clone(ctx, plan.mates()), plan.size(), plan.algorithm()};
  });
} catch (...) {
  detail::rethrow("matching");
}

#define INSTANTIATE(I, O, S)                                                                      \
  template class matching_plan<I, O, S>;                                                          \
  template matching_result<I, S> matching<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                   const matching_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
