// Names of vertices and numbers for them, while threads read the edges.
//
// Idea: as id_table.hpp: a name gets the next number the first time any thread meets it, from a hash table with open
// addressing, and at the end numbers are exchanged for vertices. A slot of the table holds the hash of 64 bits and a
// pointer to the name's record, in memory that each thread takes for itself; a batch of names is hashed, then its slots
// are prefetched, then the records. A record keeps the first place in the file where its name occurs, by which vertices
// are numbered in the end: by first appearance.
// Invariant: nothing that `finish` returns depends on the order in which threads met the names, nor on the secret seed.
// Who claims a slot publishes its record without waiting, and needs no memory in between; so others wait for it
// briefly. Cost: expected O(length) a name, O(distinct log threads) at the end. Memory for each distinct name: its
// characters and 24 to 31 bytes of a record, 22 to 43 of the table, and at the end 32 beside the record.
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
  std::uint64_t hash_mask = ~std::uint64_t{0};  // tests make names collide
};

class name_interner {
 public:
  struct record {
    std::int64_t first;   // place in the file
    std::int64_t number;  // `not_yet` until it is given
    std::uint32_t length;
    char characters[4];  // and more

    [[nodiscard]] std::string_view name() const noexcept { return {characters, length}; }
  };

  // Memory for records that one thread at a time makes.
  class arena {
   public:
    // Room for `bytes`, which `take` hands out.
    void reserve(const context<host>& ctx, std::int64_t bytes);
    [[nodiscard]] char* take(std::int64_t bytes) noexcept;

    struct chunk {
      array<char, host> memory;
      std::int64_t used = 0;  // records one after the other
    };
    [[nodiscard]] const std::vector<chunk>& chunks() const noexcept { return chunks_; }

   private:
    std::vector<chunk> chunks_;
  };

  static constexpr std::int64_t batch = 256;  // names a call

  explicit name_interner(const context<host>& ctx, const name_interner_tuning& tuning = {});

  // Room for `more` new names. Not while threads are numbering.
  void reserve(std::int64_t more);

  // An arena for a while; any thread's. Its memory stays the interner's.
  [[nodiscard]] arena& take_arena();
  void give_back(arena& used) noexcept;

  // numbers[k] for names[k], k < count <= batch, the first of which is at `place` in the file and the others at the
  // places behind it. Any number of threads at a time, each with its arena, within what is reserved.
  void number(const std::string_view* names, std::int64_t count, std::int64_t place, arena& memory,
              std::int64_t* numbers);

  // All of the names, which come one after the other from the beginning of the file.
  void number_all(span<const std::string_view, host> names, span<std::int64_t, host> numbers);

  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  // The names by first place; vertices[number] is the place among them. Ends the interner.
  [[nodiscard]] vertex_name_table finish(array<std::int64_t, host>& vertices);

 private:
  static constexpr std::int64_t not_yet = -1;
  static constexpr std::int64_t slots = 4;

  struct slot {
    std::uint64_t hash;  // 0: free
    record* there;       // null until it is published
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
  std::vector<arena*> free_arenas_;  // with room for all
};

}  // namespace spargo::detail
