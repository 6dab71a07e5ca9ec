// Numbers for sparse ids, assigned while threads read the edges.
//
// Idea: an id gets the next number when any thread first sees it, from a hash table with open addressing. Edges store
// numbers instead of ids at once, so their ids are never stored. At the end the distinct ids are sorted, and numbers
// are replaced by their ranks. A batch of ids is hashed and its slots prefetched before use: the table is far larger
// than any cache, so accesses overlap. An id shares a cache line with its number and a few others; a search that fails
// in one line continues in the next.
// Invariant: after `ranks` nothing depends on the order in which threads saw the ids, nor on the secret seed of the
// hash, which keeps a hostile file from choosing colliding ids.
// Cost: expected O(1) per id, O(distinct log distinct) at the end. Half to three quarters of the slots are occupied, at
// 13 bytes each (16 for 64-bit indices); `ranks` needs 24 (32) bytes per id, as much as one or two edges.
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
  using number_type = std::make_unsigned_t<I>;  // all ones: none; there may temporarily be more ids than I can hold

  static constexpr std::int64_t batch = 512;  // ids per call: their slots are 64 KiB of cache lines

  explicit id_table(const context<host>& ctx);

  // Reserves room for `more` new ids. Not concurrently with `number`.
  void reserve(std::int64_t more);

  // Sets numbers[k] for ids[k] >= 0, k < count <= batch. Thread-safe within the reserved room.
  void number(const std::int64_t* ids, std::int64_t count, std::int64_t* numbers);

  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::int64_t bytes() const noexcept { return lines_.size() * std::int64_t{sizeof(line)}; }

  // Returns the ids in ascending order; ranks[number] is an id's position among them. The table is then unusable.
  [[nodiscard]] std::vector<std::int64_t> ranks(array<number_type, host>& ranks);

 private:
  static constexpr std::int64_t free_place = -1;
  static constexpr number_type not_yet = static_cast<number_type>(-1);

  static constexpr std::int64_t line_bytes = 64;
  static constexpr std::int64_t slots = line_bytes / static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(I));

  // Slots of a line are filled in order, then the next line is used.
  struct alignas(line_bytes) line {
    std::int64_t ids[slots];     // `free_place` if empty
    number_type numbers[slots];  // `not_yet` until assigned
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
