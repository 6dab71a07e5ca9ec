// Weights as integers, so that sums do not depend on their order.
//
// Integers stay as they are, and so do floating-point weights that are integers of moderate size. Others are multiplied
// by a power of two, such that the degrees of all vertices add up to less than 2^50, and rounded: an error of at most
// 2^-51 of all weight for an edge. The scale depends on the largest weight and the number of edges alone.
#include "graph/communities/executor.hpp"

#include "core/instantiate.hpp"
#include "core/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spargo::detail::communities {

namespace {

struct facts {
  double largest = 0;
  double sum = 0;
  bool whole = true;
  std::int64_t offending = std::numeric_limits<std::int64_t>::max();  // the first bad weight
};

template <class W>
facts facts_of(const context<host>& ctx, span<const W, host> weights) {
  return parallel_reduce(
      ctx.threads(), weights.size(), grain::elements, facts{},
      [&](std::int64_t first, std::int64_t last) {
        facts own;
        for (std::int64_t e = first; e < last; ++e) {
          const auto weight = static_cast<double>(weights[e]);
          if (!(weight >= 0 && weight <= std::numeric_limits<double>::max()))
            own.offending = std::min(own.offending, e);
          own.largest = std::max(own.largest, weight);
          own.sum += weight;
          own.whole = own.whole && weight == std::floor(weight);
        }
        return own;
      },
      [](const facts& a, const facts& b) {
        return facts{std::max(a.largest, b.largest), a.sum + b.sum, a.whole && b.whole,
                     std::min(a.offending, b.offending)};
      });
}

}  // namespace

template <class W, class I, class O>
fixed_weights to_fixed_point(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges,
                             span<const W, host> weights) {
  constexpr int exact_bits = 60;
  constexpr int scaled_bits = 50;
  const facts all = facts_of(ctx, weights);
  if (all.offending < weights.size()) {
    const auto above = std::upper_bound(edges.offsets.begin(), edges.offsets.end(), static_cast<O>(all.offending));
    throw error(error_code::invalid_data,
                fmt::format("communities: edge ({}, {}) has weight {} (expected a finite one, 0 or more)",
                            above - edges.offsets.begin() - 1, edges.indices[all.offending], weights[all.offending]));
  }
  const double bound = 2 * all.largest * static_cast<double>(weights.size());  // of all degrees
  int exponent = 0;
  if constexpr (std::integral<W>) {
    if (!(2 * all.sum < std::ldexp(1.0, exact_bits))) {
      throw error(
          error_code::invalid_data,
          fmt::format("communities: the weights add up to {:.3g} (expected less than 2^{})", all.sum, exact_bits - 1));
    }
  } else if (bound > 0 && !(all.whole && bound < std::ldexp(1.0, scaled_bits))) {
    exponent = scaled_bits - 1 - std::ilogb(bound);
  }
  fixed_weights fixed{{ctx, weights.size()}, std::ldexp(1.0, exponent)};
  parallel_for(ctx.threads(), weights.size(), grain::elements, [&](std::int64_t e) {
    if constexpr (std::integral<W>) {
      fixed.values[e] = weights[e];
    } else {
      fixed.values[e] = std::llround(std::ldexp(static_cast<double>(weights[e]), exponent));
    }
  });
  return fixed;
}

#define INSTANTIATE_W(W, I, O) \
  template fixed_weights to_fixed_point(const context<host>&, const csr_pattern_view<I, O, host>&, span<const W, host>);
#define INSTANTIATE(I, O)           \
  INSTANTIATE_W(std::int32_t, I, O) \
  INSTANTIATE_W(std::int64_t, I, O) \
  INSTANTIATE_W(float, I, O)        \
  INSTANTIATE_W(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::communities
