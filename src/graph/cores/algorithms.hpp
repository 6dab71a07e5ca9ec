// The algorithms that find core numbers.
#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/graph/cores.hpp>

namespace spargo::detail::cores {

inline constexpr algorithm_table<cores_algorithm, 2> algorithms{{
    {cores_algorithm::automatic, "automatic"},
    {cores_algorithm::peel, "peel"},
}};

}  // namespace spargo::detail::cores
