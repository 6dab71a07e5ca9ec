// One line of text, parsed byte by byte by a GPU thread: the common forms only.
//
// Idea: a line is accepted only if the host reader would accept it with the same bits; any other line is "unusual" and
// goes to the host, whose parser knows all forms and error messages. So the two readers cannot disagree. Reals are
// rounded as in decimal.hpp (Lemire, "Number parsing at a gigabyte per second", SPE 2021; Mushtak and Lemire, SPE
// 2023): exact for at most 19 significant digits.
// Invariant: a line ends in '\n', the sentinel of every loop. The functions also compile for the host, for tests.
// Cost: some ten instructions per byte.
#pragma once

#include "io/text/decimal.hpp"

#include <spargo/io/matrix_market.hpp>

#include <limits>
#include <type_traits>

namespace spargo::detail::device_text {

// The type a value is parsed as; a pattern's values are checked and dropped.
template <class V>
using number_of = std::conditional_t<is_pattern<V>, double, V>;

using powers = const powers_of_five::entry*;  // the table of decimal.hpp, in host or device memory

inline constexpr int most_digits = 19;        // of 64 bits, any value
inline constexpr int most_index_digits = 18;  // fit 63 bits

SPARGO_HD inline unsigned digit(char c) { return static_cast<unsigned char>(c - '0'); }
SPARGO_HD inline bool is_space(char c) { return c == ' ' || c == '\t'; }
SPARGO_HD inline const char* skip_spaces(const char* p) {
  while (is_space(*p)) ++p;
  return p;
}
SPARGO_HD inline bool ends_line(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

// Skips at least one blank; null if there is none.
SPARGO_HD inline const char* separate(const char* p) { return is_space(*p) ? skip_spaces(p + 1) : nullptr; }

// Reads 1 to 18 digits; returns the position after them, or null.
SPARGO_HD inline const char* read_index(const char* p, std::int64_t& value) {
  const char* const first = p;
  std::uint64_t v = 0;
  for (unsigned d = digit(*p); d < 10; d = digit(*++p)) v = v * 10 + d;
  value = static_cast<std::int64_t>(v);
  return p != first && p - first <= most_index_digits ? p : nullptr;
}

// Of a nonzero value. (nvcc 13 silently turns std::countl_zero into a constant in device code.)
SPARGO_HD inline int leading_zeros(std::uint64_t value) {
  int zeros = 0;
  for (int step = 32; step > 0; step /= 2) {
    if (value >> (64 - step) != 0) continue;
    zeros += step;
    value <<= step;
  }
  return zeros;
}

// digits * 10^q, correctly rounded; false if the exponent is outside the table or the type's range.
template <class T>
SPARGO_HD bool to_real(powers fives, std::uint64_t digits, int q, T& value) {
  using format = binary_format<T>;
  if (digits == 0) {
    value = 0;
    return true;
  }
  if (q < format::least_exponent || q > format::largest_exponent) return false;
  value = round_decimal<T>(digits, leading_zeros(digits), fives[powers_of_five::limit + q], q);
  return true;
}

// Significant digits.
struct digit_string {
  std::uint64_t v = 0;
  int count = 0;

  SPARGO_HD const char* read(const char* p) {
    if (count == 0) {
      while (*p == '0') ++p;
    }
    for (unsigned d = digit(*p); d < 10; d = digit(*++p)) {
      v = v * 10 + d;
      ++count;
    }
    return p;
  }
};

// e or E, a sign, 1 to 4 digits. Returns `p` if there is no exponent, null for another form.
SPARGO_HD inline const char* read_exponent(const char* p, int& exponent) {
  if (*p != 'e' && *p != 'E') return p;
  ++p;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  const char* const first = p;
  int e = 0;
  for (unsigned d = digit(*p); d < 10 && p - first < 5; d = digit(*++p)) e = e * 10 + static_cast<int>(d);
  if (p == first || p - first > 4) return nullptr;
  exponent += negative ? -e : e;
  return p;
}

// A sign, digits with a point, an exponent. Returns the position after them, or null.
template <class T>
SPARGO_HD const char* read_real(powers fives, const char* p, T& value) {
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  digit_string digits;
  const char* const whole = p;
  p = digits.read(p);
  bool any = p != whole;
  int exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = digits.read(p);
    any = any || p != fraction;
    if (p - fraction > std::numeric_limits<short>::max()) return nullptr;
    exponent = -static_cast<int>(p - fraction);
  }
  if (!any || digits.count > most_digits) return nullptr;
  p = read_exponent(p, exponent);
  if (p == nullptr || !to_real(fives, digits.v, exponent, value)) return nullptr;
  if (negative) value = -value;
  return p;
}

// --- Matrix Market -----------------------------------------------------------------------------------------------

// A coordinate line of a real, integer or pattern matrix.
struct matrix_line {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  matrix_market_field field = matrix_market_field::real;
  symmetry_kind symmetry = symmetry_kind::general;
};

template <class T>
struct parsed_entry {
  std::int64_t row = 0;  // from 0
  std::int64_t col = 0;
  T value{1};
  bool rounded = false;  // an integer that T cannot represent exactly
};

template <class T>
SPARGO_HD const char* read_integer(const char* p, parsed_entry<T>& entry) {
  const bool negative = *p == '-';
  std::int64_t value = 0;
  p = read_index(p + (negative ? 1 : 0), value);
  if (negative) value = -value;
  entry.value = static_cast<T>(value);
  entry.rounded = static_cast<std::int64_t>(entry.value) != value;  // 18 digits fit
  return p;
}

// False for an unusual line.
template <class T>
SPARGO_HD bool parse_line(const matrix_line& rule, powers fives, const char* p, parsed_entry<T>& entry) {
  p = read_index(skip_spaces(p), entry.row);
  if (p == nullptr || entry.row < 1 || entry.row > rule.rows || (p = separate(p)) == nullptr) return false;
  p = read_index(p, entry.col);
  if (p == nullptr || entry.col < 1 || entry.col > rule.cols) return false;
  if (rule.field != matrix_market_field::pattern) {
    p = separate(p);
    if (p == nullptr) return false;
    p = rule.field == matrix_market_field::integer ? read_integer(p, entry) : read_real(fives, p, entry.value);
    if (p == nullptr) return false;
  }
  if (rule.symmetry == symmetry_kind::skew_symmetric && entry.row == entry.col && entry.value != 0) return false;
  --entry.row;
  --entry.col;
  return ends_line(skip_spaces(p));
}

// --- Edge lists --------------------------------------------------------------------------------------------------

// An edge: two ids and, in a weighted list, a weight; anything may follow, or `more` fields.
struct edge_line {
  std::int64_t largest = 0;  // largest id that the index type holds
  bool weighted = false;
  char delimiter = ' ';  // edge_list_header::delimiter: unless it is a blank, blanks may be within a number ("1 000,2")
  int more = -1;         // edge_text::further_fields
};

// Skips blanks with at most one comma or semicolon; null if there is no separator, or it begins otherwise.
SPARGO_HD inline const char* separate_ids(const char* p, char delimiter) {
  if (delimiter != ' ' && *p != delimiter) return nullptr;
  const char* const first = p;
  p = skip_spaces(p);
  if (*p == ',' || *p == ';') p = skip_spaces(p + 1);
  return p != first ? p : nullptr;
}

SPARGO_HD inline bool parse_line(const edge_line& rule, powers fives, const char* p, parsed_entry<double>& edge) {
  p = read_index(skip_spaces(p), edge.row);
  if (p == nullptr || edge.row > rule.largest || (p = separate_ids(p, rule.delimiter)) == nullptr) return false;
  p = read_index(p, edge.col);
  if (p == nullptr || edge.col > rule.largest) return false;
  if (!rule.weighted) return ends_line(skip_spaces(p));
  const char* const behind_ids = p;
  p = separate_ids(p, rule.delimiter);
  if (p == nullptr || (p = read_real(fives, p, edge.value)) == nullptr) return false;
  constexpr double exact = 9007199254740992.0;  // doubles represent all integers up to here
  if (edge.value >= exact || edge.value <= -exact) return false;
  if (*p == ',' && digit(p[1]) < 10 && *skip_spaces(behind_ids) != ',') return false;  // a decimal comma
  if (rule.more >= 0) {
    int more = 0;
    for (const char* q = p; *q != '\n'; ++q) more += *q == rule.delimiter ? 1 : 0;
    if (more > rule.more) return false;
  }
  if (rule.delimiter != ' ') return ends_line(p) || *p == rule.delimiter;
  return ends_line(p) || is_space(*p) || *p == ',' || *p == ';';
}

}  // namespace spargo::detail::device_text
