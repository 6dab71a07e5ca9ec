// Counting on the host: a private histogram a share where those together are no larger than the keys, added
// up at the end; else relaxed atomic increments of the one. Integer counts come out the same either way.
#include "primitives/backend.hpp"
#include "primitives/parts.hpp"

#include <atomic>

namespace spargo::detail {

namespace {

constexpr std::int64_t grain = 1 << 15;  // keys a share at least: about 10 us of work; waking a team takes 1 us

template <class Key>
bool inside(Key key, std::int64_t bins) {
  return key >= 0 && static_cast<std::int64_t>(key) < bins;
}

template <class Key, class Count>
void count_shared(const context<host>& ctx, span<const Key, host> keys, span<Count, host> counts) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t i = 0; i < keys.size(); ++i) {
    if (inside(keys[i], counts.size())) std::atomic_ref(counts[keys[i]]).fetch_add(1, std::memory_order_relaxed);
  }
}

template <class Key, class Count>
void count_private(const context<host>& ctx, parts shares, span<const Key, host> keys, span<Count, host> counts) {
  const std::int64_t bins = counts.size();
  array<Count, host> own(ctx, bins * (shares.count - 1));  // the first share counts in place
  fill_zero(ctx, own.view());
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    Count* mine = p == 0 ? counts.data() : own.data() + (p - 1) * bins;
    for (std::int64_t i = shares.first(p); i < shares.last(p); ++i) {
      if (inside(keys[i], bins)) ++mine[keys[i]];
    }
  }
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t k = 0; k < bins; ++k) {
    for (std::int64_t p = 0; p + 1 < shares.count; ++p) counts[k] += own[p * bins + k];
  }
}

}  // namespace

template <class Key, class Count>
void histogram(const context<host>& ctx, span<const Key, host> keys, span<Count, host> counts) {
  const parts shares = split(keys.size(), ctx.threads(), grain);
  if (shares.count == 1 || counts.size() <= keys.size() / shares.count) {
    count_private(ctx, shares, keys, counts);
  } else {
    count_shared(ctx, keys, counts);
  }
}

#define INSTANTIATE(Key, Count) template void histogram(const context<host>&, span<const Key, host>, span<Count, host>);
INSTANTIATE(std::int32_t, std::int32_t)
INSTANTIATE(std::int32_t, std::int64_t)
INSTANTIATE(std::int64_t, std::int32_t)
INSTANTIATE(std::int64_t, std::int64_t)
#undef INSTANTIATE

}  // namespace spargo::detail
