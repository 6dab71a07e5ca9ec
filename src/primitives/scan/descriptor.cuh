// A value published in global memory atomically: value and flag in one word of 8 bytes (for 4-byte values) or 16 (for
// 8-byte values), accessed by single relaxed loads and stores. No other data is published through it, so no ordering is
// needed. All-zero bytes mean "no value yet".
#pragma once

#include <cstdint>
#include <cstring>

namespace spargo::detail::scan {

template <class T>
struct alignas(2 * sizeof(T)) tile_descriptor {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);

  __device__ void publish(T value) {
    if constexpr (sizeof(T) == 4) {
      std::uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      const std::uint64_t word = std::uint64_t{1} << 32 | bits;
      asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(this), "l"(word) : "memory");
    } else {
      std::uint64_t bits;
      memcpy(&bits, &value, sizeof bits);
      asm volatile("{ .reg .b128 word; mov.b128 word, {%1, %2}; st.relaxed.gpu.global.b128 [%0], word; }" ::"l"(this),
                   "l"(bits), "l"(std::uint64_t{1})
                   : "memory");
    }
  }

  // The word as read. Reading is separate from testing, so that a thread can have several reads in flight.
  struct reading {
    std::uint64_t bits = 0;
    std::uint64_t flag = 0;

    // Takes the value if it was present.
    [[nodiscard]] __device__ bool take(T& value) const {
      if (flag == 0) return false;
      memcpy(&value, &bits, sizeof value);  // the low bytes
      return true;
    }
  };
  [[nodiscard]] __device__ reading read() const {
    reading r;
    if constexpr (sizeof(T) == 4) {
      asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(r.bits) : "l"(this) : "memory");
      r.flag = r.bits >> 32;
    } else {
      asm volatile("{ .reg .b128 word; ld.relaxed.gpu.global.b128 word, [%2]; mov.b128 {%0, %1}, word; }"
                   : "=l"(r.bits), "=l"(r.flag)
                   : "l"(this)
                   : "memory");
    }
    return r;
  }

 private:
  T words_[2];
};

}  // namespace spargo::detail::scan
