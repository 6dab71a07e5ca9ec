// The first lines of an edge list: comments, column names, separator.
//
// Idea: the first 64 KiB decide, identically for every reader, block size and number of threads. The first line that is
// not a comment is a header if it names a source and a target, or if it has no ids while all lines below have.
#include "io/edge_list/header.hpp"

#include "core/counted.hpp"
#include "core/rethrow.hpp"
#include "io/edge_list/columns.hpp"
#include "io/edge_list/first_lines.hpp"
#include "io/text/input_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <new>
#include <optional>

namespace spargo {

namespace detail::edge_text {

namespace {

class header_finder {
 public:
  header_finder(const input_file& file, const std::string& columns, id_kind ids)
      : file_(file), name_(file.name()), columns_(columns), wanted_ids_(ids) {
    text_ = file.head();
    refuse_foreign_text(text_, name_);
    const bool whole = std::ssize(text_) < head_bytes;
    if (columns_.empty()) refuse_other_lists(text_, whole ? table_extent::whole : table_extent::part, name_);
    const bool cut = !look_at_comments() || text_.find('\n') == std::string::npos;
    if (cut && !whole && file.can_be_read_again()) read_on(file);
    if (!whole && text_.find('\n') == std::string::npos) take_wide_line();
    if (whole || text_.empty()) text_ += '\n';
    text_.resize(text_.rfind('\n') + 1);
    extent_ = whole ? table_extent::whole : table_extent::part;
  }

  edge_list_header run() {
    take_separator();
    if (is_bipartite_) count_left_vertices();
    if (columns_.empty()) refuse_matrix(text_);
    if (skip_blanks(text_.data())[0] != '\n')
      find_columns();
    else if (!columns_.empty())
      refuse_columns("the file has no edge");
    const char separator = header_.separator;
    if (header_.names.empty() && is_plain(header_)) header_.separator = 0;
    decide_ids(text_, wanted_ids_, columns_.empty() ? given_columns::none : given_columns::some, header_);
    if (header_.ids == id_kind::names && header_.left_ids >= 0) {
      throw error(error_code::unsupported, {name_}, "names of vertices in a bipartite graph (expected integer ids)");
    }
    if (columns_apart_) header_.left_ids = largest_source(file_, header_) + 1;
    if (header_.ids == id_kind::names) header_.may_be_two_kinds &= share_a_name(text_, header_);
    if (is_plain(header_)) {
      header_.separator = 0;
      const bool named = !header_.names.empty();
      const std::string_view below = std::string_view(text_).substr(named ? text_.find('\n') + 1 : 0);
      header_.delimiter = named || separator == 0 ? delimiter_of(below, header_) : separator;
      expect_whole_numbers(separator);
    }
    if (header_.names.empty() && columns_.empty()) {
      expect_weight();
      if (header_.ids == id_kind::names) find_possible_names();
    }
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(error_code code, const std::string& message) const {
    throw error(code, {name_, lines_before_ + 1, 1}, message);
  }
  [[noreturn]] void refuse_columns(const std::string& why) const {
    throw error(error_code::invalid_argument, {name_}, fmt::format("columns {}: {}", columns_, why));
  }

  // The first line is longer than the text examined: it is checked as far as it goes, and dropped.
  void take_wide_line() {
    const char separator = separator_of_names(text_);
    const std::size_t last = text_.rfind(separator);
    if (columns_.empty() && last != std::string::npos) {
      text_.resize(last + 1);
      text_.back() = '\n';
      extent_ = table_extent::part;
      refuse_matrix(text_);
    }
    text_.clear();
  }

  void refuse_matrix(std::string_view text) {
    const std::vector<std::string> names = fields_of(text.data(), separator_of_names(text.substr(0, text.find('\n'))));
    const columns_by_kind found = find_columns_by_kind(names);
    const bool known = !found.sources.empty() && !found.targets.empty();
    const first_labels labels = known ? first_labels::excluded : first_labels::possible;
    if (may_be_small_matrix(text, extent_, labels)) header_.possible_matrix = 3;
    const std::int64_t vertices = vertices_of_matrix(text, extent_, labels);
    if (vertices == 0) return;
    fail(error_code::unsupported,
         fmt::format("an adjacency matrix of {} vertices (expected a line for each edge; columns=1,2 or 1,2,3 takes "
                     "lines as edges)",
                     vertices));
  }

  // Excel's first line `sep=;`, in quotes or not.
  void take_separator() {
    std::string_view line = std::string_view(text_).substr(0, text_.find('\n'));
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > 1 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
    constexpr std::string_view key = "sep=";
    if (line.size() != key.size() + 1 || plain_name(line.substr(0, key.size())) != key) return;
    header_.separator = line.back();
    header_.separator_said = true;
    text_.erase(0, text_.find('\n') + 1);
    ++lines_before_;
    (void)look_at_comments();
    if (text_.empty()) text_ = '\n';
  }

  // Removes comments and blank lines before the first edge; false if nothing else is left.
  bool look_at_comments() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t first = text_.find_first_not_of(" \t\r", at);
      const std::size_t newline = std::min(text_.find('\n', at), text_.size());
      if (first < newline) {
        if (comment_marks.find(text_[first]) == std::string_view::npos) break;
        const std::string_view comment = std::string_view(text_).substr(first, newline - first);
        if (const std::size_t end = find_return(comment); end != std::string_view::npos) {
          throw error(error_code::parse, {name_, lines_before_ + 1, static_cast<std::int64_t>(first - at + end) + 1},
                      std::string(return_alone));
        }
        look_at_comment(comment);
      }
      if (newline == text_.size()) return false;
      at = newline + 1;
      ++lines_before_;
    }
    text_.erase(0, at);
    return !text_.empty();
  }

  void look_at_comment(std::string_view comment) {
    while (comment.ends_with('\r')) comment.remove_suffix(1);
    const std::vector<std::string> words = fields_of((std::string(comment.substr(1)) + '\n').c_str(), ' ');
    const bool first = std::exchange(is_first_comment_, false);
    if (words.empty() || header_.direction != edge_direction::not_said) {
      if (is_bipartite_ && sizes_.empty() && words.size() >= 3 && std::all_of(words.begin(), words.end(), is_id)) {
        sizes_ = words;
      }
      return;
    }
    const auto says = [&](edge_direction direction) {
      header_.direction = direction;
      header_.said_by = fmt::format("the comment '{}'", quoted_words(comment));
    };
    if (comment[0] == '%' && first && words.size() <= 2) {  // KONECT
      is_bipartite_ = words[0] == "bip";
      if (words[0] == "sym" || is_bipartite_) says(edge_direction::undirected);
      if (words[0] == "asym") says(edge_direction::directed);
    }
    if (comment[0] == '#' && words.size() >= 2 && plain_name(words[1]).starts_with("graph")) {  // SNAP
      if (plain_name(words[0]) == "undirected") says(edge_direction::undirected);
      if (plain_name(words[0]) == "directed") says(edge_direction::directed);
    }
  }

  static std::string quoted_words(std::string_view comment) {
    constexpr std::size_t shown = 40;
    const std::string text = quoted(comment.substr(0, shown));
    return text.substr(1, text.size() - 2);
  }

  // Skips comments that fill the head.
  void read_on(const input_file& file) {
    text_source source(context<host>({.threads = 1}), file, {}, {.block_bytes = head_bytes});
    source.set_comment_marks(comment_marks);
    text_.clear();
    lines_before_ = 0;
    is_first_comment_ = true;
    header_ = {};
    for (std::string_view block = source.next(); !block.empty(); block = source.next()) {
      const bool found = !text_.empty();
      text_ += block;
      if (found) break;
      if (!look_at_comments()) text_.clear();
    }
  }

  void count_left_vertices() {
    if (sizes_.size() < 2 || parse_integer(sizes_[1], header_.left_ids) != number_status::ok) {
      throw error(error_code::parse, {name_, 1, 1},
                  "a bipartite graph, whose left and right vertices have the same ids (expected a second line "
                  "`% EDGES LEFT RIGHT` with the numbers of each)");
    }
  }

  // --- Columns

  void find_columns() {
    const std::string_view first = std::string_view(text_).substr(0, text_.find('\n') + 1);
    if (!header_.separator_said) header_.separator = separator_of_names(first);
    const std::vector<std::string> names = fields_of(first.data(), header_.separator);
    if (!columns_.empty()) {
      take_columns(names);
    } else if (are_names(names)) {
      header_.names = names;
      if (header_.separator != ' ') header_.columns = static_cast<int>(names.size()) + (header_.row_names ? 1 : 0);
      if (header_.weight < 0) find_unused_numbers();
    } else if (may_split_weights(text_, header_.separator)) {
      fail(error_code::parse,
           "four fields, of which the last two may be one weight with a decimal comma (expected columns=1,2,3 if the "
           "third is the weight, columns=1,2 for no weights, or ; between fields)");
    }
    if (header_.names.empty() && !header_.separator_said) header_.separator = separator_of_values(text_);
    find_type();
    find_decimal_commas();
  }

  // Calls visit(fields) for each line from `from` on until it returns false. True if there are any and all return true.
  template <class Visit>
  bool for_all_values(int from, const Visit& visit) const {
    int line = 0;
    bool all = true;
    for_each_row(text_, header_.separator, [&](const std::vector<std::string>& fields) {
      return line++ < from || (all = !fields.empty() && visit(fields));
    });
    return all && line > from;
  }

  // Whether lines below the first one have ids in both columns, and none anything else. A missing one is for the reader
  // to refuse.
  [[nodiscard]] bool are_ids_below(std::size_t source, std::size_t target) const {
    bool any = false;
    const bool all = for_all_values(1, [&](const std::vector<std::string>& fields) {
      if (fields.size() <= std::max(source, target)) return false;
      any = any || (is_id(fields[source]) && is_id(fields[target]));
      return (fields[source].empty() || is_id(fields[source])) && (fields[target].empty() || is_id(fields[target]));
    });
    return all && any;
  }

  // Whether the first line names columns; determines them.
  bool are_names(const std::vector<std::string>& fields) {
    if (fields.size() < 2) return false;
    const columns_by_kind found = find_columns_by_kind(fields);
    expect_no_decimal_commas(fields);
    count_row_names(fields);
    const int shift = header_.row_names ? 1 : 0;
    if (!found.sources.empty() && !found.targets.empty()) {
      if (const std::string what = ambiguity_of(found); !what.empty()) fail_ambiguous(what, fields);
      set(found.sources[0] + shift, found.targets[0] + shift, found.weights.empty() ? -1 : found.weights[0] + shift);
      return true;
    }
    const auto first = static_cast<std::size_t>(fields[0].empty() || plain_name(fields[0]) == "unnamed:0" ? 1 : 0);
    const std::size_t place = first + static_cast<std::size_t>(shift);
    const bool named = fields.size() > first + 1 && !fields[first].empty() && !fields[first + 1].empty() &&
                       !is_number(fields[first]) && !is_number(fields[first + 1]);
    const auto is_header = [&] {
      if (are_numbers_below(fields, first + 2, shift)) return true;
      return header_.separator != ' ' && are_ids_below(place, place + 1);
    };
    if (!named || !is_header()) {
      header_.row_names = false;
      return false;
    }
    edge_columns taken;
    if (!take_columns_by_order(fields, found, first, taken)) fail_ambiguous("which are source and target", fields);
    set(taken.source + shift, taken.target + shift, taken.weight < 0 ? -1 : taken.weight + shift);
    header_.may_be_two_kinds = taken.may_be_two_kinds;
    return true;
  }

  // Whether a column has a name above numbers only. `shift`: 1 if rows have names in front.
  [[nodiscard]] bool are_numbers_below(const std::vector<std::string>& names, std::size_t column, int shift) const {
    if (column >= names.size() || names[column].empty() || is_value(names[column])) return false;
    return for_all_values(1, [&](const std::vector<std::string>& fields) {
      const std::size_t place = column + static_cast<std::size_t>(shift);
      return fields.size() > place && is_value(fields[place]);
    });
  }

  void set(int source, int target, int weight) {
    header_.source = source;
    header_.target = target;
    header_.weight = weight;
  }

  // With comma separators, "1,2,0,5" below three names has either a row name in front or a decimal comma at the end.
  void expect_no_decimal_commas(const std::vector<std::string>& names) const {
    bool any = false;
    const bool longer = for_all_values(1, [&](const std::vector<std::string>& fields) {
      any = true;
      const std::size_t last = fields.size() - 1;
      return fields.size() == names.size() + 1 && last >= 2 && are_digits(fields[last]) && are_digits(fields[last - 1]);
    });
    if (header_.separator == ',' && any && longer && !is_quoted_below()) {
      fail_ambiguous("whether the lines, of one field more, have row names or a decimal comma", names);
    }
  }

  // R writes row names in front, without a name in the header.
  void count_row_names(const std::vector<std::string>& names) {
    std::int64_t row = 0;
    bool counted = true;
    header_.row_names = for_all_values(1, [&](const std::vector<std::string>& fields) {
      counted = counted && fields[0] == std::to_string(++row);
      return fields.size() == names.size() + 1 && !fields.back().empty();
    });
    header_.row_names = header_.row_names && (counted || is_quoted_below());
  }

  // Whether the second line begins with a quote.
  [[nodiscard]] bool is_quoted_below() const { return skip_blanks(text_.c_str() + text_.find('\n') + 1)[0] == '"'; }

  [[noreturn]] void fail_ambiguous(std::string_view what, const std::vector<std::string>& fields) const {
    fail(error_code::parse, ambiguous_names(what, fields) + " (expected columns=SOURCE,TARGET[,WEIGHT])");
  }

  // --- Columns given by the user

  void take_columns(const std::vector<std::string>& first) {
    std::vector<std::string> wanted(1);
    for (const char c : columns_) {
      if (c == ',') {
        wanted.emplace_back();
      } else {
        wanted.back() += c;
      }
    }
    if (wanted.size() < 2 || wanted.size() > 3) refuse_columns("expected SOURCE,TARGET or SOURCE,TARGET,WEIGHT");
    if (wanted[0].starts_with(two_kinds) && !find_column(first, wanted[0]).has_value()) {
      wanted[0].erase(0, two_kinds.size());
      columns_apart_ = true;
      header_.left_ids = 0;  // until all ids are known
      if (header_.direction == edge_direction::not_said) {
        header_.direction = edge_direction::undirected;
        header_.said_by = "bip: before the columns";
      }
    }
    std::array<int, 3> places{-1, -1, -1};
    bool by_name = false;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const std::optional<int> named = find_column(first, wanted[k]);
      std::int64_t number = 0;
      const bool numbered = parse_integer(wanted[k], number) == number_status::ok;
      if (!named.has_value() && (!numbered || number < 1 || number > most_columns)) {
        refuse_columns(fmt::format("no column is called {} (the first line has {})", quoted(wanted[k]), shown(first)));
      }
      by_name = by_name || named.has_value();
      places[k] = named.value_or(static_cast<int>(number) - 1);
    }
    count_row_names(first);
    const auto source = static_cast<std::size_t>(places[0]);
    const auto target = static_cast<std::size_t>(places[1]);
    const auto is_name = [&](std::size_t k) { return k < first.size() && !is_number(first[k]); };
    const bool has_names =
        by_name ||
        (is_name(source) && is_name(target) &&
         (are_ids_below(source, target) || (is_source_name(first[source]) && is_target_name(first[target]))));
    if (!has_names) header_.row_names = false;
    if (has_names) header_.names = first;
    const std::size_t count = first.size() + (header_.row_names ? 1 : 0);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (places[k] >= static_cast<int>(count))
        refuse_columns("the first line has " + counted(static_cast<std::int64_t>(count), "column"));
      if (header_.row_names && find_column(first, wanted[k]).has_value()) ++places[k];
    }
    if (places[0] == places[1] || places[2] == places[0] || places[2] == places[1]) {
      refuse_columns("a column twice (expected different ones)");
    }
    set(places[0], places[1], places[2]);
  }

  static constexpr std::int64_t most_columns = 1 << 20;
  static constexpr std::string_view two_kinds = "bip:";  // equal ids of the two columns are different vertices

  std::optional<int> find_column(const std::vector<std::string>& names, const std::string& wanted) const {
    std::vector<int> same;
    std::vector<int> alike;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (is_number(names[k])) continue;
      if (names[k] == wanted) same.push_back(static_cast<int>(k));
      if (plain_name(names[k]) == plain_name(wanted)) alike.push_back(static_cast<int>(k));
    }
    const std::vector<int>& found = same.empty() ? alike : same;
    if (found.size() > 1) refuse_columns(fmt::format("several columns are called {}", quoted(wanted)));
    return found.empty() ? std::nullopt : std::optional<int>(found[0]);
  }

  // --- Contents of columns

  void find_type() {
    const auto type = std::find_if(header_.names.begin(), header_.names.end(),
                                   [](const std::string& name) { return plain_name(name) == "type"; });
    if (type == header_.names.end()) return;
    const auto column = static_cast<std::size_t>(type - header_.names.begin()) + (header_.row_names ? 1 : 0);
    (void)for_all_values(1, [&](const std::vector<std::string>& fields) {
      const std::string said = column < fields.size() ? plain_name(fields[column]) : std::string();
      if (said != "directed" && said != "undirected") return false;
      header_.type = static_cast<int>(column);
      header_.direction = said == "directed" ? edge_direction::directed : edge_direction::undirected;
      header_.said_by = fmt::format("the column {}", quoted(*type));
      return false;
    });
  }

  void find_decimal_commas() {
    if (header_.weight < 0) return;
    const int names = header_.names.empty() ? 0 : 1;
    const comma_use use = commas_of(text_, header_.separator, names, static_cast<std::size_t>(header_.weight));
    header_.decimal_commas = use == comma_use::decimal;
    if (use == comma_use::unclear) {
      fail(error_code::parse,
           "the commas within the weights may be decimal commas or group thousands (expected points and no groups)");
    }
  }

  // Of lines that are read as without a header, where blanks separate too.
  void expect_whole_numbers(char separator) const {
    if (separator == 0 || separator == ' ') return;
    const std::string_view number = number_with_blanks(text_, separator, header_.names.empty() ? 0 : 1, 3);
    if (number.empty()) return;
    const char* line = number.data();
    while (line != text_.data() && line[-1] != '\n') --line;
    throw error(error_code::parse,
                {name_, lines_before_ + 1 + std::count(text_.data(), line, '\n'), number.data() - line + 1},
                split_number(number));
  }

  // Columns of numbers that might be weights, if no column is named as one.
  void find_unused_numbers() {
    const std::size_t shift = header_.row_names ? 1 : 0;
    for (std::size_t k = 0; k < header_.names.size(); ++k) {
      const auto column = static_cast<int>(k + shift);
      if (column == header_.source || column == header_.target || header_.names[k].empty() ||
          is_other_name(header_.names[k])) {
        continue;
      }
      bool any = false;
      const bool numbers = for_all_values(1, [&](const std::vector<std::string>& fields) {
        const bool given = fields.size() > k + shift && !fields[k + shift].empty();
        any = any || given;
        return !given || is_value(fields[k + shift]);
      });
      if (any && numbers) header_.unused_numbers.push_back(column);
    }
  }

  // Of the first line, which may be a header with unknown names.
  void expect_weight() const {
    const std::string_view weight = third_field(text_.c_str(), header_.separator);
    const std::vector<std::string> fields =
        fields_of(text_.c_str(), separator_of_names(text_.substr(0, text_.find('\n'))));
    const bool has_ids = header_.ids == id_kind::names || (fields.size() > 2 && is_id(fields[0]) && is_id(fields[1]));
    if (header_.weight < 0 || !has_ids || weight.empty() || weight[0] == '{' || is_value(weight)) return;
    throw error(error_code::parse, {name_, lines_before_ + 1, weight.data() - text_.c_str() + 1},
                fmt::format("{} is not a weight (expected a real number, or columns=SOURCE,TARGET[,WEIGHT] by name if "
                            "this line is a header, else by number)",
                            quoted(weight)));
  }

  // The ends of the first line, none of them a number, if no line below has either.
  void find_possible_names() {
    std::vector<std::string> first;
    bool apart = true;
    (void)for_all_values(0, [&](const std::vector<std::string>& fields) {
      if (fields.size() < 2) return true;
      if (first.empty()) {
        first = {fields[0], fields[1]};
        apart = false;  // until a line follows
        return true;
      }
      apart = fields[0] != first[0] && fields[0] != first[1] && fields[1] != first[0] && fields[1] != first[1];
      return apart;
    });
    if (apart && !first.empty() && !is_value(first[0]) && !is_value(first[1]))
      header_.possible_names = std::move(first);
  }

  const input_file& file_;
  std::string name_;
  std::string columns_;
  id_kind wanted_ids_;
  std::string text_;  // whole lines, from the first one that is not a comment
  std::int64_t lines_before_ = 0;
  bool is_first_comment_ = true;
  bool is_bipartite_ = false;  // KONECT's
  bool columns_apart_ = false;
  table_extent extent_ = table_extent::whole;
  std::vector<std::string> sizes_;
  edge_list_header header_;
};

}  // namespace

}  // namespace detail::edge_text

edge_list_header read_edge_list_header(const input_file& file, const std::string& columns, id_kind ids) {
  try {
    return detail::edge_text::header_finder(file, columns, ids).run();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
  }
}

}  // namespace spargo
