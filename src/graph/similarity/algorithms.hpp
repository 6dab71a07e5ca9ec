// The algorithms of similarities.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/similarity.hpp>

namespace spargo::detail::similarity {

inline constexpr algorithm_table<similarity_algorithm, 2> algorithms{{
    {similarity_algorithm::automatic, "automatic"},
    {similarity_algorithm::rows, "rows"},
}};

}  // namespace spargo::detail::similarity
