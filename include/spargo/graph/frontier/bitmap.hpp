// Sets of vertices as host bitmaps, one bit each: 64 vertices per word stay in the L2 cache where levels would not.
#pragma once

#include <atomic>
#include <cstdint>

#include <spargo/core/macros_push.hpp>

namespace spargo::detail {

template <class I>
[[nodiscard]] bool test_bit(const std::uint64_t* bitmap, I v) {
  return (bitmap[v >> 6] >> (v & 63) & 1) != 0;
}

// True for the one caller that sets the bit first.
template <class I>
[[nodiscard]] bool claim_bit(std::uint64_t* bitmap, I v) {
  const std::atomic_ref<std::uint64_t> word(bitmap[v >> 6]);
  const std::uint64_t bit = std::uint64_t{1} << (v & 63);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

// Sets the bit and returns its old value. Not thread-safe.
template <class I>
[[nodiscard]] bool test_and_set_bit(std::uint64_t* bitmap, I v) {
  const std::uint64_t before = bitmap[v >> 6];
  bitmap[v >> 6] = before | std::uint64_t{1} << (v & 63);
  return (before >> (v & 63) & 1) != 0;
}

}  // namespace spargo::detail

#include <spargo/core/macros_pop.hpp>
