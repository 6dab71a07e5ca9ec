// One step of a walk, shared by both backends: integer arithmetic only, so both choose the same entries.
//
// First order: random word * total weight / 2^64 is a position in the row's prefix sums or, without weights, the number
// of the entry. Step s uses half s % 2 of the Philox block of (walk, s / 2).
// Second order: rejection sampling. An entry is drawn as above and accepted with probability factor / largest factor by
// a second word, both from the block of (walk, s, try). After 32 rejections the step is drawn from the products of all
// weights and factors.
#pragma once

#include "core/philox.hpp"
#include "core/search.hpp"

#include <spargo/core/types.hpp>

#include <cstdint>

namespace spargo::detail::walks {

inline constexpr std::int64_t no_edge = -1;

// The graph as walks read it.
template <class I, class O>
struct walked_rows {
  const O* offsets;
  const I* indices;
  const std::uint64_t* sums;  // [entry]: inclusive prefix sums of the row's weights; null: every entry counts 1
  bool ascending;             // every row ascends; used by the second order only

  [[nodiscard]] SPARGO_HD std::int64_t first(std::int64_t v) const { return static_cast<std::int64_t>(offsets[v]); }
  [[nodiscard]] SPARGO_HD std::int64_t last(std::int64_t v) const { return static_cast<std::int64_t>(offsets[v + 1]); }
  [[nodiscard]] SPARGO_HD std::uint64_t total(std::int64_t first, std::int64_t last) const {
    if (first == last) return 0;
    return sums == nullptr ? static_cast<std::uint64_t>(last - first) : sums[last - 1];
  }
  // The entry at this position in [0, total) of the prefix sums.
  [[nodiscard]] SPARGO_HD std::int64_t entry_at(std::int64_t first, std::int64_t last, std::uint64_t place) const {
    if (sums == nullptr) return first + static_cast<std::int64_t>(place);
    return first_where(first, last - 1, [&](std::int64_t e) { return sums[e] > place; });
  }
  [[nodiscard]] SPARGO_HD std::uint64_t weight(std::int64_t first, std::int64_t e) const {
    if (sums == nullptr) return 1;
    return sums[e] - (e == first ? 0 : sums[e - 1]);
  }
  [[nodiscard]] SPARGO_HD bool has_edge(std::int64_t u, std::int64_t v) const {
    const std::int64_t begin = first(u);
    const std::int64_t end = last(u);
    const auto wanted = static_cast<I>(v);
    if (ascending) {
      const std::int64_t e = first_where(begin, end, [&](std::int64_t k) { return indices[k] >= wanted; });
      return e < end && indices[e] == wanted;
    }
    for (std::int64_t e = begin; e < end; ++e) {
      if (indices[e] == wanted) return true;
    }
    return false;
  }
};

// Factors of the second order in 2^-32 of the largest one, which is 2^32.
struct second_order {
  std::uint64_t back = 0;  // to the previous vertex
  std::uint64_t near = 0;  // to its neighbours
  std::uint64_t away = 0;  // to others

  [[nodiscard]] SPARGO_HD bool is_first_order() const { return back == near && near == away; }
  [[nodiscard]] SPARGO_HD std::uint64_t smallest_of_others() const { return near < away ? near : away; }
};

[[nodiscard]] SPARGO_HD constexpr philox_block block_of(std::uint64_t seed, std::int64_t walk, std::uint32_t step,
                                                        std::uint32_t attempt) {
  const auto number = static_cast<std::uint64_t>(walk);
  return philox({{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), step, attempt}}, seed);
}
// First order: the words of steps 2 k and 2 k + 1.
[[nodiscard]] SPARGO_HD constexpr philox_block block_of_pair(std::uint64_t seed, std::int64_t walk, std::int64_t step) {
  return block_of(seed, walk, static_cast<std::uint32_t>(step / 2), 0);
}

// The entry of v's row that a word chooses; no_edge: the walk ends.
template <class I, class O>
[[nodiscard]] SPARGO_HD std::int64_t first_order_entry(const walked_rows<I, O>& g, std::int64_t v, std::uint64_t word) {
  const std::int64_t first = g.first(v);
  const std::int64_t last = g.last(v);
  const std::uint64_t total = g.total(first, last);
  return total == 0 ? no_edge : g.entry_at(first, last, below(word, total));
}

template <class I, class O>
[[nodiscard]] SPARGO_HD std::uint64_t factor_of(const walked_rows<I, O>& g, const second_order& order,
                                                std::int64_t previous, std::int64_t x) {
  if (x == previous) return order.back;
  return g.has_edge(previous, x) ? order.near : order.away;
}

// Draws from the products of weights and factors, in two passes over the row. Their sum may need 94 bits; it is drawn
// from in units of 2^shift.
template <class I, class O>
[[nodiscard]] SPARGO_HD std::int64_t entry_by_products(const walked_rows<I, O>& g, const second_order& order,
                                                       std::int64_t previous, std::int64_t v, std::uint64_t word) {
  __extension__ using wide = unsigned __int128;
  const std::int64_t first = g.first(v);
  const std::int64_t last = g.last(v);
  const auto product = [&](std::int64_t e) {
    const std::uint64_t weight = g.weight(first, e);
    if (weight == 0) return wide{0};
    return static_cast<wide>(weight) * factor_of(g, order, previous, static_cast<std::int64_t>(g.indices[e]));
  };
  wide total = 0;
  for (std::int64_t e = first; e < last; ++e) total += product(e);
  int shift = 0;
  while ((total >> shift) >> 64 != 0) ++shift;
  const std::uint64_t place = below(word, static_cast<std::uint64_t>(total >> shift));
  wide sum = 0;
  for (std::int64_t e = first; e < last; ++e) {
    sum += product(e);
    if (static_cast<std::uint64_t>(sum >> shift) > place) return e;
  }
  return no_edge;
}

template <class I, class O>
[[nodiscard]] SPARGO_HD std::int64_t second_order_entry(const walked_rows<I, O>& g, const second_order& order,
                                                        std::int64_t previous, std::int64_t v, std::uint64_t seed,
                                                        std::int64_t walk, std::int64_t step) {
  constexpr std::uint32_t most_tries = 32;
  const std::int64_t first = g.first(v);
  const std::int64_t last = g.last(v);
  const std::uint64_t total = g.total(first, last);
  if (total == 0) return no_edge;
  if (last - first == 1) return first;
  const auto number = static_cast<std::uint32_t>(step);
  for (std::uint32_t attempt = 1; attempt <= most_tries; ++attempt) {
    const philox_block block = block_of(seed, walk, number, attempt);
    const std::int64_t e = g.entry_at(first, last, below(block.bits(0), total));
    const auto x = static_cast<std::int64_t>(g.indices[e]);
    const std::uint64_t chance = block.words[2];
    const bool is_back = x == previous;
    if (chance < (is_back ? order.back : order.smallest_of_others())) return e;  // accepted whatever its factor
    if (!is_back && chance < (g.has_edge(previous, x) ? order.near : order.away)) return e;
  }
  return entry_by_products(g, order, previous, v, block_of(seed, walk, number, most_tries + 1).bits(0));
}

}  // namespace spargo::detail::walks
