// The inner loops in plain C++: without vector extensions, and for complex values everywhere.
#pragma once

#include "sparse/arithmetic.hpp"
#include "sparse/simd/kernels.hpp"

#include <algorithm>

namespace spargo::detail::spmv::portable {

// Four independent sums hide the latency of additions in long rows; rows of up to three entries skip them.
template <class V, class I>
[[nodiscard]] inline V dot(const V* values, const I* indices, std::int64_t count, const V* x) {
  V sum{};
  std::int64_t k = 0;
  if (count >= 16) {
    V s0{};
    V s1{};
    V s2{};
    V s3{};
    for (; k + 4 <= count; k += 4) {
      s0 += multiply(values[k], x[indices[k]]);
      s1 += multiply(values[k + 1], x[indices[k + 1]]);
      s2 += multiply(values[k + 2], x[indices[k + 2]]);
      s3 += multiply(values[k + 3], x[indices[k + 3]]);
    }
    sum = (s0 + s1) + (s2 + s3);
  }
  for (; k < count; ++k) sum += multiply(values[k], x[indices[k]]);
  return sum;
}

template <class V, class I, class O>
void csr_rows(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
              std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  O begin = offsets[first];
  for (std::int64_t row = first; row < last; ++row) {
    const O end = offsets[row + 1];
    update(y[row], alpha, dot(values + begin, indices + begin, end - begin, x), beta);
    begin = end;
  }
}

template <class V, class I>
void lane_sums(const V* values, const I* indices, std::int64_t stride, const I* lengths, std::int64_t lanes, const V* x,
               V* sums) {
  constexpr std::int64_t width = 8;  // lanes at a time: their sums stay in registers or L1
  for (std::int64_t first = 0; first < lanes; first += width) {
    const std::int64_t count = std::min(width, lanes - first);
    V partial[width] = {};
    const I longest = *std::max_element(lengths + first, lengths + first + count);
    for (I k = 0; k < longest; ++k) {
      const std::int64_t at = static_cast<std::int64_t>(k) * stride + first;
      for (std::int64_t l = 0; l < count; ++l) {
        if (k < lengths[first + l]) partial[l] += multiply(values[at + l], x[indices[at + l]]);
      }
    }
    std::copy_n(partial, count, sums + first);
  }
}

template <class V, class I, class O>
inline constexpr host_kernels<V, I, O> table{csr_rows<V, I, O>, csr_rows<V, I, O>, dot<V, I>, lane_sums<V, I>,
                                             "portable"};

}  // namespace spargo::detail::spmv::portable
