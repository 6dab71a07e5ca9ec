// Eigenvector centrality: power iteration with A + I, scaled to 2-norm 1.
#include "graph/ranks/plan.hpp"

#include <algorithm>

namespace spargo {

template <>
enum_table<eigenvector_algorithm> enum_rows() noexcept {
  return detail::ranks::algorithms<eigenvector_algorithm>;
}

plan_estimate estimate(const graph_shape& s, const eigenvector_options&) {
  return detail::ranks::estimate_power(s, 2, 1);
}

template <index_type I, index_type O, class Space>
struct detail::state_of<eigenvector_plan<I, O, Space>> : detail::ranks::power_state<I, O, Space> {
  static constexpr const char* operation = "eigenvector";

  void set_rule(const eigenvector_options& options) {
    this->divisor = std::max(1.0, static_cast<double>(this->vertices));
    this->rule = ranks::shifted_rule(this->vertices, this->divisor * options.tolerance, options.max_iterations);
  }
};

template <index_type I, index_type O, class Space>
void eigenvector_plan<I, O, Space>::run(span<const double, Space> start) try {
  this->state_->run("eigenvector", this->state_->rule, {}, {}, start);
} catch (...) {
  detail::rethrow("eigenvector");
}

template <index_type I, index_type O, class Space>
span<const double, Space> eigenvector_plan<I, O, Space>::values() const noexcept {
  return this->state_->executor->values();
}
template <index_type I, index_type O, class Space>
double eigenvector_plan<I, O, Space>::eigenvalue() const noexcept {
  return std::max(0.0, this->state_->outcome.growth - 1);
}

#define INSTANTIATE(I, O, S)                                                                       \
  template class detail::power_plan_base<eigenvector_plan<I, O, S>, eigenvector_options, I, O, S>; \
  template class eigenvector_plan<I, O, S>;
#define INSTANTIATE_W(W, I, O, S)                                                                             \
  template detail::power_plan_base<eigenvector_plan<I, O, S>, eigenvector_options, I, O, S>::power_plan_base( \
      const context<S>&, const weighted_graph_view<W, I, O, S>&, const eigenvector_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo
