// Recognises adjacency matrices as pandas, networkx, igraph, R and numpy write them. Read as an edge list, a matrix
// gives a wrong graph: an edge per row, from its label or first value to the next value.
//
// Invariant: a valid edge list with at most three columns is never taken for a matrix.
#include "io/edge_list/first_lines.hpp"

#include <algorithm>

namespace spargo::detail::edge_text {

namespace {

constexpr std::size_t most_columns_of_edges = 3;  // source, target, weight
// Edge lists do not have more columns of numbers. From here on not all rows of a matrix need to be in the text.
constexpr std::size_t sure_columns = 16;

using row = std::vector<std::string>;

// Pandas writes missing values as empty fields.
bool is_entry(const std::string& field) { return field.empty() || is_value(field); }

double value_of(std::string field) {
  double value = 0;
  std::replace(field.begin(), field.end(), ',', '.');
  return parse_real(field, value) == number_status::ok ? value : 0;
}

// R names the column of row 1 V1 or X1.
bool are_same(const std::string& column, const std::string& label) {
  return column == label || (column.size() == label.size() + 1 && (column[0] == 'V' || column[0] == 'X') &&
                             are_digits(label) && column.ends_with(label));
}

class square_table {
 public:
  square_table(std::string_view text, table_extent extent) {
    const char separator = separator_of_names(text.substr(0, text.find('\n')));
    bool more = false;
    for_each_row(text, separator, [&](row fields) {
      more = !rows_.empty() && rows_.size() > rows_[0].size() + 1;
      if (!more) rows_.push_back(std::move(fields));
      return !more;
    });
    is_whole_ = extent == table_extent::whole && !more;
    is_square_ = !more && !rows_.empty() && std::all_of(rows_.begin() + 1, rows_.end(), [&](const row& each) {
      return each.size() == rows_.back().size();
    });
  }

  [[nodiscard]] std::size_t find(first_labels names) const {
    if (!is_square_) return 0;
    if (rows_.size() > 1 && has_labels()) return rows_.back().size() - 1;
    const std::size_t columns = rows_.back().size();
    if (rows_[0].size() != columns || columns <= most_columns_of_edges) return 0;
    const bool named = std::none_of(rows_[0].begin(), rows_[0].end(), is_entry);
    if (named && names == first_labels::excluded) return 0;
    const std::size_t first = named || (counts_columns() && rows_.size() != columns) ? 1 : 0;
    return fits(rows_.size() - first, columns) && is_matrix(first, 0) ? columns : 0;
  }

  [[nodiscard]] bool may_be_small(first_labels names) const {
    constexpr std::size_t size = most_columns_of_edges;
    if (!is_square_ || !is_whole_ || rows_.size() < size || rows_[0].size() != size || rows_.back().size() != size) {
      return false;
    }
    const bool named = std::none_of(rows_[0].begin(), rows_[0].end(), is_entry);
    if ((named && names == first_labels::excluded) || rows_.size() != size + (named ? 1 : 0)) return false;
    const properties of = properties_of(rows_.size() - size, 0);
    return of.numbers && of.ones + of.symmetric + of.diagonal >= 2;
  }

 private:
  // Whether the number of rows fits: all of them if the text is whole, else some.
  [[nodiscard]] bool fits(std::size_t rows, std::size_t columns) const {
    return is_whole_ ? rows == columns : rows <= columns && columns > sure_columns;
  }

  // 0, 1, 2, ... or 1, 2, 3, ...
  [[nodiscard]] bool counts_columns() const {
    for (std::size_t k = 0; k < rows_[0].size(); ++k) {
      if (rows_[0][k] != std::to_string(k + (rows_[0][0] == "1" ? 1 : 0))) return false;
    }
    return true;
  }

  // Whether rows begin with the labels of the columns. The first row may have a field above the labels.
  [[nodiscard]] bool has_labels() const {
    const std::size_t columns = rows_.back().size() - 1;
    const std::size_t corner = rows_[0].size() - std::min(columns, rows_[0].size());
    if (columns < 2 || rows_[0].size() != columns + corner || corner > 1) return false;
    bool same = true;
    bool numbers = true;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      if (i > columns || !are_same(rows_[0][i - 1 + corner], rows_[i][0])) return false;
      same = same && rows_[0][i - 1 + corner] == rows_[i][0];
      numbers = numbers && is_number(rows_[i][0]);
      if (!std::all_of(rows_[i].begin() + 1, rows_[i].end(), is_entry)) return false;
    }
    if (!fits(rows_.size() - 1, columns)) return false;
    if (same && !numbers && (corner == 0 || columns > 2 || !is_number(rows_[0][0]))) return true;
    if (same && corner == 0 && columns > 2) return true;
    return columns > most_columns_of_edges && is_matrix(1, 1);
  }

  struct properties {
    bool numbers = true;
    bool no_ids = false;  // in the first two columns of some row
    bool symmetric = true;
    bool diagonal = true;  // of zeros
    bool ones = true;      // all are 0 or 1
  };

  // Of the entries from this row and column on; of all but `numbers` only if all are numbers.
  [[nodiscard]] properties properties_of(std::size_t first_row, std::size_t first_column) const {
    properties of;
    for (std::size_t i = 0; i + first_row < rows_.size(); ++i) {
      const row& fields = rows_[i + first_row];
      of.numbers = std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(first_column), fields.end(), is_entry);
      if (!of.numbers) return of;
      of.no_ids = of.no_ids || !is_id(fields[first_column]) || !is_id(fields[first_column + 1]);
      of.diagonal = of.diagonal && value_of(fields[i + first_column]) == 0;
      for (std::size_t j = first_column; j < fields.size(); ++j) {
        const double value = value_of(fields[j]);
        of.ones = of.ones && (value == 0 || value == 1);
        const std::size_t k = j - first_column;
        of.symmetric = of.symmetric && (k >= i || value == value_of(rows_[k + first_row][i + first_column]));
      }
    }
    return of;
  }

  // Whether these entries are numbers of a matrix rather than edges.
  [[nodiscard]] bool is_matrix(std::size_t first_row, std::size_t first_column) const {
    if (rows_.size() == first_row) return false;
    const properties of = properties_of(first_row, first_column);
    return of.numbers && (of.no_ids || of.symmetric || of.diagonal || of.ones || rows_.back().size() > sure_columns);
  }

  std::vector<row> rows_;
  bool is_whole_ = false;
  bool is_square_ = false;
};

}  // namespace

std::int64_t vertices_of_matrix(std::string_view text, table_extent extent, first_labels names) {
  return static_cast<std::int64_t>(square_table(text, extent).find(names));
}

bool may_be_small_matrix(std::string_view text, table_extent extent, first_labels names) {
  return square_table(text, extent).may_be_small(names);
}

}  // namespace spargo::detail::edge_text
