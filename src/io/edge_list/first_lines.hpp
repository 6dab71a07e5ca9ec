// The fields of an edge list's first lines. Header detection and the checks of tables use them.
#pragma once

#include "io/edge_list/header.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail::edge_text {

// Ignores case and joining characters: from_node_id, FromNodeId and "from node id" are one name.
[[nodiscard]] std::string plain_name(std::string_view name);

[[nodiscard]] bool is_id(std::string_view field);
[[nodiscard]] bool is_number(std::string_view field);
[[nodiscard]] bool are_digits(std::string_view field);  // digits only, at least one

// A number, with a point or a decimal comma.
[[nodiscard]] bool is_value(std::string_view field);

// The fields of a line that ends in '\n'; none if a quote does not end.
[[nodiscard]] std::vector<std::string> fields_of(const char* line, char separator);

// The third field of a line; empty if there is none. Separator 0: blanks, a comma or a semicolon.
[[nodiscard]] std::string_view third_field(const char* line, char separator);

// The separator of a line of names, which may contain commas and blanks if other separators are used.
[[nodiscard]] char separator_of_names(std::string_view line);

// The separator between the first two fields of most lines without names: a comma, a semicolon or ' '. The first line
// alone may have a number with blanks ("1 000,2").
[[nodiscard]] char separator_of_values(std::string_view text);

// Calls visit(fields) for each line that is neither blank nor a comment until it returns false. `text`: whole lines.
template <class Visit>
void for_each_row(std::string_view text, char separator, const Visit& visit) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end; p = std::find(p, end, '\n') + 1) {
    const char* const first = skip_blanks(p);
    if (ends_line(first) || is_comment(first)) continue;
    if (!visit(fields_of(p, separator))) return;
  }
}

// How a column of numbers uses commas: "0,5" has a decimal comma; "1,234" may group thousands, unless the separator is
// a semicolon. `names`: number of rows to skip.
enum class comma_use { none, decimal, unclear };
[[nodiscard]] comma_use commas_of(std::string_view text, char separator, int names, std::size_t column);

// The first of the fields in front of `columns` that is a number with blanks within, "1 000"; empty if there is none.
// Lines without a header would take the blanks for separators. `names`: number of rows to skip.
[[nodiscard]] std::string_view number_with_blanks(std::string_view text, char separator, int names, int columns);
[[nodiscard]] inline std::string split_number(std::string_view number) {
  return fmt::format("blanks within the number {} (expected none)", quoted(number));
}

// Whether commas separate three or four fields in every row, and the last two of four may be one weight: "1,2,0,5".
// Times and dates in the fourth field rule that out.
[[nodiscard]] bool may_split_weights(std::string_view text, char separator);

// Number of vertices if the text is an adjacency matrix, else 0.
//
// A matrix has as many rows as columns. Either rows and columns have the same labels in the same order; or there are
// more than three columns, all of numbers, and the matrix is symmetric, has a zero diagonal, or has values that are not
// ids in the first two columns. `names`: whether the first line may hold labels although rows have none.
enum class table_extent { whole, part };
enum class first_labels { possible, excluded };
[[nodiscard]] std::int64_t vertices_of_matrix(std::string_view text, table_extent extent, first_labels names);

// The same for three columns, which may be edges as well: labels or none above numbers, of which two hold: all are 0 or
// 1, symmetric, 0 on the diagonal.
[[nodiscard]] bool may_be_small_matrix(std::string_view text, table_extent extent, first_labels names);

// Throws `unsupported`, with the name, for a list that is not an edge list. `head`: with comments; `name`: of the file.
//
// LGL and networkx's adjacency lists are recognised by their comments or attributes; other adjacency lists by lines of
// ids that differ in length, if some have more than three, or by colons; arrows, tuples and DIMACS's letters, if every
// line below a possible header has them.
void refuse_other_lists(std::string_view head, table_extent extent, const std::string& name);

}  // namespace spargo::detail::edge_text
