// Inner loops of host five-point stencils, one set per instruction set.
#pragma once

#include <cstdint>

namespace spargo::detail::stencil {

// out[j] for interior cells j in [0, count): mid[-1] to mid[count] and the rows above and below exist.
template <class T>
using five_point_row = void (*)(const T* up, const T* mid, const T* down, T* out, std::int64_t count);

// The best for this processor. Cell: average_cell, laplace_cell.
template <class Cell, class T>
five_point_row<T> best_five_point_row();

}  // namespace spargo::detail::stencil
