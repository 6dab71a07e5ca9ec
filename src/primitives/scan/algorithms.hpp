#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::scan {

inline constexpr algorithm_table<scan_algorithm, 7> algorithms{{
    {scan_algorithm::automatic, "automatic", true, true},
    {scan_algorithm::kogge_stone, "kogge_stone", false, true},
    {scan_algorithm::kogge_stone_double_buffered, "kogge_stone_double_buffered", false, true},
    {scan_algorithm::brent_kung, "brent_kung", false, true},
    {scan_algorithm::decoupled_lookback, "decoupled_lookback", false, true},
    {scan_algorithm::sequential, "sequential", true, false},
    {scan_algorithm::chained_blocks, "chained_blocks", true, false},
}};

}  // namespace spargo::detail::scan
