// The algorithms of breadth-first search from many sources.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/multi_bfs.hpp>

namespace spargo::detail::multi_bfs {

inline constexpr algorithm_table<multi_bfs_algorithm, 3> algorithms{{
    {multi_bfs_algorithm::automatic, "automatic", true, true},
    {multi_bfs_algorithm::one_word, "one_word", true, true},
    {multi_bfs_algorithm::four_words, "four_words", true, true},
}};

}  // namespace spargo::detail::multi_bfs
