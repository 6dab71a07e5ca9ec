// Dictionary encoding: one-byte names for 64-bit keys, if at most 256 distinct ones occur.
//
// All threads insert into one hash table in global memory (linear probing, compare-and-swap on empty slots) and stop
// once the 257th key arrives. Keys are never removed or moved, so a stale cached slot can only look empty, which the
// compare-and-swap then detects: slots are read through L1, where a few keys stay. Names are ranks of the sorted keys,
// so they do not depend on the order of insertion.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/array.hpp>

#include <cstdint>

namespace spargo::detail::spmv {

inline constexpr int most_names = 256;
inline constexpr int name_slots = 2 * most_names;
inline constexpr unsigned long long no_key = ~0ULL;  // reserved: a matrix that has it as a key cannot be encoded

struct name_table {
  unsigned long long keys[name_slots];    // no_key: empty slot
  unsigned long long sorted[most_names];  // sorted keys, after ranking
  int count;                              // above most_names: too many
  std::uint8_t names[name_slots];         // names of the keys in `keys`, after ranking
};

__device__ inline int first_slot(unsigned long long key) {
  return static_cast<int>((key * 0x9e3779b97f4a7c15ULL) >> 55);  // the upper 9 bits: name_slots
}

// False once there are too many keys.
__device__ inline bool has_room(const name_table* table) {
  return *const_cast<const volatile int*>(&table->count) <= most_names;
}

__device__ inline void give_up(name_table* table) { atomicMax(&table->count, most_names + 1); }

__device__ inline void insert_key(name_table* table, unsigned long long key) {
  if (key == no_key) return give_up(table);
  int slot = first_slot(key);
  for (int probe = 0; probe < name_slots; ++probe) {
    unsigned long long found = __ldca(table->keys + slot);
    if (found == no_key) {
      found = atomicCAS(table->keys + slot, no_key, key);
      if (found == no_key) {
        atomicAdd(&table->count, 1);
        return;
      }
    }
    if (found == key) return;
    slot = (slot + 1) % name_slots;
  }
  give_up(table);
}

// The name of a key in the table.
__device__ inline std::uint8_t name_of(const name_table* table, unsigned long long key) {
  int slot = first_slot(key);
  while (__ldg(table->keys + slot) != key) slot = (slot + 1) % name_slots;
  return __ldg(table->names + slot);
}

// Maps differences to keys, preserving their order.
__host__ __device__ inline unsigned long long key_of(std::int64_t difference) {
  return static_cast<unsigned long long>(difference) ^ (1ULL << 63);
}
__host__ __device__ inline std::int64_t difference_of(unsigned long long key) {
  return static_cast<std::int64_t>(key ^ (1ULL << 63));
}

[[nodiscard]] array<name_table, device> make_names(const context<device>& ctx);

// Names the keys if there are few enough. Returns their number; above most_names: too many. Synchronises the stream.
[[nodiscard]] int rank_names(const context<device>& ctx, array<name_table, device>& table);

}  // namespace spargo::detail::spmv
