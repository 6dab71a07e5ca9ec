// The algorithms of spanning forests.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/forest.hpp>

namespace spargo::detail::forest {

inline constexpr algorithm_table<forest_algorithm, 3> algorithms{{
    {forest_algorithm::automatic, "automatic", true, true},
    {forest_algorithm::kruskal, "kruskal", true, false},
    {forest_algorithm::boruvka, "boruvka", true, true},
}};

}  // namespace spargo::detail::forest
