// A bitmap of the ids that occur, and the rank of each among them.
//
// Bit k of the bitmap says that id k occurs. Threads mark ids as they read them. Then each word gets the number of bits
// before it stored next to it, so that a rank costs one cache line and a popcount. Cost: O(ids marked + largest id /
// 64) time; 1/8 byte per id up to the largest while marking, 1/4 byte more for ranks.
#pragma once

#include "core/large_vector.hpp"
#include "core/parallel.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace spargo::detail {

// Not the popcnt instruction, which some x86-64 processors lack; a library call would be slower than this.
[[nodiscard]] inline std::int64_t count_bits(std::uint64_t word) noexcept {
  word -= (word >> 1) & 0x5555555555555555;
  word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<std::int64_t>((word * 0x0101010101010101) >> 56);
}

template <class I>
class id_bitmap {
 public:
  // Ids must be below this.
  [[nodiscard]] std::int64_t limit() const { return 64 * words_.size(); }

  // Makes room for ids below `limit` and keeps marked ids. Not while threads are marking.
  void grow(const context<host>& ctx, std::int64_t limit) {
    array<std::uint64_t, host> larger(ctx, div_up(limit, 64));
    const std::int64_t before = words_.size();
    if (larger.size() <= before) return;
    std::copy_n(words_.data(), before, larger.data());
    std::fill(larger.data() + before, larger.end(), std::uint64_t{0});
    words_ = std::move(larger);
  }

  // Thread-safe.
  void mark(const I* ids, std::int64_t count) {
    std::uint64_t* const words = words_.data();
    for (std::int64_t k = 0; k < count; ++k) {
      const std::uint64_t bit = std::uint64_t{1} << (ids[k] & 63);
      const std::atomic_ref<std::uint64_t> word(words[ids[k] >> 6]);
      if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
    }
  }

  // After all marking: returns the ids, ascending.
  [[nodiscard]] std::vector<std::int64_t> finish(const context<host>& ctx) {
    places_ = array<place, host>(ctx, words_.size());
    std::int64_t before = 0;
    for (std::int64_t w = 0; w < words_.size(); ++w) {
      places_[w] = {words_[w], before};
      before += count_bits(words_[w]);
    }
    std::vector<std::int64_t> ids = large_vector<std::int64_t>(before);
    parallel_for(ctx.threads(), places_.size(), grain::elements, [&](std::int64_t w) {
      auto to = static_cast<std::size_t>(places_[w].before);
      for (std::uint64_t word = places_[w].word; word != 0; word &= word - 1) {
        ids[to++] = w * 64 + std::countr_zero(word);
      }
    });
    words_ = {};
    return ids;
  }

  // After `finish`: the marked ids in [64 w, 64 w + 64), and the rank of the first.
  struct place {
    std::uint64_t word;
    std::int64_t before;
  };
  [[nodiscard]] const place& at(std::int64_t w) const { return places_.data()[w]; }
  [[nodiscard]] bool contains(I id) const { return (at(id >> 6).word >> (id & 63) & 1) != 0; }

  // After `finish`, for a marked id.
  [[nodiscard]] std::int64_t rank(I id) const {
    const place& word = at(id >> 6);
    return word.before + count_bits(word.word & ((std::uint64_t{1} << (id & 63)) - 1));
  }

 private:
  array<std::uint64_t, host> words_;
  array<place, host> places_;
};

}  // namespace spargo::detail
