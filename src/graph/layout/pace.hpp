// Forces on a vertex and the speed of a layout, the same on both backends. The speed grows while forces keep their
// direction and falls while they swing. Source: Jacomy et al., PLoS ONE 9(6), 2014, with the constants of Gephi, whose
// efficiency is also networkx's.
#pragma once

#include "graph/layout/series.hpp"

#include <spargo/graph/layout.hpp>
#include <spargo/graph/weights.hpp>

#include <cmath>
#include <cstdint>

namespace spargo::detail::layout {

// Of all vertices in a step: sums of mass * |force - force before|, and of half of mass * |force + force before|.
struct motion {
  double swing, traction;
};

struct pace {
  double speed = 1;
  double efficiency = 1;

  SPARGO_HD void update(const motion& seen, double vertices, double tolerance) {
    if (!(seen.traction > 0)) return;
    const double best = 0.05 * std::sqrt(vertices);
    const double scaled = best * seen.traction / (vertices * vertices);
    double jitter = std::sqrt(best);
    if (scaled > jitter) jitter = scaled < 10 ? scaled : 10;
    jitter *= tolerance;
    if (seen.swing > 2 * seen.traction) {
      if (efficiency > 0.05) efficiency *= 0.5;
      if (jitter < tolerance) jitter = tolerance;
    }
    constexpr double most = 1e9;
    const double target = seen.swing > 0 ? jitter * efficiency * seen.traction / seen.swing : most;
    if (seen.swing > jitter * seen.traction) {
      if (efficiency > 0.05) efficiency *= 0.7;
    } else if (speed < 1000) {
      efficiency *= 1.3;
    }
    const double rise = 0.5 * speed;
    speed += target - speed < rise ? target - speed : rise;
    if (speed > most) speed = most;
  }

  // Of a vertex whose mass * |force - force before| is `swing`: displacement per force.
  [[nodiscard]] SPARGO_HD double factor(double swing) const { return speed / (1 + std::sqrt(speed * swing)); }
};

[[nodiscard]] SPARGO_HD inline double length(point z) {
  return std::sqrt(static_cast<double>(z.x) * z.x + static_cast<double>(z.y) * z.y);
}

// fmin and fmax also replace NaN.
[[nodiscard]] SPARGO_HD inline float kept_finite(double value, double most) {
  return static_cast<float>(std::fmin(std::fmax(value, -most), most));
}

inline constexpr double most_force = 1e30;
inline constexpr double most_coordinate = 0x1p60;

struct vector2 {
  double x = 0, y = 0;
};

struct force_rule {
  double scaling, gravity;
  bool strong, logarithmic, dissuades_hubs;

  explicit force_rule(const layout_options& o)
      : scaling(o.scaling_ratio),
        gravity(o.gravity),
        strong(o.gravity_kind == layout_gravity::strong),
        logarithmic(o.attraction == layout_attraction::logarithmic),
        dissuades_hubs(o.dissuades_hubs) {}

  // Adds the attraction by an edge to `other`.
  SPARGO_HD void attract(vector2& sum, point here, point other, double weight) const {
    const double dx = static_cast<double>(other.x) - here.x;
    const double dy = static_cast<double>(other.y) - here.y;
    if (logarithmic) {
      const double distance = std::sqrt(dx * dx + dy * dy);
      weight = distance > 0 ? weight * std::log1p(distance) / distance : 0;
    }
    sum.x += weight * dx;
    sum.y += weight * dy;
  }

  // Of the attraction by all edges, the repulsion of a unit mass, and gravity towards `mean`.
  [[nodiscard]] SPARGO_HD point total(vector2 attraction, point repulsion, double mass, point here,
                                      vector2 mean) const {
    const double share = dissuades_hubs ? 1 / mass : 1;
    const double dx = here.x - mean.x;
    const double dy = here.y - mean.y;
    double pull = gravity * mass;
    if (!strong) {
      const double distance = std::sqrt(dx * dx + dy * dy);
      pull = distance > 0 ? pull / distance : 0;
    }
    return {kept_finite(share * attraction.x + scaling * mass * repulsion.x - pull * dx, most_force),
            kept_finite(share * attraction.y + scaling * mass * repulsion.y - pull * dy, most_force)};
  }
};

// The new position of a vertex.
[[nodiscard]] SPARGO_HD inline point moved(point here, point force, point before, double mass, const pace& speed) {
  const double factor = speed.factor(mass * length(force - before));
  return {kept_finite(here.x + factor * force.x, most_coordinate),
          kept_finite(here.y + factor * force.y, most_coordinate)};
}

// A number in [0, 1), the same on every backend.
[[nodiscard]] SPARGO_HD inline double unit_interval(std::uint64_t seed, std::uint64_t position) {
  return static_cast<double>(mixed_bits(seed, position) >> 11) * 0x1p-53;
}

// Points that share a cell of the curve's grid with the one before are moved by up to this, so that no two vertices
// stay at one place: a quarter of a cell, or 1 if all are at one place.
[[nodiscard]] SPARGO_HD inline float parting_distance(const bounds& box) {
  const float width = box.high.x - box.low.x;
  const float height = box.high.y - box.low.y;
  const float side = width > height ? width : height;
  return side > 0 ? 4e-6F * side : 1;
}
[[nodiscard]] SPARGO_HD inline point parted(point z, float distance, std::uint64_t seed, std::uint64_t v) {
  const double angle = 6.283185307179586 * unit_interval(seed, 2 * v);
  const double away = distance * std::sqrt(unit_interval(seed, 2 * v + 1));
  return {static_cast<float>(z.x + away * std::cos(angle)), static_cast<float>(z.y + away * std::sin(angle))};
}

}  // namespace spargo::detail::layout
