#include "input/weight_position.hpp"

#include <spargo/core/error.hpp>

#include <zlib.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

namespace {

// Calls visit(number, text) for each line, from 1, without its end, until it returns false.
void for_each_line(const std::string& path, const std::function<bool(std::int64_t, std::string_view)>& visit) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), &::gzclose);
  if (file == nullptr) return;
  std::vector<char> buffer(std::size_t{1} << 16);
  std::string line;
  std::int64_t number = 1;
  for (int got = 0; (got = ::gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;) {
    std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      line += rest.substr(0, end);
      if (!visit(number++, line)) return;
      line.clear();
    }
    line += rest;
  }
  if (!line.empty()) (void)visit(number, line);
}

// Field separators. Commas do not separate in Matrix Market files, but do no harm here.
constexpr std::string_view separators = " \t\r,;";

// The same for a single separator character; fields may be empty or quoted.
std::int64_t column_of(std::string_view line, int field, char separator) {
  std::size_t at = 0;
  bool in_quotes = false;
  for (; field > 0 && at < line.size(); ++at) {
    in_quotes ^= line[at] == '"';
    field -= !in_quotes && line[at] == separator ? 1 : 0;
  }
  return field > 0 ? 0 : static_cast<std::int64_t>(std::min(line.find_first_not_of(' ', at), line.size())) + 1;
}

// Column, from 1, of a line's field; 0: no such field.
std::int64_t column_of(std::string_view line, int field) {
  std::size_t at = line.find_first_not_of(separators);
  for (; field > 0 && at != std::string_view::npos; --field) {
    at = line.find_first_not_of(separators, line.find_first_of(separators, at));
  }
  return at == std::string_view::npos ? 0 : static_cast<std::int64_t>(at) + 1;
}

// The field with the value on lines that hold entries; -1: entries are not one per line.
int value_field(const input_description& input) {
  if (input.kind == input_kind::dimacs) return 3;  // a SOURCE TARGET WEIGHT
  if (input.kind == input_kind::edge_list) return input.columns.weight;
  if (input.kind != input_kind::matrix_market) return -1;
  return input.format == "Matrix Market array" ? 0 : 2;
}

bool is_entry(const input_description& input, std::string_view line) {
  const std::size_t first = line.find_first_not_of(separators);
  if (first == std::string_view::npos) return false;
  const char c = line[first];
  if (input.kind == input_kind::dimacs) return c == 'a' || c == 'e';
  return c != '%' && (c != '#' || input.kind != input_kind::edge_list);
}

// Lines before the first entry that look like entries: the size of a matrix, the column names of a list.
std::int64_t lines_before(const input_description& input, std::int64_t entries) {
  if (input.kind == input_kind::matrix_market) return 1;
  if (input.kind == input_kind::dimacs) return 0;
  std::int64_t lines = 0;
  for_each_line(input.path, [&](std::int64_t, std::string_view line) {
    lines += is_entry(input, line) ? 1 : 0;
    return true;
  });
  return lines - entries;
}

}  // namespace

source_position weight_position(const input_description& input, std::int64_t k, std::int64_t entries) {
  source_position position{input.file.has_value() ? input.file->name() : input.path, 0, 0};
  const int field = value_field(input);
  if (field < 0 || !input.file.has_value() || !input.can_be_read_again()) return position;
  std::int64_t left = k + lines_before(input, entries);
  for_each_line(input.path, [&](std::int64_t number, std::string_view line) {
    if (!is_entry(input, line) || left-- > 0) return true;
    position.line = number;
    const char separator = input.columns.separator;
    const bool strict = separator != 0 && separator != ' ';
    position.column = strict ? column_of(line, field, separator) : column_of(line, field);
    return false;
  });
  return position;
}

}  // namespace spargo::apps
