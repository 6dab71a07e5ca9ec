// Fast path for common lines, read eight bytes at a time: indices of up to 19 digits, blanks, a number of up to 19
// significant digits. Otherwise returns null: the caller reads the line again byte by byte, with the same values.
//
// Invariant: reads at most `line_reach` bytes from the beginning of the line.
#pragma once

#include "io/text/number.hpp"

namespace spargo::detail::common_line {

// Where each token may begin at most, and the resulting end of the reads: 8 bytes blank, 24 index, 8 blank, 24 index, 8
// blank, a real of 1 + 8 + 1 + 24 + 6, 8 blank, another real, and eight bytes read at the last position.
inline constexpr std::int64_t blanks_reach = 8;
inline constexpr std::int64_t index_reach = 24;
inline constexpr std::int64_t real_reach = 40;
inline constexpr std::int64_t line_reach = 4 * blanks_reach + 2 * index_reach + 2 * real_reach + 16;

// Skips blanks; null if there are more than `blanks_reach`.
[[nodiscard]] inline const char* skip_few_blanks(const char* p) noexcept {
  if (!is_blank(*p)) return p;
  const char* const last = p + blanks_reach;
  do {
    ++p;
  } while (is_blank(*p) && p != last);
  return p == last ? nullptr : p;
}

// The same if at least one blank is required.
[[nodiscard]] inline const char* separate(const char* p) noexcept {
  return is_blank(*p) ? skip_few_blanks(p) : nullptr;
}

// Reads 1 to 19 digits of a number below 2^63; returns the position after them.
[[nodiscard]] inline const char* read_index(const char* p, std::int64_t& value) noexcept {
  const digit_run first = read_eight(p);
  if (first.count == 0) return nullptr;
  value = static_cast<std::int64_t>(first.value);
  if (first.count < 8) return p + first.count;
  std::uint64_t all = first.value;
  const char* const start = p;
  for (digit_run run = first; run.count == 8 && p - start < 16;) {
    p += 8;
    run = read_eight(p);
    if (p - start == 16 && run.count > 3) return nullptr;
    all = all * small_powers_of_ten[static_cast<std::size_t>(run.count)] + run.value;
    if (run.count < 8) p += run.count;
  }
  value = static_cast<std::int64_t>(all);
  return value >= 0 ? p : nullptr;
}

// Appends the digits after a point, up to 23, to `value`; null if there are more.
[[nodiscard]] inline const char* read_fraction(const char* p, std::uint64_t& value) noexcept {
  for (int chunk = 0; chunk < 3; ++chunk) {
    const digit_run run = read_eight(p);
    value = value * small_powers_of_ten[static_cast<std::size_t>(run.count)] + run.value;
    p += run.count;
    if (run.count < 8) return p;
  }
  return nullptr;
}

// e or E, a sign, one to three digits. Returns `p` if there is no exponent, null if there are more digits.
[[nodiscard]] inline const char* read_exponent(const char* p, std::int64_t& exponent) noexcept {
  if ((*p | 0x20) != 'e') return p;
  ++p;
  const bool negative = *p == '-';
  p += *p == '-' || *p == '+';
  const char* const first = p;
  std::int64_t e = 0;
  for (; is_digit(*p) && p - first < 4; ++p) e = e * 10 + (*p - '0');
  if (p == first || p - first > 3) return nullptr;
  exponent += negative ? -e : e;
  return p;
}

template <class T>
[[nodiscard]] inline const char* read_real(const char* p, T& value) noexcept {
  decimal d;
  d.negative = *p == '-';
  p += *p == '-' || *p == '+';
  const digit_run whole = read_eight(p);
  if (whole.count == 8) return nullptr;
  const char* const first = p;
  p += whole.count;
  d.digits = whole.value;
  std::int64_t digits = whole.count;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = read_fraction(p, d.digits);
    if (p == nullptr) return nullptr;
    d.exponent = fraction - p;
    digits += p - fraction;
  }
  if (digits == 0 || (digits > 19 && significant_digits(first, p) > 19)) return nullptr;
  p = read_exponent(p, d.exponent);
  return p != nullptr && to_real(d, value) ? p : nullptr;
}

[[nodiscard]] inline const char* read_integer(const char* p, std::int64_t& value) noexcept {
  const bool negative = *p == '-';
  p = read_index(p + (negative ? 1 : 0), value);
  if (negative && p != nullptr) value = -value;  // -2^63 cannot occur here: it has no positive counterpart
  return p;
}

// Skips blanks and the line end; returns the next line.
[[nodiscard]] inline const char* finish(const char* p) noexcept {
  if (*p == '\n') return p + 1;
  p = skip_few_blanks(p);
  if (p == nullptr) return nullptr;
  p += *p == '\r';
  return *p == '\n' ? p + 1 : nullptr;
}

}  // namespace spargo::detail::common_line
