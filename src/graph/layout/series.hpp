// The field of far masses in the plane, as series; shared by both backends.
//
// A mass m at z repels a unit mass at w by m / conj(w - z): forces of 1 / distance are, up to conjugation, the complex
// function f(w) = sum of m / (w - z). Outside a disc with centre c and radius r around the masses it is a series of
// moments a_k = sum of m ((z - c) / r)^k in r / (w - c); inside a disc without masses it is a polynomial in
// (w - c) / r. All coefficients are scaled by the radii, so that nothing overflows for any size of a layout. Points are
// complex numbers. Source: Greengard, Rokhlin, J. Comput. Phys. 73, 1987, lemmas 2.3 to 2.5.
#pragma once

#include <spargo/core/config.hpp>

#include <cmath>
#include <cstdint>

namespace spargo::detail::layout {

// opening: r_source + r_target < opening * distance of centres lets a series stand for the source. Largest root mean
// square error of forces in 80 layouts each of karate, 1138_bus, netscience and road-minnesota, with 5 terms: 7.2e-4,
// 9.4e-4, 8.8e-4, 6.2e-4 at .65 (13e-4 in one more layout of netscience, compiled without vector instructions); 6.0e-4,
// 6.3e-4, 5.0e-4, 3.4e-4 at .6; 1.2e-4, 3.8e-4, 2.5e-4, 2.6e-4 at .55. On a host, these three take the same time within
// a tenth.
struct field_tuning {
  static constexpr int terms = 5;
  static constexpr float opening = 0.55F;
  static constexpr int fan_out = 4;  // children of a node
  static constexpr float least_distance2 = 1e-30F;
};

struct point {
  float x, y;
};

[[nodiscard]] SPARGO_HD inline point operator+(point a, point b) { return {a.x + b.x, a.y + b.y}; }
[[nodiscard]] SPARGO_HD inline point operator-(point a, point b) { return {a.x - b.x, a.y - b.y}; }
[[nodiscard]] SPARGO_HD inline point operator*(float s, point a) { return {s * a.x, s * a.y}; }
// As complex numbers.
[[nodiscard]] SPARGO_HD inline point operator*(point a, point b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
[[nodiscard]] SPARGO_HD inline float square(point a) { return a.x * a.x + a.y * a.y; }

struct expansion {
  point terms[field_tuning::terms];
};

// A disc around the bounding box of a part of the points, or of several such.
struct disc {
  point centre;
  float radius;

  [[nodiscard]] SPARGO_HD float inverse_radius() const { return radius > 0 ? 1 / radius : 0; }
};

[[nodiscard]] SPARGO_HD constexpr float binomial(int n, int k) {
  float value = 1;
  for (int i = 1; i <= k; ++i) value = value * static_cast<float>(n - k + i) / static_cast<float>(i);
  return value;
}

// Adds the mass of a point to the moments of a disc.
SPARGO_HD inline void add_moments(expansion& to, const disc& in, point z, float mass) {
  const point t = in.inverse_radius() * (z - in.centre);
  point power{mass, 0};
  for (int k = 0; k < field_tuning::terms; ++k) {
    to.terms[k] = to.terms[k] + power;
    power = power * t;
  }
}

// Adds the moments of a part to those of the disc that holds it.
SPARGO_HD inline void lift_moments(expansion& to, const disc& outer, const expansion& from, const disc& inner) {
  const float inverse = outer.inverse_radius();
  const float shrink = inner.radius * inverse;
  const point shift = inverse * (inner.centre - outer.centre);
  point powers[field_tuning::terms];
  powers[0] = {1, 0};
  for (int k = 1; k < field_tuning::terms; ++k) powers[k] = powers[k - 1] * shift;
  for (int k = 0; k < field_tuning::terms; ++k) {
    float scale = 1;
    for (int j = 0; j <= k; ++j) {
      to.terms[k] = to.terms[k] + (binomial(k, j) * scale) * (from.terms[j] * powers[k - j]);
      scale *= shrink;
    }
  }
}

// Whether the field of `source` within `target` is well described by a series.
[[nodiscard]] SPARGO_HD inline bool are_far(const disc& source, const disc& target) {
  const float reach = source.radius + target.radius;
  const float distance2 = square(target.centre - source.centre);
  return reach * reach < field_tuning::opening * field_tuning::opening * distance2 &&
         distance2 > field_tuning::least_distance2;
}

// Adds the field of a far source, given by its moments, to the polynomial of `target`.
SPARGO_HD inline void add_field(expansion& to, const disc& target, const expansion& moments, const disc& source) {
  const point w = target.centre - source.centre;
  const float inverse2 = 1 / square(w);
  const point inverse{w.x * inverse2, -w.y * inverse2};
  const point rho = source.radius * inverse;
  const point tau = -target.radius * inverse;
  point scaled[field_tuning::terms];
  point power = rho;
  scaled[0] = moments.terms[0];
  for (int k = 1; k < field_tuning::terms; ++k) {
    scaled[k] = moments.terms[k] * power;
    power = power * rho;
  }
  power = inverse;
  for (int l = 0; l < field_tuning::terms; ++l) {
    point sum = scaled[0];
    for (int k = 1; k < field_tuning::terms; ++k) sum = sum + binomial(k + l, l) * scaled[k];
    to.terms[l] = to.terms[l] + power * sum;
    power = power * tau;
  }
}

// Adds the polynomial of a disc to that of a part of it.
SPARGO_HD inline void lower_field(expansion& to, const disc& inner, const expansion& from, const disc& outer) {
  const float inverse = outer.inverse_radius();
  const float shrink = inner.radius * inverse;
  const point shift = inverse * (inner.centre - outer.centre);
  float scale = 1;
  for (int l = 0; l < field_tuning::terms; ++l) {
    point sum{0, 0};
    point power{scale, 0};
    for (int k = l; k < field_tuning::terms; ++k) {
      sum = sum + binomial(k, l) * (power * from.terms[k]);
      power = power * shift;
    }
    to.terms[l] = to.terms[l] + sum;
    scale *= shrink;
  }
}

// The force on a unit mass at z.
[[nodiscard]] SPARGO_HD inline point force_at(const expansion& field, const disc& in, point z) {
  const point t = in.inverse_radius() * (z - in.centre);
  point sum = field.terms[field_tuning::terms - 1];
  for (int k = field_tuning::terms - 2; k >= 0; --k) sum = sum * t + field.terms[k];
  return {sum.x, -sum.y};
}

// Place of a cell on Hilbert's curve through a grid of 2^16 x 2^16 cells. Cells that follow each other are neighbours,
// so a run of points in this order has a small bounding box.
[[nodiscard]] SPARGO_HD inline std::uint32_t hilbert_key(std::uint32_t x, std::uint32_t y) {
  std::uint32_t key = 0;
  for (std::uint32_t s = 1U << 15; s > 0; s >>= 1) {
    const std::uint32_t right = (x & s) != 0 ? 1 : 0;
    const std::uint32_t upper = (y & s) != 0 ? 1 : 0;
    key = key << 2 | ((3 * right) ^ upper);
    if (upper == 0) {
      if (right == 1) {
        x = ~x;
        y = ~y;
      }
      const std::uint32_t old = x;
      x = y;
      y = old;
    }
  }
  return key;
}

struct bounds {
  point low, high;

  SPARGO_HD void add(point z) { add({z, z}); }
  SPARGO_HD void add(const bounds& other) {
    low = {low.x < other.low.x ? low.x : other.low.x, low.y < other.low.y ? low.y : other.low.y};
    high = {high.x > other.high.x ? high.x : other.high.x, high.y > other.high.y ? high.y : other.high.y};
  }
};
[[nodiscard]] SPARGO_HD inline disc disc_of(const bounds& box) {
  const point half = 0.5F * (box.high - box.low);
  return {box.low + half, std::sqrt(square(half))};
}
[[nodiscard]] SPARGO_HD inline std::uint32_t key_in(const bounds& box, point z) {
  constexpr float cells = 65535;
  const float width = box.high.x - box.low.x;
  const float height = box.high.y - box.low.y;
  const float side = width > height ? width : height;
  if (!(side > 0)) return 0;
  const float scale = cells / side;
  return hilbert_key(static_cast<std::uint32_t>((z.x - box.low.x) * scale),
                     static_cast<std::uint32_t>((z.y - box.low.y) * scale));
}

}  // namespace spargo::detail::layout
