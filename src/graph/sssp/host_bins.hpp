// A thread's bins: vertices to expand, by the bucket of their distance.
//
// Entries are hints: the distances are authoritative, stale entries are skipped. So a bin may drop entries when its
// chunks run out or a bucket is beyond the slots. It remembers the smallest bucket dropped; the search rescans all
// distances there. So vertices, not edges, bound a search's memory, and no list grows.
//
// Invariant: the pool has enough chunks to hold every vertex once, in any bins; a rescan, which starts with empty bins,
// drops only buckets beyond the slots.
#pragma once

#include <spargo/core/array.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>

namespace spargo::detail::sssp {

struct host_bins_tuning {
  static constexpr std::int64_t slots = 256;          // a power of 2; by choice: weights of 1..255 and buckets of 1 fit
  static constexpr std::int64_t chunk_entries = 254;  // a chunk of 2 KiB with 8-byte entries
};

inline constexpr std::int64_t no_bucket = std::numeric_limits<std::int64_t>::max();

template <class I, class D>
struct bin_entry {
  I vertex;
  D distance;
};

template <class I, class D>
struct bin_chunk {
  bin_chunk* next;
  std::int64_t size;
  bin_entry<I, D> entries[static_cast<std::size_t>(host_bins_tuning::chunk_entries)];
};

template <class I, class D>
class chunk_pool {
 public:
  using chunk = bin_chunk<I, D>;

  chunk_pool(const context<host>& ctx, std::int64_t vertices, int threads)
      : chunks_(ctx, vertices / host_bins_tuning::chunk_entries * 5 / 4 + threads * host_bins_tuning::slots + 1) {}

  // Null: the pool is exhausted.
  [[nodiscard]] chunk* take() {
    if (taken_.load(std::memory_order_relaxed) >= chunks_.size()) return nullptr;
    const std::int64_t at = taken_.fetch_add(1, std::memory_order_relaxed);
    return at < chunks_.size() ? chunks_.data() + at : nullptr;
  }
  void reset() { taken_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t size() const { return chunks_.size(); }

 private:
  array<chunk, host> chunks_;
  std::atomic<std::int64_t> taken_{0};
};

template <class I, class D>
class alignas(64) thread_bins {
 public:
  using chunk = bin_chunk<I, D>;
  using tuning = host_bins_tuning;

  explicit thread_bins(chunk_pool<I, D>& pool) : pool_(&pool) { clear(); }

  // Drops all entries; the owner resets the pool.
  void clear() {
    heads_.fill(nullptr);
    occupied_.fill(0);
    free_ = nullptr;
    dropped_ = no_bucket;
  }

  // The first bucket that may have entries.
  void set_base(std::int64_t bucket) { base_ = bucket; }

  void push(std::int64_t bucket, I vertex, D distance) {
    if (bucket - base_ >= tuning::slots) {
      dropped_ = std::min(dropped_, bucket);
      return;
    }
    const auto slot = static_cast<std::size_t>(bucket % tuning::slots);
    chunk* c = heads_[slot];
    if (c == nullptr || c->size == tuning::chunk_entries) {
      c = fresh_chunk();
      if (c == nullptr) {
        dropped_ = std::min(dropped_, bucket);
        return;
      }
      c->next = heads_[slot];
      heads_[slot] = c;
      occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    }
    c->entries[c->size++] = {vertex, distance};
  }

  // Removes and returns the chunks of a bucket, as a list; null: empty.
  [[nodiscard]] chunk* take(std::int64_t bucket) {
    const auto slot = static_cast<std::size_t>(bucket % tuning::slots);
    chunk* const list = heads_[slot];
    heads_[slot] = nullptr;
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    return list;
  }

  // Removes one chunk if the bucket has at most `most` chunks.
  [[nodiscard]] chunk* take_one(std::int64_t bucket, int most) {
    const auto slot = static_cast<std::size_t>(bucket % tuning::slots);
    const chunk* c = heads_[slot];
    for (int k = 0; c != nullptr && k < most; ++k) c = c->next;
    if (c != nullptr || heads_[slot] == nullptr) return nullptr;
    chunk* const first = heads_[slot];
    heads_[slot] = first->next;
    if (first->next == nullptr) occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    return first;
  }

  void recycle(chunk* c) {
    c->next = free_;
    free_ = c;
  }

  // The first bucket with an entry, dropped ones included.
  [[nodiscard]] std::int64_t first_bucket() const { return std::min(first_held(), dropped_); }
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] std::int64_t first_held() const {
    const auto start = static_cast<std::size_t>(base_ % tuning::slots);
    for (std::size_t k = 0; k <= occupied_.size(); ++k) {
      const std::size_t w = (start / 64 + k) % occupied_.size();
      std::uint64_t word = occupied_[w];
      if (k == 0) word &= ~std::uint64_t{0} << (start % 64);
      if (k == occupied_.size()) word &= ~(~std::uint64_t{0} << (start % 64));
      if (word == 0) continue;
      const auto slot = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      return base_ + static_cast<std::int64_t>((slot - start) % static_cast<std::size_t>(tuning::slots));
    }
    return no_bucket;
  }

  [[nodiscard]] chunk* fresh_chunk() {
    chunk* c = free_;
    if (c != nullptr) {
      free_ = c->next;
    } else {
      c = pool_->take();
    }
    if (c != nullptr) c->size = 0;
    return c;
  }

  chunk_pool<I, D>* pool_;
  chunk* free_ = nullptr;
  std::int64_t base_ = 0;
  std::int64_t dropped_ = no_bucket;
  std::array<std::uint64_t, static_cast<std::size_t>(tuning::slots / 64)> occupied_;
  std::array<chunk*, static_cast<std::size_t>(tuning::slots)> heads_;
};

}  // namespace spargo::detail::sssp
