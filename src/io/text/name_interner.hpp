// Numbers for vertex names, assigned while threads read the edges.
//
// Idea: as in id_table.hpp, a name gets the next number when any thread first sees it, from a hash table with open
// addressing, and at the end numbers are replaced by vertices. A slot holds the 64-bit hash and a pointer to the name's
// record, in memory owned by each thread. A batch of names is hashed, then its slots are prefetched, then the records.
// A record keeps the first position of the name in the file; vertices are numbered by it, that is by first appearance.
// Invariant: nothing that `finish` returns depends on the order in which threads saw the names, nor on the secret seed.
// A thread that claims a slot publishes its record without waiting and without allocating, so others wait for it only
// briefly.
// Cost: expected O(length) per name, O(distinct log threads) at the end. Memory per distinct name: its characters, 24
// to 31 bytes of a record, 22 to 43 of the table, and at the end 32 more.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/io/vertex_names.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace spargo::detail {

struct name_interner_tuning {
  std::uint64_t hash_mask = ~std::uint64_t{0};  // tests force collisions with this
};

class name_interner {
 public:
  struct record {
    std::int64_t first;   // position in the file
    std::int64_t number;  // `not_yet` until assigned
    std::uint32_t length;
    char characters[4];  // and more

    [[nodiscard]] std::string_view name() const noexcept { return {characters, length}; }
  };

  // Memory for records of one thread at a time.
  class arena {
   public:
    void reserve(const context<host>& ctx, std::int64_t bytes);
    [[nodiscard]] char* take(std::int64_t bytes) noexcept;

    struct chunk {
      array<char, host> memory;
      std::int64_t used = 0;  // records are contiguous
    };
    [[nodiscard]] const std::vector<chunk>& chunks() const noexcept { return chunks_; }

   private:
    std::vector<chunk> chunks_;
  };

  static constexpr std::int64_t batch = 256;  // names per call

  explicit name_interner(const context<host>& ctx, const name_interner_tuning& tuning = {});

  // Reserves room for `more` new names. Not concurrently with `number`.
  void reserve(std::int64_t more);

  // Lends an arena to any thread. Its memory belongs to the interner.
  [[nodiscard]] arena& take_arena();
  void give_back(arena& used) noexcept;

  // Sets numbers[k] for names[k], k < count <= batch. The first is at `place` in the file, the others at the following
  // places. Thread-safe with one arena per thread, within the reserved room.
  void number(const std::string_view* names, std::int64_t count, std::int64_t place, arena& memory,
              std::int64_t* numbers);

  // Numbers all names, in file order from the beginning of the file.
  void number_all(span<const std::string_view, host> names, span<std::int64_t, host> numbers);

  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  // Returns the names by first position; vertices[number] is a name's index among them. The interner is then unusable.
  [[nodiscard]] vertex_name_table finish(array<std::int64_t, host>& vertices);

 private:
  static constexpr std::int64_t not_yet = -1;
  static constexpr std::int64_t slots = 4;

  struct slot {
    std::uint64_t hash;  // 0: free
    record* there;       // null until published
  };
  struct alignas(64) line {
    slot slots_[slots];
  };

  [[nodiscard]] std::uint64_t hash(std::string_view name) const noexcept;
  [[nodiscard]] record* find(std::string_view name, std::uint64_t hash, std::int64_t place, arena& memory, bool& fresh);
  void clear();

  context<host> ctx_;
  array<line, host> lines_;
  std::uint64_t seed_;
  std::uint64_t hash_mask_;
  std::atomic<std::int64_t> size_{0};
  std::mutex arenas_mutex_;
  std::vector<std::unique_ptr<arena>> arenas_;
  std::vector<arena*> free_arenas_;  // capacity for all
};

}  // namespace spargo::detail
