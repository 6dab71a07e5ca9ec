// The algorithms of the power iterations.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>

namespace spargo::detail::ranks {

template <class Algorithm>
inline constexpr algorithm_table<Algorithm, 2> algorithms{{
    {Algorithm::automatic, "automatic"},
    {Algorithm::power, "power"},
}};

}  // namespace spargo::detail::ranks
