// The host's inner loops of convolution, one table per instruction set.
#pragma once

#include <cstdint>

namespace spargo::detail::convolve {

// A filter of `down` x `across` taps over an image; a line is an image of one row with a filter of one row.
template <class T>
struct tile_job {
  const T* in;
  std::int64_t pitch;
  std::int64_t rows;
  std::int64_t cols;
  const T* filter;
  std::int64_t down;
  std::int64_t across;
};

// Output rows [row, row_end) and columns [col, col_end), stored from `out` on in rows of `out_pitch`. Sums run row by
// row and left to right; what an output gets does not depend on the tile that it is in.
template <class T>
using tile_function = void (*)(const tile_job<T>& job, std::int64_t row, std::int64_t row_end, std::int64_t col,
                               std::int64_t col_end, T* out, std::int64_t out_pitch);

// The widest instructions of this processor.
template <class T>
tile_function<T> best_tile_function();

}  // namespace spargo::detail::convolve
