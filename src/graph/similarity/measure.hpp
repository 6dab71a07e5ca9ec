// The measures as functions of exact integers, the same on host and device.
//
// Every measure is a sum over the common neighbours w, of 1 or of a fixed-point number that depends on d(w), and a
// function of that sum and both degrees. IEEE division and square root round alike everywhere, and nothing here is a
// product that is added to something, so no compiler contracts it.
#pragma once

#include <spargo/graph/similarity.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace spargo::detail::similarity {

[[nodiscard]] constexpr bool has_terms(similarity_measure measure) {
  return measure == similarity_measure::adamic_adar || measure == similarity_measure::resource_allocation;
}

// The terms of the common neighbours, as multiples of 2^-bits. A sum has at most `longest` terms, each below 2.
struct fixed_terms {
  similarity_measure measure;
  int bits;

  fixed_terms(similarity_measure of, std::int64_t longest)
      : measure(of),
        bits(has_terms(of) ? 62 - static_cast<int>(std::bit_width(2 * static_cast<std::uint64_t>(longest))) : 0) {}

  // Of a common neighbour that `degree` vertices have as a neighbour.
  [[nodiscard]] std::int64_t term(std::int64_t degree) const {
    if (degree < (measure == similarity_measure::adamic_adar ? 2 : 1)) return 0;
    const auto d = static_cast<double>(degree);
    const double term = measure == similarity_measure::adamic_adar ? 1 / std::log(d) : 1 / d;
    return std::llround(std::ldexp(term, bits));
  }
  [[nodiscard]] double unit() const { return std::ldexp(1.0, -bits); }
};

// The value of a pair with degrees a and b. sum: of the terms of the common neighbours, or their number.
[[nodiscard]] SPARGO_HD inline double value_of(similarity_measure measure, double unit, std::int64_t sum,
                                               std::int64_t a, std::int64_t b) {
  if (sum == 0) return 0;
  const auto common = static_cast<double>(sum);
  switch (measure) {
    case similarity_measure::jaccard:
      return common / static_cast<double>(a + b - sum);
    case similarity_measure::overlap:
      return common / static_cast<double>(a < b ? a : b);
    case similarity_measure::sorensen:
      return static_cast<double>(2 * sum) / static_cast<double>(a + b);
    case similarity_measure::cosine:
      return common / std::sqrt(static_cast<double>(a) * static_cast<double>(b));
    case similarity_measure::adamic_adar:
    case similarity_measure::resource_allocation:
      return common * unit;
    case similarity_measure::common_neighbors:
      return common;
  }
  return 0;
}

}  // namespace spargo::detail::similarity
