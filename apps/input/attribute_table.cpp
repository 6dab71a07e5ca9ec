#include "input/attribute_table.hpp"

#include "cli/cli.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace spargo::apps {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

// Reads a file of separated fields record by record.
class record_reader {
 public:
  explicit record_reader(const input_file& file) : lines_(file) {}

  struct field {
    std::string text;
    std::int64_t column = 1;  // in its line, in bytes
    bool quoted = false;
  };

  // The header line: finds the separator.
  std::vector<field> header() {
    do {
      if (!next_line()) throw error(error_code::parse, at(1), "no header line (expected names of columns)");
    } while (line_.find_first_not_of(" \t") == std::string::npos);
    std::int64_t most = 0;
    for (const char candidate : {',', ';', '\t'}) {
      std::int64_t count = 0;
      bool quoted = false;
      for (const char c : line_) {
        quoted = quoted != (c == '"');
        count += !quoted && c == candidate ? 1 : 0;
      }
      if (count > most) separator_ = candidate;
      most = std::max(most, count);
    }
    if (most == 0) {
      throw error(
          error_code::parse, at(1),
          "the header line has one column (expected names of columns, separated by commas, semicolons or tabs)");
    }
    return split();
  }

  // Splits the next nonblank line into fields; false at the end.
  bool next(std::vector<field>& fields) {
    do {
      if (!next_line()) return false;
    } while (line_.find_first_not_of(" \t") == std::string::npos);
    fields = split();
    return true;
  }

  [[nodiscard]] std::int64_t line() const { return first_line_; }
  [[nodiscard]] source_position at(std::int64_t column) const {
    source_position place = lines_.at(column);
    place.line = first_line_;
    return place;
  }

 private:
  bool next_line() {
    const bool found = lines_.next(line_);
    first_line_ = lines_.at(1).line;
    return found;
  }

  std::vector<field> split() {
    std::vector<field> fields;
    std::size_t p = 0;
    while (true) {
      field& next = fields.emplace_back();
      next.column = static_cast<std::int64_t>(p) + 1;
      p = line_.find_first_not_of(' ', p) == std::string::npos ? line_.size() : line_.find_first_not_of(' ', p);
      if (p < line_.size() && line_[p] == '"') {
        p = take_quoted(p + 1, next);
      } else {
        const std::size_t end = std::min(line_.find(separator_, p), line_.size());
        next.text = line_.substr(p, end - p);
        next.text.erase(next.text.find_last_not_of(" \t") + 1);
        p = end;
      }
      if (p == line_.size()) return fields;
      ++p;  // the separator
    }
  }

  // Starts after the opening quote; returns the position of the separator or the end.
  std::size_t take_quoted(std::size_t p, field& into) {
    into.quoted = true;
    while (true) {
      if (p == line_.size()) {  // the text goes on in the next line
        std::string more;
        if (!lines_.next(more)) throw error(error_code::parse, at(into.column), "the quotes do not end (expected \")");
        line_ += '\n' + more;
        if (line_.size() > longest) throw error(error_code::parse, at(1), "quoted text longer than 1 MiB");
      }
      const char c = line_[p++];
      if (c != '"') {
        into.text += c;
      } else if (p < line_.size() && line_[p] == '"') {
        into.text += line_[p++];
      } else {
        break;
      }
    }
    p = std::min(line_.find_first_not_of(' ', p), line_.size());
    if (p < line_.size() && line_[p] != separator_) {
      throw error(error_code::parse, at(static_cast<std::int64_t>(p) + 1),
                  fmt::format("'{}' follows closing quotes (expected a separator)", line_[p]));
    }
    return p;
  }
  static constexpr std::size_t longest = std::size_t{1} << 20;

  input_lines lines_;
  std::string line_;
  std::int64_t first_line_ = 0;
  char separator_ = ',';
};

attribute_kind joined_kind(attribute_kind a, attribute_kind b) {
  if (a == b) return a;
  return a == attribute_kind::text || b == attribute_kind::text ? attribute_kind::text : attribute_kind::real;
}

void find_kind(attribute_column& column) {
  std::optional<attribute_kind> kind;
  for (std::size_t k = 0; k < column.values.size(); ++k) {
    if (!column.present[k]) continue;
    const attribute_kind own = kind_of_text(column.values[k]);
    kind = kind.has_value() ? joined_kind(*kind, own) : own;
  }
  column.kind = kind.value_or(attribute_kind::text);
}

std::string listed(const std::vector<attribute_column>& columns) {
  std::string text;
  for (const attribute_column& column : columns) text += (text.empty() ? "" : ", ") + column.name;
  return text;
}

// The column of this name; -1: none, -2: several.
std::int64_t find_column(const std::vector<attribute_column>& columns, const std::string& name) {
  std::int64_t found = -1;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].name == name) return static_cast<std::int64_t>(k);
    if (lower(columns[k].name) == lower(name)) found = found == -1 ? static_cast<std::int64_t>(k) : -2;
  }
  return found;
}

bool is_document(const input_file& file) {
  try {
    const input_format format = file.format();
    return format == input_format::gml || format == input_format::graphml;
  } catch (const error& e) {
    if (e.code() != error_code::unsupported && e.code() != error_code::parse) throw;  // the reader of tables says why
    return false;
  }
}

attribute_table read_nodes(const context<host>& ctx, const input_file& file) {
  attributed_edge_list<std::int64_t> read = read_attributed_document<std::int64_t>(ctx, file);
  attribute_table table{file.path(), {}, {}, {}, std::move(read.attributes.nodes)};
  const vertex_names names = names_of(read.list);
  for (std::int64_t v = 0; v < names.vertices; ++v) table.keys.push_back(names.label(v));
  return table;
}

// Makes the column the table's key.
void take_key(attribute_table& table, const std::string& wanted) {
  const std::int64_t found = find_column(table.columns, wanted.empty() ? "id" : wanted);
  if (found < 0) {
    throw error(error_code::invalid_argument, fmt::format("--on {}: {} has {} column of this name (expected one of {})",
                                                          wanted.empty() ? "id" : wanted, table.path,
                                                          found == -1 ? "no" : "more than one", listed(table.columns)));
  }
  attribute_column& column = table.columns[static_cast<std::size_t>(found)];
  table.key = column.name;
  table.keys = std::move(column.values);
  table.columns.erase(table.columns.begin() + found);
}

void refuse_repeated_keys(const attribute_table& table) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t row = 0; row < table.keys.size(); ++row) {
    const auto [at, is_new] = seen.try_emplace(table.keys[row], row);
    if (is_new) continue;
    const std::int64_t line = table.lines.empty() ? 0 : table.lines[row];
    const std::string first = table.lines.empty() ? "" : fmt::format(", as line {} has", table.lines[at->second]);
    throw error(error_code::parse, source_position{table.path, line, 0},
                fmt::format("{} has '{}' again{} (expected one line for each)", table.key, table.keys[row], first));
  }
}

}  // namespace

attribute_kind kind_of_text(const std::string& text) {
  std::int64_t whole = 0;
  if (parse_integer(text, whole) && fmt::format("{}", whole) == text) return attribute_kind::integer;
  double real = 0;
  const char* const last = text.data() + text.size();
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  const bool plain =
      text.size() > digits && text[digits] >= '0' && text[digits] <= '9' && text.back() != '.' &&
      !(text[digits] == '0' && text.size() > digits + 1 && text[digits + 1] >= '0' && text[digits + 1] <= '9') &&
      text.find(".e") == std::string::npos && text.find(".E") == std::string::npos;
  const auto [end, status] = std::from_chars(text.data(), last, real);
  if (plain && status == std::errc{} && end == last && std::isfinite(real)) return attribute_kind::real;
  return attribute_kind::text;
}

attribute_table read_attribute_rows(const input_file& file) {
  attribute_table table{file.path(), {}, {}, {}, {}};
  record_reader records(file);
  const std::vector<record_reader::field> header = records.header();
  for (std::size_t k = 0; k < header.size(); ++k) {
    const std::string& name = header[k].text;
    const auto same =
        std::find_if(table.columns.begin(), table.columns.end(), [&](const auto& c) { return c.name == name; });
    if (same != table.columns.end() && !name.empty()) {
      throw error(error_code::parse, records.at(header[k].column),
                  fmt::format("a second column {} (expected different names)", name));
    }
    table.columns.push_back({name.empty() ? fmt::format("column_{}", k + 1) : name, attribute_kind::text, {}, {}});
  }
  for (std::vector<record_reader::field> fields; records.next(fields);) {
    if (fields.size() != header.size()) {
      throw error(
          error_code::parse, records.at(1),
          fmt::format("{} (expected {}, as in the header line)", counted(std::ssize(fields), "field"), header.size()));
    }
    table.lines.push_back(records.line());
    for (std::size_t k = 0; k < fields.size(); ++k) {
      table.columns[k].present.push_back(!fields[k].text.empty());
      table.columns[k].values.push_back(std::move(fields[k].text));
    }
  }
  for (attribute_column& column : table.columns) find_kind(column);
  return table;
}

attribute_table read_attribute_table(const context<host>& ctx, const std::string& path, const std::string& key) {
  attribute_table table;
  const input_file file(path);
  if (is_document(file)) {
    table = read_nodes(ctx, file);
    if (!key.empty()) {
      take_key(table, key);
    } else {
      table.key = "the nodes' names";
    }
  } else {
    table = read_attribute_rows(file);
    take_key(table, key);
  }
  refuse_repeated_keys(table);
  return table;
}

void join_attributes(const std::shared_ptr<const attribute_table>& table, vertex_names& names) {
  if (table == nullptr) return;
  const auto joined = std::make_shared<vertex_attributes>();
  joined->table = table;
  joined->rows.assign(static_cast<std::size_t>(names.vertices), -1);
  for (std::size_t row = 0; row < table->keys.size(); ++row) {
    const std::string& key = table->keys[row];
    const std::optional<std::int64_t> vertex = names.are_integers() ? names.find(key) : names.table.find(key);
    if (!vertex.has_value()) {
      if (joined->unknown++ == 0) joined->first_unknown = table->keys[row];
      continue;
    }
    std::int64_t& kept = joined->rows[static_cast<std::size_t>(*vertex)];
    if (kept >= 0) {
      const std::int64_t line = table->lines.empty() ? 0 : table->lines[row];
      throw error(error_code::parse, source_position{table->path, line, 0},
                  fmt::format("'{}' is vertex {}, as is '{}' (expected one line for each)", table->keys[row],
                              names.label(*vertex), table->keys[static_cast<std::size_t>(kept)]));
    }
    kept = static_cast<std::int64_t>(row);
    ++joined->matched;
  }
  const auto missing = std::find(joined->rows.begin(), joined->rows.end(), -1);
  if (missing != joined->rows.end()) joined->first_missing = missing - joined->rows.begin();
  names.attributes = joined;
}

void add_attribute_columns(joined_columns& to, const vertex_attributes& attributes, const std::string& prefix) {
  for (const attribute_column& column : attributes.table->columns) {
    const auto is_taken = [&](const std::string& name) {
      return std::find(to.names.begin(), to.names.end(), name) != to.names.end();
    };
    const std::string wanted = prefix + column.name;
    std::string name = wanted;
    for (int k = 2; is_taken(name); ++k) name = fmt::format("{}_{}", wanted, k);
    if (name != wanted) to.renamed.push_back(fmt::format("{} is written as {}", wanted, name));
    to.names.push_back(std::move(name));
  }
}

std::vector<attribute_column> columns_by_vertex(const vertex_attributes& attributes) {
  std::vector<attribute_column> columns;
  for (const attribute_column& column : attributes.table->columns) {
    attribute_column& by_vertex = columns.emplace_back();
    by_vertex.name = column.name;
    by_vertex.kind = column.kind;
    for (std::size_t v = 0; v < attributes.rows.size(); ++v) {
      const std::string* const value = attributes.find(static_cast<std::int64_t>(v), column);
      by_vertex.present.push_back(value != nullptr);
      by_vertex.values.push_back(value == nullptr ? std::string() : *value);
    }
  }
  return columns;
}

}  // namespace spargo::apps
