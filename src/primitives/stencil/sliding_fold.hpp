// Folds over sliding windows of lines, shared by window averages and sliding maxima.
#pragma once

#include "primitives/function_objects.hpp"

#include <cstdint>

namespace spargo::detail::stencil {

// `lines` consecutive lines of `size` elements. Output i of a line is the fold over those positions in [i + shift, i +
// shift + window) that are in [0, size), in ascending order of runs.
template <class T>
struct fold_job {
  const T* in;
  T* out;
  std::int64_t lines;
  std::int64_t size;
  std::int64_t shift;
  std::int64_t window;
};

// An axis of a volume: element k of line (o, i < stride) is at (o * size + k) * stride + i. Windows: [k, k + window).
template <class T>
struct axis_job {
  const T* in;
  T* out;
  std::int64_t outer;
  std::int64_t size;
  std::int64_t stride;
  std::int64_t window;
};

template <class T>
struct average_fold {
  T divisor;
  static constexpr T identity = T{0};
  SPARGO_HD static T apply(T a, T b) { return a + b; }
  SPARGO_HD T finish(T sum) const { return sum / divisor; }
  [[nodiscard]] average_fold partial() const { return {T{1}}; }  // for folds of folds
};

// NaN propagates. Both tests are always evaluated, so that loops over them are branchless.
template <class T>
struct max_fold {
  static constexpr T identity = max_operation<T>::identity;
  SPARGO_HD static T apply(T a, T b) {
    const bool is_nan = b != b;
    const bool is_larger = a < b;
    return is_nan | is_larger ? b : a;
  }
  SPARGO_HD T finish(T largest) const { return largest; }
  [[nodiscard]] max_fold partial() const { return {}; }
};

}  // namespace spargo::detail::stencil
