// Rows of five-point stencils for any processor.
#include "core/instantiate.hpp"
#include "primitives/simd/stencil_rows.hpp"

namespace spargo::detail::stencil {

namespace {

template <class Cell, class T>
void plain_row(const T* up, const T* mid, const T* down, T* out, std::int64_t count) {
  row_of_cells<Cell>(up, mid, down, out, count);
}

}  // namespace

template <class Cell, class T>
five_point_row<T> best_five_point_row() {
  return plain_row<Cell, T>;
}

#define INSTANTIATE(T)                                               \
  template five_point_row<T> best_five_point_row<average_cell, T>(); \
  template five_point_row<T> best_five_point_row<laplace_cell, T>();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
