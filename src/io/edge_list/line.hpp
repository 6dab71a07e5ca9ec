// Parses a part of an edge list line by line; one thread per part.
//
// Most lines go through common_line.hpp; other lines, and the last ones of a part, are read byte by byte, and errors
// are thrown as `bad_line`. A part ends in '\n', the sentinel of every loop. A sink stores the edges: `put(k, source,
// target)` for edge k of the part, which ends after that edge if it returns false; then `finish()`.
#pragma once

#include "io/edge_list/attributes.hpp"
#include "io/edge_list/fields.hpp"
#include "io/edge_list/first_lines.hpp"
#include "io/edge_list/header.hpp"
#include "io/text/common_line.hpp"
#include "io/text/entry_store.hpp"

#include <spargo/io/edge_table.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

namespace spargo::detail::edge_text {

inline constexpr std::int64_t least_bytes = 4;  // the shortest line with an edge: "1 2\n"

// Whether a text is a Matrix Market file, whose first lines would be comments here.
inline bool has_banner(std::string_view text) {
  constexpr std::string_view banner = "%%matrixmarket";
  const auto same = [](char b, char a) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return text.size() >= banner.size() && std::equal(banner.begin(), banner.end(), text.begin(), same);
}

// --- Hot path -------------------------------------------------------------------------------------------------------

struct edge_fields {
  std::int64_t source = 0;
  std::int64_t target = 0;
  double weight = 0;
  bool weighted = false;
  bool rounded = false;          // the weight is an integer that float64 cannot represent
  const char* padded = nullptr;  // an id with leading zeros, the source if both have them
};

// Skips at most one comma or semicolon with few blanks around it; null if there is no separator, or it does not begin
// with the delimiter, if that is no blank: a blank may be within a number ("1 000,2").
[[nodiscard]] inline const char* common_separator(const char* p, char delimiter) noexcept {
  if (!is_separator(*p) || (delimiter != ' ' && *p != delimiter)) return nullptr;
  p = common_line::skip_few_blanks(p);
  if (p != nullptr && (*p == ',' || *p == ';')) p = common_line::skip_few_blanks(p + 1);
  return p;
}

// Returns the next line, or null if this one is unusual. `end`: of the part. `more`: as of further_fields.
[[nodiscard]] inline const char* read_common_edge(const char* p, const char* end, char delimiter, int more,
                                                  edge_fields& edge) noexcept {
  const char* const source = p;
  p = common_line::read_index(p, edge.source);
  if (p == nullptr || (p = common_separator(p, delimiter)) == nullptr) return nullptr;
  const char* const target = p;
  if ((p = common_line::read_index(p, edge.target)) == nullptr) return nullptr;
  edge.padded = is_padded(source) ? source : is_padded(target) ? target : nullptr;
  edge.weighted = false;
  if (*p == '\n') return p + 1;
  if (ends_line(p)) return p + 2;
  if ((p = common_separator(p, delimiter)) == nullptr || ends_line(p)) return nullptr;
  edge.weighted = true;
  const char* const weight = p;
  if ((p = common_line::read_real(p, edge.weight)) == nullptr || may_be_rounded(edge.weight)) return nullptr;
  if (*p == '\n') return p + 1;
  if (!is_separator(*p) && !ends_line(p)) return nullptr;
  if (delimiter != ' ' && *p != delimiter && !ends_line(p)) return nullptr;
  if (*p == ',' && is_decimal_comma(weight, p)) return nullptr;
  const auto* const newline = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  if (more >= 0 && std::count(p, newline, delimiter) > more) return nullptr;
  return newline + 1;
}

// The lines of [text) and their edges, up to the first bad line.
template <class I>
struct edge_part {
  std::string_view text;
  std::int64_t offset = 0;  // of `text`, among the bytes of all parts
  std::int64_t lines = 0;
  entry_sink<double, I> to;
  bool direct = false;     // `to` is in the result, from edge `first` on; otherwise in `own`
  std::int64_t first = 0;  // its first edge's number if every earlier line of the block has an edge
  std::int64_t place = 0;  // its first edge's number
  entry_store<double, I> own;
  const edge_list_header* header = nullptr;
  char delimiter = ' ';  // edge_list_header::delimiter
  std::int64_t count = 0;
  std::int64_t rounded = 0;            // number of rounded weights
  const char* padded = nullptr;        // the first id with leading zeros
  bool weighted = false;               // as for the first edge
  const char* first_column = nullptr;  // the first edge's third column, or where it would be; null without an edge
  bool stopped = false;                // the sink returned false
  std::int64_t largest = -1;           // largest id
  bool marked = false;                 // its ids are in the bitmap
  std::optional<bad_line> bad;
  std::exception_ptr exception;
};

inline bad_line uneven(const char* where, bool has_weight) {
  return {where, has_weight ? "a weight (expected none, as on the first edge)"
                            : "an edge without a weight (expected one, as on the first edge)"};
}

// The first edge decides about weights; later ones that differ are rejected. `column`: where the third one would be.
template <class I>
void check_weight(edge_part<I>& part, bool weighted, const char* column) {
  if (part.first_column == nullptr) {
    part.weighted = weighted;
    part.first_column = column;
  } else if (weighted != part.weighted) {
    throw uneven(column, weighted);
  }
}

// "1 000;2;3": refused, as among the first lines of the list (expect_whole_numbers).
[[gnu::noinline]] inline void refuse_split_number(const char* line, char delimiter) {
  const char* end = line;
  while (*end != '\n') ++end;
  const std::string_view number = number_with_blanks({line, static_cast<std::size_t>(end + 1 - line)}, delimiter, 0, 3);
  if (number.empty()) return;
  throw bad_line{number.data(), split_number(number)};
}

// Reads any line; false if it has no edge. A third column is the weight, or attributes that may include one.
template <class I>
[[nodiscard]] bool read_any_edge(const char* p, edge_part<I>& part, edge_fields& edge) {
  p = skip_blanks(p);
  if (is_without_edge(p)) return false;
  if (part.delimiter != ' ') refuse_split_number(p, part.delimiter);
  edge.padded = is_padded(p) ? p : nullptr;
  p = skip_separator(read_id(p, "source", edge.source));
  if (edge.padded == nullptr && is_padded(p)) edge.padded = p;
  p = read_id(p, "target", edge.target);
  if (part.header->columns > 0 && part.delimiter != ' ') {
    refuse_more_fields(p, part.delimiter, 2, part.header->columns);
  }
  p = skip_separator(p);
  edge.rounded = false;
  if (*p == '{') {
    edge.weighted = read_attributes(p, edge.weight, edge.rounded);
    check_weight(part, edge.weighted, p);
    return true;
  }
  edge.weighted = !ends_line(p);
  if (!edge.weighted && part.header->names.size() > 2) {
    throw bad_line{p, "the weight is missing (expected a real number)"};
  }
  check_weight(part, edge.weighted, p);
  if (edge.weighted) edge.weight = read_weight(p);
  edge.rounded = edge.weighted && may_be_rounded(edge.weight) && is_rounded(field_at(p), edge.weight);
  return true;
}

// --- Columns in any order

// With decimal commas if the file has them.
inline double table_weight(std::string_view field, const edge_list_header& header) {
  if (field.empty()) throw bad_line{field.data(), "the weight is missing (expected a real number)"};
  if (!header.decimal_commas) return weight_of(field.data(), field);
  if (field.find('.') != std::string_view::npos) {
    throw bad_line{
        field.data(),
        fmt::format("weight {} has a decimal point (expected a comma, as among the first weights)", quoted(field))};
  }
  std::string pointed(field);
  std::replace(pointed.begin(), pointed.end(), ',', '.');
  double weight = 0;
  if (parse_real(pointed, weight) == number_status::ok) return weight;
  return weight_of(field.data(), field);  // throws the right message
}

// Gephi's type, which must equal that of the first edge.
inline void check_type(std::string_view field, const edge_list_header& header) {
  const std::string_view expected = to_string(header.direction);
  const bool same = std::equal(field.begin(), field.end(), expected.begin(), expected.end(),
                               [](char given, char c) { return (given | 0x20) == c; });
  if (same) return;
  throw bad_line{field.data(), fmt::format("an edge of type {} (expected {}, as the first edge is: a graph is either)",
                                           quoted(field), expected)};
}

// Reads any line of a table; false if it has no edge.
template <class I>
[[nodiscard]] bool read_table_edge(const char* p, edge_part<I>& part, edge_fields& edge) {
  const edge_list_header& header = *part.header;
  const char* const first = skip_blanks(p);
  if (is_without_edge(first)) return false;
  const int last = std::max(std::max(header.source, header.target), std::max(header.weight, header.type));
  const char* third = p;  // where the weight is, or would be
  edge.rounded = false;
  edge.padded = nullptr;
  edge.weighted = header.weight >= 0;
  for (int column = 0;; ++column) {
    const std::string_view field = take_field(p, header.separator);
    third = p;
    const bool is_id = column == header.source || column == header.target;
    if (is_id && edge.padded == nullptr && field.size() > 1 && is_padded(field.data())) edge.padded = field.data();
    if (column == header.source) edge.source = id_of(field, "source");
    if (column == header.target) edge.target = id_of(field, "target");
    if (column == header.type) check_type(field, header);
    if (column == header.weight) {
      third = field.data();
      edge.weight = table_weight(field, header);
      edge.rounded = may_be_rounded(edge.weight) && is_rounded(field, edge.weight);
    }
    if (column == header.source && header.left_ids >= 0 && edge.source > header.left_ids) {
      throw bad_line{field.data(), fmt::format("left vertex {} (expected at most {}, as the second line says)",
                                               edge.source, header.left_ids)};
    }
    if (column == last) {
      if (header.columns > 0) refuse_more_fields(p, header.separator, column + 1, header.columns);
      break;
    }
    if (!next_field(p, header.separator)) {
      edge.weighted = false;
      if (header.names.empty() && column + 1 == header.weight && last == header.weight)
        break;  // a list may have no weights
      throw bad_line{p, fmt::format("too few columns: {} (expected {} or more)", column + 1, last + 1)};
    }
  }
  if (header.left_ids >= 0 && __builtin_add_overflow(edge.target, header.left_ids, &edge.target)) {
    throw bad_line{first, "the id of a right vertex is too large (expected the sum with the left ones below 2^63)"};
  }
  check_weight(part, edge.weighted, third);
  return true;
}

// The digits at `id`, with their line.
[[nodiscard]] inline padded_id padded_at(const text_source& source, const char* id) {
  const char* end = id;
  while (is_digit(*end)) ++end;
  return {std::string(id, end), source.position_of(id).line};
}

template <class I, class Sink>
void parse_edges(edge_part<I>& part, Sink& sink, std::int64_t max_line_bytes) {
  const char* const end = part.text.data() + part.text.size();
  const bool table = !is_plain(*part.header);
  const bool common = !table && max_line_bytes >= common_line::line_reach;
  const int more = further_fields(*part.header, part.delimiter);
  part.rounded = 0;
  edge_fields edge;
  for (const char* line = part.text.data(); line != end;) {
    const char* next = nullptr;
    if (common && end - line > common_line::line_reach) next = read_common_edge(line, end, part.delimiter, more, edge);
    const bool good = next != nullptr && part.first_column != nullptr && edge.weighted == part.weighted &&
                      next - line <= max_line_bytes;
    if (!good) {
      const bool has_edge = table ? read_table_edge(line, part, edge) : read_any_edge(line, part, edge);
      next = static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end - line))) + 1;
      if (next - 1 - line > max_line_bytes && !is_comment(skip_blanks(line))) {
        throw bad_line{line, {}};  // `text_source::fail` supplies the message
      }
      line = next;
      if (!has_edge) continue;
      part.rounded += edge.rounded ? 1 : 0;
    }
    line = next;
    if (edge.padded != nullptr && part.padded == nullptr) part.padded = edge.padded;
    if (edge.weighted && part.to.values != nullptr) part.to.values[part.count] = edge.weight;
    if (!sink.put(part.count, edge.source, edge.target)) {
      part.stopped = true;
      return;
    }
    ++part.count;
  }
  sink.finish();
}

}  // namespace spargo::detail::edge_text
