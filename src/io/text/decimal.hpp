// Decimal to binary with correct rounding, and digits eight at a time.
//
// Idea: w * 10^q is the top of the product of w with the first 128 bits of 5^q (Lemire, "Number parsing at a gigabyte
// per second", SPE 2021); for a 64-bit w those bits always decide the rounding (Mushtak and Lemire, "Fast number
// parsing without fallback", SPE 2023). Eight digits in a word become a number in three multiplications (Lemire's
// `parse_eight_digits_unrolled`), so the length of a number costs no mispredicted branch.
// Invariant: results equal those of std::from_chars, bit by bit.
// Cost: about 20 cycles per number, independent of its digits.
#pragma once

#include <spargo/core/types.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace spargo::detail {

// (-1)^negative * digits * 10^exponent.
struct decimal {
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool negative = false;
};

namespace powers_of_five {

__extension__ using wide = unsigned __int128;

// Exponents of ten beyond this are rare and left to std::from_chars; 5^limit has 186 bits.
inline constexpr int limit = 80;

struct entry {
  std::uint64_t high = 0;  // the first 128 bits of 5^q, the top one set
  std::uint64_t low = 0;
};

// 256-bit arithmetic for making the table, in few steps because compilers limit constexpr steps.
struct number {
  wide high = 0;
  wide low = 0;

  [[nodiscard]] constexpr bool at_least(const number& other) const {
    return high != other.high ? high > other.high : low >= other.low;
  }
  [[nodiscard]] constexpr number plus(const number& other) const {
    const wide sum = low + other.low;
    return {high + other.high + (sum < low ? 1 : 0), sum};
  }
  [[nodiscard]] constexpr number minus(const number& other) const {
    return {high - other.high - (low < other.low ? 1 : 0), low - other.low};
  }
  [[nodiscard]] constexpr number shifted(int bits) const {  // left shift by 0 to 255
    if (bits == 0) return *this;
    if (bits >= 128) return {low << (bits - 128), 0};
    return {high << bits | low >> (128 - bits), low << bits};
  }
  [[nodiscard]] constexpr int bits() const {
    const wide top = high != 0 ? high : low;
    const auto word = static_cast<std::uint64_t>(top >> 64 != 0 ? top >> 64 : top);
    return (high != 0 ? 128 : 0) + (top >> 64 != 0 ? 64 : 0) + static_cast<int>(std::bit_width(word));
  }
};

constexpr entry split(wide value) {
  return {static_cast<std::uint64_t>(value >> 64), static_cast<std::uint64_t>(value)};
}

constexpr entry leading_bits(const number& power) { return split(power.shifted(256 - power.bits()).high); }

// The first 128 bits of 1 / power by long division; rounded up if the quotient can decide ties (q >= -27).
constexpr entry reciprocal(const number& power, int q) {
  number rest = number{0, 1}.shifted(power.bits());
  wide quotient = 0;
  for (int bit = 0; bit < 128; ++bit) {
    quotient <<= 1;
    if (rest.at_least(power)) {
      rest = rest.minus(power);
      quotient |= 1;
    }
    rest = rest.shifted(1);
  }
  return split(q >= -27 ? quotient + 1 : quotient);
}

constexpr std::array<entry, 2 * limit + 1> make_table() {
  std::array<entry, 2 * limit + 1> all{};
  number power{0, 1};
  for (int q = 0; q <= limit; ++q, power = power.shifted(2).plus(power)) {
    all[static_cast<std::size_t>(limit + q)] = leading_bits(power);
    if (q > 0) all[static_cast<std::size_t>(limit - q)] = reciprocal(power, -q);
  }
  return all;
}

inline constexpr std::array<entry, 2 * limit + 1> table = make_table();

}  // namespace powers_of_five

// Rounding parameters of a type. Within the exponents no result is subnormal or infinite.
template <class T>
struct binary_format;
template <>
struct binary_format<double> {
  using bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr int bias = 1023;
  static constexpr int least_exponent = -powers_of_five::limit;
  static constexpr int largest_exponent = powers_of_five::limit;
  static constexpr int least_tie =
      -4;  // w * 10^q can lie halfway between two numbers only for powers of ten from here on
  static constexpr int largest_tie = 23;
};
template <>
struct binary_format<float> {
  using bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr int bias = 127;
  static constexpr int least_exponent = -37;
  static constexpr int largest_exponent = 18;
  static constexpr int least_tie = -17;
  static constexpr int largest_tie = 10;
};

// digits * 10^q, correctly rounded. Nonzero digits with `zeros` leading zero bits; `five`: the entry for q, in range.
template <class T>
[[nodiscard]] SPARGO_HD inline T round_decimal(std::uint64_t digits, int zeros, const powers_of_five::entry& five,
                                               int q) {
  using format = binary_format<T>;
  using bits = typename format::bits;
  const std::uint64_t w = digits << zeros;
  const auto product = static_cast<powers_of_five::wide>(w) * five.high;
  auto upper = static_cast<std::uint64_t>(product >> 64);
  auto lower = static_cast<std::uint64_t>(product);
  constexpr std::uint64_t undecided = ~std::uint64_t{0} >> (format::mantissa_bits + 3);
  if ((upper & undecided) == undecided) {
    const auto more = static_cast<std::uint64_t>((static_cast<powers_of_five::wide>(w) * five.low) >> 64);
    lower += more;
    if (more > lower) ++upper;
  }
  const auto top = static_cast<int>(upper >> 63);
  const int shift = top + 64 - format::mantissa_bits - 3;
  std::uint64_t mantissa = upper >> shift;
  int exponent = ((217706 * q) >> 16) + 63 + top - zeros + format::bias;  // floor(q * log2(10)) + ...
  const bool may_tie = lower <= 1 && q >= format::least_tie && q <= format::largest_tie;
  if (may_tie && (mantissa & 3) == 1 && (mantissa << shift) == upper) mantissa &= ~std::uint64_t{1};  // to even
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> (format::mantissa_bits + 1) != 0) {
    mantissa >>= 1;
    ++exponent;
  }
  const std::uint64_t fraction = mantissa & ((std::uint64_t{1} << format::mantissa_bits) - 1);
  return std::bit_cast<T>(
      static_cast<bits>((static_cast<std::uint64_t>(exponent) << format::mantissa_bits) | fraction));
}

// False if the exponent is outside the table (or the type's range); `value` is then unchanged.
template <class T>
[[nodiscard]] inline bool to_real(const decimal& d, T& value) noexcept {
  using format = binary_format<T>;
  if (d.digits == 0) {
    value = d.negative ? -T{0} : T{0};
    return true;
  }
  if (d.exponent < format::least_exponent || d.exponent > format::largest_exponent) return false;
  const auto q = static_cast<int>(d.exponent);
  const T magnitude = round_decimal<T>(d.digits, std::countl_zero(d.digits),
                                       powers_of_five::table[static_cast<std::size_t>(powers_of_five::limit + q)], q);
  value = d.negative ? -magnitude : magnitude;
  return true;
}

// --- Eight digits at a time ------------------------------------------------------------------------------------------

static_assert(std::endian::native == std::endian::little, "the first character is the lowest byte of a word");

struct digit_run {
  std::uint64_t value = 0;
  int count = 0;  // 0 to 8
};

// The leading digits among the eight bytes at `p`, all of which must be readable.
[[nodiscard]] inline digit_run read_eight(const char* p) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  word ^= 0x3030303030303030;  // each digit's byte is now its value
  const std::uint64_t other = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  const int count = std::countr_zero(other) / 8;
  const int half =
      4 * (8 - count);  // digits move to the top, zeros before them; in two steps, since a shift by 64 is undefined
  word = (word << half) << half;
  word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  word = (word & 0x0000ffff0000ffff) * 42949672960001 >> 32;
  return {word, count};
}

inline constexpr std::array<std::uint64_t, 9> small_powers_of_ten = {1,       10,        100,        1'000,      10'000,
                                                                     100'000, 1'000'000, 10'000'000, 100'000'000};

}  // namespace spargo::detail
