// Sparse ids and numbers for them, while threads read the edges.
//
// Idea: an id gets the next number the first time any thread meets it, from a hash table with open addressing; numbers
// are written in place of ids at once, so that the ids of the edges are never stored. At the end the distinct ids are
// sorted, and the numbers exchanged for their ranks. A batch of ids is hashed first and its places prefetched: the
// table is far larger than any cache, and one access waits while others are under way.
// Invariant: after `ranks` nothing depends on the order in which threads met the ids, nor on the secret seed of the
// hash, which keeps a hostile file from choosing ids that collide.
// Cost: expected O(1) an id, O(distinct log distinct) at the end; 16 bytes a place, at most half of which are taken.
#pragma once

#include <spargo/core/array.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace spargo::detail {

class id_table {
 public:
  static constexpr std::int64_t batch = 1024;  // ids a call: their places are 64 KiB of cache lines

  explicit id_table(const context<host>& ctx);

  // Room for `more` new ids. Not while threads are numbering.
  void reserve(std::int64_t more);

  // numbers[k] for ids[k] >= 0, k < count <= batch. Any number of threads at a time, within what is reserved.
  void number(const std::int64_t* ids, std::int64_t count, std::int64_t* numbers);

  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  // The ids, ascending; ranks[number] is the place in them. Ends the table.
  [[nodiscard]] std::vector<std::int64_t> ranks(array<std::int64_t, host>& ranks);

 private:
  struct place {
    std::int64_t id;      // -1: free
    std::int64_t number;  // -1: not given yet
  };
  [[nodiscard]] std::uint64_t hash(std::int64_t id) const noexcept;
  void clear(array<place, host>& places) const;

  context<host> ctx_;
  array<place, host> places_;
  std::uint64_t mask_ = 0;
  std::uint64_t seed_;
  std::atomic<std::int64_t> size_{0};
};

}  // namespace spargo::detail
