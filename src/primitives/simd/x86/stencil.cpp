// Rows of five-point stencils for x86, compiled for three instruction sets and chosen at run time. None fuses: a cell's
// product is not an operand of a sum.
#include "core/instantiate.hpp"
#include "primitives/simd/stencil_rows.hpp"

namespace spargo::detail::stencil {

namespace {

template <class Cell, class T>
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] void avx512_row(const T* up, const T* mid, const T* down,
                                                                            T* out, std::int64_t count) {
  row_of_cells<Cell>(up, mid, down, out, count);
}

template <class Cell, class T>
[[gnu::target("avx2")]] void avx2_row(const T* up, const T* mid, const T* down, T* out, std::int64_t count) {
  row_of_cells<Cell>(up, mid, down, out, count);
}

template <class Cell, class T>
void sse2_row(const T* up, const T* mid, const T* down, T* out, std::int64_t count) {
  row_of_cells<Cell>(up, mid, down, out, count);
}

}  // namespace

template <class Cell, class T>
five_point_row<T> best_five_point_row() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return avx512_row<Cell, T>;
  if (__builtin_cpu_supports("avx2")) return avx2_row<Cell, T>;
  return sse2_row<Cell, T>;
}

#define INSTANTIATE(T)                                               \
  template five_point_row<T> best_five_point_row<average_cell, T>(); \
  template five_point_row<T> best_five_point_row<laplace_cell, T>();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
