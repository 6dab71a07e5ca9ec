// Column positions of an edge list (`edge_list_header`), for the line readers.
#pragma once

#include "io/edge_list/fields.hpp"
#include "io/text/blocks.hpp"

#include <spargo/io/edge_list.hpp>

#include <algorithm>

namespace spargo::detail::edge_text {

// Whether lines are read as without a header: source, target, optional third column.
[[nodiscard]] inline bool is_plain(const edge_list_header& header) {
  const bool third = header.weight == 2 || (header.weight < 0 && header.names.size() == 2);
  return header.source == 0 && header.target == 1 && third && header.type < 0 && !header.decimal_commas &&
         !header.separator_said && header.left_ids < 0 && header.ids == id_kind::integers && !header.quoted_ids;
}

// A field of a table's line, without surrounding blanks and quotes.
//
// `p`: its beginning; moved to the next separator or line end. Separator ' ': any number of blanks and tabs.
[[nodiscard]] inline std::string_view take_field(const char*& p, char separator) {
  const auto ends_field = [separator](const char* q) {
    return ends_line(q) || (separator == ' ' ? is_blank(*q) : *q == separator);
  };
  while (*p == ' ' || (*p == '\t' && separator != '\t')) ++p;
  std::string_view field;
  if (*p == '"') {
    const char* const first = p++;
    while (*p != '\n' && (*p != '"' || p[1] == '"')) p += *p == '"' ? 2 : 1;
    if (*p == '\n') throw bad_line{first, "the quotes do not end on this line (expected another one)"};
    field = {first + 1, static_cast<std::size_t>(p - first - 1)};
    ++p;
  } else {
    const char* const first = p;
    while (!ends_field(p)) ++p;
    field = {first, static_cast<std::size_t>(p - first)};
    while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  }
  while (*p == ' ' || (*p == '\t' && separator != '\t')) ++p;
  if (separator != ' ' && !ends_field(p)) {
    throw bad_line{p, fmt::format("unexpected {} (expected {} or the end of the line)", quoted(field_at(p)),
                                  quoted({&separator, 1}))};
  }
  return field;
}

// Moves to the next field; false at the end of the line.
[[nodiscard]] inline bool next_field(const char*& p, char separator) {
  if (ends_line(p)) return false;
  p += separator != ' ';
  return true;
}

// Refuses a line of more than `most` fields: a name with a separator lacks its quotes ("Smith, John"), or commas group
// thousands. `p`: behind the field number `read`, counted from 1. What is empty may follow.
[[gnu::noinline]] inline void refuse_more_fields(const char* p, char separator, int read, int most) {
  int left = most - read;
  for (const char* q = p; *q != '\n' && left >= 0; ++q) left -= *q == separator ? 1 : 0;
  if (left >= 0) return;
  while (*p == ' ') ++p;
  while (next_field(p, separator)) {
    const std::string_view field = take_field(p, separator);
    if (++read <= most || field.empty()) continue;
    throw bad_line{field.data(), fmt::format("{} is a field too many (expected {}, as in the header line; a field with "
                                             "{} in quotes)",
                                             quoted(field), most, quoted({&separator, 1}))};
  }
}

// How many fields may follow the weight of a plain line; -1: any number.
[[nodiscard]] inline int further_fields(const edge_list_header& header, char delimiter) {
  return header.columns == 0 || delimiter == ' ' ? -1 : std::max(header.columns - 3, 0);
}

// edge_list_header::delimiter of a text without its header line.
[[nodiscard]] inline char delimiter_of(std::string_view text, const edge_list_header& header) {
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* p = skip_blanks(line);
    if (ends_line(p) || is_comment(p)) continue;
    const char* const after = p + field_at(p).size();
    p = skip_blanks(after);
    if (*p == ',' || *p == ';') return *p;
    return *after == '\t' && !header.names.empty() ? '\t' : ' ';
  }
  return 0;
}

// Whether the user has given columns.
enum class given_columns { none, some };

// Sets `ids` and `quoted_ids`, and from them the separator of a file without a header. `text`: whole lines from the
// first one that is not a comment; the last one ends or is blank.
void decide_ids(std::string_view text, id_kind wanted, given_columns columns, edge_list_header& header);

// The largest id in the source column, -1 if there is none: one pass. Lines that are wrong are for the reader to
// refuse.
[[nodiscard]] std::int64_t largest_source(const input_file& file, const edge_list_header& header);

// Whether a name is in the columns of source and target, among the first lines.
[[nodiscard]] bool share_a_name(std::string_view text, const edge_list_header& header);

// Skips the header lines of a text that comes in blocks.
class header_lines {
 public:
  explicit header_lines(const edge_list_header& header) : left_(header.lines()) {}

  // The block after the header lines; all of it if they were skipped before or do not exist.
  [[nodiscard]] std::string_view skip(const text_source& source, std::string_view block) {
    const char* const end = block.data() + block.size();
    const char* rest = block.data();
    for (const char* line = rest; line != end && left_ > 0;) {
      const char* const next = std::find(line, end, '\n') + 1;
      const char* const p = skip_blanks(line);
      if (!ends_line(p) && !is_comment(p)) {
        if (next - 1 - line > source.max_line_bytes()) source.fail(line, {});
        --left_;
        rest = next;
      }
      line = next;
    }
    return {rest, static_cast<std::size_t>(end - rest)};
  }

  [[nodiscard]] bool are_passed() const { return left_ == 0; }

 private:
  int left_;
};

}  // namespace spargo::detail::edge_text
