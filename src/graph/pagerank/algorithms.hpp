// The algorithms of PageRank, and the copies of a graph that a device makes.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/pagerank.hpp>

namespace spargo::detail::pagerank {

inline constexpr algorithm_table<pagerank_algorithm, 3> algorithms{{
    {pagerank_algorithm::automatic, "automatic", true, true},
    {pagerank_algorithm::jacobi, "jacobi", true, true},
    {pagerank_algorithm::gauss_seidel, "gauss_seidel", true, false},
}};

inline constexpr algorithm_table<pagerank_copy, 4> copies{{
    {pagerank_copy::automatic, "automatic", true, true},
    {pagerank_copy::none, "none", true, true},
    {pagerank_copy::blocked, "blocked", false, true},
    {pagerank_copy::binned, "binned", false, true},
}};

}  // namespace spargo::detail::pagerank
