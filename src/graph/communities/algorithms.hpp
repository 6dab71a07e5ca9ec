// The methods and algorithms of communities.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/communities.hpp>

namespace spargo::detail::communities {

inline constexpr algorithm_table<communities_method, 3> methods{{
    {communities_method::cdlp, "cdlp", true, true},
    {communities_method::louvain, "louvain", true, true},
    {communities_method::leiden, "leiden", true, true},
}};

inline constexpr algorithm_table<communities_objective, 2> objectives{{
    {communities_objective::modularity, "modularity", true, true},
    {communities_objective::cpm, "cpm", true, true},
}};

inline constexpr algorithm_table<communities_algorithm, 3> algorithms{{
    {communities_algorithm::automatic, "automatic", true, true},
    {communities_algorithm::all_vertices, "all_vertices", true, true},
    {communities_algorithm::frontier, "frontier", true, true},
}};

}  // namespace spargo::detail::communities
