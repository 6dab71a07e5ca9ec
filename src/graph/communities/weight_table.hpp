// Sums of weights by community, which a thread fills and empties for every row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace spargo::detail::communities {

// Sums come in the order in which the communities first occurred.
//
// A long row, or any row of a small level, has one slot per community, and no branch depends on whether a community is
// new: that is as good as random, and a wrong guess costs as much as ten additions. Short rows of large levels use a
// hash table that stays in L1, where one slot per community would miss the cache with every entry.
template <class I>
class weight_table {
 public:
  struct entry {
    I community;
    std::int64_t weight;
  };

  // Empties the table, for communities 0 to nodes - 1, of which at most `most` occur.
  void begin(std::int64_t most, std::int64_t nodes) {
    for (std::int64_t k = 0; k < size_; ++k) clear(used_.data()[k]);
    size_ = 0;
    if (std::cmp_greater_equal(most, used_.size())) used_.resize(static_cast<std::size_t>(most) + 1);
    is_hashed_ = most <= short_row && nodes > small_level;
    if (is_hashed_) {
      bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * most, 2) - 1)));
      if (slots_.empty()) slots_.assign(2 * short_row, {-1, 0});
    } else if (std::cmp_greater(nodes, sums_.size())) {
      sums_.assign(static_cast<std::size_t>(nodes), absent);
    }
  }

  [[nodiscard]] bool is_hashed() const { return is_hashed_; }
  void add(I community, std::int64_t weight) {
    if (is_hashed_) {
      add_hashed(community, weight);
    } else {
      add_directly(community, weight);
    }
  }
  // Precondition: is_hashed().
  void add_hashed(I community, std::int64_t weight) {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    std::uint64_t at = (static_cast<std::uint64_t>(community) * 0x9e3779b97f4a7c15U) >> (64 - bits_);
    entry* const slots = slots_.data();
    while (slots[at].community != community) {
      if (slots[at].community < 0) {
        slots[at] = {community, weight};
        used_.data()[size_++] = static_cast<I>(at);
        return;
      }
      at = (at + 1) & mask;
    }
    slots[at].weight += weight;
  }
  // Precondition: !is_hashed().
  void add_directly(I community, std::int64_t weight) {
    std::int64_t& sum = sums_.data()[community];
    used_.data()[size_] = community;
    size_ += sum < 0 ? 1 : 0;
    sum = (sum < 0 ? 0 : sum) + weight;
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] entry operator[](std::int64_t k) const {
    const I at = used_.data()[k];
    return is_hashed_ ? slots_.data()[at] : entry{at, sums_.data()[at]};
  }

 private:
  static constexpr std::int64_t absent = -1;
  static constexpr std::int64_t short_row = 64;
  static constexpr std::int64_t small_level = std::int64_t{1} << 17;  // 1 MB of sums

  void clear(I at) {
    if (is_hashed_) {
      slots_.data()[at].community = -1;
    } else {
      sums_.data()[at] = absent;
    }
  }

  std::vector<std::int64_t> sums_;  // [community]
  std::vector<entry> slots_;        // community -1: free
  std::vector<I> used_;             // communities, or slots
  std::int64_t size_ = 0;
  int bits_ = 1;
  bool is_hashed_ = false;
};

template <class I>
using weight_tables = std::vector<weight_table<I>>;  // [slot of a region's thread]

}  // namespace spargo::detail::communities
