// Inner loops of host convolution, one table per instruction set.
#pragma once

#include <cstdint>

namespace spargo::detail::convolve {

// A filter of `down` x `across` taps over an image. A line is an image of one row with a one-row filter.
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

// Output rows [row, row_end) and columns [col, col_end), stored at `out` in rows of `out_pitch`. Sums run row by row,
// left to right; an output does not depend on its tile.
template <class T>
using tile_function = void (*)(const tile_job<T>& job, std::int64_t row, std::int64_t row_end, std::int64_t col,
                               std::int64_t col_end, T* out, std::int64_t out_pitch);

template <class T>
tile_function<T> best_tile_function();

}  // namespace spargo::detail::convolve
