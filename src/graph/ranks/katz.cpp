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
struct detail::state_of<katz_plan<I, O, Space>> : detail::ranks::power_state<I, O, Space> {
  static constexpr const char* operation = "katz";
  static constexpr double automatic_share = 0.9;  // of the largest alpha that converges

  double bound = 0;  // on the largest eigenvalue; 0: not known yet

  [[nodiscard]] double eigenvalue_bound() {
    if (bound > 0 || this->vertices == 0) return bound;
    ranks::power_rule shifted = ranks::shifted_rule(this->vertices, 0, ranks::bounding_steps);
    // Scales small weights up: added to the 1 of A + I they would be rounded away.
    constexpr double least = std::numeric_limits<double>::min();
    const double unit = std::exp2(std::ilogb(std::clamp(this->largest_weight, least, 1.0)));
    shifted.factor = 1 / unit;
    this->run(operation, shifted, {}, {}, {});
    // The bound holds but for rounding.
    bound = std::max(least, (this->outcome.bound - 1) * (1 + 1e-9) * unit);
    return bound;
  }

  static void check(const katz_options& o) {
    SPARGO_EXPECTS(o.alpha >= 0 && std::isfinite(o.alpha),
                   fmt::format("katz: alpha {} (expected more than 0, or 0: chosen)", o.alpha));
    SPARGO_EXPECTS(o.beta >= 0 && std::isfinite(o.beta), fmt::format("katz: beta {} (expected 0 or more)", o.beta));
    expect_named(operation, "scale", o.scale);
  }
  void set_rule(const katz_options& o) {
    this->divisor = std::max(1.0, static_cast<double>(this->vertices));
    this->rule = {.factor = o.alpha,
                  .constant = o.beta,
                  .last = o.scale == katz_scale::unit ? ranks::vector_norm::euclidean : ranks::vector_norm::none,
                  .limit = this->divisor * o.tolerance,
                  .most = o.max_iterations};
    if (o.alpha > 0) return;
    const double most = eigenvalue_bound();
    this->rule.factor = automatic_share / std::max(most, this->largest_weight > 0 ? this->largest_weight : 1);
    this->how += fmt::format("; alpha is {:.4g}, the largest eigenvalue being at most {:.4g}", this->rule.factor, most);
  }
};

template <index_type I, index_type O, class Space>
void katz_plan<I, O, Space>::run(span<const double, Space> beta, span<const double, Space> start) try {
  this->state_->run("katz", this->state_->rule, beta, "values of beta", start);
} catch (...) {
  detail::rethrow("katz");
}
template <index_type I, index_type O, class Space>
double katz_plan<I, O, Space>::eigenvalue_bound() try {
  return this->state_->eigenvalue_bound();
} catch (...) {
  detail::rethrow("katz");
}

template <index_type I, index_type O, class Space>
span<const double, Space> katz_plan<I, O, Space>::values() const noexcept {
  return this->state_->executor->values();
}
template <index_type I, index_type O, class Space>
double katz_plan<I, O, Space>::alpha() const noexcept {
  return this->state_->rule.factor;
}

#define INSTANTIATE(I, O, S)                                                         \
  template class detail::power_plan_base<katz_plan<I, O, S>, katz_options, I, O, S>; \
  template class katz_plan<I, O, S>;
#define INSTANTIATE_W(W, I, O, S)                                                               \
  template detail::power_plan_base<katz_plan<I, O, S>, katz_options, I, O, S>::power_plan_base( \
      const context<S>&, const weighted_graph_view<W, I, O, S>&, const katz_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo
