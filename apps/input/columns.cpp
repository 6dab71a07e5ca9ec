#include "input/columns.hpp"

#include "cli/cli.hpp"
#include "cli/enum_words.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"

#include <spargo/io/edge_table.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace spargo::apps {

namespace {

// The name of column `k`; its number from 1 if the file has no names.
std::string name_of(const edge_list_header& header, int k) {
  const int named = k - (header.row_names ? 1 : 0);
  if (named < 0 || named >= std::ssize(header.names)) return fmt::format("column {}", k + 1);
  return fmt::format("'{}'", header.names[static_cast<std::size_t>(named)]);
}

// The flag for these columns, each by its name and number, as typed in a shell: a name with a comma is replaced by the
// number.
std::string columns_flag(const std::vector<std::pair<std::string, int>>& columns) {
  std::string text;
  for (const auto& [name, number] : columns) {
    text += text.empty() ? "" : ",";
    text += name.find(',') == std::string::npos ? name : std::to_string(number);
  }
  return "--columns " + shell_quoted(text);
}

// Of columns that have names.
std::vector<std::string> names_of(const edge_list_header& header, const std::vector<int>& columns) {
  std::vector<std::string> names;
  for (const int k : columns) names.push_back(header.names[static_cast<std::size_t>(k - (header.row_names ? 1 : 0))]);
  return names;
}

std::vector<std::string> unused_names(const edge_list_header& header) {
  std::vector<std::string> unused;
  const int count = static_cast<int>(header.names.size()) + (header.row_names ? 1 : 0);
  for (int k = 0; k < count; ++k) {
    if (k == header.source || k == header.target || k == header.weight || k == header.type) continue;
    const bool unnamed = (k == 0 && header.row_names) || header.names[static_cast<std::size_t>(k)].empty();
    unused.push_back(unnamed ? "a column without a name" : name_of(header, k));
  }
  return unused;
}

void report_names(report& out, const edge_list_header& header, const std::string& asked) {
  if (header.names.empty() && asked.empty()) return;
  const bool weighted = header.weight >= 0 &&
                        (header.names.empty() || header.weight < std::ssize(header.names) + (header.row_names ? 1 : 0));
  const std::vector<std::string> unused = unused_names(header);
  // `convert` to GML and GraphML.
  const bool are_kept = out.keys().contains("attributes") && out.keys()["attributes"].at("edges") > 0;
  const std::string_view others = are_kept ? "kept as attributes" : "not used";
  json& keys = out.keys()["columns"];
  keys["source"] = header.source + 1;
  keys["target"] = header.target + 1;
  keys["weight"] = weighted ? json(header.weight + 1) : json();
  keys["names"] = header.names;
  if (!header.unused_numbers.empty()) keys["unused_numbers"] = names_of(header, header.unused_numbers);
  std::string text =
      fmt::format("source {}, target {}", name_of(header, header.source), name_of(header, header.target));
  text += weighted ? ", weight " + name_of(header, header.weight) : ", no weight";
  if (!unused.empty()) text += fmt::format("; {}: {}", others, fmt::join(unused, ", "));
  out.row("columns", text);
  if (!header.names.empty()) out.row("", fmt::format("header line skipped: {}", fmt::join(header.names, ",")));
}

// Reports a first line that is read as an edge and may name the columns.
void report_possible_names(report& out, const input_description& input) {
  const std::vector<std::string>& names = input.columns.possible_names;
  if (names.empty()) return;
  out.keys()["columns"] = {{"first_line", "edge"}, {"possible_names", names}};
  const std::string text = fmt::format(
      "the first line, '{}', '{}', is read as an edge ({} if it names the columns, --columns 1,2 if it does not)",
      names[0], names[1], columns_flag({{names[0], 1}, {names[1], 2}}));
  out.row("columns", text);
  out.warn(input.path + ": " + text);
}

// Warns of edges that may be the rows of a matrix.
void report_possible_matrix(report& out, const input_description& input) {
  const std::int64_t n = input.columns.possible_matrix;
  if (n == 0) return;
  out.keys()["columns"]["possible_matrix"] = n;
  const std::string text = fmt::format(
      "{} lines of {} numbers are read as weighted edges, and may be an adjacency matrix ({} if they are edges; a "
      "matrix is read as Matrix Market)",
      n, n, columns_flag({{"1", 1}, {"2", 2}, {"3", 3}}));
  out.row("", text);
  out.warn(input.path + ": " + text);
}

// Warns of columns whose names are of different things, such as user_id and item_id, though equal ids are one vertex.
void report_two_kinds(report& out, const input_description& input) {
  const edge_list_header& header = input.columns;
  if (!header.may_be_two_kinds) return;
  std::vector<int> wanted{header.source, header.target};
  if (header.weight >= 0 && header.weight < std::ssize(header.names) + (header.row_names ? 1 : 0)) {
    wanted.push_back(header.weight);
  }
  const std::vector<std::string> names = names_of(header, wanted);
  std::vector<std::pair<std::string, int>> columns;
  for (std::size_t k = 0; k < wanted.size(); ++k) columns.emplace_back(names[k], wanted[k] + 1);
  const std::string same = columns_flag(columns);
  columns[0].first = "bip:" + (names[0].find(',') == std::string::npos ? names[0] : std::to_string(wanted[0] + 1));
  out.keys()["columns"]["may_be_two_kinds"] = true;
  const bool named = header.ids == id_kind::names;
  const std::string text =
      fmt::format("'{}' and '{}' may number different things, but {} one vertex ({} if they are of one kind, {})",
                  names[0], names[1], named ? "a name in both columns is" : "equal ids are", same,
                  named ? "else different names" : columns_flag(columns) + " keeps them apart");
  out.row("", text);
  out.warn(input.path + ": " + text);
}

void report_left_ids(report& out, const input_description& input) {
  const std::int64_t left = input.columns.left_ids;
  if (left < 0) return;
  const std::string right = fmt::format("right vertex k has the id {} + k", left);
  if (!input.wanted_columns.starts_with("bip:")) {
    out.row("bipartite", fmt::format("{}; {}", counted(left, "left vertex", "left vertices"), right));
    out.keys()["left_vertices"] = left;
  } else {
    out.row("bipartite", fmt::format("left ids as they are, below {}; {}", left, right));
    out.keys()["right_ids_from"] = left;
  }
}

}  // namespace

std::string unused_weights(const input_description& input) {
  const edge_list_header& header = input.columns;
  if (header.unused_numbers.empty()) return {};
  std::vector<std::string> shown;
  for (const int k : header.unused_numbers) shown.push_back(name_of(header, k));
  const std::vector<int> wanted{header.source, header.target, header.unused_numbers[0]};
  const std::vector<std::string> names = names_of(header, wanted);
  std::vector<std::pair<std::string, int>> columns;
  for (std::size_t k = 0; k < wanted.size(); ++k) columns.emplace_back(names[k], wanted[k] + 1);
  return fmt::format("{} of numbers not used as weights: {} ({} uses {})", shown.size() == 1 ? "column" : "columns",
                     fmt::join(shown, ", "), columns_flag(columns), shown[0]);
}

void add_columns_flag(flag_set app, common_flags& flags) {
  app.add_option(
         "--columns", flags.columns,
         "SOURCE,TARGET[,WEIGHT]: the columns of an edge list, by name (the first line is then a header) or number "
         "from 1; bip:SOURCE,TARGET: equal ids in the two are different vertices; default: by the names in its header "
         "line, else the first three")
      ->type_name("COLUMNS");
  if (app.has("--ids")) return;  // the command has it, with more meanings
  app.add_option(
         "--ids", flags.ids,
         "vertex ids of an edge list: integers, names, or auto (names if most of the first lines have an id that is "
         "not a number; in a file of integers a later name is an error)")
      ->check(one_of("a kind of ids", words_of<id_kind>()))
      ->type_name("KIND")
      ->capture_default_str();
}

id_kind ids_of(const common_flags& flags) { return parse_enum<id_kind>("--ids: unknown kind", flags.ids); }

void report_columns(report& out, const input_description& input, bool directed) {
  if (input.kind != input_kind::edge_list) return;
  const edge_list_header& header = input.columns;
  report_names(out, header, input.wanted_columns);
  report_possible_names(out, input);
  report_possible_matrix(out, input);
  report_two_kinds(out, input);
  report_left_ids(out, input);
  if (header.direction == edge_direction::not_said) return;
  const std::string_view said = to_string(header.direction);
  const std::string_view taken = to_string(directed ? edge_direction::directed : edge_direction::undirected);
  out.row("direction", directed == (header.direction == edge_direction::directed)
                           ? fmt::format("{}, as {} says", taken, header.said_by)
                           : fmt::format("{}, as asked for ({} says {}{})", taken, header.said_by, said,
                                         directed ? ": each edge leads both ways" : ""));
  out.keys()["direction_said"] = said;
}

std::vector<std::string> warnings_of(const padded_id& id) {
  if (id.text.empty()) return {};
  const std::size_t digit = std::min(id.text.find_first_not_of('0'), id.text.size() - 1);
  return {fmt::format("line {}: vertex id {} is read as {}, and both are one vertex (--ids names keeps ids as written)",
                      id.line, id.text, id.text.substr(digit))};
}

void report_contents(report& out, const input_description& input, const input_facts& facts) {
  for (const std::string& warning : facts.warnings) out.warn(input.path + ": " + warning);
  if (input.kind != input_kind::edge_list || facts.stored > 0) return;
  out.keys()["lists_no_edges"] = true;
  out.warn(input.path + ": the file lists no edges");
}

void report_ids(report& out, const vertex_names& names) {
  out.keys()["ids"] = names.are_integers() ? "integers" : "names";
  if (names.are_integers()) return;
  std::string text = fmt::format("vertices have {}, in the order of the file", counted(names.vertices, "name"));
  if (names.vertices > 0) text += fmt::format(": {} to {}", names.label(0), names.label(names.vertices - 1));
  out.row("ids", text);
}

}  // namespace spargo::apps
