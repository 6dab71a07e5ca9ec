#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/primitives/histogram.hpp>

namespace spargo::detail::histogram {

inline constexpr algorithm_table<histogram_algorithm, 9> algorithms{{
    {histogram_algorithm::automatic, "automatic", true, true},
    {histogram_algorithm::contiguous_partition, "contiguous_partition", false, true},
    {histogram_algorithm::global_atomic, "global_atomic", true, true},
    {histogram_algorithm::privatized, "privatized", true, true},
    {histogram_algorithm::privatized_coarsened, "privatized_coarsened", false, true},
    {histogram_algorithm::lane_privatized, "lane_privatized", false, true},
    {histogram_algorithm::aggregated, "aggregated", false, true},
    {histogram_algorithm::multi_pass, "multi_pass", false, true},
    {histogram_algorithm::interleaved, "interleaved", true, false},
}};

}  // namespace spargo::detail::histogram
