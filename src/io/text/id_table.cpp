#include "io/text/id_table.hpp"
#include "core/parallel.hpp"

#include "core/instantiate.hpp"
#include "core/parts.hpp"
#include "formats/rows/sort_pairs.hpp"
#include "io/text/name_hash.hpp"

#include <array>
#include <numeric>
#include <thread>

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr std::int64_t least_places = std::int64_t{1} << 12;
  // Four slots for three ids, growing by half when full: half to three quarters are occupied.
  static constexpr std::int64_t places = 4;
  static constexpr std::int64_t ids = 3;
};

template <class T>
T load(T& word, std::memory_order order) {
  return std::atomic_ref<T>(word).load(order);
}

std::int64_t next_place(std::int64_t place, std::int64_t count) { return place + 1 == count ? 0 : place + 1; }

}  // namespace

template <class I>
id_table<I>::id_table(const context<host>& ctx) : ctx_(ctx), seed_(name_hash::fresh_seed()) {}

// Murmur3's finaliser: every bit of the id affects every bit of the hash.
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
      *find(old[l].ids[s], name_hash::place_of(hash(old[l].ids[s]), lines_.size()), fresh) = old[l].numbers[s];
    }
  });
}

// The number of an id, searched from line `at` on; if the id was new, `fresh` points to it as well.
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
      if (there == id) return &here.numbers[s];  // also if another thread has just inserted it
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
    const std::int64_t at = name_hash::place_of(hash(ids[k]), size);
    lines[static_cast<std::size_t>(k)] = at;
    __builtin_prefetch(table + at, 1);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    number_type* added = nullptr;
    found[static_cast<std::size_t>(k)] = find(ids[k], lines[static_cast<std::size_t>(k)], added);
    if (added != nullptr) fresh[static_cast<std::size_t>(fresh_count++)] = added;
  }
  // A thread assigns all its own numbers before it waits for another's, so some thread always makes progress.
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
  pair_sort::sorted_pairs<number_type> pairs{{ctx_, count}, {}};
  parallel_for(ctx_.threads(), lines_.size(), grain::rows, [&](std::int64_t l) {
    const line& here = lines_[l];
    for (std::int64_t s = 0; s < slots && here.ids[s] != free_place; ++s) {
      pairs.keys[static_cast<std::int64_t>(here.numbers[s])] = here.ids[s];
    }
  });
  lines_ = {};
  pairs.values = array<number_type, host>(ctx_, count);
  std::iota(pairs.values.begin(), pairs.values.end(), number_type{0});
  pair_sort::sort_pairs(ctx_, pairs);
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
