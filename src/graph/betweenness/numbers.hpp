// The range of the factors that numbers of shortest paths are made of, the same on both backends: a number is
// factor * 2^(1000 * exponent) with a factor in [2^-500, 2^500), and those below 2^500 have exponent 0.
#pragma once

namespace spargo::detail::betweenness {

struct number_range {
  static constexpr double end = 0x1p500;     // of factors
  static constexpr double down = 0x1p-1000;  // to the next exponent
  static constexpr double exact = 0x1p53;    // below, sums are exact, hence the same in any order
};

}  // namespace spargo::detail::betweenness
