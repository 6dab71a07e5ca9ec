// Weights as integers, so that sums do not depend on their order.
//
// Integers stay as they are, and so do floating-point weights that are integers of moderate size. Others are multiplied
// by a power of two, such that the degrees of all vertices add up to about 2^50, and rounded: an error of at most 2^-49
// of all weight for an edge. Their sum, which decides the power, is one of integers too.
#include "graph/communities/executor.hpp"
#include "graph/communities/modularity.hpp"

#include "core/instantiate.hpp"
#include "core/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace spargo::detail::communities {

namespace {

struct facts {
  double largest = 0;
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
          own.whole = own.whole && weight == std::floor(weight);
        }
        return own;
      },
      [](const facts& a, const facts& b) {
        return facts{std::max(a.largest, b.largest), a.whole && b.whole, std::min(a.offending, b.offending)};
      });
}

// Integers as they are, others times 2^exponent, rounded.
template <class W>
std::int64_t to_integer(W weight, int exponent) {
  if constexpr (std::integral<W>) {
    return weight;
  } else {
    return std::llround(std::ldexp(static_cast<double>(weight), exponent));
  }
}

template <class W>
int128 sum_of(const context<host>& ctx, span<const W, host> weights, int exponent) {
  return parallel_reduce(
      ctx.threads(), weights.size(), grain::elements, int128{0},
      [&](std::int64_t first, std::int64_t last) {
        int128 own = 0;
        for (std::int64_t e = first; e < last; ++e) own += to_integer(weights[e], exponent);
        return own;
      },
      std::plus<>());
}

// Of floating-point weights, the largest of which is above 0.
template <class W>
int exponent_of(const context<host>& ctx, span<const W, host> weights, const facts& all) {
  constexpr int scaled_bits = 50;
  const int exact = 60 - std::ilogb(all.largest);
  // All degrees add up to less than 2^bits.
  const int bits = std::ilogb(2 * static_cast<double>(sum_of(ctx, weights, exact))) + 1 - exact;
  return all.whole && bits <= scaled_bits ? 0 : scaled_bits - bits;
}

}  // namespace

template <class W, class I, class O>
fixed_weights to_fixed_point(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges,
                             span<const W, host> weights) {
  const facts all = facts_of(ctx, weights);
  if (all.offending < weights.size()) {
    const auto above = std::upper_bound(edges.offsets.begin(), edges.offsets.end(), static_cast<O>(all.offending));
    throw error(error_code::invalid_data,
                fmt::format("communities: edge ({}, {}) has weight {} (expected a finite one, 0 or more)",
                            above - edges.offsets.begin() - 1, edges.indices[all.offending], weights[all.offending]));
  }
  fixed_weights fixed{{ctx, weights.size()}};
  if constexpr (std::integral<W>) {
    constexpr int sum_bits = 59;
    if (const int128 sum = sum_of(ctx, weights, 0); sum >> sum_bits != 0) {
      throw error(error_code::invalid_data,
                  fmt::format("communities: the weights add up to {:.3g} (expected less than 2^{})",
                              static_cast<double>(sum), sum_bits));
    }
  } else if (all.largest > 0) {
    fixed.exponent = exponent_of(ctx, weights, all);
  }
  parallel_for(ctx.threads(), weights.size(), grain::elements,
               [&](std::int64_t e) { fixed.values[e] = to_integer(weights[e], fixed.exponent); });
  return fixed;
}

#define INSTANTIATE(W, I, O) \
  template fixed_weights to_fixed_point(const context<host>&, const csr_pattern_view<I, O, host>&, span<const W, host>);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::communities
