// What host and device compute alike, to the last bit: magnitudes, the order in which norms add them, parts of a
// matrix.
#pragma once

#include <spargo/sparse/algebra.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spargo::detail::algebra {

// The square root of a^2 + b^2, to within an ulp, without overflow of the squares: they are scaled by a power of two.
// The explicit fused multiply-add leaves no compiler a choice.
[[nodiscard]] SPARGO_HD inline double length_of(double a, double b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  a = std::fabs(a);
  b = std::fabs(b);
  if (a == infinity || b == infinity) return infinity;  // also beside a NaN, as std::abs has it
  const double larger = a < b ? b : a;
  const double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-500 ? 0x1p600 : 1.0;
  a *= scale;
  b *= scale;
  return std::sqrt(std::fma(a, a, b * b)) / scale;
}

// |v| of a real value, a std::complex or a device_complex, rounded to its precision.
template <class V>
[[nodiscard]] SPARGO_HD inline double magnitude(const V& v) {
  if constexpr (requires { v.re; }) {
    return static_cast<decltype(v.re)>(length_of(v.re, v.im));
  } else if constexpr (requires { v.real(); }) {
    return static_cast<decltype(v.real())>(length_of(v.real(), v.imag()));
  } else {
    return std::fabs(static_cast<double>(v));
  }
}

// A row's magnitudes are added from left to right in chunks of 1024, then the chunks from left to right; sums of rows
// are added in groups of 64 until one is left. Columns are added from top to bottom in blocks of rows, whose number
// depends on the matrix alone, then the blocks.
struct norm_order {
  static constexpr std::int64_t chunk = 1024;
  static constexpr std::int64_t group = 64;
  static constexpr std::int64_t most_blocks = 16;

  [[nodiscard]] static std::int64_t blocks(std::int64_t nnz, std::int64_t cols) {
    return std::clamp<std::int64_t>(nnz / std::max<std::int64_t>(4 * cols, 1), 1, most_blocks);
  }
};

[[nodiscard]] SPARGO_HD inline bool is_in_part(matrix_part part, std::int64_t row, std::int64_t column) {
  return part == matrix_part::lower            ? column <= row
         : part == matrix_part::strictly_lower ? column < row
         : part == matrix_part::upper          ? column >= row
                                               : column > row;
}

}  // namespace spargo::detail::algebra
