// The forces of near points on each other: the inner loop of the host, selected at run time for the processor.
#pragma once

#include "graph/layout/series.hpp"

namespace spargo::detail::layout {

inline constexpr int leaf_points = 16;

// Coordinates and masses of a leaf. Unused places repeat a point, with mass 0.
struct alignas(64) leaf {
  float x[leaf_points];
  float y[leaf_points];
  float mass[leaf_points];
};

// fx[i], fy[i] = force of all points of the `count` source leaves on a unit mass at target point i. Points at one place
// do not repel each other.
using near_function = void (*)(const leaf& target, const leaf* leaves, const std::int32_t* sources, std::int64_t count,
                               float* fx, float* fy);
[[nodiscard]] near_function near_forces() noexcept;

// With vectors of `Width` floats.
template <int Width>
[[gnu::always_inline]] inline void sum_near_forces(const leaf& target, const leaf* leaves, const std::int32_t* sources,
                                                   std::int64_t count, float* fx, float* fy) {
  using vector [[gnu::vector_size(sizeof(float) * Width)]] = float;
  constexpr int vectors = leaf_points / Width;
  vector x[vectors], y[vectors], sum_x[vectors], sum_y[vectors];
  for (int k = 0; k < vectors; ++k) {
    x[k] = *reinterpret_cast<const vector*>(target.x + k * Width);
    y[k] = *reinterpret_cast<const vector*>(target.y + k * Width);
    sum_x[k] = sum_y[k] = vector{};
  }
  const vector least = vector{} + field_tuning::least_distance2;
  for (std::int64_t s = 0; s < count; ++s) {
    const leaf& from = leaves[sources[s]];
    for (int j = 0; j < leaf_points; ++j) {
      for (int k = 0; k < vectors; ++k) {
        const vector dx = x[k] - from.x[j];
        const vector dy = y[k] - from.y[j];
        const vector distance2 = dx * dx + dy * dy;
        const vector strength = from.mass[j] / (distance2 > least ? distance2 : least);
        sum_x[k] += strength * dx;
        sum_y[k] += strength * dy;
      }
    }
  }
  for (int k = 0; k < vectors; ++k) {
    *reinterpret_cast<vector*>(fx + k * Width) = sum_x[k];
    *reinterpret_cast<vector*>(fy + k * Width) = sum_y[k];
  }
}

}  // namespace spargo::detail::layout
