// The algorithms that find trusses.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/trusses.hpp>

namespace spargo::detail::trusses {

inline constexpr algorithm_table<trusses_algorithm, 2> algorithms{{
    {trusses_algorithm::automatic, "automatic"},
    {trusses_algorithm::peel, "peel"},
}};

}  // namespace spargo::detail::trusses
