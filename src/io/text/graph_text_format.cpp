#include "io/text/graph_text_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace spargo::detail {

namespace {

constexpr std::string_view blanks = " \t\r";

std::vector<std::string_view> tokens_of(std::string_view line) {
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) < line.size();) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    tokens.push_back(line.substr(at, end - at));
    at = end;
  }
  return tokens;
}

// The next whole line without its end; none if the head has no more.
std::optional<std::string_view> take_line(std::string_view& head, head_extent extent) {
  if (head.empty()) return std::nullopt;
  const std::size_t newline = head.find('\n');
  if (newline == std::string_view::npos && extent == head_extent::part) return std::nullopt;
  const std::string_view line = head.substr(0, newline);
  head.remove_prefix(std::min(head.size(), line.size() + 1));
  return line;
}

std::optional<std::int64_t> count_in(std::string_view token) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (status != std::errc() || end != token.data() + token.size() || value < 0) return std::nullopt;
  return value;
}

bool is_number(std::string_view token) {
  double value = 0;
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
  return status == std::errc() && end == token.data() + token.size();
}

// --- METIS -----------------------------------------------------------------------------------------------------------

struct metis_head {
  std::int64_t vertices = 0;
  std::size_t before_neighbours = 0;  // numbers before a line's neighbours
  bool edge_weights = false;
};

// `expected`: by the file's name or first line; the head may then count every edge twice, which the reader reports.
std::optional<metis_head> metis_head_of(const std::vector<std::string_view>& tokens, bool expected) {
  if (tokens.size() < 2 || tokens.size() > 4) return std::nullopt;
  const auto vertices = count_in(tokens[0]);
  const auto edges = count_in(tokens[1]);
  if (!vertices.has_value() || !edges.has_value()) return std::nullopt;
  const auto n = static_cast<double>(*vertices);
  if (static_cast<double>(*edges) > n * (n - 1) / (expected ? 1 : 2)) return std::nullopt;
  metis_head head;
  head.vertices = *vertices;
  if (tokens.size() == 2) return head;
  const std::string_view given = tokens[2];
  if (given.size() > 3 || given.find_first_not_of("01") != std::string_view::npos) return std::nullopt;
  const std::string format = std::string(3 - given.size(), '0') + std::string(given);
  const auto weights = tokens.size() == 4 ? count_in(tokens[3]) : std::int64_t{format[1] == '1' ? 1 : 0};
  if (!weights.has_value() || *weights > 1000) return std::nullopt;
  head.before_neighbours = static_cast<std::size_t>(*weights) + (format[0] == '1' ? 1 : 0);
  head.edge_weights = format[2] == '1';
  return head;
}

bool is_metis_vertex(const metis_head& head, std::int64_t vertex, const std::vector<std::string_view>& tokens) {
  if (tokens.size() < head.before_neighbours) return false;
  for (std::size_t k = 0; k < head.before_neighbours; ++k) {
    if (!is_number(tokens[k])) return false;
  }
  const std::size_t step = head.edge_weights ? 2 : 1;
  if ((tokens.size() - head.before_neighbours) % step != 0) return false;
  for (std::size_t k = head.before_neighbours; k < tokens.size(); k += step) {
    const auto neighbour = count_in(tokens[k]);
    if (!neighbour.has_value() || *neighbour < 1 || *neighbour > head.vertices || *neighbour == vertex) return false;
    if (head.edge_weights && !is_number(tokens[k + 1])) return false;
  }
  return true;
}

bool is_metis(std::string_view text, head_extent extent, std::string_view name) {
  const bool expected = text.starts_with("% METIS") || is_named(name, {".graph", ".metis"});
  std::optional<metis_head> head;
  std::size_t columns = 0;
  std::int64_t vertices = 0;
  bool obeys = true;  // follows METIS's rules
  bool even = true;   // all lines have equally many columns
  while (const auto line = take_line(text, extent)) {
    const auto tokens = tokens_of(*line);
    if (!tokens.empty() && tokens[0][0] == '%') continue;
    if (!head.has_value()) {
      if (tokens.empty()) continue;
      head = metis_head_of(tokens, expected);
      if (!head.has_value()) return false;
      columns = tokens.size();
      continue;
    }
    even = even && (tokens.empty() || tokens.size() == columns);
    if (vertices == head->vertices) {
      obeys = obeys && tokens.empty();
    } else {
      obeys = obeys && is_metis_vertex(*head, ++vertices, tokens);
    }
  }
  if (!head.has_value()) return expected && extent == head_extent::part;
  if (extent == head_extent::whole) obeys = obeys && vertices == head->vertices;
  return expected ? obeys || !even : obeys && !even;
}

// --- DIMACS ----------------------------------------------------------------------------------------------------------

std::optional<input_format> dimacs_format(std::string_view text, head_extent extent, std::string_view name) {
  const bool begins_with_comment = text.starts_with("c ");
  bool comments = begins_with_comment;
  bool only_comments = true;
  while (const auto line = take_line(text, extent)) {
    const auto tokens = tokens_of(*line);
    if (tokens.empty()) continue;
    if (tokens[0] == "p") {
      const bool edges = tokens.size() > 1 && (tokens[1] == "edge" || tokens[1] == "edges" || tokens[1] == "col");
      return edges ? input_format::dimacs_edges : input_format::dimacs_arcs;
    }
    only_comments = tokens[0][0] == 'c';
    if (!only_comments) break;
    comments = true;
  }
  if (comments && is_named(name, {".col"})) return input_format::dimacs_edges;
  const bool filled = begins_with_comment && only_comments && extent == head_extent::part;
  if (filled || (comments && is_named(name, {".gr"}))) return input_format::dimacs_arcs;
  return std::nullopt;
}

}  // namespace

bool is_named(std::string_view name, std::initializer_list<std::string_view> endings) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

std::optional<input_format> graph_text_format(std::string_view head, head_extent extent, std::string_view name) {
  if (const auto dimacs = dimacs_format(head, extent, name)) return dimacs;
  if (is_metis(head, extent, name)) return input_format::metis;
  return std::nullopt;
}

}  // namespace spargo::detail
