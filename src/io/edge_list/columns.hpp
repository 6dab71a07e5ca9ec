// The line of column names that a CSV file may begin with: `source,target,weight`, `"from";"to"`.
//
// It is the first line with anything but a comment on it, and its first two fields are names: words, quoted or not, and
// no numbers. Between blanks only the usual ones count, or a list of named vertices would lose its first edge.
#pragma once

#include "io/edge_list/fields.hpp"
#include "io/text/blocks.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace spargo::detail::edge_text {

// The name at `p` without its quotes, which moves past it; empty where there is none.
inline std::string_view take_name(const char*& p) {
  std::string_view name;
  if (*p == '"' || *p == '\'') {
    const char* last = p + 1;
    while (*last != *p && *last != '\n') ++last;
    if (*last == '\n') return {};
    name = {p + 1, static_cast<std::size_t>(last - p - 1)};
    p = last + 1;
  } else {
    name = field_at(p);
    p += name.size();
  }
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  double number = 0;
  const bool named = !name.empty() && is_letter(name[0]) && (is_separator(*p) || ends_line(p)) &&
                     std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; }) &&
                     parse_real(name, number) == number_status::malformed;
  return named ? name : std::string_view{};
}

inline bool are_usual_names(std::string_view source, std::string_view target) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> usual = {{{"source", "target"},
                                                                                          {"from", "to"},
                                                                                          {"src", "dst"},
                                                                                          {"u", "v"},
                                                                                          {"i", "j"},
                                                                                          {"tail", "head"},
                                                                                          {"node1", "node2"},
                                                                                          {"id1", "id2"},
                                                                                          {"fromnodeid", "tonodeid"}}};
  const auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
  };
  return std::find(usual.begin(), usual.end(),
                   std::pair<std::string_view, std::string_view>(lower(source), lower(target))) != usual.end();
}

// Whether the line whose first character that is no blank is at `p` names columns.
inline bool names_columns(const char* p) {
  const std::string_view source = take_name(p);
  if (source.empty()) return false;
  const char* const separator = p;
  p = skip_separator(p);
  const bool only_blanks = std::all_of(separator, p, [](char c) { return c == ' '; });
  const std::string_view target = take_name(p);
  return !target.empty() && (!only_blanks || are_usual_names(source, target));
}

// Looks for them in front of the first edge of a text that comes in blocks.
class column_names {
 public:
  // The block from behind the line of names on; all of it where it has none.
  [[nodiscard]] std::string_view skip(const text_source& source, std::string_view block) {
    const char* const end = block.data() + block.size();
    for (const char* line = block.data(); line != end && !found_first_;) {
      const char* const next = std::find(line, end, '\n') + 1;
      const char* const p = skip_blanks(line);
      found_first_ = !ends_line(p) && !is_comment(p);
      if (found_first_ && names_columns(p)) {
        if (next - 1 - line > source.max_line_bytes()) source.fail(line, {});
        return {next, static_cast<std::size_t>(end - next)};
      }
      line = next;
    }
    return block;
  }

  [[nodiscard]] bool found_first() const { return found_first_; }

 private:
  bool found_first_ = false;  // line with anything but a comment
};

}  // namespace spargo::detail::edge_text
