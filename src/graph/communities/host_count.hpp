// The most frequent label among a vertex's neighbours, on the host: counters in L1 and L2, no mispredicted branches.
#pragma once

#include <spargo/core/array.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace spargo::detail::communities {

struct count_tuning {
  // 64 KB. Two busy cores, R-MAT and uniform graphs of 2^20 vertices and degree 16: 2^13 to 2^17 counters differ by
  // less than the noise, 15 percent.
  static constexpr int counter_bits = 15;
  // Segment of a hub's row; a table of 512 KB for int32. Segments of 2^12 take 15 percent longer on R-MAT 20.
  static constexpr std::int64_t segment = std::int64_t{1} << 15;
  static_assert(segment < (1 << 16), "a counter has 16 bits");
};

template <class I>
struct frequent_label {
  std::make_unsigned_t<I> count = 0;
  I label = std::numeric_limits<I>::max();

  // Keeps the more frequent one; ties: the smaller. Branch-free, since the branch would often be mispredicted.
  void offer(std::make_unsigned_t<I> other_count, I other_label) {
    const bool better = (other_count > count) | ((other_count == count) & (other_label < label));
    count = better ? other_count : count;
    label = better ? other_label : label;
  }
};

template <class I>
[[nodiscard]] std::int64_t count_equal(const I* labels, std::int64_t size, I label) {
  std::make_unsigned_t<I> equal = 0;
  for (std::int64_t k = 0; k < size; ++k) equal += labels[k] == label ? 1 : 0;
  return static_cast<std::int64_t>(equal);
}

template <class I>
class label_table {
 public:
  label_table(const context<host>& ctx, std::int64_t most_labels)
      : slots_(ctx, std::int64_t{1} << bits_for(most_labels)) {}

  // The most frequent of `size` labels; at least one and at most the capacity.
  [[nodiscard]] frequent_label<I> count(const I* labels, std::int64_t size) {
    const int bits = bits_for(size);
    used_ = std::int64_t{1} << bits;
    std::fill_n(slots_.data(), used_, slot{});
    frequent_label<I> best;
    for (std::int64_t k = 0; k < size; ++k) {
      slot& own = find(labels[k], bits);
      own.label = labels[k];
      best.offer(++own.count, labels[k]);
    }
    return best;
  }

  // Calls body(label, count) for the labels counted last.
  template <class Body>
  void for_each(Body&& body) const {
    for (std::int64_t s = 0; s < used_; ++s) {
      if (slots_[s].count > 0) body(slots_[s].label, slots_[s].count);
    }
  }

  [[nodiscard]] std::int64_t bytes() const { return slots_.size() * std::int64_t{sizeof(slot)}; }

 private:
  struct slot {
    I label = 0;
    std::make_unsigned_t<I> count = 0;  // 0: free
  };

  // For a table at most half full.
  [[nodiscard]] static int bits_for(std::int64_t labels) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * labels, 2) - 1)));
  }

  [[nodiscard]] slot& find(I label, int bits) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    std::uint64_t at = (static_cast<std::uint64_t>(label) * 0x9e3779b97f4a7c15U) >> (64 - bits);
    slot* const slots = slots_.data();
    while (slots[at].count > 0 && slots[at].label != label) at = (at + 1) & mask;
    return slots[at];
  }

  array<slot, host> slots_;
  std::int64_t used_ = 0;
};

// The most frequent label of a row, by counters indexed by hash. A counter is an upper bound of its labels' counts, so
// the largest one identifies the most frequent label if no other label shares it, which a second pass verifies. If that
// fails, a table counts the labels; counting everything by table takes 1.5 times as long.
template <class I>
class row_counter {
 public:
  row_counter(const context<host>& ctx, std::int64_t most_labels)
      : counters_(ctx, std::int64_t{1} << count_tuning::counter_bits), table_(ctx, most_labels) {
    std::fill(counters_.begin(), counters_.end(), std::uint16_t{0});
  }

  [[nodiscard]] label_table<I>& table() { return table_; }

  // `size`: at least one and at most the capacity.
  [[nodiscard]] I most_frequent(const I* labels, std::int64_t size) {
    std::uint16_t* const counters = counters_.data();
    frequent_label<I> best;
    for (std::int64_t k = 0; k < size; ++k) best.offer(++counters[place_of(labels[k])], labels[k]);
    for (std::int64_t k = 0; k < size; ++k) counters[place_of(labels[k])] = 0;
    const auto count = static_cast<std::int64_t>(best.count);
    if (count == 1 || count_equal(labels, size, best.label) == count) return best.label;
    return table_.count(labels, size).label;
  }

  [[nodiscard]] std::int64_t bytes() const {
    return counters_.size() * std::int64_t{sizeof(std::uint16_t)} + table_.bytes();
  }

 private:
  [[nodiscard]] static std::uint64_t place_of(I label) {
    return (static_cast<std::uint64_t>(label) * 0x9e3779b97f4a7c15U) >> (64 - count_tuning::counter_bits);
  }

  array<std::uint16_t, host> counters_;  // 0 between rows
  label_table<I> table_;
};

}  // namespace spargo::detail::communities
