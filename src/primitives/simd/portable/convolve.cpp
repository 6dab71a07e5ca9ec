// Convolution's inner loops where there is one instruction set, with vectors of 16 bytes.
#include "core/instantiate.hpp"
#include "primitives/simd/convolve_rows.hpp"

namespace spargo::detail {

template <class T>
convolve_tile<T> best_convolve_tile() {
  return [](const convolve_job<T>& job, std::int64_t row, std::int64_t row_end, std::int64_t col, std::int64_t col_end,
            T* out, std::int64_t out_pitch) { convolve_rows<T, 16>(job, row, row_end, col, col_end, out, out_pitch); };
}

#define INSTANTIATE(T) template convolve_tile<T> best_convolve_tile();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail
