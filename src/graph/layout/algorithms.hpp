// The algorithms that lay out a graph, and where they start.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/layout.hpp>

namespace spargo::detail::layout {

inline constexpr algorithm_table<layout_algorithm, 2> algorithms{{
    {layout_algorithm::automatic, "automatic"},
    {layout_algorithm::force_atlas, "force_atlas"},
}};

}  // namespace spargo::detail::layout
