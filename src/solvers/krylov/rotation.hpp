// What restarted methods do with their bases: random vectors, and Ritz vectors in their place.
#pragma once

#include "solvers/krylov/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spargo::detail::krylov {

// A small square matrix, by rows.
struct small_matrix {
  std::int64_t n = 0;
  std::vector<double> entries;

  explicit small_matrix(std::int64_t size) : n(size), entries(static_cast<std::size_t>(size * size)) {}
  double& operator()(std::int64_t i, std::int64_t j) { return entries[static_cast<std::size_t>(i * n + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return entries[static_cast<std::size_t>(i * n + j)]; }
};

inline constexpr std::uint64_t random_step = 0x9E3779B97F4A7C15ULL;
[[nodiscard]] SPARGO_HD inline double random_number(std::uint64_t& seed) {  // splitmix64, in [-1, 1)
  std::uint64_t z = (seed += random_step);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

template <class V>
void scale(const block_passes& passes, V* v, double by) {
  const auto factor = static_cast<real_of<V>>(by);
  passes.each([&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) v[i] *= factor;
  });
}

// The columns column(0) .. column(count - 1) of V S replace the first vectors of the basis V, of s.n vectors.
template <class V, class Column>
void rotate(const block_passes& passes, V* basis, const small_matrix& s, std::int64_t count, const Column& column) {
  constexpr std::int64_t tile = 256;
  const std::int64_t n = passes.size();
  passes.each([&](std::int64_t first, std::int64_t last) {
    std::vector<V> made(static_cast<std::size_t>(count * tile));
    for (std::int64_t from = first; from < last; from += tile) {
      const std::int64_t width = std::min(tile, last - from);
      std::fill(made.begin(), made.end(), V{});
      for (std::int64_t k = 0; k < count; ++k) {
        V* const to = made.data() + k * tile;
        for (std::int64_t j = 0; j < s.n; ++j) {
          const auto by = static_cast<real_of<V>>(s(j, column(k)));
          const V* const v = basis + j * n + from;
          for (std::int64_t i = 0; i < width; ++i) to[i] += by * v[i];
        }
      }
      for (std::int64_t k = 0; k < count; ++k) std::copy_n(made.data() + k * tile, width, basis + k * n + from);
    }
  });
}

}  // namespace spargo::detail::krylov
