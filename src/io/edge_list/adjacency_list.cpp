// Recognises lists that are not edge lists: networkx's adjacency lists, LGL, edges with arrows, brackets or DIMACS's
// letters. Read as an edge list, the second neighbour would be a weight, the others would be lost, and arrows, "(1" and
// "e" would be vertices.
//
// Invariant: lines of equally many plain fields are edges, unless comments say otherwise.
#include "io/edge_list/first_lines.hpp"
#include "io/text/graph_text_format.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace spargo::detail::edge_text {

namespace {

using namespace std::string_view_literals;

using words = std::vector<std::string_view>;

// The name of a list, and the value of --columns that reads it as edges, if any.
struct other_list {
  std::string_view name;
  std::string_view columns = "1,2";
};

struct text_line {
  bool is_comment = false;
  std::string_view text;
  words fields;  // of a comment without its mark
};

words words_of(std::string_view line) {
  words found;
  const char* const end = line.data() + line.size();
  for (const char* p = line.data(); (p = std::find_if_not(p, end, is_separator)) != end;) {
    const char* const next = std::find_if(p, end, is_separator);
    found.emplace_back(p, static_cast<std::size_t>(next - p));
    p = next;
  }
  return found;
}

std::vector<text_line> lines_of(std::string_view head, table_extent extent) {
  std::vector<text_line> lines;
  while (!head.empty()) {
    const std::size_t newline = head.find('\n');
    if (newline == std::string_view::npos && extent == table_extent::part) break;
    text_line line{false, head.substr(0, newline), {}};
    head.remove_prefix(std::min(head.size(), line.text.size() + 1));
    line.text = line.text.substr(0, line.text.find_last_not_of(" \t\r") + 1);
    line.text.remove_prefix(std::min(line.text.find_first_not_of(" \t"), line.text.size()));
    if (line.text.empty()) continue;
    line.is_comment = comment_marks.find(line.text[0]) != std::string_view::npos;
    line.fields = words_of(line.text.substr(line.is_comment ? 1 : 0));
    lines.push_back(std::move(line));
  }
  return lines;
}

// The three comments of networkx: the program, "GMT" and a date, the graph's name.
bool has_networkx_comments(const std::vector<text_line>& lines) {
  constexpr std::size_t comments = 3;
  if (lines.size() <= comments) return false;
  for (std::size_t k = 0; k <= comments; ++k) {
    if (lines[k].is_comment != (k < comments)) return false;
  }
  constexpr std::size_t date = 6;  // GMT Thu Nov 26 07:40:32 2026
  return lines[1].fields.size() == date && lines[1].fields[0] == "GMT" && are_digits(lines[1].fields.back());
}

// "u d", followed by d lines "v {attributes}".
bool is_multiline(const std::vector<text_line>& lines) {
  std::int64_t left = 0;
  bool any = false;
  for (const text_line& line : lines) {
    if (line.is_comment) continue;
    if (line.fields.size() < 2) return false;
    const std::string_view second = line.fields[1];
    if (left > 0) {
      if (!second.starts_with('{')) return false;
      any = true;
      --left;
    } else if (line.fields.size() != 2 || !is_id(second) || parse_integer(second, left) != number_status::ok) {
      return false;
    }
  }
  return any;
}

// Whether holds(line) for each line with values; the first of several may be a header.
template <class Predicate>
bool all_lines(const std::vector<text_line>& lines, const Predicate& holds) {
  std::int64_t seen = 0;
  bool has_header = false;
  for (const text_line& line : lines) {
    if (line.is_comment) continue;
    const bool wrong = !holds(line);
    if (wrong && seen > 0) return false;
    has_header = has_header || wrong;
    ++seen;
  }
  return seen > (has_header ? 1 : 0);
}

// "1: 2 3" or "1 : 2 3"
bool has_colons(const text_line& line) {
  return !line.fields.empty() && (line.fields[0].ends_with(':') || (line.fields.size() > 2 && line.fields[1] == ":"));
}

// "1 -> 2"
bool has_arrow(const text_line& line) {
  // → ← ↔ ⇒ and dashes
  constexpr std::array arrows = {"\u2192"sv, "\u2190"sv, "\u2194"sv, "\u21d2"sv, "\u2013"sv, "\u2014"sv};
  if (line.fields.size() < 3) return false;
  const std::string_view second = line.fields[1];
  return second.find_first_not_of("-=<>|~") == std::string_view::npos ||
         std::find(arrows.begin(), arrows.end(), second) != arrows.end();
}

// "(1, 2)", "[1, 2]," or "{1, 2}"
bool is_tuple(const text_line& line) {
  constexpr std::array brackets = {"()"sv, "[]"sv, "{}"sv};
  std::string_view text = line.text;
  if (text.ends_with(',')) text.remove_suffix(1);
  return line.fields.size() > 1 && std::any_of(brackets.begin(), brackets.end(), [&](std::string_view pair) {
           return text.front() == pair.front() && text.back() == pair.back();
         });
}

// DIMACS, whose first line is missing: "e 1 2" or "a 1 2 5"
bool is_marked(const text_line& line) {
  const std::size_t size = line.fields.size();
  const bool marked = size > 0 && ((line.fields[0] == "e" && size == 3) || (line.fields[0] == "a" && size == 4));
  return marked && is_id(line.fields[1]) && is_id(line.fields[2]);
}

// Lines of ids, of different lengths. A first line that differs from even ones may be a header of counts.
bool is_uneven(const std::vector<text_line>& lines) {
  constexpr std::size_t most_of_edges = 3;
  std::size_t first = 0;
  std::size_t least = SIZE_MAX;  // of the lines below the first one
  std::size_t most = 0;
  bool commas = false;
  for (const text_line& line : lines) {
    if (line.is_comment) continue;
    if (!std::all_of(line.fields.begin(), line.fields.end(), is_id)) return false;
    commas = commas || line.text.find_first_of(",;") != std::string_view::npos;
    const std::size_t size = line.fields.size();
    if (first == 0) {
      first = size;
      continue;
    }
    least = std::min(least, size);
    most = std::max(most, size);
  }
  if (least == most) return least == 1 && first >= most_of_edges;
  most = std::max(most, first);
  least = std::min(least, first);
  if (least == 1) return most >= most_of_edges;
  return most > most_of_edges && (least == 2 || !commas);
}

// LGL: "# vertex", followed by lines "neighbour" or "neighbour weight".
bool is_lgl(const std::vector<text_line>& lines, std::string_view name) {
  bool alone = true;    // every line has one field
  bool linked = false;  // some comment is an earlier neighbour
  words neighbours;
  bool after_comment = false;
  for (const text_line& line : lines) {
    if (line.is_comment != (line.text[0] == '#')) return false;
    if (line.is_comment && (after_comment || line.fields.size() != 1)) return false;
    if (!line.is_comment && line.fields.size() > 2) return false;
    alone = alone && line.fields.size() == 1;
    after_comment = line.is_comment;
    if (line.is_comment) {
      linked = linked || std::find(neighbours.begin(), neighbours.end(), line.fields[0]) != neighbours.end();
    } else {
      neighbours.push_back(line.fields[0]);
    }
  }
  const bool begins = lines.size() > 1 && lines[0].is_comment;
  return begins && (alone || linked || is_named(name, {".lgl"}));
}

std::optional<other_list> recognise_other_list(std::string_view head, table_extent extent, std::string_view name) {
  const std::vector<text_line> lines = lines_of(head, extent);
  if (has_networkx_comments(lines) || is_multiline(lines)) return other_list{"a networkx adjacency list"};
  if (is_lgl(lines, name)) return other_list{"an LGL file"};
  if (all_lines(lines, has_arrow)) return other_list{"a list of edges with arrows", "1,3"};
  if (all_lines(lines, is_tuple)) return other_list{"a list of tuples", ""};
  if (all_lines(lines, is_marked)) return other_list{"a DIMACS file without its line p", "2,3"};
  if (all_lines(lines, has_colons) || is_uneven(lines)) return other_list{"an adjacency list"};
  return std::nullopt;
}

}  // namespace

void refuse_other_lists(std::string_view head, table_extent extent, const std::string& name) {
  const std::optional<other_list> list = recognise_other_list(head, extent, name);
  if (!list.has_value()) return;
  throw error(error_code::unsupported, {name},
              fmt::format("{} is not supported (expected a line for each edge, as networkx.write_edgelist writes{})",
                          list->name,
                          list->columns.empty() ? "; tr -d '()[]{}' removes brackets"
                                                : fmt::format("; columns={} takes lines as edges", list->columns)));
}

}  // namespace spargo::detail::edge_text
