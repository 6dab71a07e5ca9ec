// The algorithms that find eccentricities.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/eccentricity.hpp>

namespace spargo::detail::eccentricity {

inline constexpr algorithm_table<eccentricity_algorithm, 2> algorithms{{
    {eccentricity_algorithm::automatic, "automatic"},
    {eccentricity_algorithm::bounds, "bounds"},
}};

}  // namespace spargo::detail::eccentricity
