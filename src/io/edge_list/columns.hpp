// Usual names of an edge table's columns, for header lines and data frames.
#pragma once

#include <spargo/io/edge_table.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail::edge_text {

// The columns whose names are one of a kind's.
struct columns_by_kind {
  std::vector<int> sources;
  std::vector<int> targets;
  std::vector<int> weights;
};
[[nodiscard]] columns_by_kind find_columns_by_kind(const std::vector<std::string>& names);

[[nodiscard]] bool is_source_name(std::string_view name);
[[nodiscard]] bool is_target_name(std::string_view name);
// A usual name of a column that is neither source, target nor weight, such as an edge's id or time.
[[nodiscard]] bool is_other_name(std::string_view name);

// The position of a weight's name among the usual ones, weight first; -1: none of them.
[[nodiscard]] int weight_rank(std::string_view name);

// What the names do not say ("which is the source"); empty if they are unambiguous. `found` must name source and
// target.
[[nodiscard]] std::string ambiguity_of(const columns_by_kind& found);

// Whether the names of two columns are of different things (user_id, item_id; not person1, person2, citing, cited or
// home_team, away_team): neither word is in the other, nor do they begin alike.
[[nodiscard]] bool may_be_two_kinds(std::string_view source, std::string_view target);

// The columns where source and target are not both named: `first`, the next, and the weight, the named one or the next
// but one. Returns false if the names contradict that order.
[[nodiscard]] bool take_columns_by_order(const std::vector<std::string>& names, const columns_by_kind& found,
                                         std::size_t first, edge_columns& taken);

// The sentence for ambiguous names, up to what is expected.
[[nodiscard]] std::string ambiguous_names(std::string_view what, const std::vector<std::string>& names);

[[nodiscard]] std::string shown(const std::vector<std::string>& names);

}  // namespace spargo::detail::edge_text
