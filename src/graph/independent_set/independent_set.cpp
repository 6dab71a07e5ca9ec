// Checks and the plan around an executor.
#include "graph/graph/with_in_edges.hpp"
#include "graph/independent_set/executor.hpp"
#include "graph/plan.hpp"

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
  detail::expect_graph("independent_set", g);
  const greedy_order order =
      detail::greedy::choose_order("independent_set", options.order, greedy_order::smallest_first);
  this->state_ = detail::plan_only<state>(
      detail::greedy::algorithms, "independent_set", options.algorithm, ctx, [&](const auto& where) {
        if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("independent_set");
        auto ranks = detail::greedy::rank_vertices(where, g, order, options.seed);
        return std::make_unique<state>(
            state{{g.vertices(), detail::independent_set::make_executor<I, O>(where, g, std::move(ranks))}});
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
  detail::expect_graph("independent_set", g);
  detail::expect_runs_on<Space>(detail::greedy::algorithms, "independent_set", options.algorithm);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  independent_set_plan<I, O, Space> plan(ctx, pulled.view(), options);
  plan.run();
  return {clone(ctx, plan.members()), plan.size(), plan.algorithm()};
} catch (...) {
  detail::rethrow("independent_set");
}

#define INSTANTIATE(I, O, S)                                                                                 \
  template class independent_set_plan<I, O, S>;                                                              \
  template independent_set_result<S> independent_set<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                              const independent_set_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
