// The algorithms that count triangles.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/triangles.hpp>

namespace spargo::detail::triangles {

inline constexpr algorithm_table<triangles_algorithm, 3> algorithms{{
    {triangles_algorithm::automatic, "automatic", true, true},
    {triangles_algorithm::merge, "merge", true, true},
    {triangles_algorithm::bitmap, "bitmap", true, true},
}};

}  // namespace spargo::detail::triangles
