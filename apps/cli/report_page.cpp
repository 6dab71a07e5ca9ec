#include "cli/report_page.hpp"

#include "cli/charts.hpp"
#include "cli/provenance.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace spargo::apps {

namespace {

struct tuning {
  static constexpr std::size_t most_bars = 60;    // beyond it a line or points
  static constexpr std::size_t most_drawn = 4;    // searches whose levels are drawn
  static constexpr std::size_t most_listed = 20;  // elements of a list in text
  static constexpr std::size_t most_cards = 8;
};

// How a key that is drawn is called, of all commands or of one, and its axes or columns. Other keys are called after
// themselves.
struct figure_texts {
  std::string_view key, title, x, y;
};
constexpr figure_texts figures[] = {
    {"levels", "Vertices at each depth", "depth", "vertices"},
    {"cores:histogram", "Core numbers", "core number", "vertices"},
    {"coloring:histogram", "Vertices of each colour", "colour", "vertices"},
    {"histogram", "Vertices by value", "value", "vertices"},
    {"components:sizes", "Sizes of components", "size", "components"},
    {"communities:sizes", "Sizes of communities", "size", "communities"},
    {"sizes", "Sizes", "size", "groups"},
    {"degree_counts", "Degrees", "degree", "vertices"},
    {"in_degree_counts", "In-degrees", "in-degree", "vertices"},
    {"out_degree_counts", "Out-degrees", "out-degree", "vertices"},
    {"row_length_counts", "Row lengths", "entries in a row", "rows"},
    {"picture", "The graph", "", ""},
    {"history", "Convergence", "iteration", "residual"},
    {"pagerank:top", "Highest ranks", "vertex", "rank"},
    {"top", "Highest values", "vertex", "value"},
    {"hubs", "Best hubs", "vertex", "score"},
    {"authorities", "Best authorities", "vertex", "score"},
    {"multiply:first", "First entries", "row", "value"},
    {"first", "First results", "vertex", "value"},
    {"memory", "Memory by format", "format", "bytes"},
};

bool is_figure(std::string_view key) {
  return std::any_of(std::begin(figures), std::end(figures), [&](const auto& f) { return f.key == key; });
}

figure_texts texts_of(const std::string& app, std::string_view key) {
  const std::string own = app + ":" + std::string(key);
  for (const figure_texts& texts : figures) {
    if (texts.key == own || texts.key == key) return texts;
  }
  return {key, key, "item", "value"};
}

// What to see first, in this order, where a command has it; of one command where its name comes first.
struct card_text {
  std::string_view key, title;
  std::string_view one = title;  // above the number 1
};
constexpr card_text cards[] = {
    {"vertices", "vertices", "vertex"},
    {"forest:edges", "edges of the forest", "edge of the forest"},
    {"matching:edges", "edges of the matching", "edge of the matching"},
    {"trusses:edges", "edges of the truss", "edge of the truss"},
    {"edges", "edges", "edge"},
    {"rows", "rows", "row"},
    {"cols", "columns", "column"},
    {"nnz", "entries", "entry"},
    {"reached", "reached"},
    {"depth", "depth"},
    {"max_distance", "greatest distance"},
    {"components", "components", "component"},
    {"largest", "largest"},
    {"largest_component", "largest component"},
    {"communities", "communities", "community"},
    {"modularity", "modularity"},
    {"triangles", "triangles", "triangle"},
    {"transitivity", "transitivity"},
    {"max_core", "greatest core"},
    {"max_k", "greatest k"},
    {"trees", "trees", "tree"},
    {"total_weight", "total weight"},
    {"pairs", "pairs", "pair"},
    {"diameter", "diameter"},
    {"radius", "radius"},
    {"iterations", "iterations", "iteration"},
    {"entries", "entries written", "entry written"},
    {"bytes", "bytes", "byte"},
    {"expected_ms", "expected time"},
    {"host_bytes", "host memory"},
    {"time_ms", "median time"},
    {"mteps_harmonic_mean", "MTEPS"},
    {"gflops", "GFLOP/s"},
    {"total_ms", "to the first result"},
};

bool is_numbers(const json& list) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const json& each) { return each.is_number(); });
}
bool is_objects(const json& list) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const json& each) { return each.is_object(); });
}
// [[name or number, number], ...], each also with an object of attributes.
bool is_pairs(const json& list) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), [](const json& each) {
           return each.is_array() && (each.size() == 2 || (each.size() == 3 && each[2].is_object())) &&
                  (each[0].is_number() || each[0].is_string()) && each[1].is_number();
         });
}
bool is_rows(const json& list) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const json& each) { return each.is_array(); });
}

std::string number_text(const json& value) {
  if (value.is_number_unsigned() || value.is_number_integer()) return with_commas(value.get<std::int64_t>());
  return fmt::format("{:.6g}", value.get<double>());
}

bool is_time(std::string_view key) { return key.ends_with("_ms"); }
bool is_size(std::string_view key) { return key == "bytes" || key.ends_with("_bytes"); }

// A value of any kind in a few words.
std::string text_of(std::string_view key, const json& value) {
  if (value.is_null() || value.is_binary()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) {
    if (is_time(key)) return format_milliseconds(value.get<double>());
    if (is_size(key)) return format_bytes(value.get<double>());
    return number_text(value);
  }
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, each] : value.items()) {
      // The outer key names what a nested number is, except for counts of runs.
      const bool count = name == "runs";
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text_of(count ? name : std::string(key), each));
    }
    return text;
  }
  for (std::size_t k = 0; k < std::min(value.size(), tuning::most_listed); ++k) {
    text += (k == 0 ? "" : ", ") + (value[k].is_array() ? "[" + text_of({}, value[k]) + "]" : text_of({}, value[k]));
  }
  return value.size() > tuning::most_listed ? fmt::format("{}, ... ({} in all)", text, with_commas(std::ssize(value)))
                                            : text;
}

std::string id_text(const json& id) {
  return id.is_string() ? id.get<std::string>() : id.is_number() ? std::to_string(id.get<std::int64_t>()) : "-";
}

std::string words_of(std::string_view key) {
  if (key == "mteps") return "MTEPS";
  if (key == "gflops") return "GFLOP/s";
  if (key.ends_with("gbytes_per_s")) return std::string(key.substr(0, key.size() - 12)) + "GB/s";
  std::string text(key);
  if (is_time(text)) text.resize(text.size() - 3);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Counts by a number that grows: a few as bars, more as points.
std::string draw_counts(const json& pairs, const figure_texts& texts) {
  std::vector<chart_point> points;
  for (const json& pair : pairs) points.push_back({pair[0].get<double>(), pair[1].get<double>()});
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  const axis_labels labels{std::string(texts.x), std::string(texts.y)};
  if (points.size() > tuning::most_bars) return point_chart(points, labels, mark::dots);
  std::vector<std::pair<std::string, double>> bars;
  for (const chart_point& p : points) bars.emplace_back(number_text(p.x), p.y);
  return bar_chart(bars, labels);
}

std::string draw_numbers(std::string_view key, const json& numbers, const figure_texts& texts) {
  const axis_labels labels{std::string(texts.x), std::string(texts.y)};
  if (numbers.size() > tuning::most_bars || key == "history") {
    std::vector<chart_point> points;
    for (const json& each : numbers) points.push_back({static_cast<double>(points.size()), each.get<double>()});
    return point_chart(points, labels, mark::line);
  }
  std::vector<std::pair<std::string, double>> bars;
  for (const json& each : numbers) bars.emplace_back(std::to_string(bars.size()), std::max(0.0, each.get<double>()));
  return bar_chart(bars, labels);
}

std::string draw_ranking(const json& pairs, const figure_texts& texts) {
  std::vector<ranked> rows;
  for (const json& pair : pairs) {
    std::string label = id_text(pair[0]);
    const json attributes = pair.size() == 3 ? pair[2] : json::object();
    for (const auto& [name, value] : attributes.items()) {
      if (!value.is_null())
        label += fmt::format(", {}={}", name, value.is_string() ? value.get<std::string>() : dump_json(value));
    }
    rows.push_back({label, number_text(pair[1]), std::max(0.0, pair[1].get<double>())});
  }
  return ranking_of(std::string(texts.title), std::string(texts.x), std::string(texts.y), rows);
}

std::string draw_spy(const json& map, const std::string& title) {
  density_cells cells{map["rows"],      map["cols"],      map["side"],
                      map["cell_rows"], map["cell_cols"], map["counts"].get<std::vector<std::int64_t>>()};
  const std::string note =
      cells.side == 1
          ? "A square is an entry."
          : fmt::format("A square is {0} x {0}; the more entries, the stronger its colour.", with_commas(cells.side));
  return figure_of(title, density_chart(cells), note);
}

// Columns are the scalar keys of the objects, in order of appearance, and the medians of times.
std::string draw_objects(std::string_view key, const json& objects) {
  std::vector<std::string> columns;
  for (const json& object : objects) {
    for (const auto& [name, value] : object.items()) {
      if (value.is_array() || value.is_binary() || (value.is_object() && !value.contains("median"))) continue;
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const json& object : objects) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& name : columns) {
      const json value = object.contains(name) ? object[name] : json("");
      row.push_back(name == "source" ? id_text(value) : text_of(name, value.is_object() ? value["median"] : value));
    }
  }
  for (std::string& name : columns) name = words_of(name);
  return table_of(words_of(key), columns, rows);
}

std::string draw_rows(const json& list, const figure_texts& texts) {
  std::vector<std::vector<std::string>> rows;
  std::size_t width = 0;
  for (const json& each : list) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const json& cell : each) {
      row.push_back(cell.is_number_integer() ? std::to_string(cell.get<std::int64_t>()) : text_of({}, cell));
    }
    width = std::max(width, row.size());
  }
  std::vector<std::string> columns(width);
  const bool of_matrix = texts.x == "row";
  if (width == 3) columns = {of_matrix ? "row" : "from", of_matrix ? "column" : "to", std::string(texts.y)};
  return table_of(std::string(texts.title), columns, rows);
}

std::string draw(const std::string& app, const std::string& key, const json& value);

// The first few searches' levels, after the table of all.
std::string draw_runs(const std::string& app, const json& runs) {
  std::string html = runs.size() > 1 ? draw_objects("runs", runs) : std::string();
  for (std::size_t k = 0; k < std::min(runs.size(), tuning::most_drawn); ++k) {
    for (const auto& [key, value] : runs[k].items()) {
      if (key == "path") continue;
      std::string one = value.is_array() || value.is_binary() ? draw(app, key, value) : std::string();
      const std::size_t heading = one.find("</h2>");
      if (runs.size() > 1 && heading != std::string::npos) {
        one.insert(heading, html_escaped(" from " + id_text(runs[k]["source"])));
      }
      html += one;
    }
  }
  return html;
}

// Empty for what is not drawn.
std::string draw(const std::string& app, const std::string& key, const json& value) {
  if (value.is_binary()) {  // list_of
    const auto& text = value.get_binary();
    return draw(app, key, parse_json({reinterpret_cast<const char*>(text.data()), text.size()}));
  }
  const figure_texts texts = texts_of(app, key);
  const bool of_vertices = texts.x == "vertex";
  if (is_figure(key) && value.is_string() && value.get_ref<const std::string&>().starts_with("data:image/")) {
    return figure_of(std::string(texts.title), fmt::format("<img alt=\"{}\" style=\"max-width:100%\" src=\"{}\"/>",
                                                           texts.title, html_escaped(value.get<std::string>())));
  }
  if (key == "spy" && value.is_object()) return draw_spy(value, "Sparsity pattern");
  if (key == "spy_reordered" && value.is_object()) return draw_spy(value, "Sparsity pattern, reordered");
  if (key == "runs" && is_objects(value)) return draw_runs(app, value);
  if (is_objects(value)) return draw_objects(key, value);
  if (is_pairs(value)) {
    return of_vertices ? draw_ranking(value, texts) : figure_of(std::string(texts.title), draw_counts(value, texts));
  }
  if (is_rows(value)) return draw_rows(value, texts);
  if (key == "memory" && value.is_object()) {
    std::vector<std::pair<std::string, double>> bars;
    for (const auto& [name, bytes] : value.items()) bars.emplace_back(name, bytes.get<double>());
    return figure_of(std::string(texts.title), bar_chart(bars, {std::string(texts.x), std::string(texts.y)}));
  }
  return is_figure(key) && is_numbers(value) ? figure_of(std::string(texts.title), draw_numbers(key, value, texts))
                                             : std::string();
}

std::vector<page_fact> headline_of(const json& keys) {
  std::vector<page_fact> facts;
  const bool single = keys.contains("runs") && keys["runs"].size() == 1 && keys["runs"][0].is_object();
  const std::string app = keys.value("app", "") + ":";
  bool has_edges = false;
  for (const auto& [given, title, one] : cards) {
    const bool is_own = given.starts_with(app);
    const std::string_view key = is_own ? given.substr(app.size()) : given;
    if (keys.contains("vertices") && (key == "rows" || key == "cols" || key == "nnz")) continue;
    if (key == "edges" && std::exchange(has_edges, true)) continue;
    const std::string name(key);
    const json& from = !keys.contains(name) && single ? keys["runs"][0] : keys;
    if (!from.contains(name) || facts.size() == tuning::most_cards) continue;
    const json& value = from[name].is_object() && from[name].contains("median") ? from[name]["median"] : from[name];
    if (value.is_number()) facts.push_back({std::string(value == 1 ? one : title), text_of(key, value)});
  }
  return facts;
}

// Rows without a label continue the one before. Rankings are drawn instead.
std::vector<page_fact> facts_of(const json& keys, const std::vector<std::pair<std::string, std::string>>& rows) {
  std::vector<page_fact> facts;
  bool drawn = false;
  for (const auto& [label, text] : rows) {
    if (label.empty() && text.empty()) continue;
    if (!label.empty()) drawn = label == "highest" || (keys.contains(label) && is_pairs(keys[label]));
    if (drawn) continue;
    if (label.empty() && !facts.empty()) {
      facts.back().text += "\n" + text;
    } else {
      facts.push_back({label, text});
    }
  }
  return facts;
}

// Of the searches from several sources; none where one was not checked.
std::optional<bool> all_valid(const json& keys) {
  if (!keys.contains("runs") || keys["runs"].empty()) return std::nullopt;
  bool valid = true;
  for (const json& run : keys["runs"]) {
    if (!run.is_object() || !run.contains("valid") || !run["valid"].is_boolean()) return std::nullopt;
    valid = valid && run["valid"].get<bool>();
  }
  return valid;
}

}  // namespace

page page_of(const page_content& content) {
  page result;
  result.title = content.title;
  const json& keys = content.keys;
  for (const char* key : {"valid", "verified"}) {
    if (!keys.contains(key)) continue;
    const json& valid = keys[key];
    result.valid = !valid.is_boolean() ? page_verdict::none : valid ? page_verdict::good : page_verdict::wrong;
  }
  if (const std::optional<bool> valid = all_valid(keys); valid.has_value()) {
    result.valid = *valid ? page_verdict::good : page_verdict::wrong;
    result.verdict = *valid ? "valid: every search was checked" : "WRONG";
  }
  for (const auto& [label, text] : content.rows) {
    if (label == "result") result.verdict = text;
    const std::string how = text.starts_with("yes: ") ? text.substr(5) : text;
    if (label == "valid" || label == "verified") result.verdict = label + ": " + how;
  }
  result.warnings = content.warnings;
  result.headline = headline_of(keys);
  const std::string app = keys.value("app", "");
  for (const auto* from : {&keys, &content.figures}) {
    for (const auto& [key, value] : from->items()) {
      if (std::string html = draw(app, key, value); !html.empty()) result.figures.push_back(std::move(html));
    }
  }
  result.facts = facts_of(keys, content.rows);
  result.command = command_line();
  for (const auto& [key, value] : keys.items()) {
    if (!is_objects(value) && !value.is_binary()) result.all.push_back({words_of(key), text_of(key, value)});
  }
  result.origin = origin_text();
  return result;
}

}  // namespace spargo::apps
