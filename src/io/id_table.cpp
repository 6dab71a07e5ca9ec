#include "io/id_table.hpp"

#include "formats/row_sort.hpp"
#include "primitives/parts.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr std::int64_t least_places = std::int64_t{1} << 12;
  // Ids a thread sorts at least: 0.2 ms, against some 10 us for a parallel region.
  static constexpr std::int64_t sorted_piece = std::int64_t{1} << 14;
};

std::int64_t load(std::int64_t& word, std::memory_order order) {
  return std::atomic_ref<std::int64_t>(word).load(order);
}

// Keys with what belongs to them, each piece sorted.
struct sorted_pieces {
  array<std::int64_t, host> keys;
  array<std::int64_t, host> values;
};

// Two sorted neighbours [first, middle) and [middle, last) into one.
void merge(const sorted_pieces& from, std::int64_t first, std::int64_t middle, std::int64_t last, sorted_pieces& to) {
  std::int64_t left = first;
  std::int64_t right = middle;
  for (std::int64_t k = first; k < last; ++k) {
    const bool take_left = right == last || (left < middle && from.keys[left] < from.keys[right]);
    const std::int64_t taken = take_left ? left++ : right++;
    to.keys[k] = from.keys[taken];
    to.values[k] = from.values[taken];
  }
}

// By key: pieces by their bytes, then neighbours merged until one is left.
void sort_pairs(const context<host>& ctx, sorted_pieces& pairs) {
  const std::int64_t size = pairs.keys.size();
  sorted_pieces spare{{ctx, size}, {ctx, size}};
  const parts pieces = split(size, ctx.threads(), tuning::sorted_piece);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < pieces.count; ++p) {
    const std::int64_t first = pieces.first(p);
    radix_sort(pairs.keys.data() + first, pairs.values.data() + first, spare.keys.data() + first,
               spare.values.data() + first, pieces.last(p) - first);
  }
  for (std::int64_t step = 1; step < pieces.count; step *= 2) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1)
    for (std::int64_t p = 0; p < pieces.count; p += 2 * step) {
      const std::int64_t middle = std::min(p + step, pieces.count);
      const std::int64_t last = std::min(p + 2 * step, pieces.count);
      merge(pairs, pieces.first(p), pieces.first(middle), pieces.first(last), spare);
    }
    std::swap(pairs, spare);
  }
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

id_table::id_table(const context<host>& ctx) : ctx_(ctx), seed_(fresh_seed()) {}

// Murmur3's finaliser: every bit of the id reaches every bit of the place.
std::uint64_t id_table::hash(std::int64_t id) const noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(id) ^ seed_;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

void id_table::clear(array<place, host>& places) const {
  const parts shares = split(places.size(), ctx_.threads(), std::int64_t{1} << 16);
#pragma omp parallel for num_threads(ctx_.threads()) schedule(static, 1)
  for (std::int64_t s = 0; s < shares.count; ++s) {
    std::fill(places.data() + shares.first(s), places.data() + shares.last(s), place{-1, -1});
  }
}

void id_table::reserve(std::int64_t more) {
  const std::int64_t wanted = std::max(tuning::least_places, 2 * (size() + more));
  if (places_.size() >= wanted) return;
  array<place, host> larger(ctx_, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted))));
  clear(larger);
  mask_ = static_cast<std::uint64_t>(larger.size()) - 1;
  const std::int64_t before = places_.size();
#pragma omp parallel for num_threads(ctx_.threads()) schedule(static)
  for (std::int64_t k = 0; k < before; ++k) {
    const place& old = places_[k];
    if (old.id < 0) continue;
    for (std::uint64_t at = hash(old.id) & mask_;; at = (at + 1) & mask_) {
      place& to = larger.data()[at];
      std::int64_t free = -1;
      if (!std::atomic_ref<std::int64_t>(to.id).compare_exchange_strong(free, old.id, std::memory_order_relaxed))
        continue;
      to.number = old.number;
      break;
    }
  }
  places_ = std::move(larger);
}

void id_table::number(const std::int64_t* ids, std::int64_t count, std::int64_t* numbers) {
  std::array<place*, batch> found;
  std::array<place*, batch> fresh;
  std::int64_t fresh_count = 0;
  place* const places = places_.data();
  for (std::int64_t k = 0; k < count; ++k) {
    found[static_cast<std::size_t>(k)] = places + (hash(ids[k]) & mask_);
    __builtin_prefetch(found[static_cast<std::size_t>(k)], 1);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    place*& at = found[static_cast<std::size_t>(k)];
    while (true) {
      std::int64_t there = load(at->id, std::memory_order_relaxed);
      if (there == -1 &&
          std::atomic_ref<std::int64_t>(at->id).compare_exchange_strong(there, ids[k], std::memory_order_relaxed)) {
        fresh[static_cast<std::size_t>(fresh_count++)] = at;
        break;
      }
      if (there == ids[k]) break;  // also when another thread was faster
      at = places + (static_cast<std::uint64_t>(at + 1 - places) & mask_);
    }
  }
  // All of one's own numbers are given before another thread's is waited for, so someone always gets on.
  const std::int64_t first = fresh_count > 0 ? size_.fetch_add(fresh_count, std::memory_order_relaxed) : 0;
  for (std::int64_t k = 0; k < fresh_count; ++k) {
    std::atomic_ref<std::int64_t>(fresh[static_cast<std::size_t>(k)]->number)
        .store(first + k, std::memory_order_release);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    place* const at = found[static_cast<std::size_t>(k)];
    while ((numbers[k] = load(at->number, std::memory_order_acquire)) < 0) std::this_thread::yield();
  }
}

std::vector<std::int64_t> id_table::ranks(array<std::int64_t, host>& ranks) {
  const std::int64_t count = size();
  sorted_pieces pairs{{ctx_, count}, {ctx_, count}};
#pragma omp parallel for num_threads(ctx_.threads()) schedule(static)
  for (std::int64_t k = 0; k < places_.size(); ++k) {
    if (places_[k].id >= 0) pairs.keys[places_[k].number] = places_[k].id;
  }
  places_ = {};
  std::iota(pairs.values.begin(), pairs.values.end(), std::int64_t{0});
  sort_pairs(ctx_, pairs);
  ranks = array<std::int64_t, host>(ctx_, count);
#pragma omp parallel for num_threads(ctx_.threads()) schedule(static)
  for (std::int64_t k = 0; k < count; ++k) ranks[pairs.values[k]] = k;
  return {pairs.keys.begin(), pairs.keys.end()};
}

}  // namespace spargo::detail
