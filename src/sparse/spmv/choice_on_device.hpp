#pragma once

#include "sparse/products.hpp"
#include "sparse/spmv/csr/column_passes.hpp"

namespace spargo::detail::spmv {

using choice = plan_choice<spmv_algorithm>;

// For a matrix used in place. O(1).
[[nodiscard]] choice choose_csr_on_device(const row_profile& profile, const gathered_vector& x);

}  // namespace spargo::detail::spmv
