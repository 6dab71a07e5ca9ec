// The algorithms of breadth-first search.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/bfs.hpp>

namespace spargo::detail::bfs {

inline constexpr algorithm_table<bfs_algorithm, 6> algorithms{{
    {bfs_algorithm::automatic, "automatic", true, true},
    {bfs_algorithm::sequential, "sequential", true, false},
    {bfs_algorithm::global_queue, "global_queue", false, true},
    {bfs_algorithm::block_queue, "block_queue", false, true},
    {bfs_algorithm::load_balanced, "load_balanced", true, true},
    {bfs_algorithm::direction_optimizing, "direction_optimizing", true, true},
}};

}  // namespace spargo::detail::bfs
