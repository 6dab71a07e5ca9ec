// Edge weights on the device, one thread per weight.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "formats/convert/backend.hpp"
#include "graph/weights/backend.hpp"
#include "primitives/element.hpp"

#include <cstring>
#include <limits>

namespace spargo::detail::weights {

namespace {

// Flags and maximum of a summary. They only grow, so a load before the atomic spares nearly all threads the atomic.
struct summary_flags {
  unsigned long long negative_or_nan = 0;
  unsigned long long broken = 0;
  unsigned long long largest = 0;  // bits of a positive double, which order like its value
};

__device__ void raise(unsigned long long* seen, unsigned long long to) {
  if (*static_cast<volatile unsigned long long*>(seen) < to) atomicMax(seen, to);
}

}  // namespace

template <class Space>
weight_summary summarize(const context<Space>& ctx, span<const double, Space> from) {
  array<summary_flags, device> all(ctx, 1);
  fill_zero(ctx, all.view());
  summary_flags* seen = all.data();
  const double* weights = from.data();
  for_each(ctx, from.size(), [=] __device__(std::int64_t k) {
    const double weight = weights[k];
    if (!(weight >= 0)) raise(&seen->negative_or_nan, 1);
    if (!(fabs(weight) < 0x1p53) || weight != floor(weight)) raise(&seen->broken, 1);
    if (weight > 0) raise(&seen->largest, static_cast<unsigned long long>(__double_as_longlong(weight)));
  });
  const auto found = element<summary_flags>(ctx, std::as_const(all).view(), 0);
  double largest = 0;
  std::memcpy(&largest, &found.largest, sizeof(double));
  return {found.negative_or_nan != 0, found.broken == 0, largest};
}

template <class W, class Space>
std::int64_t convert(const context<Space>& ctx, span<const double, Space> from, span<W, Space> to) {
  constexpr auto least = static_cast<double>(std::numeric_limits<W>::min());
  array<unsigned long long, device> first_bad(ctx, 1);
  fill_bytes(ctx, first_bad.data(), 0xff, sizeof(unsigned long long));
  unsigned long long* bad = first_bad.data();
  const double* weights = from.data();
  W* integers = to.data();
  for_each(ctx, from.size(), [=] __device__(std::int64_t k) {
    const double weight = weights[k];
    if (is_integer<W>(weight, least)) {
      integers[k] = static_cast<W>(weight);
    } else {
      atomicMin(bad, static_cast<unsigned long long>(k));
    }
  });
  const auto found = element<unsigned long long>(ctx, std::as_const(first_bad).view(), 0);
  return found < static_cast<unsigned long long>(from.size()) ? static_cast<std::int64_t>(found) : from.size();
}

template <class I, class O, class Space>
void draw(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges, std::uint64_t seed,
          span<std::int32_t, Space> to) {
  if (edges.nnz() == 0) return;
  array<I, device> sources(ctx, edges.nnz());
  convert::expand_rows<I, O>(ctx, edges.offsets, sources.view());
  const I* from = sources.data();
  const I* towards = edges.indices.data();
  std::int32_t* drawn = to.data();
  for_each(ctx, edges.nnz(), [=] __device__(std::int64_t e) { drawn[e] = random_weight(seed, from[e], towards[e]); });
}

template <class Space>
void fill_ones(const context<Space>& ctx, span<std::int32_t, Space> to) {
  std::int32_t* ones = to.data();
  for_each(ctx, to.size(), [=] __device__(std::int64_t e) { ones[e] = 1; });
}

template weight_summary summarize(const context<device>&, span<const double, device>);
template std::int64_t convert(const context<device>&, span<const double, device>, span<std::int32_t, device>);
template std::int64_t convert(const context<device>&, span<const double, device>, span<std::int64_t, device>);
template void fill_ones(const context<device>&, span<std::int32_t, device>);
#define INSTANTIATE(I, O)                                                                          \
  template void draw(const context<device>&, const csr_pattern_view<I, O, device>&, std::uint64_t, \
                     span<std::int32_t, device>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::weights
