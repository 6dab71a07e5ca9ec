#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/primitives/reduce.hpp>

namespace spargo::detail::reduce {

inline constexpr algorithm_table<reduce_algorithm, 9> algorithms{{
    {reduce_algorithm::automatic, "automatic", true, true},
    {reduce_algorithm::interleaved_divergent, "interleaved_divergent", false, true},
    {reduce_algorithm::interleaved_strided, "interleaved_strided", false, true},
    {reduce_algorithm::sequential, "sequential", false, true},
    {reduce_algorithm::add_on_load, "add_on_load", false, true},
    {reduce_algorithm::coarsened, "coarsened", false, true},
    {reduce_algorithm::warp_shuffle, "warp_shuffle", false, true},
    {reduce_algorithm::deterministic, "deterministic", true, true},
    {reduce_algorithm::single_pass, "single_pass", false, true},
}};

}  // namespace spargo::detail::reduce
