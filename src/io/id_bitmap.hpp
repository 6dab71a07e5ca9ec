// Dense ids: which occur, and the rank of each among them.
//
// Bit k of the bitmap says that id k occurs; a running popcount before each word makes a rank two loads.
// Cost: O(ids marked + largest id / 64); a quarter of a byte an id up to the largest.
#pragma once

#include "primitives/parts.hpp"

#include <spargo/core/array.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

namespace spargo::detail {

template <class I>
class id_bitmap {
 public:
  // Marks the ids in both, which are 0 to size - 1.
  id_bitmap(const context<host>& ctx, std::int64_t size, span<const I, host> sources, span<const I, host> targets)
      : words_(ctx, div_up(size, 64)), ranks_(ctx, words_.size() + 1) {
    fill_zero(ctx, words_.view());
    mark(ctx, sources);
    mark(ctx, targets);
    ranks_[0] = 0;
    for (std::int64_t w = 0; w < words_.size(); ++w) ranks_[w + 1] = ranks_[w] + std::popcount(words_[w]);
  }

  [[nodiscard]] std::int64_t count() const { return ranks_[words_.size()]; }
  [[nodiscard]] std::int64_t rank(I id) const {
    const std::uint64_t below = words_[id >> 6] & ((std::uint64_t{1} << (id & 63)) - 1);
    return ranks_[id >> 6] + std::popcount(below);
  }

  // The ids, ascending.
  [[nodiscard]] std::vector<std::int64_t> list(const context<host>& ctx) const {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count()));
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
    for (std::int64_t w = 0; w < words_.size(); ++w) {
      auto to = static_cast<std::size_t>(ranks_[w]);
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) ids[to++] = w * 64 + std::countr_zero(word);
    }
    return ids;
  }

 private:
  void mark(const context<host>& ctx, span<const I, host> ids) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
    for (std::int64_t k = 0; k < ids.size(); ++k) {
      const std::uint64_t bit = std::uint64_t{1} << (ids[k] & 63);
      const std::atomic_ref<std::uint64_t> word(words_[ids[k] >> 6]);
      if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
    }
  }

  array<std::uint64_t, host> words_;
  array<std::int64_t, host> ranks_;
};

}  // namespace spargo::detail
