#include "io/edge_list/first_lines.hpp"

#include <algorithm>

namespace spargo::detail::edge_text {

namespace {

// "0,5": a real number with a comma as decimal point.
bool has_decimal_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  if (comma == std::string_view::npos) return false;
  std::string pointed(field);
  pointed[comma] = '.';
  return is_number(pointed);
}

// "1,234"
bool may_group_thousands(std::string_view field) {
  const std::size_t comma = field.find(',');
  return comma > 0 && comma <= 3 && field[0] != '0' && are_digits(field.substr(0, comma)) &&
         field.size() == comma + 4 && are_digits(field.substr(comma + 1));
}

// Seconds or milliseconds since 1970, or a date as YYYYMMDD.
bool is_time(std::string_view digits) {
  return ((digits.size() == 10 || digits.size() == 13) && digits[0] == '1') ||
         (digits.size() == 8 && (digits.starts_with("19") || digits.starts_with("20")));
}

}  // namespace

std::string plain_name(std::string_view name) {
  constexpr std::string_view joints = " _-.";
  std::string plain;
  for (const char c : name) {
    if (joints.find(c) == std::string_view::npos) plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

bool is_id(std::string_view field) {
  std::int64_t id = 0;
  return !field.empty() && is_digit(field[0]) && parse_integer(field, id) == number_status::ok;
}

bool is_number(std::string_view field) {
  double number = 0;
  return parse_real(field, number) != number_status::malformed;
}

bool are_digits(std::string_view field) { return !field.empty() && std::all_of(field.begin(), field.end(), is_digit); }

bool is_value(std::string_view field) { return is_number(field) || has_decimal_comma(field); }

std::vector<std::string> fields_of(const char* line, char separator) {
  std::vector<std::string> fields;
  try {
    do {
      fields.emplace_back(take_field(line, separator));
      std::string& field = fields.back();
      if (field.size() > 1 && field.front() == '\'' && field.back() == '\'') field = field.substr(1, field.size() - 2);
    } while (next_field(line, separator));
  } catch (const bad_line&) {
    return {};
  }
  return fields;
}

std::string_view third_field(const char* line, char separator) {
  constexpr int ends = 2;
  if (separator == 0) {
    line = skip_blanks(line);
    for (int k = 0; k < ends; ++k) line = skip_separator(line + field_at(line).size());
    return field_at(line);
  }
  try {
    for (int k = 0; k < ends; ++k) {
      (void)take_field(line, separator);
      if (!next_field(line, separator)) return {};
    }
    return take_field(line, separator);
  } catch (const bad_line&) {
    return {};
  }
}

char separator_of_names(std::string_view line) {
  bool in_quotes = false;
  std::string outside;
  for (const char c : line) {
    in_quotes ^= c == '"';
    if (!in_quotes) outside += c;
  }
  for (const char separator : std::string_view("\t;,")) {
    if (outside.find(separator) != std::string::npos) return separator;
  }
  return ' ';
}

char separator_of_values(std::string_view text) {
  std::string found;  // of each line
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* p = skip_blanks(line);
    if (ends_line(p) || is_comment(p)) continue;
    p = skip_blanks(p + field_at(p).size());
    found += *p == ',' || *p == ';' ? *p : ' ';
  }
  if (found.empty()) return ' ';
  char most = found.front();
  for (const char c : std::string_view(",; ")) {
    if (std::count(found.begin(), found.end(), c) > std::count(found.begin(), found.end(), most)) most = c;
  }
  return most;
}

comma_use commas_of(std::string_view text, char separator, int names, std::size_t column) {
  comma_use use = comma_use::none;
  if (text.find(',') == std::string_view::npos) return use;
  for_each_row(text, separator, [&](const std::vector<std::string>& fields) {
    if (names-- > 0 || fields.size() <= column || !has_decimal_comma(fields[column])) return true;
    const bool unclear = separator != ';' && may_group_thousands(fields[column]);
    use = unclear ? comma_use::unclear : comma_use::decimal;
    return unclear;
  });
  return use;
}

std::string_view number_with_blanks(std::string_view text, char separator, int names, int columns) {
  const auto is_split = [](std::string_view field) {
    const std::size_t blank = field.find_first_of(" \t");
    const std::size_t next = blank == std::string_view::npos ? blank : field.find_first_not_of(" \t", blank);
    return next != std::string_view::npos && is_number(field.substr(0, blank)) && is_digit(field[next]);
  };
  const char* const end = text.data() + text.size();
  for (const char* line = text.data(); line != end; line = std::find(line, end, '\n') + 1) {
    const char* p = skip_blanks(line);
    if (ends_line(p) || is_comment(p) || names-- > 0) continue;
    p = line;
    try {
      for (int column = 0; column < columns; ++column) {
        const std::string_view field = take_field(p, separator);
        if (is_split(field)) return field;
        if (field.empty()) break;  // which the reader reports
        if (!next_field(p, separator)) break;
      }
    } catch (const bad_line&) {
      continue;
    }
  }
  return {};
}

bool may_split_weights(std::string_view text, char separator) {
  bool split = false;
  bool all = separator == ',';
  if (!all) return false;
  for_each_row(text, separator, [&](const std::vector<std::string>& fields) {
    if (fields.size() == 3) return true;
    all = fields.size() == 4 && are_digits(fields[3]) &&
          are_digits(std::string_view(fields[2]).substr(fields[2].starts_with('-') ? 1 : 0));
    split = split || (all && !is_time(fields[3]));
    return all;
  });
  return all && split;
}

}  // namespace spargo::detail::edge_text
