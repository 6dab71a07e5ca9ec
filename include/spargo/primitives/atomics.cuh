// Atomic operations that the hardware lacks, for code compiled by nvcc: any function by a compare-and-swap loop, and
// with it the maximum and minimum of float and double, and 16-byte updates.
//
// Read the word, compute the new value, and swap it in if the word is unchanged; otherwise retry with the value found.
// One of the competing threads always succeeds, so the loop is lock-free but not wait-free. An unchanged value is not
// written, so most of many maxima cost one read. Memory order: relaxed, device scope; results are visible to other
// threads after a barrier or fence. Addresses are aligned, in global or shared memory (16 bytes: global only). Worst
// case with k competing threads: O(k) rounds each. On the host use std::atomic_ref.
#pragma once

#include <spargo/core/device_features.cuh>

#include <type_traits>

namespace spargo {

namespace detail {

template <class T>
concept atomic_word = std::is_trivially_copyable_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);

template <class To, class From>
__device__ To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

struct alignas(16) atomic_pair_bits {
  unsigned long long low;
  unsigned long long high;
};

template <class T>
using atomic_bits = std::conditional_t<sizeof(T) == 4, unsigned,
                                       std::conditional_t<sizeof(T) == 8, unsigned long long, atomic_pair_bits>>;

__device__ inline bool same_bits(unsigned a, unsigned b) { return a == b; }
__device__ inline bool same_bits(unsigned long long a, unsigned long long b) { return a == b; }
__device__ inline bool same_bits(atomic_pair_bits a, atomic_pair_bits b) { return a.low == b.low && a.high == b.high; }

template <class T, class Bits, class F>
__device__ T update_bits(Bits* address, F f) {
  Bits old = atomicCAS(address, Bits{}, Bits{});  // swapping 0 for 0 reads
  for (;;) {
    const T before = bits_as<T>(old);
    const Bits next = bits_as<Bits>(static_cast<T>(f(before)));
    if (same_bits(next, old)) {
      // No new value to write if the word still is `old`; swapping it for itself verifies that.
      const Bits now = atomicCAS(address, old, old);
      if (same_bits(now, old)) return before;
      old = now;
      continue;
    }
    const Bits found = atomicCAS(address, old, next);
    if (same_bits(found, old)) return before;
    old = found;
  }
}

}  // namespace detail

// *address = f(*address) atomically; returns the previous value. f may be called several times and must have no side
// effects. T: 4, 8 or 16 bytes, trivially copyable; 16 bytes need code for compute capability 9.0 or later.
template <detail::atomic_word T, class F>
__device__ T atomic_update(T* address, F f) {
  if constexpr (sizeof(T) == 16 && !detail::has_wide_atomics) {
    static_assert(sizeof(T) != 16, "atomic_update of 16 bytes: the code must be for compute capability 9.0 or later");
  } else {
    return detail::update_bits<T>(reinterpret_cast<detail::atomic_bits<T>*>(address), f);
  }
}

// *address = max(*address, value); NaN on either side gives NaN. Between +0 and -0 the present one stays. Returns the
// previous value. T: float, double.
template <class T>
requires std::is_floating_point_v<T> __device__ T atomic_max(T* address, T value) {
  return atomic_update(address, [value](T now) { return value != value || now < value ? value : now; });
}

// The minimum, by the same rules.
template <class T>
requires std::is_floating_point_v<T> __device__ T atomic_min(T* address, T value) {
  return atomic_update(address, [value](T now) { return value != value || value < now ? value : now; });
}

// *address *= value; returns the previous value.
template <class T>
requires std::is_arithmetic_v<T> __device__ T atomic_multiply(T* address, T value) {
  return atomic_update(address, [value](T now) { return static_cast<T>(now * value); });
}

}  // namespace spargo
