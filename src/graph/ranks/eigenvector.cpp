// Eigenvector centrality: power iteration with A + I, scaled to 2-norm 1.
#include "graph/ranks/plan.hpp"

#include <algorithm>
#include <cmath>

namespace spargo {

template <>
enum_table<eigenvector_algorithm> enum_rows() noexcept {
  return detail::ranks::algorithms<eigenvector_algorithm>;
}

plan_estimate estimate(const graph_shape& s, const eigenvector_options&) {
  return detail::ranks::estimate_power(s, 2, 1);
}

template <index_type I, index_type O, class Space>
struct eigenvector_plan<I, O, Space>::state : detail::ranks::power_state<I, O, Space> {
  detail::ranks::power_rule rule;
};

namespace {

template <class State, class Space, class Graph>
std::unique_ptr<State> prepare(const context<Space>& ctx, const Graph& g, const eigenvector_options& options) {
  auto made = detail::ranks::make_state<State>("eigenvector", ctx, g, options, detail::ranks::pulled_sides::in_edges);
  made->divisor = std::max(1.0, static_cast<double>(g.vertices()));
  made->rule = detail::ranks::shifted_rule(g.vertices(), made->divisor * options.tolerance, options.max_iterations);
  return made;
}

}  // namespace

template <index_type I, index_type O, class Space>
eigenvector_plan<I, O, Space>::eigenvector_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                const eigenvector_options& options) try {
  auto made = prepare<state>(ctx, g, options);
  state_ = {detail::ranks::power_choice<eigenvector_algorithm>(made->how), std::move(made)};
} catch (...) {
  detail::rethrow("eigenvector");
}
template <index_type I, index_type O, class Space>
template <detail::scalar W>
eigenvector_plan<I, O, Space>::eigenvector_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                                const eigenvector_options& options) try {
  auto made = prepare<state>(ctx, g, options);
  state_ = {detail::ranks::power_choice<eigenvector_algorithm>(made->how), std::move(made)};
} catch (...) {
  detail::rethrow("eigenvector");
}

template <index_type I, index_type O, class Space>
void eigenvector_plan<I, O, Space>::run(span<const double, Space> start) try {
  state_->run("eigenvector", state_->rule, {}, {}, start);
} catch (...) {
  detail::rethrow("eigenvector");
}

template <index_type I, index_type O, class Space>
span<const double, Space> eigenvector_plan<I, O, Space>::values() const noexcept {
  return state_->executor->values();
}
template <index_type I, index_type O, class Space>
double eigenvector_plan<I, O, Space>::eigenvalue() const noexcept {
  return std::max(0.0, state_->outcome.growth - 1);
}
template <index_type I, index_type O, class Space>
std::int64_t eigenvector_plan<I, O, Space>::iterations() const noexcept {
  return state_->outcome.iterations;
}
template <index_type I, index_type O, class Space>
double eigenvector_plan<I, O, Space>::residual() const noexcept {
  return state_->residual();
}
template <index_type I, index_type O, class Space>
bool eigenvector_plan<I, O, Space>::converged() const noexcept {
  return state_->outcome.converged;
}

namespace {

template <class I, class O, class Space, class Graph>
eigenvector_result<Space> run_once(const context<Space>& ctx, const Graph& g, const eigenvector_options& options) {
  eigenvector_plan<I, O, Space> plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.values()), plan.iterations(), plan.residual(),
          plan.converged(),          plan.eigenvalue(), plan.algorithm()};
}

}  // namespace

template <index_type I, index_type O, class Space>
eigenvector_result<Space> eigenvector(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                      const eigenvector_options& options) try {
  return run_once<I, O>(ctx, g, options);
} catch (...) {
  detail::rethrow("eigenvector");
}
template <detail::scalar W, index_type I, index_type O, class Space>
eigenvector_result<Space> eigenvector(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                      const eigenvector_options& options) try {
  return run_once<I, O>(ctx, g, options);
} catch (...) {
  detail::rethrow("eigenvector");
}

#define INSTANTIATE_W(W, I, O, S)                                                                                   \
  template eigenvector_plan<I, O, S>::eigenvector_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&,   \
                                                       const eigenvector_options&);                                 \
  template eigenvector_result<S> eigenvector<W, I, O, S>(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                                         const eigenvector_options&);
#define INSTANTIATE(I, O, S)                                                                         \
  template class eigenvector_plan<I, O, S>;                                                          \
  template eigenvector_result<S> eigenvector<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                      const eigenvector_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo
