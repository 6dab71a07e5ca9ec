// The algorithms and measures of closeness.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/closeness.hpp>

namespace spargo::detail::closeness {

inline constexpr algorithm_table<closeness_algorithm, 2> algorithms{{
    {closeness_algorithm::automatic, "automatic"},
    {closeness_algorithm::bit_parallel, "bit_parallel"},
}};

inline constexpr algorithm_table<closeness_measure, 2> measures{{
    {closeness_measure::closeness, "closeness"},
    {closeness_measure::harmonic, "harmonic"},
}};

}  // namespace spargo::detail::closeness
