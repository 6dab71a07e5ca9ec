// Histograms on the host.
//
// `interleaved`, the fastest: neighbouring elements go to different tables, so that an increment does not wait for the
// previous store to the same bin (a round trip through the store buffer takes 5 to 8 cycles); elements outside all bins
// go to an extra slot, without a branch. `privatized`: one table per thread. `global_atomic`: relaxed increments of the
// counts, for tables so large that copies would cost more than the elements. Invariant: when a thread's share is done,
// its counts are in its tables; tables are summed by bin, so no two threads write one count. Cost: n increments in L1,
// then tables * bins additions. Interleaved tables: Collet, FiniteStateEntropy, hist.c, 2013.
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "primitives/histogram/backend.hpp"
#include "primitives/histogram/bins.hpp"

#include <atomic>
#include <cstring>

namespace spargo::detail::histogram {

namespace {

struct tuning {
  // Least elements per share: about 10 us of work.
  static constexpr std::int64_t grain = 1 << 15;
  // Tables of 32-bit counters per thread. Eight of 256 take 8 KiB of the 32 or 48 KiB of L1.
  static constexpr std::int64_t tables = 8;
  // Largest number of bins whose tables stay in L2 (256 KiB).
  static constexpr std::int64_t interleaved_bins = 8191;
  // Elements after which 32-bit counters are summed, before they can wrap.
  static constexpr std::int64_t block = std::int64_t{1} << 31;
};

using small_count = std::uint32_t;

template <class Bins, class Count>
void count_atomic(const context<host>& ctx, span<const typename Bins::value, host> values, const Bins& bins,
                  span<Count, host> counts) {
  const auto size = static_cast<std::uint64_t>(counts.size());
  parallel_for(ctx.threads(), values.size(), grain::elements, [&](std::int64_t i) {
    const std::uint64_t bin = bins(values[i]);
    if (bin < size) std::atomic_ref(counts.data()[bin]).fetch_add(1, std::memory_order_relaxed);
  });
}

template <class Bins, class Count>
void count_private(const context<host>& ctx, span<const typename Bins::value, host> values, const Bins& bins,
                   span<Count, host> counts) {
  const parts shares = split(values.size(), ctx.threads(), tuning::grain);
  const std::int64_t size = counts.size();
  array<Count, host> own(ctx, size * (shares.count - 1));  // the first share counts in place
  fill_zero(ctx, own.view());
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    Count* mine = p == 0 ? counts.data() : own.data() + (p - 1) * size;
    for (std::int64_t i = shares.first(p); i < shares.last(p); ++i) {
      const std::uint64_t bin = bins(values[i]);
      if (bin < static_cast<std::uint64_t>(size)) ++mine[bin];
    }
  });
  parallel_for(ctx.threads(), size, grain::elements, [&](std::int64_t k) {
    for (std::int64_t p = 0; p + 1 < shares.count; ++p) counts[k] += own[p * size + k];
  });
}

// Table t is at tables + t * pitch.
template <class Bins>
void count_block(const typename Bins::value* values, std::int64_t n, const Bins& bins, std::uint64_t size,
                 small_count* tables, std::int64_t pitch) {
  const auto slot = [&](typename Bins::value v) {
    const std::uint64_t bin = bins(v);
    return static_cast<std::int64_t>(bin < size ? bin : size);
  };
  std::int64_t i = 0;
  for (; i + tuning::tables <= n; i += tuning::tables) {
#pragma GCC unroll 8
    for (std::int64_t t = 0; t < tuning::tables; ++t) ++tables[t * pitch + slot(values[i + t])];
  }
  for (; i < n; ++i) ++tables[slot(values[i])];
}

// Counts byte values, two 8-byte words per step; their bins are looked up once at the end.
inline void count_bytes(const std::uint8_t* bytes, std::int64_t n, small_count* tables) {
  constexpr std::int64_t word = sizeof(std::uint64_t);
  static_assert(tuning::tables == word);
  std::int64_t i = 0;
  for (; i + 2 * word <= n; i += 2 * word) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::memcpy(&first, bytes + i, sizeof first);
    std::memcpy(&second, bytes + i + word, sizeof second);
#pragma GCC unroll 8
    for (int t = 0; t < word; ++t) ++tables[256 * t + static_cast<std::uint8_t>(first >> 8 * t)];
#pragma GCC unroll 8
    for (int t = 0; t < word; ++t) ++tables[256 * t + static_cast<std::uint8_t>(second >> 8 * t)];
  }
  for (; i < n; ++i) ++tables[bytes[i]];
}

template <class Bins, class Count>
void count_interleaved(const context<host>& ctx, span<const typename Bins::value, host> values, const Bins& bins,
                       span<Count, host> counts) {
  constexpr bool of_bytes = sizeof(typename Bins::value) == 1;
  const parts shares = split(values.size(), ctx.threads(), tuning::grain);
  const auto size = static_cast<std::uint64_t>(counts.size());
  const std::int64_t pitch = of_bytes ? 256 : counts.size() + 1;
  const std::int64_t of_share = div_up(tuning::tables * pitch, std::int64_t{16}) * 16;  // whole cache lines
  array<small_count, host> tables(ctx, shares.count * of_share);
  array<Count, host> sums(ctx, of_bytes ? 256 : 0);
  fill_zero(ctx, sums.view());
  Count* result = of_bytes ? sums.data() : counts.data();
  const std::int64_t results = of_bytes ? 256 : counts.size();
  for (std::int64_t done = 0; done < div_up(values.size(), tuning::block * shares.count); ++done) {
    fill_zero(ctx, tables.view());
    parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
      const std::int64_t first = std::min(shares.first(p) + done * tuning::block, shares.last(p));
      const std::int64_t n = std::min(tuning::block, shares.last(p) - first);
      if constexpr (of_bytes) {
        count_bytes(values.data() + first, n, tables.data() + p * of_share);
      } else {
        count_block(values.data() + first, n, bins, size, tables.data() + p * of_share, pitch);
      }
    });
    for (std::int64_t p = 0; p < shares.count; ++p) {
      for (std::int64_t t = 0; t < tuning::tables; ++t) {
        const small_count* table = tables.data() + p * of_share + t * pitch;
        for (std::int64_t k = 0; k < results; ++k) result[k] += static_cast<Count>(table[k]);
      }
    }
  }
  if constexpr (of_bytes) {
    for (std::int64_t b = 0; b < 256; ++b) {
      const std::uint64_t bin = bins(static_cast<std::uint8_t>(b));
      if (bin < size) counts.data()[bin] += sums[b];
    }
  }
}

template <class Value>
histogram_algorithm choose(const context<host>& ctx, std::int64_t values, std::int64_t bins) {
  const std::int64_t shares = split(values, ctx.threads(), tuning::grain).count;
  if constexpr (sizeof(Value) == 1) {
    return values > 8 * 256 * tuning::tables ? histogram_algorithm::interleaved : histogram_algorithm::privatized;
  }
  if (bins <= tuning::interleaved_bins && bins * tuning::tables <= values / shares)
    return histogram_algorithm::interleaved;
  if (shares == 1 || bins <= values / shares) return histogram_algorithm::privatized;
  return histogram_algorithm::global_atomic;
}

}  // namespace

template <class Bins, class Count>
void run(const context<host>& ctx, span<const typename Bins::value, host> values, const Bins& bins,
         span<Count, host> counts, histogram_algorithm algorithm) {
  if (algorithm == histogram_algorithm::automatic) {
    algorithm = choose<typename Bins::value>(ctx, values.size(), counts.size());
  }
  switch (algorithm) {
    case histogram_algorithm::global_atomic:
      return count_atomic(ctx, values, bins, counts);
    case histogram_algorithm::privatized:
      return count_private(ctx, values, bins, counts);
    default:
      return count_interleaved(ctx, values, bins, counts);
  }
}

#define INSTANTIATE_COUNT(Bins, Count)                                                                      \
  template void run<Bins, Count>(const context<host>&, span<const typename Bins::value, host>, const Bins&, \
                                 span<Count, host>, histogram_algorithm);
#define INSTANTIATE(Bins)               \
  INSTANTIATE_COUNT(Bins, std::int32_t) \
  INSTANTIATE_COUNT(Bins, std::int64_t)
INSTANTIATE(key_bins<std::uint8_t>)
INSTANTIATE(key_bins<std::uint32_t>)
INSTANTIATE(key_bins<std::uint64_t>)
INSTANTIATE(even_bins<float>)
INSTANTIATE(even_bins<double>)
INSTANTIATE(edge_bins<float>)
INSTANTIATE(edge_bins<double>)
INSTANTIATE(letter_bins)
#undef INSTANTIATE
#undef INSTANTIATE_COUNT

}  // namespace spargo::detail::histogram
