// Prefix sums on the host: the sum of each share, a scan of those sums, then each share by itself.
//
// 2n reads and n writes; with one share a single pass. Sums are formed in the unsigned type, so that
// overflow wraps.
#include "primitives/backend.hpp"
#include "primitives/parts.hpp"

namespace spargo::detail {

namespace {

constexpr std::int64_t grain = 1 << 15;  // elements a share at least: 8 us of work; waking a team takes 1 us

enum class scan_kind { exclusive, inclusive };

template <scan_kind Kind, class T>
void scan_share(const T* in, T* out, std::int64_t first, std::int64_t last, std::make_unsigned_t<T> sum) {
  for (std::int64_t i = first; i < last; ++i) {
    const auto value = static_cast<std::make_unsigned_t<T>>(in[i]);
    if constexpr (Kind == scan_kind::exclusive) {
      out[i] = static_cast<T>(sum);
      sum += value;
    } else {
      sum += value;
      out[i] = static_cast<T>(sum);
    }
  }
}

template <scan_kind Kind, class T>
void scan(const context<host>& ctx, span<const T, host> in, span<T, host> out) {
  using wide = std::make_unsigned_t<T>;
  const parts shares = split(in.size(), ctx.threads(), grain);
  if (shares.count == 1) return scan_share<Kind>(in.data(), out.data(), 0, in.size(), wide{0});

  array<wide, host> sums(ctx, shares.count);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    wide sum = 0;
    for (std::int64_t i = shares.first(p); i < shares.last(p); ++i) sum += static_cast<wide>(in[i]);
    sums[p] = sum;
  }
  wide before = 0;
  for (wide& sum : sums) {
    const wide own = sum;
    sum = before;
    before += own;
  }
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    scan_share<Kind>(in.data(), out.data(), shares.first(p), shares.last(p), sums[p]);
  }
}

}  // namespace

template <class T>
void exclusive_scan(const context<host>& ctx, span<const T, host> in, span<T, host> out) {
  scan<scan_kind::exclusive>(ctx, in, out);
}
template <class T>
void inclusive_scan(const context<host>& ctx, span<const T, host> in, span<T, host> out) {
  scan<scan_kind::inclusive>(ctx, in, out);
}

#define INSTANTIATE(T)                                                                    \
  template void exclusive_scan(const context<host>&, span<const T, host>, span<T, host>); \
  template void inclusive_scan(const context<host>&, span<const T, host>, span<T, host>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace spargo::detail
