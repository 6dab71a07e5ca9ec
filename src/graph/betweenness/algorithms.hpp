// The algorithms of betweenness centrality.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/betweenness.hpp>

namespace spargo::detail::betweenness {

inline constexpr algorithm_table<betweenness_algorithm, 3> algorithms{{
    {betweenness_algorithm::automatic, "automatic", true, true},
    {betweenness_algorithm::by_level, "by_level", true, true},
    {betweenness_algorithm::by_source, "by_source", true, false},
}};

}  // namespace spargo::detail::betweenness
