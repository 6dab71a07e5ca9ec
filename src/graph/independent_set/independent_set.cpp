// Checks and the plan around an executor.
#include "graph/greedy/plan.hpp"
#include "graph/independent_set/executor.hpp"

#include <utility>

namespace spargo {

// Nanoseconds: R-MAT 20, degree 16, one thread. Device: the vertices are sorted by 8-byte keys with 4-byte payloads,
// and the same again for scratch.
plan_estimate estimate(const graph_shape& s, const independent_set_options& o) {
  constexpr double entry_ns = 1.5;
  plan_estimate of;
  of.host_bytes = detail::greedy::host_bytes(s, o.order);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  of.device_bytes = detail::greedy::device_bytes(s, o.order);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<independent_set_plan<I, O, Space>>
    : detail::executor_state<detail::independent_set::executor<Space>> {};

template <index_type I, index_type O, class Space>
independent_set_plan<I, O, Space>::independent_set_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                        const independent_set_options& options) try {
  this->state_ = detail::greedy::make_state<state>(
      "independent_set", ctx, g, options, greedy_order::smallest_first, [](auto&&... from) {
        return detail::independent_set::make_executor<I, O>(std::forward<decltype(from)>(from)...);
      });
} catch (...) {
  detail::rethrow("independent_set");
}

template <index_type I, index_type O, class Space>
void independent_set_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("independent_set");
}
template <index_type I, index_type O, class Space>
span<const std::uint8_t, Space> independent_set_plan<I, O, Space>::members() const noexcept {
  return this->state_->executor->members();
}
template <index_type I, index_type O, class Space>
std::int64_t independent_set_plan<I, O, Space>::size() const try {
  return this->state_->executor->size();
} catch (...) {
  detail::rethrow("independent_set");
}

template <index_type I, index_type O, class Space>
independent_set_result<Space> independent_set(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                              const independent_set_options& options) try {
  using plan_type = independent_set_plan<I, O, Space>;
  return detail::greedy::run_once<plan_type>("independent_set", ctx, g, options, [&](const plan_type& plan) {
    return independent_set_result<Space>{clone(ctx, plan.members()), plan.size(), plan.algorithm()};
  });
} catch (...) {
  detail::rethrow("independent_set");
}

#define INSTANTIATE(I, O, S)                                                                                 \
  template class independent_set_plan<I, O, S>;                                                              \
  template independent_set_result<S> independent_set<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                              const independent_set_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
