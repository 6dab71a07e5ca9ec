// A pseudorandom permutation of vertices by a formula, with its inverse. O(1), no memory.
//
// Xor-shifts by at least half of the bits are their own inverse; odd factors are invertible modulo a power of two.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <type_traits>

namespace spargo::detail::components {

template <class I>
class shuffled_ids {
  using bits = std::make_unsigned_t<I>;

 public:
  constexpr shuffled_ids() = default;  // for one vertex
  // For vertices 0 to n - 1, n > 0; numbers are below the smallest power of two that is at least n.
  explicit constexpr shuffled_ids(std::int64_t n) {
    int width = 0;
    while (width < 63 && (std::int64_t{1} << width) < n) ++width;
    mask_ = static_cast<bits>((bits{1} << width) - 1);
    shift_ = (width + 1) / 2;
  }

  [[nodiscard]] SPARGO_HD constexpr I number(I vertex) const {
    auto x = static_cast<bits>(vertex);
    x = mixed(x);
    x = mixed(x * first & mask_);
    return static_cast<I>(mixed(x * second & mask_));
  }
  [[nodiscard]] SPARGO_HD constexpr I vertex(I number) const {
    auto x = mixed(static_cast<bits>(number));
    x = mixed(x * inverse(second) & mask_);
    return static_cast<I>(mixed(x * inverse(first) & mask_));
  }

 private:
  static constexpr auto first = static_cast<bits>(0x9e3779b97f4a7c15ULL);
  static constexpr auto second = static_cast<bits>(0xd6e8feb86659fd93ULL);

  // Newton's iteration doubles the correct bits; an odd number is its own inverse modulo 8.
  [[nodiscard]] SPARGO_HD static constexpr bits inverse(bits odd) {
    bits x = odd;
    for (int k = 0; k < 5; ++k) x *= bits{2} - odd * x;
    return x;
  }
  [[nodiscard]] SPARGO_HD constexpr bits mixed(bits x) const { return x ^ (x >> shift_); }

  bits mask_ = 0;
  int shift_ = 0;
};

}  // namespace spargo::detail::components
