// The forms in which a plan on the host keeps a copy of a CSR matrix, each behind an attempt that says why not.
#pragma once

#include "sparse/spmv/copies/compressed/compressed.hpp"

namespace spargo::detail::spmv {

// Runs of rows that repeat one pattern along the diagonal: their columns once a run, their values too where they
// repeat; other rows as CSR. host_bands.cpp.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> compress_bands(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                             copy_demand demand, std::int64_t products = 0);

// Tiles whose rows and columns are numbered by 16 bits, so that x and y of a tile stay in the L2 cache.
// host_tiles.cpp.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> compress_tiles(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                             copy_demand demand);

}  // namespace spargo::detail::spmv
