// HITS: power iteration with A A^T, scaled to sum 1. Weights are divided by a power of two near the largest, which
// changes neither vector, so that products of two weights neither overflow nor underflow.
#include "graph/ranks/plan.hpp"

#include <algorithm>
#include <cmath>

namespace spargo {

template <>
enum_table<hits_algorithm> enum_rows() noexcept {
  return detail::ranks::algorithms<hits_algorithm>;
}

plan_estimate estimate(const graph_shape& s, const hits_options&) { return detail::ranks::estimate_power(s, 3, 2); }

template <index_type I, index_type O, class Space>
struct hits_plan<I, O, Space>::state : detail::ranks::power_state<I, O, Space> {
  detail::ranks::power_rule rule;
};

namespace {

template <class State, class Space, class Graph>
std::unique_ptr<State> prepare(const context<Space>& ctx, const Graph& g, const hits_options& options) {
  auto made = detail::ranks::make_state<State>("hits", ctx, g, options, detail::ranks::pulled_sides::in_and_out_edges);
  made->rule = {.factor = made->largest_weight > 0 ? std::exp2(-std::ilogb(made->largest_weight)) : 1,
                .each = detail::ranks::vector_norm::sum,
                .start = detail::ranks::vector_norm::sum,
                .initial = 1 / static_cast<double>(g.vertices()),
                .limit = options.tolerance,
                .most = options.max_iterations};
  return made;
}

}  // namespace

template <index_type I, index_type O, class Space>
hits_plan<I, O, Space>::hits_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                  const hits_options& options) try {
  auto made = prepare<state>(ctx, g, options);
  state_ = {detail::ranks::power_choice<hits_algorithm>(made->how), std::move(made)};
} catch (...) {
  detail::rethrow("hits");
}
template <index_type I, index_type O, class Space>
template <detail::scalar W>
hits_plan<I, O, Space>::hits_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                  const hits_options& options) try {
  auto made = prepare<state>(ctx, g, options);
  state_ = {detail::ranks::power_choice<hits_algorithm>(made->how), std::move(made)};
} catch (...) {
  detail::rethrow("hits");
}

template <index_type I, index_type O, class Space>
void hits_plan<I, O, Space>::run(span<const double, Space> start) try {
  state_->run("hits", state_->rule, {}, {}, start);
} catch (...) {
  detail::rethrow("hits");
}

template <index_type I, index_type O, class Space>
span<const double, Space> hits_plan<I, O, Space>::hubs() const noexcept {
  return state_->executor->values();
}
template <index_type I, index_type O, class Space>
span<const double, Space> hits_plan<I, O, Space>::authorities() const noexcept {
  return state_->executor->others();
}
template <index_type I, index_type O, class Space>
std::int64_t hits_plan<I, O, Space>::iterations() const noexcept {
  return state_->outcome.iterations;
}
template <index_type I, index_type O, class Space>
double hits_plan<I, O, Space>::residual() const noexcept {
  return state_->residual();
}
template <index_type I, index_type O, class Space>
bool hits_plan<I, O, Space>::converged() const noexcept {
  return state_->outcome.converged;
}

namespace {

template <class I, class O, class Space, class Graph>
hits_result<Space> run_once(const context<Space>& ctx, const Graph& g, const hits_options& options) {
  hits_plan<I, O, Space> plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.hubs()), clone(ctx, plan.authorities()), plan.iterations(), plan.residual(), plan.converged(),
          plan.algorithm()};
}

}  // namespace

template <index_type I, index_type O, class Space>
hits_result<Space> hits(const context<Space>& ctx, const graph_view<I, O, Space>& g, const hits_options& options) try {
  return run_once<I, O>(ctx, g, options);
} catch (...) {
  detail::rethrow("hits");
}
template <detail::scalar W, index_type I, index_type O, class Space>
hits_result<Space> hits(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                        const hits_options& options) try {
  return run_once<I, O>(ctx, g, options);
} catch (...) {
  detail::rethrow("hits");
}

#define INSTANTIATE_W(W, I, O, S)                                                                     \
  template hits_plan<I, O, S>::hits_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&,   \
                                         const hits_options&);                                        \
  template hits_result<S> hits<W, I, O, S>(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                           const hits_options&);
#define INSTANTIATE(I, O, S)         \
  template class hits_plan<I, O, S>; \
  template hits_result<S> hits<I, O, S>(const context<S>&, const graph_view<I, O, S>&, const hits_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo
