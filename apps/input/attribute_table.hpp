// --join: attributes of vertices from a second file, which tables and lists show beside each vertex.
//
// The file is CSV or TSV with a header line (comma, semicolon or tab, whichever the header has most of), or a GML or
// GraphML document, whose nodes have the attributes. Fields in double quotes may contain separators, line ends and
// doubled quotes. Cells that are empty have no value.
#pragma once

#include "input/input.hpp"

#include <spargo/io/graph_document.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spargo::apps {

struct attribute_table {
  std::string path;
  std::string key;                        // the column that names vertices
  std::vector<std::string> keys;          // [row]
  std::vector<std::int64_t> lines;        // [row] in the file; empty for a document
  std::vector<attribute_column> columns;  // the others
};

// `key`: the column that names vertices, by its name, in any case if that is unique; empty: "id". Throws `error`:
// `parse` with line and column for a malformed line or a repeated id, `invalid_argument` with the names
// for a key that no column has, or two.
[[nodiscard]] attribute_table read_attribute_table(const context<host>& ctx, const std::string& path,
                                                   const std::string& key);

// The rows of a CSV or TSV file: its columns by name, without a key.
[[nodiscard]] attribute_table read_attribute_rows(const input_file& file);

// The attributes of a graph's vertices.
struct vertex_attributes {
  std::shared_ptr<const attribute_table> table;
  std::vector<std::int64_t> rows;   // [vertex] of the table; -1: none
  std::int64_t matched = 0;         // vertices with a row
  std::int64_t first_missing = -1;  // the first vertex without a row
  std::int64_t unknown = 0;         // rows that name no vertex
  std::string first_unknown;

  // The value of a column; null: none.
  [[nodiscard]] const std::string* find(std::int64_t vertex, const attribute_column& column) const {
    const std::int64_t row = rows[static_cast<std::size_t>(vertex)];
    return row < 0 || !column.present[static_cast<std::size_t>(row)] ? nullptr
                                                                     : &column.values[static_cast<std::size_t>(row)];
  }
};

// Finds the row of each vertex, and keeps them in `names`. Does nothing without a table. Throws `parse` for two rows of
// one vertex, such as ids 7 and 07.
void join_attributes(const std::shared_ptr<const attribute_table>& table, vertex_names& names);

// Integer or real if the text is a number in JSON's form, else text.
[[nodiscard]] attribute_kind kind_of_text(const std::string& text);

// Columns of a table, whose names differ; `renamed`: "age is written as age_2".
struct joined_columns {
  std::vector<std::string> names;
  std::vector<std::string> renamed;
};
// Adds the attributes, each as NAME, or NAME_2 if there is one; `prefix`: before each name.
void add_attribute_columns(joined_columns& to, const vertex_attributes& attributes, const std::string& prefix = {});

// The attributes as columns by vertex, for documents.
[[nodiscard]] std::vector<attribute_column> columns_by_vertex(const vertex_attributes& attributes);

}  // namespace spargo::apps
