// The algorithms of connected components.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/components.hpp>

namespace spargo::detail::components {

inline constexpr algorithm_table<components_algorithm, 5> algorithms{{
    {components_algorithm::automatic, "automatic", true, true},
    {components_algorithm::union_find, "union_find", true, false},
    {components_algorithm::afforest, "afforest", true, true},
    {components_algorithm::tarjan, "tarjan", true, false},
    {components_algorithm::forward_backward, "forward_backward", true, true},
}};

// Whether it follows edges only along their direction.
[[nodiscard]] constexpr bool finds_strong(components_algorithm algorithm) {
  return algorithm == components_algorithm::tarjan || algorithm == components_algorithm::forward_backward;
}

}  // namespace spargo::detail::components
