// The forms of a host plan's copy of a CSR matrix; each attempt gives a copy or the reason against it.
#pragma once

#include "sparse/spmv/copies/compressed/compressed.hpp"

namespace spargo::detail::spmv {

// Bands: runs of rows that repeat a pattern along the diagonal store columns once, and values if they repeat too.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> compress_bands(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                             copy_demand demand, std::int64_t products = 0);

// Tiles with 16-bit rows and columns, whose x and y stay in L2.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> compress_tiles(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                             copy_demand demand);

}  // namespace spargo::detail::spmv
