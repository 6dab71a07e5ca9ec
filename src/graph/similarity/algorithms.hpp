// The algorithms of similarities.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/similarity.hpp>

namespace spargo::detail::similarity {

inline constexpr algorithm_table<similarity_algorithm, 2> algorithms{{
    {similarity_algorithm::automatic, "automatic", true, false},
    {similarity_algorithm::rows, "rows", true, false},
}};

}  // namespace spargo::detail::similarity
