#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/primitives/matmul.hpp>

namespace spargo::detail::matmul {

inline constexpr algorithm_table<matmul_algorithm, 8> algorithms{{
    {matmul_algorithm::automatic, "automatic", true, true},
    {matmul_algorithm::naive, "naive", false, true},
    {matmul_algorithm::tiled, "tiled", false, true},
    {matmul_algorithm::coarsened, "coarsened", false, true},
    {matmul_algorithm::split_k, "split_k", false, true},
    {matmul_algorithm::register_tiled, "register_tiled", false, true},
    {matmul_algorithm::tensor_core, "tensor_core", false, true},
    {matmul_algorithm::blocked, "blocked", true, false},
}};

}  // namespace spargo::detail::matmul
