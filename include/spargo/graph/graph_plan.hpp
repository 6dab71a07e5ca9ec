// The members that all plans of operations on graphs have.
#pragma once

#include <spargo/core/plan_state.hpp>
#include <spargo/core/types.hpp>
#include <spargo/graph/estimate.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo::detail {

// The state of a plan, which only the library knows.
template <class Plan>
struct state_of;

template <class Options>
[[nodiscard]] plan_estimate estimate_of(const graph_shape& shape, const Options& options) {
  return estimate(shape, options);
}

// The base of a plan over graphs with indices I and offsets O, and edge weights W (void: none).
template <class Plan, class Options, index_type I, index_type O, class W = void>
class SPARGO_EXPORT graph_plan_base {
 public:
  // The algorithm in use, never `automatic`, and why: one sentence.
  [[nodiscard]] auto algorithm() const noexcept { return state_.algorithm(); }
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }

  // Memory and time of such a plan for a graph of this shape.
  [[nodiscard]] static plan_estimate estimate(const graph_shape& shape, const Options& options = {}) {
    graph_shape typed = shape.with_types<I, O>();
    if constexpr (!std::is_void_v<W>) typed.value_bytes = sizeof(W);
    return estimate_of(typed, options);
  }

 protected:
  plan_state<state_of<Plan>, decltype(Options::algorithm)> state_;
};

}  // namespace spargo::detail

#include <spargo/core/macros_pop.hpp>
