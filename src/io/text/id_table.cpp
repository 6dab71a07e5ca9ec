#include "io/text/id_table.hpp"
#include "core/parallel.hpp"

#include "core/instantiate.hpp"
#include "core/parts.hpp"
#include "formats/rows/row_sort.hpp"

#include <array>
#include <numeric>
#include <random>
#include <thread>

namespace spargo::detail {

namespace {

__extension__ using uint128 = unsigned __int128;

struct tuning {
  static constexpr std::int64_t least_places = std::int64_t{1} << 12;
  // Four places for three ids, and half as many more when they run out: half to three quarters are taken.
  static constexpr std::int64_t places = 4;
  static constexpr std::int64_t ids = 3;
  // Ids a thread sorts at least: 0.2 ms, against some 10 us for a parallel region.
  static constexpr std::int64_t sorted_chunk = std::int64_t{1} << 14;
};

template <class T>
T load(T& word, std::memory_order order) {
  return std::atomic_ref<T>(word).load(order);
}

// Where a hash belongs among `count` places, in the order of the hashes.
std::int64_t place_of(std::uint64_t hash, std::int64_t count) {
  return static_cast<std::int64_t>((static_cast<uint128>(hash) * static_cast<std::uint64_t>(count)) >> 64);
}

std::int64_t next_place(std::int64_t place, std::int64_t count) { return place + 1 == count ? 0 : place + 1; }

// Keys with what belongs to them, each chunk sorted.
template <class Number>
struct sorted_chunks {
  array<std::int64_t, host> keys;
  array<Number, host> values;
};

// Two sorted neighbours [first, middle) and [middle, last) into one.
template <class Number>
void merge(const sorted_chunks<Number>& from, std::int64_t first, std::int64_t middle, std::int64_t last,
           sorted_chunks<Number>& to) {
  std::int64_t left = first;
  std::int64_t right = middle;
  for (std::int64_t k = first; k < last; ++k) {
    const bool take_left = right == last || (left < middle && from.keys[left] < from.keys[right]);
    const std::int64_t taken = take_left ? left++ : right++;
    to.keys[k] = from.keys[taken];
    to.values[k] = from.values[taken];
  }
}

// By key: chunks by their bytes, then neighbours merged until one is left.
template <class Number>
void sort_pairs(const context<host>& ctx, sorted_chunks<Number>& pairs) {
  const std::int64_t size = pairs.keys.size();
  sorted_chunks<Number> spare{{ctx, size}, {ctx, size}};
  const parts chunks = split(size, ctx.threads(), tuning::sorted_chunk);
  parallel_parts(ctx.threads(), chunks.count, [&](std::int64_t p) {
    const std::int64_t first = chunks.first(p);
    radix_sort(pairs.keys.data() + first, pairs.values.data() + first, spare.keys.data() + first,
               spare.values.data() + first, chunks.last(p) - first);
  });
  for (std::int64_t step = 1; step < chunks.count; step *= 2) {
    parallel_parts(ctx.threads(), div_up(chunks.count, 2 * step), [&](std::int64_t pair) {
      const std::int64_t p = pair * 2 * step;
      const std::int64_t middle = std::min(p + step, chunks.count);
      const std::int64_t last = std::min(p + 2 * step, chunks.count);
      merge(pairs, chunks.first(p), chunks.first(middle), chunks.first(last), spare);
    });
    std::swap(pairs, spare);
  }
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

template <class I>
id_table<I>::id_table(const context<host>& ctx) : ctx_(ctx), seed_(fresh_seed()) {}

// Murmur3's finaliser: every bit of the id reaches every bit of the place.
template <class I>
std::uint64_t id_table<I>::hash(std::int64_t id) const noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(id) ^ seed_;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

template <class I>
void id_table<I>::clear() {
  const parts shares = split(lines_.size(), ctx_.threads(), std::int64_t{1} << 14);
  parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
    line empty;
    std::fill_n(empty.ids, slots, free_place);
    std::fill_n(empty.numbers, slots, not_yet);
    std::fill(lines_.data() + shares.first(s), lines_.data() + shares.last(s), empty);
  });
}

template <class I>
void id_table<I>::reserve(std::int64_t more) {
  const std::int64_t wanted =
      std::max(tuning::least_places, (size() + more) / tuning::ids * tuning::places + tuning::places) / slots + 1;
  const std::int64_t before = lines_.size();
  if (before >= wanted) return;
  array<line, host> old(ctx_, std::max(wanted, before + before / 2));
  lines_.swap(old);
  clear();
  parallel_for(ctx_.threads(), before, grain::rows, [&](std::int64_t l) {
    for (std::int64_t s = 0; s < slots && old[l].ids[s] != free_place; ++s) {
      number_type* fresh = nullptr;
      *find(old[l].ids[s], place_of(hash(old[l].ids[s]), lines_.size()), fresh) = old[l].numbers[s];
    }
  });
}

// The number of an id that is looked for from line `at` on; `fresh` points there, too, if the id was not in the table.
template <class I>
typename id_table<I>::number_type* id_table<I>::find(std::int64_t id, std::int64_t at, number_type*& fresh) {
  while (true) {
    line& here = lines_.data()[at];
    for (std::int64_t s = 0; s < slots; ++s) {
      std::int64_t there = load(here.ids[s], std::memory_order_relaxed);
      if (there == free_place) {
        const std::atomic_ref<std::int64_t> place(here.ids[s]);
        if (place.compare_exchange_strong(there, id, std::memory_order_relaxed)) return fresh = &here.numbers[s];
      }
      if (there == id) return &here.numbers[s];  // also when another thread was faster
    }
    at = next_place(at, lines_.size());
  }
}

template <class I>
void id_table<I>::number(const std::int64_t* ids, std::int64_t count, std::int64_t* numbers) {
  std::array<std::int64_t, batch> lines;
  std::array<number_type*, batch> found;
  std::array<number_type*, batch> fresh;
  std::int64_t fresh_count = 0;
  const line* const table = lines_.data();
  const std::int64_t size = lines_.size();
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = place_of(hash(ids[k]), size);
    lines[static_cast<std::size_t>(k)] = at;
    __builtin_prefetch(table + at, 1);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    number_type* added = nullptr;
    found[static_cast<std::size_t>(k)] = find(ids[k], lines[static_cast<std::size_t>(k)], added);
    if (added != nullptr) fresh[static_cast<std::size_t>(fresh_count++)] = added;
  }
  // All of one's own numbers are given before another thread's is waited for, so someone always gets on.
  const std::int64_t first = fresh_count > 0 ? size_.fetch_add(fresh_count, std::memory_order_relaxed) : 0;
  for (std::int64_t k = 0; k < fresh_count; ++k) {
    std::atomic_ref<number_type>(*fresh[static_cast<std::size_t>(k)])
        .store(static_cast<number_type>(first + k), std::memory_order_release);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    number_type& at = *found[static_cast<std::size_t>(k)];
    number_type given = load(at, std::memory_order_acquire);
    for (; given == not_yet; given = load(at, std::memory_order_acquire)) std::this_thread::yield();
    numbers[k] = static_cast<std::int64_t>(given);
  }
}

template <class I>
std::vector<std::int64_t> id_table<I>::ranks(array<number_type, host>& ranks) {
  const std::int64_t count = size();
  sorted_chunks<number_type> pairs{{ctx_, count}, {}};
  parallel_for(ctx_.threads(), lines_.size(), grain::rows, [&](std::int64_t l) {
    const line& here = lines_[l];
    for (std::int64_t s = 0; s < slots && here.ids[s] != free_place; ++s) {
      pairs.keys[static_cast<std::int64_t>(here.numbers[s])] = here.ids[s];
    }
  });
  lines_ = {};
  pairs.values = array<number_type, host>(ctx_, count);
  std::iota(pairs.values.begin(), pairs.values.end(), number_type{0});
  sort_pairs(ctx_, pairs);
  ranks = array<number_type, host>(ctx_, count);
  parallel_for(ctx_.threads(), count, grain::elements, [&](std::int64_t k) {
    ranks[static_cast<std::int64_t>(pairs.values[k])] = static_cast<number_type>(k);
  });
  pairs.values = {};
  return {pairs.keys.begin(), pairs.keys.end()};
}

#define INSTANTIATE(I) template class id_table<I>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail
