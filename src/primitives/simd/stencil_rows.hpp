// One row of a five-point stencil, to be inlined into a function per instruction set.
#pragma once

#include "primitives/simd/stencil.hpp"
#include "primitives/stencil/backend.hpp"

namespace spargo::detail::stencil {

template <class Cell, class T>
[[gnu::always_inline]] inline void row_of_cells(const T* __restrict up, const T* __restrict mid,
                                                const T* __restrict down, T* __restrict out, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) out[j] = Cell::apply(mid[j], mid[j - 1], mid[j + 1], up[j], down[j]);
}

}  // namespace spargo::detail::stencil
