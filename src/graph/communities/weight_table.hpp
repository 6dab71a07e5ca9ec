// Sums of weights by community: a hash table that a thread fills and empties for every row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace spargo::detail::communities {

// Sums come in the order in which the communities first occurred. A row uses the first slots only, as many as it needs,
// so short rows stay in L1.
template <class I>
class weight_table {
 public:
  struct entry {
    I community;
    std::int64_t weight;
  };

  // Empties the table, for at most `most` communities.
  void begin(std::int64_t most) {
    for (std::int64_t k = 0; k < size_; ++k) slots_[used_[k]].community = -1;
    size_ = 0;
    bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * most, 2) - 1)));
    const auto size = std::size_t{1} << bits_;
    if (size > slots_.size()) {
      slots_.assign(size, {-1, 0});
      used_.resize(size / 2 + 1);
    }
  }

  void add(I community, std::int64_t weight) {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    std::uint64_t at = (static_cast<std::uint64_t>(community) * 0x9e3779b97f4a7c15U) >> (64 - bits_);
    entry* const slots = slots_.data();
    while (slots[at].community != community) {
      if (slots[at].community < 0) {
        slots[at] = {community, weight};
        used_[size_++] = static_cast<place>(at);
        return;
      }
      at = (at + 1) & mask;
    }
    slots[at].weight += weight;
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const entry& operator[](std::int64_t k) const { return slots_[used_[k]]; }
  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(entry) + used_.capacity() * sizeof(place));
  }

 private:
  using place = std::make_unsigned_t<I>;

  std::vector<entry> slots_;  // community -1: free
  std::vector<place> used_;   // in order of first occurrence
  std::int64_t size_ = 0;
  int bits_ = 1;
};

}  // namespace spargo::detail::communities
