#pragma once

#include "core/algorithm_table.hpp"

#include <spargo/sparse/spmv.hpp>

namespace spargo::detail::spmv {

inline constexpr algorithm_table<spmv_algorithm, 13> algorithms{{
    {spmv_algorithm::automatic, "automatic", true, true},
    {spmv_algorithm::row_per_thread, "row_per_thread", true, true},
    {spmv_algorithm::row_per_warp, "row_per_warp", false, true},
    {spmv_algorithm::row_blocks, "row_blocks", false, true},
    {spmv_algorithm::merge_path, "merge_path", true, true},
    {spmv_algorithm::column_passes, "column_passes", false, true},
    {spmv_algorithm::compressed, "compressed", true, true},
    {spmv_algorithm::blocked, "blocked", false, true},
    {spmv_algorithm::binned, "binned", false, true},
    {spmv_algorithm::ell, "ell", true, true},
    {spmv_algorithm::sell, "sell", true, true},
    {spmv_algorithm::coo_atomic, "coo_atomic", false, true},
    {spmv_algorithm::coo_segmented, "coo_segmented", true, true},
}};

inline constexpr algorithm_table<spmv_storage, 2> storages{{
    {spmv_storage::borrowed, "borrowed"},
    {spmv_storage::copied, "copied"},
}};

inline constexpr algorithm_table<spmv_operation, 3> operations{{
    {spmv_operation::none, "none"},
    {spmv_operation::transpose, "transpose"},
    {spmv_operation::conjugate_transpose, "conjugate_transpose"},
}};

// The format that an algorithm reads; CSR for all not named here.
[[nodiscard]] constexpr bool reads_ell(spmv_algorithm a) { return a == spmv_algorithm::ell; }
[[nodiscard]] constexpr bool reads_sell(spmv_algorithm a) { return a == spmv_algorithm::sell; }
[[nodiscard]] constexpr bool reads_coo(spmv_algorithm a) {
  return a == spmv_algorithm::coo_atomic || a == spmv_algorithm::coo_segmented;
}
[[nodiscard]] constexpr bool reads_csr(spmv_algorithm a) {
  return a != spmv_algorithm::automatic && !reads_ell(a) && !reads_sell(a) && !reads_coo(a);
}

}  // namespace spargo::detail::spmv
