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
struct detail::state_of<hits_plan<I, O, Space>> : detail::ranks::power_state<I, O, Space> {
  static constexpr const char* operation = "hits";
  static constexpr auto pulled = ranks::pulled_sides::in_and_out_edges;

  void set_rule(const hits_options& options) {
    this->rule = {.factor = this->largest_weight > 0 ? std::exp2(-std::ilogb(this->largest_weight)) : 1,
                  .each = ranks::vector_norm::sum,
                  .start = ranks::vector_norm::sum,
                  .initial = 1 / static_cast<double>(this->vertices),
                  .limit = options.tolerance,
                  .most = options.max_iterations};
  }
};

template <index_type I, index_type O, class Space>
void hits_plan<I, O, Space>::run(span<const double, Space> start) try {
  this->state_->run("hits", this->state_->rule, {}, {}, start);
} catch (...) {
  detail::rethrow("hits");
}

template <index_type I, index_type O, class Space>
span<const double, Space> hits_plan<I, O, Space>::hubs() const noexcept {
  return this->state_->executor->values();
}
template <index_type I, index_type O, class Space>
span<const double, Space> hits_plan<I, O, Space>::authorities() const noexcept {
  return this->state_->executor->others();
}

#define INSTANTIATE(I, O, S)                                                         \
  template class detail::power_plan_base<hits_plan<I, O, S>, hits_options, I, O, S>; \
  template class hits_plan<I, O, S>;
#define INSTANTIATE_W(W, I, O, S)                                                               \
  template detail::power_plan_base<hits_plan<I, O, S>, hits_options, I, O, S>::power_plan_base( \
      const context<S>&, const weighted_graph_view<W, I, O, S>&, const hits_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo
