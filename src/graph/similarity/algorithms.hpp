// The algorithms of similarities.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/similarity.hpp>

namespace spargo::detail::similarity {

inline constexpr algorithm_table<similarity_algorithm, 3> algorithms{{
    {similarity_algorithm::automatic, "automatic", true, false},
    {similarity_algorithm::intersect, "intersect", true, false},
    {similarity_algorithm::paths, "paths", true, false},
}};

}  // namespace spargo::detail::similarity
