// The algorithms of PageRank.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/pagerank.hpp>

namespace spargo::detail::pagerank {

inline constexpr algorithm_table<pagerank_algorithm, 3> algorithms{{
    {pagerank_algorithm::automatic, "automatic", true, true},
    {pagerank_algorithm::jacobi, "jacobi", true, true},
    {pagerank_algorithm::gauss_seidel, "gauss_seidel", true, false},
}};

}  // namespace spargo::detail::pagerank
