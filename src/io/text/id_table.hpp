// Sparse ids and numbers for them, while threads read the edges.
//
// Idea: an id gets the next number the first time any thread meets it, from a hash table with open addressing; numbers
// are written in place of ids at once, so that the ids of the edges are never stored. At the end the distinct ids are
// sorted, and the numbers exchanged for their ranks. A batch of ids is hashed first and its places prefetched: the
// table is far larger than any cache, and one access waits while others are under way. An id and its number share a
// cache line with a few more, and whoever does not find its id in the line goes on to the next.
// Invariant: after `ranks` nothing depends on the order in which threads met the ids, nor on the secret seed of the
// hash, which keeps a hostile file from choosing ids that collide.
// Cost: expected O(1) per id, O(distinct log distinct) at the end. Half to three quarters of the places are taken, of
// 13 bytes each (16 for 64-bit indices), and `ranks` needs 24 (32) bytes per id, as much as one or two edges.
#pragma once

#include <spargo/core/array.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace spargo::detail {

template <class I>
class id_table {
 public:
  using number_type = std::make_unsigned_t<I>;  // all ones is none: there may be more ids than I holds for a while

  static constexpr std::int64_t batch = 512;  // ids a call: their places are 64 KiB of cache lines

  explicit id_table(const context<host>& ctx);

  // Room for `more` new ids. Not while threads are numbering.
  void reserve(std::int64_t more);

  // numbers[k] for ids[k] >= 0, k < count <= batch. Any number of threads at a time, within what is reserved.
  void number(const std::int64_t* ids, std::int64_t count, std::int64_t* numbers);

  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  // Bytes of the table at present.
  [[nodiscard]] std::int64_t bytes() const noexcept { return lines_.size() * std::int64_t{sizeof(line)}; }

  // The ids, ascending; ranks[number] is the place in them. Ends the table.
  [[nodiscard]] std::vector<std::int64_t> ranks(array<number_type, host>& ranks);

 private:
  static constexpr std::int64_t free_place = -1;
  static constexpr number_type not_yet = static_cast<number_type>(-1);

  static constexpr std::int64_t line_bytes = 64;
  static constexpr std::int64_t slots = line_bytes / static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(I));

  // Slots are taken from the first on, and a line's neighbour when all of its own are.
  struct alignas(line_bytes) line {
    std::int64_t ids[slots];     // `free_place` where there is none
    number_type numbers[slots];  // `not_yet` until it is given
  };

  [[nodiscard]] std::uint64_t hash(std::int64_t id) const noexcept;
  [[nodiscard]] number_type* find(std::int64_t id, std::int64_t at, number_type*& fresh);
  void clear();

  context<host> ctx_;
  array<line, host> lines_;
  std::uint64_t seed_;
  std::atomic<std::int64_t> size_{0};
};

}  // namespace spargo::detail
