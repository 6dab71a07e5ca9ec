// Range of the factors that represent shortest-path counts on both backends: a count is factor * 2^(1000 * exponent)
// with a factor in [2^-500, 2^500); counts below 2^500 have exponent 0.
#pragma once

namespace spargo::detail::betweenness {

struct number_range {
  static constexpr double end = 0x1p500;     // upper end of factors
  static constexpr double down = 0x1p-1000;  // scale to the next exponent
  static constexpr double exact = 0x1p53;    // below this, sums are exact, hence independent of order
};

}  // namespace spargo::detail::betweenness
