// Commands whose flags choose between two operations of the library: options and plans as variants.
//
//   static auto options(flags) -> std::variant<closeness_options, eccentricity_options>
//   static auto make_plan(ctx, g, flags) { return either_plan<closeness_plan<...>, eccentricity_plan<...>>(...); }
#pragma once

#include <spargo/graph/estimate.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace spargo::apps {

template <class... Options>
[[nodiscard]] plan_estimate estimate(const graph_shape& shape, const std::variant<Options...>& chosen) {
  return std::visit([&](const auto& options) { return estimate(shape, options); }, chosen);
}

// The name of an enumerator of one of several enumerations.
struct algorithm_name {
  std::string_view text;

  friend std::string_view to_string(algorithm_name name) { return name.text; }
};

template <class First, class Second>
struct either_plan : std::variant<First, Second> {
  using std::variant<First, Second>::variant;

  template <class F>
  decltype(auto) visit(const F& f) const {
    return std::visit(f, static_cast<const std::variant<First, Second>&>(*this));
  }
  [[nodiscard]] algorithm_name algorithm() const {
    return visit([](const auto& plan) { return algorithm_name{to_string(plan.algorithm())}; });
  }
  [[nodiscard]] const std::string& reason() const {
    return visit([](const auto& plan) -> const std::string& { return plan.reason(); });
  }
  [[nodiscard]] std::int64_t workspace_bytes() const {
    return visit([](const auto& plan) { return plan.workspace_bytes(); });
  }
};

}  // namespace spargo::apps
