// Katz centrality: the iteration x = alpha A^T x + beta.
#include "graph/ranks/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spargo {

template <>
enum_table<katz_algorithm> enum_rows() noexcept {
  return detail::ranks::algorithms<katz_algorithm>;
}
template <>
enum_table<katz_scale> enum_rows() noexcept {
  static constexpr std::array<enum_row<katz_scale>, 2> rows{{
      {katz_scale::unit, "unit"},
      {katz_scale::none, "none"},
  }};
  return rows;
}

plan_estimate estimate(const graph_shape& s, const katz_options&) { return detail::ranks::estimate_power(s, 2, 1); }

template <index_type I, index_type O, class Space>
struct katz_plan<I, O, Space>::state : detail::ranks::power_state<I, O, Space> {
  detail::ranks::power_rule rule;
  double bound = 0;  // on the largest eigenvalue; 0: not known yet

  [[nodiscard]] double eigenvalue_bound() {
    if (bound > 0 || this->vertices == 0) return bound;
    detail::ranks::power_rule shifted = detail::ranks::shifted_rule(this->vertices, 0, detail::ranks::bounding_steps);
    // Small weights are scaled up: beside the 1 of A + I they would be rounded away.
    constexpr double least = std::numeric_limits<double>::min();
    const double unit = std::exp2(std::ilogb(std::clamp(this->largest_weight, least, 1.0)));
    shifted.factor = 1 / unit;
    this->run("katz", shifted, {}, {}, {});
    // The bound holds but for rounding.
    bound = std::max(least, (this->outcome.bound - 1) * (1 + 1e-9) * unit);
    return bound;
  }
};

namespace {

constexpr double automatic_share = 0.9;  // of the largest alpha that converges

template <class State, class Space, class Graph>
std::unique_ptr<State> prepare(const context<Space>& ctx, const Graph& g, const katz_options& o) {
  SPARGO_EXPECTS(o.alpha >= 0 && std::isfinite(o.alpha),
                 fmt::format("katz: alpha {} (expected more than 0, or 0: chosen)", o.alpha));
  SPARGO_EXPECTS(o.beta >= 0 && std::isfinite(o.beta), fmt::format("katz: beta {} (expected 0 or more)", o.beta));
  detail::expect_named("katz", "scale", o.scale);
  auto made = detail::ranks::make_state<State>("katz", ctx, g, o, detail::ranks::pulled_sides::in_edges);
  made->divisor = std::max(1.0, static_cast<double>(g.vertices()));
  made->rule = {
      .factor = o.alpha,
      .constant = o.beta,
      .last = o.scale == katz_scale::unit ? detail::ranks::vector_norm::euclidean : detail::ranks::vector_norm::none,
      .limit = made->divisor * o.tolerance,
      .most = o.max_iterations};
  if (o.alpha == 0) {
    const double bound = made->eigenvalue_bound();
    made->rule.factor = automatic_share / std::max(bound, made->largest_weight > 0 ? made->largest_weight : 1);
    made->how +=
        fmt::format("; alpha is {:.4g}, the largest eigenvalue being at most {:.4g}", made->rule.factor, bound);
  }
  return made;
}

}  // namespace

template <index_type I, index_type O, class Space>
katz_plan<I, O, Space>::katz_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                  const katz_options& options) try {
  auto made = prepare<state>(ctx, g, options);
  state_ = {detail::ranks::power_choice<katz_algorithm>(made->how), std::move(made)};
} catch (...) {
  detail::rethrow("katz");
}
template <index_type I, index_type O, class Space>
template <detail::scalar W>
katz_plan<I, O, Space>::katz_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                  const katz_options& options) try {
  auto made = prepare<state>(ctx, g, options);
  state_ = {detail::ranks::power_choice<katz_algorithm>(made->how), std::move(made)};
} catch (...) {
  detail::rethrow("katz");
}

template <index_type I, index_type O, class Space>
void katz_plan<I, O, Space>::run(span<const double, Space> beta, span<const double, Space> start) try {
  state_->run("katz", state_->rule, beta, "values of beta", start);
} catch (...) {
  detail::rethrow("katz");
}
template <index_type I, index_type O, class Space>
double katz_plan<I, O, Space>::eigenvalue_bound() try {
  return state_->eigenvalue_bound();
} catch (...) {
  detail::rethrow("katz");
}

template <index_type I, index_type O, class Space>
span<const double, Space> katz_plan<I, O, Space>::values() const noexcept {
  return state_->executor->values();
}
template <index_type I, index_type O, class Space>
double katz_plan<I, O, Space>::alpha() const noexcept {
  return state_->rule.factor;
}
template <index_type I, index_type O, class Space>
std::int64_t katz_plan<I, O, Space>::iterations() const noexcept {
  return state_->outcome.iterations;
}
template <index_type I, index_type O, class Space>
double katz_plan<I, O, Space>::residual() const noexcept {
  return state_->residual();
}
template <index_type I, index_type O, class Space>
bool katz_plan<I, O, Space>::converged() const noexcept {
  return state_->outcome.converged;
}

namespace {

template <class I, class O, class Space, class Graph>
katz_result<Space> run_once(const context<Space>& ctx, const Graph& g, const katz_options& options) {
  katz_plan<I, O, Space> plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.values()), plan.iterations(), plan.residual(),
          plan.converged(),          plan.alpha(),      plan.algorithm()};
}

}  // namespace

template <index_type I, index_type O, class Space>
katz_result<Space> katz(const context<Space>& ctx, const graph_view<I, O, Space>& g, const katz_options& options) try {
  return run_once<I, O>(ctx, g, options);
} catch (...) {
  detail::rethrow("katz");
}
template <detail::scalar W, index_type I, index_type O, class Space>
katz_result<Space> katz(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                        const katz_options& options) try {
  return run_once<I, O>(ctx, g, options);
} catch (...) {
  detail::rethrow("katz");
}

#define INSTANTIATE_W(W, I, O, S)                                                                     \
  template katz_plan<I, O, S>::katz_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&,   \
                                         const katz_options&);                                        \
  template katz_result<S> katz<W, I, O, S>(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                           const katz_options&);
#define INSTANTIATE(I, O, S)         \
  template class katz_plan<I, O, S>; \
  template katz_result<S> katz<I, O, S>(const context<S>&, const graph_view<I, O, S>&, const katz_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo
