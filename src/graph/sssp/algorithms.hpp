// The algorithms of shortest paths from one vertex.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/sssp.hpp>

namespace spargo::detail::sssp {

inline constexpr algorithm_table<sssp_algorithm, 3> algorithms{{
    {sssp_algorithm::automatic, "automatic", true, true},
    {sssp_algorithm::dijkstra, "dijkstra", true, false},
    {sssp_algorithm::delta_stepping, "delta_stepping", true, true},
}};

}  // namespace spargo::detail::sssp
