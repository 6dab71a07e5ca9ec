// The fields of an edge list's line, read byte by byte, with all legal forms and error messages.
//
// Separators are blanks and at most one comma or semicolon; a line ends in '\n', the sentinel of every loop.
#pragma once

#include "io/matrix_market/detail.hpp"
#include "io/text/input_format.hpp"
#include "io/text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace spargo::detail::edge_text {

inline constexpr std::string_view comment_marks = "#%";  // a line that begins with one may have any length

inline bool is_separator(char c) { return is_blank(c) || c == ',' || c == ';'; }
inline bool is_comment(const char* p) { return comment_marks.find(*p) != std::string_view::npos; }
inline bool ends_line(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

// Position of a carriage return alone (an old Mac's line end) within a comment that is followed by anything but another
// comment: edges that would be lost. npos if there is none.
[[nodiscard]] inline std::size_t find_return(std::string_view comment) {
  for (std::size_t at = 0; (at = comment.find('\r', at)) != std::string_view::npos; ++at) {
    const std::size_t next = comment.find_first_not_of(" \t\r", at);
    if (next != std::string_view::npos && comment_marks.find(comment[next]) == std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

// Whether a line has no edge. `p`: its first character that is not blank.
[[nodiscard]] inline bool is_without_edge(const char* p) {
  if (ends_line(p)) return true;
  if (!is_comment(p)) return false;
  const char* end = p;
  while (*end != '\n') ++end;
  const std::size_t at = find_return({p, static_cast<std::size_t>(end - p)});
  if (at != std::string_view::npos) throw bad_line{p + at, std::string(return_alone)};
  return true;
}

inline std::string_view field_at(const char* p) {
  const char* end = p;
  while (!is_separator(*end) && !ends_line(end)) ++end;
  return {p, static_cast<std::size_t>(end - p)};
}

// Skips blanks and at most one comma or semicolon.
inline const char* skip_separator(const char* p) {
  p = skip_blanks(p);
  if (*p == ',' || *p == ';') p = skip_blanks(p + 1);
  return p;
}

// Whether an id of digits has leading zeros.
[[nodiscard]] inline bool is_padded(const char* id) { return id[0] == '0' && is_digit(id[1]); }

[[noreturn, gnu::noinline]] inline void refuse_id(std::string_view token, const char* what) {
  const char* const p = token.data();
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
  const bool bars = token.find('|') != std::string_view::npos;
  throw bad_line{p, fmt::format("{} is not a vertex id ({})", quoted(token),
                                bars ? "expected columns separated by blanks, tabs, commas or semicolons; "
                                       "tr '|' ',' < FILE makes commas"
                                     : "expected 0 to 2^63-1; ids=names takes names")};
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
  if (!whole || parse_integer(token, id) != number_status::ok) refuse_id(token, what);
  return first + token.size();
}

[[nodiscard]] inline std::int64_t id_of(std::string_view token, const char* what) {
  constexpr std::size_t most_digits = 18;
  std::int64_t id = 0;
  const bool whole = !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
  if (whole && token.size() <= most_digits) {
    for (const char c : token) id = id * 10 + (c - '0');
  } else if (!whole || parse_integer(token, id) != number_status::ok) {
    refuse_id(token, what);
  }
  return id;
}

// The number formed by a token at p.
inline double weight_of(const char* p, std::string_view token) {
  decimal common;
  double weight = 0;
  const char* const end = scan_decimal(p, common);
  if (end == p + token.size() && !token.empty() && to_real(common, weight)) return weight;
  const number_status status = parse_real(token, weight);
  if (status == number_status::ok) return weight;
  throw bad_line{p, status == number_status::malformed
                        ? fmt::format("{} is not a weight (expected a real number)", quoted(token))
                        : fmt::format("weight {} is beyond the range of float64", quoted(token))};
}

// Whether the comma at `p` is a decimal comma: a digit follows it, and the separator before `weight` is not a comma.
[[nodiscard]] inline bool is_decimal_comma(const char* weight, const char* p) {
  if (!is_digit(p[1])) return false;
  do {
    --weight;
  } while (is_blank(*weight));
  return *weight != ',';
}

[[gnu::noinline]] inline double read_weight(const char* p) {
  const std::string_view token = field_at(p);
  const double weight = weight_of(p, token);
  if (p[token.size()] == ',' && is_decimal_comma(p, p + token.size())) {
    const std::string_view all(p, token.size() + 1 + field_at(p + token.size() + 1).size());
    throw bad_line{p,
                   fmt::format("weight {} has a decimal comma (expected a point, for the first weights have no comma)",
                               quoted(all))};
  }
  return weight;
}

}  // namespace spargo::detail::edge_text
