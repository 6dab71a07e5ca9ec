// The fields of a line of an edge list, read byte by byte: whatever is legal, and what to say of the rest.
//
// Separators are blanks and at most one comma or semicolon; a line ends in '\n', the sentinel of every loop.
#pragma once

#include "io/matrix_market/detail.hpp"
#include "io/text/number.hpp"

#include <fmt/format.h>

#include <string_view>

namespace spargo::detail::edge_text {

inline constexpr std::string_view comment_marks = "#%";  // a line that begins with one of them may have any length

inline bool is_separator(char c) { return is_blank(c) || c == ',' || c == ';'; }
inline bool is_comment(const char* p) { return comment_marks.find(*p) != std::string_view::npos; }
inline bool ends_line(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

inline std::string_view field_at(const char* p) {
  const char* end = p;
  while (!is_separator(*end) && !ends_line(end)) ++end;
  return {p, static_cast<std::size_t>(end - p)};
}

// Past blanks and at most one comma or semicolon.
inline const char* skip_separator(const char* p) {
  p = skip_blanks(p);
  if (*p == ',' || *p == ';') p = skip_blanks(p + 1);
  return p;
}

[[noreturn, gnu::noinline]] inline void refuse_id(const char* p, const char* what) {
  const std::string_view token = field_at(p);
  if (token.empty()) throw bad_line{p, fmt::format("the {} vertex is missing (expected an id, 0 to 2^63-1)", what)};
  std::int64_t integer = 0;
  double real = 0;
  if (parse_integer(token, integer) != number_status::malformed) {
    if (token[0] == '-')
      throw bad_line{p, fmt::format("vertex id {} is negative (expected 0 to 2^63-1)", quoted(token))};
    if (token[0] != '+')
      throw bad_line{p, fmt::format("vertex id {} is too large (expected 0 to 2^63-1)", quoted(token))};
    throw bad_line{p, fmt::format("{} is not a vertex id (expected digits alone, 0 to 2^63-1)", quoted(token))};
  }
  if (parse_real(token, real) != number_status::malformed) {
    throw bad_line{p, fmt::format("vertex id {} is not an integer (expected 0 to 2^63-1)", quoted(token))};
  }
  throw bad_line{p, fmt::format("{} is not a vertex id (expected 0 to 2^63-1)", quoted(token))};
}

[[gnu::noinline]] inline const char* read_id(const char* p, const char* what, std::int64_t& id) {
  const char* const first = p;
  std::uint64_t value = 0;
  for (; is_digit(*p); ++p) value = value * 10 + static_cast<std::uint64_t>(*p - '0');
  const bool whole = p != first && (is_separator(*p) || ends_line(p));
  if (whole && p - first <= 18) {
    id = static_cast<std::int64_t>(value);
    return p;
  }
  const std::string_view token = field_at(first);
  if (!whole || parse_integer(token, id) != number_status::ok) refuse_id(first, what);
  return first + token.size();
}

// The number that a token at p is.
inline double weight_of(const char* p, std::string_view token) {
  double weight = 0;
  const number_status status = parse_real(token, weight);
  if (status == number_status::ok) return weight;
  throw bad_line{p, status == number_status::malformed
                        ? fmt::format("{} is not a weight (expected a real number)", quoted(token))
                        : fmt::format("weight {} is beyond the range of float64", quoted(token))};
}

[[gnu::noinline]] inline double read_weight(const char* p) {
  decimal common;
  double exact = 0;
  if (scan_real(p, common) != nullptr && to_real(common, exact)) return exact;
  return weight_of(p, field_at(p));
}

}  // namespace spargo::detail::edge_text
