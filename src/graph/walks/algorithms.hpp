// The algorithms of random walks.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/walks.hpp>

namespace spargo::detail::walks {

inline constexpr algorithm_table<walks_algorithm, 3> algorithms{{
    {walks_algorithm::automatic, "automatic"},
    {walks_algorithm::uniform, "uniform"},
    {walks_algorithm::prefix_sums, "prefix_sums"},
}};

}  // namespace spargo::detail::walks
