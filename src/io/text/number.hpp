// Numbers in text files: decimal to binary, correctly rounded, locale-independent.
//
// Idea: every parsed buffer ends in a sentinel that is not part of a number ('\n'), so loops need no bound. A real of
// at most 19 significant digits with a common exponent is rounded here (see decimal.hpp); others go to std::from_chars.
// Both round correctly, so the result does not depend on which one ran.
#pragma once

#include "io/text/decimal.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

namespace spargo::detail {

[[nodiscard]] inline bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }
[[nodiscard]] inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

// Where a token may end. A '\r' counts only before '\n'.
[[nodiscard]] inline bool ends_token(const char* p) noexcept {
  return is_blank(*p) || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

[[nodiscard]] inline const char* skip_blanks(const char* p) noexcept {
  while (is_blank(*p)) ++p;
  return p;
}

// The token at `p`, up to where it ends.
[[nodiscard]] inline std::string_view token_at(const char* p) noexcept {
  const char* end = p;
  while (!ends_token(end)) ++end;
  return {p, static_cast<std::size_t>(end - p)};
}

// Up to 18 digits and a token's end: the position after them; null for anything else (see `parse_integer`).
[[nodiscard]] inline const char* parse_digits(const char* p, std::int64_t& value) noexcept {
  const char* const first = p;
  std::uint64_t v = 0;
  for (; is_digit(*p); ++p) v = v * 10 + static_cast<std::uint64_t>(*p - '0');
  value = static_cast<std::int64_t>(v);
  return p != first && p - first <= 18 && ends_token(p) ? p : nullptr;
}

enum class number_status { ok, malformed, out_of_range };

// A whole token with an optional sign. The token is a number if the result is `ok` or `out_of_range`.
[[nodiscard]] number_status parse_integer(std::string_view token, std::int64_t& value) noexcept;

// A whole token: optional sign; digits with an optional point and an optional exponent after e, E, or Fortran's d, D;
// or inf, infinity, nan in any case. A finite number beyond T's range is `out_of_range`; one that underflows is zero.
template <class T>
[[nodiscard]] number_status parse_real(std::string_view token, T& value);

// Significant digits in [first, last): without leading zeros and the point.
[[nodiscard]] inline std::int64_t significant_digits(const char* first, const char* last) noexcept {
  bool point_passed = false;
  for (; first != last && (*first == '0' || *first == '.'); ++first) point_passed |= *first == '.';
  std::int64_t digits = last - first;
  if (!point_passed && std::string_view(first, static_cast<std::size_t>(digits)).find('.') != std::string_view::npos) {
    --digits;
  }
  return digits;
}

// The common form of a real: the position after it. Null for another form or more than 19 significant digits.
[[nodiscard]] inline const char* scan_decimal(const char* p, decimal& d) noexcept {
  d.negative = *p == '-';
  p += *p == '-' || *p == '+';
  const char* const first = p;
  std::uint64_t v = 0;
  for (; is_digit(*p); ++p) v = v * 10 + static_cast<std::uint64_t>(*p - '0');
  std::int64_t digits = p - first;
  std::int64_t exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    for (; is_digit(*p); ++p) v = v * 10 + static_cast<std::uint64_t>(*p - '0');
    exponent = fraction - p;
    digits += p - fraction;
  }
  if (digits == 0 || (digits > 19 && significant_digits(first, p) > 19)) return nullptr;
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    const char* const first_of_exponent = p;
    std::int64_t e = 0;
    for (; is_digit(*p) && p - first_of_exponent < 5; ++p) e = e * 10 + (*p - '0');
    if (p == first_of_exponent || p - first_of_exponent > 4) return nullptr;
    exponent += negative ? -e : e;
  }
  d.digits = v;
  d.exponent = exponent;
  return p;
}

// The same for a whole token.
[[nodiscard]] inline const char* scan_real(const char* p, decimal& d) noexcept {
  p = scan_decimal(p, d);
  return p != nullptr && ends_token(p) ? p : nullptr;
}

// Reads the number at `p`; null if there is none or it is out of range (`parse_real` tells which).
template <class T>
[[nodiscard]] inline const char* read_real(const char* p, T& value) {
  decimal d;
  const char* const end = scan_real(p, d);
  if (end != nullptr && to_real(d, value)) return end;
  const std::string_view token = token_at(p);
  return parse_real(token, value) == number_status::ok ? p + token.size() : nullptr;
}

[[nodiscard]] inline const char* read_integer(const char* p, std::int64_t& value) {
  const bool negative = *p == '-';
  if (const char* const end = parse_digits(p + (negative ? 1 : 0), value); end != nullptr) {
    if (negative) value = -value;
    return end;
  }
  const std::string_view token = token_at(p);
  return parse_integer(token, value) == number_status::ok ? p + token.size() : nullptr;
}

// From here on doubles cannot represent every integer.
inline constexpr double least_rounded = 9007199254740992.0;
[[nodiscard]] inline bool may_be_rounded(double value) noexcept {
  return value >= least_rounded || value <= -least_rounded;
}
// Whether a token is an integer that differs from the number it was read as.
[[nodiscard]] bool is_rounded(std::string_view token, double value) noexcept;

// Whether an integer must be rounded in a floating type with this many significant bits.
[[nodiscard]] inline bool must_round(std::int64_t value, int digits) noexcept {
  const std::uint64_t magnitude =
      value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  if (magnitude >> digits == 0) return false;
  const int excess = static_cast<int>(std::bit_width(magnitude)) - digits;
  return (magnitude & ((std::uint64_t{1} << excess) - 1)) != 0;
}

}  // namespace spargo::detail
