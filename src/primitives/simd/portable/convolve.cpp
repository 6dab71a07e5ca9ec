// Convolution's inner loops where there is one instruction set, with vectors of 16 bytes.
#include "primitives/simd/convolve_rows.hpp"

namespace spargo::detail {

template <class T>
convolve_tile<T> best_convolve_tile() {
  return [](const convolve_job<T>& job, std::int64_t row, std::int64_t row_end, std::int64_t col, std::int64_t col_end,
            T* out, std::int64_t out_pitch) { convolve_rows<T, 16>(job, row, row_end, col, col_end, out, out_pitch); };
}

template convolve_tile<float> best_convolve_tile();
template convolve_tile<double> best_convolve_tile();

}  // namespace spargo::detail
