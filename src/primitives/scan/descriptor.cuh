// A value that appears in global memory all at once: value and flag in one word of 8 bytes (values of 4) or 16 (of 8),
// written and read by single relaxed accesses. Nothing else is published through it, so no order is needed. Bytes of
// zero say that there is no value yet.
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

  // What the word held when it was read. Reading is apart from looking at what came, so that several reads of one
  // thread are under way at once.
  struct reading {
    std::uint64_t bits = 0;
    std::uint64_t flag = 0;

    // Takes the value if it was there.
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
