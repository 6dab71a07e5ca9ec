// Convolution's inner loops for any processor, with 16-byte vectors.
#include "core/instantiate.hpp"
#include "primitives/simd/convolve_rows.hpp"

namespace spargo::detail::convolve {

template <class T>
tile_function<T> best_tile_function() {
  return [](const tile_job<T>& job, std::int64_t row, std::int64_t row_end, std::int64_t col, std::int64_t col_end,
            T* out, std::int64_t out_pitch) { convolve_rows<T, 16>(job, row, row_end, col, col_end, out, out_pitch); };
}

#define INSTANTIATE(T) template tile_function<T> best_tile_function();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::convolve
