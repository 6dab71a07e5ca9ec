// Columns of edge tables by their names.
#include "io/edge_list/columns.hpp"

#include "core/counted.hpp"
#include "core/rethrow.hpp"
#include "io/edge_list/first_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace spargo {

namespace detail::edge_text {

namespace {

using namespace std::string_view_literals;

constexpr std::array sources = {"source"sv,     "from"sv,     "src"sv,    "u"sv,          "start"sv,
                                "origin"sv,     "i"sv,        "tail"sv,   "node1"sv,      "id1"sv,
                                "fromnodeid"sv, "sourceid"sv, "fromid"sv, "sourcenode"sv, "fromnode"sv};
constexpr std::array targets = {"target"sv,     "to"sv,     "dst"sv,  "v"sv,          "end"sv,      "j"sv,
                                "head"sv,       "node2"sv,  "id2"sv,  "tonodeid"sv,   "targetid"sv, "toid"sv,
                                "targetnode"sv, "tonode"sv, "dest"sv, "destination"sv};
constexpr std::array weights = {"weight"sv, "w"sv, "value"sv, "length"sv, "distance"sv};
// Usual names of other columns.
constexpr std::array others = {"id"sv,        "edge"sv, "edgeid"sv, "index"sv, "time"sv,
                               "timestamp"sv, "date"sv, "type"sv,   "label"sv, "name"sv};

// Pairs of words for the two ends that number things of one kind.
constexpr std::array<std::array<std::string_view, 2>, 7> of_one_kind = {{{"parent", "child"},
                                                                         {"sender", "receiver"},
                                                                         {"sender", "recipient"},
                                                                         {"winner", "loser"},
                                                                         {"ego", "alter"},
                                                                         {"left", "right"},
                                                                         {"von", "nach"}}};

// Last words of names that say how things are numbered, not what they are.
constexpr std::array numbering = {"id"sv, "ids"sv, "key"sv, "no"sv, "number"sv, "code"sv, "name"sv, "index"sv};

// Words in lower case, split at joints and capitals, without digits, those of `numbering`, and a final "id".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool lower = false;  // the character before
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool joint = " _-."sv.find(c) != std::string_view::npos;
    if ((joint || (capital && lower)) && !words.back().empty()) words.emplace_back();
    if (!joint && !is_digit(c)) words.back() += capital ? static_cast<char>(c - 'A' + 'a') : c;
    lower = c >= 'a' && c <= 'z';
  }
  const auto is_numbering = [](const std::string& word) {
    return word.empty() || std::find(numbering.begin(), numbering.end(), word) != numbering.end();
  };
  while (words.size() > 1 && is_numbering(words.back())) words.pop_back();
  std::string& last = words.back();
  if (last.size() > 4 && last.ends_with("id")) last.resize(last.size() - 2);
  return words;
}

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), plain_name(name)) != names.end();
}

}  // namespace

bool is_source_name(std::string_view name) { return is_one_of(sources, name); }
bool is_target_name(std::string_view name) { return is_one_of(targets, name); }
bool is_other_name(std::string_view name) { return is_one_of(others, name); }

int weight_rank(std::string_view name) {
  const auto found = std::find(weights.begin(), weights.end(), plain_name(name));
  return found == weights.end() ? -1 : static_cast<int>(found - weights.begin());
}

columns_by_kind find_columns_by_kind(const std::vector<std::string>& names) {
  columns_by_kind found;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto column = static_cast<int>(k);
    if (is_one_of(sources, names[k])) found.sources.push_back(column);
    if (is_one_of(targets, names[k])) found.targets.push_back(column);
    if (is_one_of(weights, names[k])) found.weights.push_back(column);
  }
  return found;
}

std::string ambiguity_of(const columns_by_kind& found) {
  if (found.sources.size() > 1) return "which is the source";
  if (found.targets.size() > 1) return "which is the target";
  if (found.weights.size() > 1) return "which is the weight";
  return {};
}

bool may_be_two_kinds(std::string_view source, std::string_view target) {
  const std::vector<std::string> first = words_of(source);
  const std::vector<std::string> second = words_of(target);
  if (first.back() == second.back()) return false;
  const std::string a = fmt::format("{}", fmt::join(first, ""));
  const std::string b = fmt::format("{}", fmt::join(second, ""));
  constexpr std::size_t shortest = 3;
  if (std::min(a.size(), b.size()) < shortest) return false;
  if (a.find(b) != std::string::npos || b.find(a) != std::string::npos) return false;
  for (const auto& [one, other] : of_one_kind) {
    if ((a == one && b == other) || (a == other && b == one)) return false;
  }
  const auto alike = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  return 2 * static_cast<std::size_t>(alike) < std::max(a.size(), b.size());
}

bool take_columns_by_order(const std::vector<std::string>& names, const columns_by_kind& found, std::size_t first,
                           edge_columns& taken) {
  const auto column = static_cast<int>(first);
  const std::vector<int>& weigh = found.weights;
  if (is_other_name(names[first]) || is_other_name(names[first + 1]) || !found.sources.empty() ||
      !found.targets.empty() || weigh.size() > 1 || (!weigh.empty() && weigh[0] < column + 2)) {
    return false;
  }
  taken = {.source = column, .target = column + 1, .weight = weigh.empty() ? -1 : weigh[0]};
  if (weigh.empty() && names.size() > first + 2 && !is_other_name(names[first + 2])) taken.weight = column + 2;
  taken.may_be_two_kinds = may_be_two_kinds(names[first], names[first + 1]);
  return true;
}

std::string shown(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(quoted(name));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string ambiguous_names(std::string_view what, const std::vector<std::string>& names) {
  return fmt::format("the names of the columns do not say {}: {}", what, shown(names));
}

}  // namespace detail::edge_text

edge_columns find_edge_columns(const std::vector<std::string>& names) try {
  using namespace detail::edge_text;
  if (names.size() < 2) {
    throw error(error_code::parse, fmt::format("a table of {} (expected a source and a target)",
                                               detail::counted(std::ssize(names), "column")));
  }
  const columns_by_kind found = find_columns_by_kind(names);
  if (!found.sources.empty() && !found.targets.empty()) {
    const std::string what = ambiguity_of(found);
    if (!what.empty()) throw error(error_code::parse, ambiguous_names(what, names));
    return {found.sources[0], found.targets[0], found.weights.empty() ? -1 : found.weights[0], true};
  }
  edge_columns taken;
  if (!take_columns_by_order(names, found, 0, taken)) {
    throw error(error_code::parse, ambiguous_names("which are source and target", names));
  }
  return taken;
} catch (...) {
  detail::rethrow("find_edge_columns");
}

}  // namespace spargo
