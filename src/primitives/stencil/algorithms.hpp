// Algorithms of stencils, Jacobi's iteration and sliding maxima.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/sliding_max.hpp>
#include <spargo/primitives/stencil.hpp>

namespace spargo::detail::stencil {

// On the host, window averages also have register_marched, as a scan.
inline constexpr algorithm_table<stencil_algorithm, 4> window_average_algorithms{{
    {stencil_algorithm::automatic, "automatic", true, true},
    {stencil_algorithm::naive, "naive", true, true},
    {stencil_algorithm::tiled, "tiled", true, true},
    {stencil_algorithm::register_marched, "register_marched", true, true},
}};
inline constexpr algorithm_table<stencil_algorithm, 4> five_point_algorithms{{
    {stencil_algorithm::automatic, "automatic", true, true},
    {stencil_algorithm::naive, "naive", true, true},
    {stencil_algorithm::tiled, "tiled", true, true},
    {stencil_algorithm::register_marched, "register_marched", false, true},
}};

inline constexpr algorithm_table<jacobi_algorithm, 5> jacobi_algorithms{{
    {jacobi_algorithm::automatic, "automatic", true, true},
    {jacobi_algorithm::naive, "naive", true, true},
    {jacobi_algorithm::tiled, "tiled", true, true},
    {jacobi_algorithm::register_marched, "register_marched", false, true},
    {jacobi_algorithm::temporal, "temporal", true, true},
}};

inline constexpr algorithm_table<sliding_max_algorithm, 4> sliding_max_algorithms{{
    {sliding_max_algorithm::automatic, "automatic", true, true},
    {sliding_max_algorithm::naive, "naive", true, true},
    {sliding_max_algorithm::tiled, "tiled", true, true},
    {sliding_max_algorithm::van_herk, "van_herk", true, true},
}};

}  // namespace spargo::detail::stencil
