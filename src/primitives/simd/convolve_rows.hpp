// Host convolution by register tiles: 4 rows x 2 vectors of sums stay in registers while the window slides over them;
// each input vector is loaded once per tap column and multiplied by the taps of all 4 rows.
//
// Written once with the compiler's vector types and inlined into one function per instruction set. Vectorised columns
// keep clear of the image's sides, where a scalar loop handles the clipped window; rows outside the image are skipped.
// Cost: down * across multiply-adds per output, (2 + 4) / 8 loads each.
#pragma once

#include "primitives/simd/convolve.hpp"

namespace spargo::detail::convolve {

template <class T, int Bytes>
struct wide_values {
  static constexpr int lanes = Bytes / static_cast<int>(sizeof(T));
  using type [[gnu::vector_size(Bytes)]] = T;
};

// Sums of Rows x (Vectors * lanes) outputs from (row, col) on; their windows do not leave the image sideways.
template <class T, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void convolve_block(const tile_job<T>& job, std::int64_t row, std::int64_t col, T* out,
                                                  std::int64_t out_pitch) {
  using values = typename wide_values<T, Bytes>::type;
  constexpr int lanes = wide_values<T, Bytes>::lanes;
  values sum[Rows][Vectors] = {};
  const std::int64_t top = row - job.down / 2;  // input row of step 0
  const std::int64_t steps = Rows + job.down - 1;
  const std::int64_t first = top < 0 ? -top : 0;
  const std::int64_t last = top + steps > job.rows ? job.rows - top : steps;
  for (std::int64_t s = first; s < last; ++s) {
    const T* from = job.in + (top + s) * job.pitch + col - job.across / 2;
    const T* taps = job.filter + s * job.across;  // of row 0; those of row r are r filter rows earlier
    if (s >= Rows - 1 && s < job.down) {
      for (std::int64_t t = 0; t < job.across; ++t) {
        values x[Vectors];
        for (int v = 0; v < Vectors; ++v) __builtin_memcpy(&x[v], from + t + v * lanes, Bytes);
        for (int r = 0; r < Rows; ++r) {
          const T tap = taps[t - r * job.across];
          for (int v = 0; v < Vectors; ++v) sum[r][v] = x[v] * tap + sum[r][v];
        }
      }
    } else {
      for (int r = 0; r < Rows; ++r) {
        if (s < r || s - r >= job.down) continue;
        for (std::int64_t t = 0; t < job.across; ++t) {
          const T tap = taps[t - r * job.across];
          for (int v = 0; v < Vectors; ++v) {
            values x;
            __builtin_memcpy(&x, from + t + v * lanes, Bytes);
            sum[r][v] = x * tap + sum[r][v];
          }
        }
      }
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) __builtin_memcpy(out + r * out_pitch + v * lanes, &sum[r][v], Bytes);
  }
}

// One output whose window may leave the image.
template <class T>
[[gnu::always_inline]] inline T convolve_clipped(const tile_job<T>& job, std::int64_t row, std::int64_t col) {
  const std::int64_t top = row - job.down / 2;
  const std::int64_t left = col - job.across / 2;
  const std::int64_t s_first = top < 0 ? -top : 0;
  const std::int64_t s_last = top + job.down > job.rows ? job.rows - top : job.down;
  const std::int64_t t_first = left < 0 ? -left : 0;
  const std::int64_t t_last = left + job.across > job.cols ? job.cols - left : job.across;
  T sum{0};
  for (std::int64_t s = s_first; s < s_last; ++s) {
    const T* from = job.in + (top + s) * job.pitch + left;
    const T* taps = job.filter + s * job.across;
    for (std::int64_t t = t_first; t < t_last; ++t) sum = from[t] * taps[t] + sum;
  }
  return sum;
}

// A band of `Rows` output rows: vectors where the window is inside, else one by one.
template <class T, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void convolve_band(const tile_job<T>& job, std::int64_t row, std::int64_t col,
                                                 std::int64_t col_end, T* out, std::int64_t out_pitch) {
  constexpr int width = Vectors * wide_values<T, Bytes>::lanes;
  const std::int64_t half = job.across / 2;
  const std::int64_t inner_end = col_end < job.cols - half ? col_end : job.cols - half;
  const auto clipped = [&](std::int64_t j) [[gnu::always_inline]] {
    for (int r = 0; r < Rows; ++r) out[r * out_pitch + j - col] = convolve_clipped(job, row + r, j);
  };
  std::int64_t j = col;
  for (; j < half && j < col_end; ++j) clipped(j);
  for (; j + width <= inner_end; j += width) {
    convolve_block<T, Bytes, Rows, Vectors>(job, row, j, out + j - col, out_pitch);
  }
  constexpr int lanes = wide_values<T, Bytes>::lanes;
  for (; j + lanes <= inner_end; j += lanes) {
    convolve_block<T, Bytes, Rows, 1>(job, row, j, out + j - col, out_pitch);
  }
  for (; j < col_end; ++j) clipped(j);
}

template <class T, int Bytes>
[[gnu::always_inline]] inline void convolve_rows(const tile_job<T>& job, std::int64_t row, std::int64_t row_end,
                                                 std::int64_t col, std::int64_t col_end, T* out,
                                                 std::int64_t out_pitch) {
  for (; row + 4 <= row_end; row += 4, out += 4 * out_pitch) {
    convolve_band<T, Bytes, 4, 2>(job, row, col, col_end, out, out_pitch);
  }
  for (; row < row_end; ++row, out += out_pitch) {
    convolve_band<T, Bytes, 1, 8>(job, row, col, col_end, out, out_pitch);
  }
}

}  // namespace spargo::detail::convolve
