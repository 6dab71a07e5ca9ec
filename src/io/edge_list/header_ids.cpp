// Decides from the first lines whether vertices have integer ids or names. Ids and names of both columns.
#include "io/edge_list/first_lines.hpp"
#include "io/edge_list/header.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace spargo::detail::edge_text {

namespace {

using namespace std::string_view_literals;

// The source and target of a line.
struct line_ids {
  bool has_both = false;
  bool has_name = false;  // one that does not look like a number
  bool in_quotes = false;

  void look_at(std::string_view field, bool quoted) {
    ends_ += field.empty() && !quoted ? 0 : 1;
    has_both = ends_ == 2;
    in_quotes = in_quotes || quoted;
    has_name = has_name || !(is_like_number(field) || has_control_characters(field));
  }

 private:
  // A number that is not an id is more likely a mistake than a name, and so is one before a comment.
  static bool is_like_number(std::string_view field) {
    double number = 0;
    const std::size_t blank = field.find_first_of(" \t");
    if (blank != std::string_view::npos) {
      const std::string_view rest = field.substr(std::min(field.find_first_not_of(" \t", blank), field.size()));
      if (rest.starts_with('#') || rest.starts_with('%') || rest.starts_with("//")) field = field.substr(0, blank);
    }
    return field.empty() || ((is_digit(field[0]) || "+-."sv.find(field[0]) != std::string_view::npos) &&
                             parse_real(field, number) != number_status::malformed);
  }

  static bool has_control_characters(std::string_view field) {
    return std::any_of(field.begin(), field.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
  }

  int ends_ = 0;
};

// Fields between blanks, commas or semicolons.
line_ids plain_ids(const char* p) {
  line_ids found;
  for (int end = 0; end < 2; ++end) {
    p = skip_blanks(p);
    std::string_view token = field_at(p);
    p = skip_separator(p + token.size());
    const bool quoted = token.starts_with('"');
    if (quoted) token.remove_prefix(1);
    if (quoted && token.ends_with('"')) token.remove_suffix(1);
    found.look_at(token, quoted);
  }
  return found;
}

line_ids table_ids(const char* p, const edge_list_header& header) {
  line_ids found;
  try {
    for (int column = 0; column <= std::max(header.source, header.target); ++column) {
      const char* const first = p;
      const std::string_view field = take_field(p, header.separator);
      const bool quoted = field.data() != first && field.data()[-1] == '"';
      if (column == header.source || column == header.target) found.look_at(field, quoted);
      if (!next_field(p, header.separator)) break;
    }
  } catch (const bad_line&) {  // unterminated quotes
    found.has_both = found.has_name = found.in_quotes = true;
  }
  return found;
}

// Calls visit(p) for each line with values.
template <class Visit>
void for_each_line(std::string_view text, const edge_list_header& header, const Visit& visit) {
  bool names = !header.names.empty();
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end; p = std::find(p, end, '\n') + 1) {
    const char* const first = skip_blanks(p);
    if (ends_line(first) || is_comment(first) || std::exchange(names, false)) continue;
    visit(first);
  }
}

// Among tab, semicolon, comma and blanks, the one that most lines have outside quotes; the first on ties.
char separator_between_names(std::string_view text, const edge_list_header& header) {
  char best = ' ';
  std::int64_t most = 0;
  for (const char separator : "\t;, "sv) {
    std::int64_t lines = 0;
    for_each_line(text, header, [&](const char* p) {
      bool quoted = false;
      while (*p != '\n' && (quoted || *p != separator)) quoted ^= *p++ == '"';
      lines += *p != '\n' || quoted ? 1 : 0;
    });
    if (lines > most) {
      most = lines;
      best = separator;
    }
  }
  return best;
}

bool has_third_column(std::string_view text, const edge_list_header& header) {
  std::int64_t columns = 0;
  for_each_line(text, header, [&](const char* p) {
    if (columns > 0) return;
    do {
      (void)take_field(p, header.separator);
      ++columns;
    } while (next_field(p, header.separator));
  });
  return columns > 2;
}

// -1 if there is none.
std::int64_t source_of(const char* p, const edge_list_header& header) {
  try {
    if (is_without_edge(skip_blanks(p))) return -1;
    for (int column = 0; column < header.source; ++column) {
      (void)take_field(p, header.separator);
      if (!next_field(p, header.separator)) return -1;
    }
    return id_of(take_field(p, header.separator), "source");
  } catch (const bad_line&) {
    return -1;
  }
}

}  // namespace

std::int64_t largest_source(const input_file& file, const edge_list_header& header) {
  if (!file.can_be_read_again()) {
    throw error(error_code::unsupported, {file.name()},
                "columns bip: takes two passes over the edge list (expected a file, not a pipe)");
  }
  std::int64_t largest = -1;
  text_source source(context<host>({.threads = 1}), file, {}, {.block_bytes = std::int64_t{1} << 20});
  source.set_comment_marks(comment_marks);
  header_lines lines(header);
  for (std::string_view block = source.next(); !block.empty(); block = source.next()) {
    block = lines.skip(source, block);
    const char* const end = block.data() + block.size();
    for (const char* line = block.data(); line != end; line = std::find(line, end, '\n') + 1) {
      largest = std::max(largest, source_of(line, header));
    }
  }
  if (largest == std::numeric_limits<std::int64_t>::max()) {
    throw error(error_code::unsupported, {file.name()},
                "columns bip: the largest id on the left is 2^63-1 (expected less)");
  }
  return largest;
}

bool share_a_name(std::string_view text, const edge_list_header& header) {
  std::unordered_set<std::string> sources;
  std::unordered_set<std::string> targets;
  const auto ends = static_cast<std::size_t>(std::max(header.source, header.target));
  for_each_row(text.substr(header.names.empty() ? 0 : text.find('\n') + 1), header.separator,
               [&](const std::vector<std::string>& fields) {
                 if (fields.size() <= ends) return true;
                 sources.insert(fields[static_cast<std::size_t>(header.source)]);
                 targets.insert(fields[static_cast<std::size_t>(header.target)]);
                 return true;
               });
  return std::any_of(sources.begin(), sources.end(), [&](const std::string& name) { return targets.contains(name); });
}

void decide_ids(std::string_view text, id_kind wanted, given_columns columns, edge_list_header& header) {
  std::int64_t lines = 0;
  std::int64_t named = 0;
  bool in_quotes = false;
  for_each_line(text, header, [&](const char* p) {
    const line_ids ids = header.separator == 0 ? plain_ids(p) : table_ids(p, header);
    if (!ids.has_both) return;
    ++lines;
    named += ids.has_name ? 1 : 0;
    in_quotes = in_quotes || ids.in_quotes;
  });
  header.ids = wanted;
  if (wanted == id_kind::automatic) {
    header.ids = 2 * named > lines && header.left_ids < 0 ? id_kind::names : id_kind::integers;
  }
  header.quoted_ids = in_quotes && header.ids == id_kind::integers;
  if ((header.ids == id_kind::integers && !header.quoted_ids) || !header.names.empty()) return;
  header.separator = separator_between_names(text, header);
  const bool may_lack_weight = header.quoted_ids && columns == given_columns::none;
  if (may_lack_weight && !has_third_column(text, header)) header.weight = -1;
}

}  // namespace spargo::detail::edge_text
