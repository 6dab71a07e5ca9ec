#include "io/text/name_interner.hpp"

#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "formats/rows/sort_pairs.hpp"
#include "io/text/name_hash.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <numeric>
#include <thread>

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr std::int64_t least_places = std::int64_t{1} << 12;
  // Eight slots for five names, growing by half when full: 42 to 62 percent are occupied.
  static constexpr std::int64_t places = 8;
  static constexpr std::int64_t names = 5;
  static constexpr std::int64_t arena_bytes = std::int64_t{256} << 10;
};

using record = name_interner::record;

constexpr std::int64_t record_bytes(std::size_t length) {
  const std::size_t bytes = offsetof(record, characters) + length;
  return static_cast<std::int64_t>((bytes + alignof(record) - 1) / alignof(record) * alignof(record));
}

template <class T>
T load(T& word, std::memory_order order) {
  return std::atomic_ref<T>(word).load(order);
}

// Waits for a value that another thread is about to store.
template <class T>
T await(T& word, T absent) {
  T there = load(word, std::memory_order_acquire);
  for (; there == absent; there = load(word, std::memory_order_acquire)) std::this_thread::yield();
  return there;
}

void lower(std::int64_t& first, std::int64_t place) {
  const std::atomic_ref<std::int64_t> word(first);
  std::int64_t there = word.load(std::memory_order_relaxed);
  while (place < there && !word.compare_exchange_weak(there, place, std::memory_order_relaxed)) {
  }
}

}  // namespace

void name_interner::arena::reserve(const context<host>& ctx, std::int64_t bytes) {
  if (!chunks_.empty() && chunks_.back().memory.size() - chunks_.back().used >= bytes) return;
  chunks_.push_back({{ctx, std::max(bytes, tuning::arena_bytes)}});
}

char* name_interner::arena::take(std::int64_t bytes) noexcept {
  chunk& last = chunks_.back();
  last.used += bytes;
  return last.memory.data() + (last.used - bytes);
}

name_interner::name_interner(const context<host>& ctx, const name_interner_tuning& tuning)
    : ctx_(ctx), seed_(name_hash::fresh_seed()), hash_mask_(tuning.hash_mask) {}

std::uint64_t name_interner::hash(std::string_view name) const noexcept {
  return (name_hash::of(name, seed_) & hash_mask_) | 1;
}

void name_interner::clear() {
  const parts shares = split(lines_.size(), ctx_.threads(), std::int64_t{1} << 14);
  parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
    std::fill(lines_.data() + shares.first(s), lines_.data() + shares.last(s), line{});
  });
}

void name_interner::reserve(std::int64_t more) {
  const std::int64_t wanted =
      std::max(tuning::least_places, (size() + more) / tuning::names * tuning::places + tuning::places) / slots + 1;
  const std::int64_t before = lines_.size();
  if (before >= wanted) return;
  array<line, host> old(ctx_, std::max(wanted, before + before / 2));
  lines_.swap(old);
  clear();
  parallel_for(ctx_.threads(), before, grain::rows, [&](std::int64_t l) {
    for (const slot& moved : old[l].slots_) {
      if (moved.hash == 0) return;
      for (std::int64_t at = name_hash::place_of(moved.hash, lines_.size());;
           at = at + 1 == lines_.size() ? 0 : at + 1) {
        const auto take = [&](slot& to) {
          std::uint64_t there = 0;
          if (!std::atomic_ref(to.hash).compare_exchange_strong(there, moved.hash, std::memory_order_relaxed)) {
            return false;
          }
          to.there = moved.there;
          return true;
        };
        if (std::any_of(std::begin(lines_[at].slots_), std::end(lines_[at].slots_), take)) break;
      }
    }
  });
}

name_interner::arena& name_interner::take_arena() {
  const std::lock_guard lock(arenas_mutex_);
  if (free_arenas_.empty()) {
    free_arenas_.reserve(arenas_.size() + 1);
    return *arenas_.emplace_back(std::make_unique<arena>());
  }
  arena& taken = *free_arenas_.back();
  free_arenas_.pop_back();
  return taken;
}

void name_interner::give_back(arena& used) noexcept {
  const std::lock_guard lock(arenas_mutex_);
  free_arenas_.push_back(&used);
}

// The record of a name; `memory` has room for a new one.
name_interner::record* name_interner::find(std::string_view name, std::uint64_t hash, std::int64_t place, arena& memory,
                                           bool& fresh) {
  for (std::int64_t at = name_hash::place_of(hash, lines_.size());; at = at + 1 == lines_.size() ? 0 : at + 1) {
    for (slot& here : lines_.data()[at].slots_) {
      std::uint64_t there = load(here.hash, std::memory_order_relaxed);
      if (there == 0) {
        const std::atomic_ref<std::uint64_t> claim(here.hash);
        if (claim.compare_exchange_strong(there, hash, std::memory_order_relaxed)) {
          auto* const made = reinterpret_cast<record*>(memory.take(record_bytes(name.size())));
          made->first = place;
          made->number = not_yet;
          made->length = static_cast<std::uint32_t>(name.size());
          name.copy(made->characters, name.size());
          std::atomic_ref<record*>(here.there).store(made, std::memory_order_release);
          fresh = true;
          return made;
        }
      }
      if (there != hash) continue;
      record* const known = await<record*>(here.there, nullptr);
      if (known->name() != name) continue;
      lower(known->first, place);
      return known;
    }
  }
}

void name_interner::number(const std::string_view* names, std::int64_t count, std::int64_t place, arena& memory,
                           std::int64_t* numbers) {
  std::array<std::uint64_t, batch> hashes;
  std::array<record*, batch> found;
  std::array<record*, batch> added;
  std::int64_t added_count = 0;
  std::int64_t bytes = 0;
  const std::int64_t size = lines_.size();
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint64_t h = hash(names[k]);
    hashes[static_cast<std::size_t>(k)] = h;
    __builtin_prefetch(lines_.data() + name_hash::place_of(h, size), 1);
    bytes += record_bytes(names[k].size());
  }
  memory.reserve(ctx_, bytes);  // nothing below throws
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint64_t h = hashes[static_cast<std::size_t>(k)];
    for (slot& here : lines_.data()[name_hash::place_of(h, size)].slots_) {
      if (load(here.hash, std::memory_order_relaxed) != h) continue;
      const record* const known = load(here.there, std::memory_order_relaxed);
      __builtin_prefetch(known);  // and its end: half of all names of 14 characters reach into a second line
      __builtin_prefetch(reinterpret_cast<const char*>(known) + record_bytes(names[k].size()) - 1);
      break;
    }
  }
  for (std::int64_t k = 0; k < count; ++k) {
    bool fresh = false;
    record* const r = find(names[k], hashes[static_cast<std::size_t>(k)], place + k, memory, fresh);
    found[static_cast<std::size_t>(k)] = r;
    if (fresh) added[static_cast<std::size_t>(added_count++)] = r;
  }
  // A thread assigns all its own numbers before it waits for another's, so some thread always makes progress.
  const std::int64_t first = added_count > 0 ? size_.fetch_add(added_count, std::memory_order_relaxed) : 0;
  for (std::int64_t k = 0; k < added_count; ++k) {
    std::atomic_ref<std::int64_t>(added[static_cast<std::size_t>(k)]->number)
        .store(first + k, std::memory_order_release);
  }
  for (std::int64_t k = 0; k < count; ++k) numbers[k] = await(found[static_cast<std::size_t>(k)]->number, not_yet);
}

void name_interner::number_all(span<const std::string_view, host> names, span<std::int64_t, host> numbers) {
  constexpr std::int64_t round = std::int64_t{1} << 20;  // names between two checks of the table's size
  for (std::int64_t begin = 0; begin < names.size(); begin += round) {
    const std::int64_t count = std::min(round, names.size() - begin);
    reserve(count);
    const parts shares = split(count, ctx_.threads(), std::int64_t{1} << 14);
    std::exception_ptr failure;
    std::mutex failing;
    parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t s) {
      try {
        arena& memory = take_arena();
        for (std::int64_t k = begin + shares.first(s), last = begin + shares.last(s); k < last; k += batch) {
          number(names.data() + k, std::min(batch, last - k), k, memory, numbers.data() + k);
        }
        give_back(memory);
      } catch (...) {
        const std::lock_guard lock(failing);
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  }
}

vertex_name_table name_interner::finish(array<std::int64_t, host>& vertices) {
  const std::int64_t count = size();
  lines_ = {};
  array<const record*, host> records(ctx_, count);
  pair_sort::sorted_pairs<std::int64_t> pairs{{ctx_, count}, {ctx_, count}};
  std::vector<const arena::chunk*> chunks;
  for (const auto& each : arenas_) {
    for (const arena::chunk& c : each->chunks()) chunks.push_back(&c);
  }
  parallel_parts(ctx_.threads(), std::ssize(chunks), [&](std::int64_t c) {
    const arena::chunk& from = *chunks[static_cast<std::size_t>(c)];
    for (std::int64_t at = 0; at < from.used;) {
      const auto* const r = reinterpret_cast<const record*>(from.memory.data() + at);
      records[r->number] = r;
      pairs.keys[r->number] = r->first;
      pairs.values[r->number] = r->number;
      at += record_bytes(r->length);
    }
  });
  pair_sort::sort_pairs(ctx_, pairs);
  pairs.keys = {};
  vertices = array<std::int64_t, host>(ctx_, count);
  array<std::int64_t, host> offsets(ctx_, count + 1);
  offsets[0] = 0;
  parallel_for(ctx_.threads(), count, grain::elements, [&](std::int64_t v) {
    vertices[pairs.values[v]] = v;
    offsets[v + 1] = records[pairs.values[v]]->length;
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  array<char, host> characters(ctx_, offsets[count]);
  parallel_for(ctx_.threads(), count, grain::rows, [&](std::int64_t v) {
    const std::string_view name = records[pairs.values[v]]->name();
    name.copy(characters.data() + offsets[v], name.size());
  });
  free_arenas_.clear();
  arenas_.clear();
  return {ctx_, std::move(characters), std::move(offsets)};
}

}  // namespace spargo::detail
