// Edge weights on the host.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/weights/backend.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace spargo::detail::weights {

namespace {

constexpr std::int64_t least_rows = 1024;  // minimum per thread; a random weight takes some 5 ns

}  // namespace

template <class Space>
weight_summary summarize(const context<Space>& ctx, span<const double, Space> from) {
  return parallel_reduce(
      ctx.threads(), from.size(), grain::elements, weight_summary{},
      [&](std::int64_t first, std::int64_t last) {
        weight_summary part;
        for (std::int64_t k = first; k < last; ++k) {
          const double weight = from[k];
          part.negative_or_nan |= !(weight >= 0);
          part.whole &= std::abs(weight) < 0x1p53 && weight == std::floor(weight);
          part.largest = std::max(part.largest, weight);
        }
        return part;
      },
      [](const weight_summary& a, const weight_summary& b) {
        return weight_summary{a.negative_or_nan || b.negative_or_nan, a.whole && b.whole,
                              std::max(a.largest, b.largest)};
      });
}

template <class W, class Space>
std::int64_t convert(const context<Space>& ctx, span<const double, Space> from, span<W, Space> to) {
  constexpr auto least = static_cast<double>(std::numeric_limits<W>::min());
  std::atomic<std::int64_t> bad{from.size()};
  parallel_for(ctx.threads(), from.size(), grain::elements, [&](std::int64_t k) {
    const double weight = from[k];
    if (is_integer<W>(weight, least)) {
      to[k] = static_cast<W>(weight);
    } else {
      lower_to(bad, k);
    }
  });
  return bad;
}

template <class I, class O, class Space>
void draw(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges, std::uint64_t seed,
          span<std::int32_t, Space> to) {
  parallel_for(ctx.threads(), edges.rows, least_rows, [&](std::int64_t u) {
    for (O e = edges.offsets[u]; e < edges.offsets[u + 1]; ++e) to[e] = random_weight(seed, u, edges.indices[e]);
  });
}

template <class Space>
void fill_ones(const context<Space>& ctx, span<std::int32_t, Space> to) {
  parallel_for(ctx.threads(), to.size(), grain::elements, [&](std::int64_t k) { to[k] = 1; });
}

template weight_summary summarize(const context<host>&, span<const double, host>);
template std::int64_t convert(const context<host>&, span<const double, host>, span<std::int32_t, host>);
template std::int64_t convert(const context<host>&, span<const double, host>, span<std::int64_t, host>);
template void fill_ones(const context<host>&, span<std::int32_t, host>);
#define INSTANTIATE(I, O)                                                                      \
  template void draw(const context<host>&, const csr_pattern_view<I, O, host>&, std::uint64_t, \
                     span<std::int32_t, host>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::weights
