// Inner kernel of the dense product in vectors of `Bytes` bytes: Rows x (Vectors * lanes) accumulators in registers.
#pragma once

#include "primitives/simd/matmul.hpp"

#include <cstring>

namespace spargo::detail::matmul {

template <class V, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void outer_product(std::int64_t k, const V* a, const V* b, V* sum) {
  typedef V vector __attribute__((vector_size(Bytes)));
  constexpr int lanes = Bytes / static_cast<int>(sizeof(V));
  vector c[Rows][Vectors];
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Vectors; ++j) c[i][j] = vector{};
  }
  for (std::int64_t p = 0; p < k; ++p, a += Rows, b += Vectors * lanes) {
    vector row[Vectors];
    for (int j = 0; j < Vectors; ++j) std::memcpy(&row[j], b + j * lanes, sizeof(vector));
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) c[i][j] += a[i] * row[j];
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Vectors; ++j) std::memcpy(sum + (i * Vectors + j) * lanes, &c[i][j], sizeof(vector));
  }
}

}  // namespace spargo::detail::matmul
