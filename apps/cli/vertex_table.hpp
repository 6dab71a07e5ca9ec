// --output of graph commands: one line per vertex or edge, in the format given by the file's name. With --join, each
// vertex's line ends with its attributes of another file, and an edge's with those of both ends.
//
// NAME.csv and NAME.tsv begin with a line of column names; NAME.json is an array with one object per vertex; other
// names get blank-separated values without a header. Each may end in .gz. Numbers are printed without loss. --print
// writes the same lines to standard output in place of the report, also as aligned columns with rounded numbers.
#pragma once

#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "input/attribute_table.hpp"
#include "input/input.hpp"
#include "input/memory_limit.hpp"

#include <spargo/core/span.hpp>
#include <spargo/io/output.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace spargo::apps {

class report;

enum class table_format { blanks, commas, tabs, objects, aligned };
[[nodiscard]] table_format table_format_of(const std::string& path);

struct table_flags {
  std::string output;                                 // empty: none
  bool sort = false;                                  // lines ordered by value instead of id
  std::int64_t top = 0;                               // 0: all lines
  std::string print = "report";                       // or lines on standard output, to which `output` is set then
  bool top_needs_output = false;                      // it limits lines and nothing else
  std::string join;                                   // a file with attributes of vertices; empty: none
  std::string on;                                     // its column of ids; empty: id
  std::shared_ptr<const attribute_table> attributes;  // the file, once it is read

  [[nodiscard]] bool is_sorted() const { return sort || top > 0; }
  // Length of the list of highest values in a report.
  [[nodiscard]] std::int64_t listed() const { return top > 0 ? top : 10; }
};

// A command's texts for --help. Without columns the output is no table: there is --output alone, as `notes` say.
struct table_texts {
  std::string_view columns;           // comma-separated, the id first, such as "id,rank"
  std::string_view order;             // of --sort, such as "largest rank first"
  std::string_view notes = {};        // explains columns if their names do not
  std::string_view report_list = {};  // the list in the report that --top also limits, such as "top"
  std::string_view lines = "vertex";  // what has a line
  std::string_view top = {};          // help of a --top that does not limit the lines
};
// --output, --print, --sort, --top, --join, --on.
void add_table_flags(flag_set app, table_flags& flags, const table_texts& texts);
void add_join_flags(flag_set app, table_flags& flags, const std::string& use);
// Throws usage_error for --sort or --top without lines that they order, --join without lines or a list, and --on alone.
void check_table_flags(const table_flags& flags);
// Reads the file of --join, if there is one, before the work that it goes with.
void read_joined_file(table_flags& flags);
// The rows and keys "joined", and a warning where vertices or lines have no match. Does nothing without attributes.
void report_attributes(report& out, const vertex_names& names);
// By --print, else by the name of --output.
[[nodiscard]] table_format table_format_of(const table_flags& flags);

// Names of a table's columns: of any characters, or none with a comma in "id,rank".
struct column_names {
  column_names(std::string_view by_commas);  // NOLINT(google-explicit-constructor): a list of names
  column_names(const char* by_commas) : column_names(std::string_view(by_commas)) {}
  explicit column_names(std::vector<std::string> names) : all(std::move(names)) {}

  std::vector<std::string> all;
};

// Writes one table, complete or not at all: one call per cell of a row, then end_row.
class table_writer {
 public:
  // Of an aligned table.
  struct column_layout {
    std::size_t width = 0;  // characters
    bool number = true;     // aligned to the right
  };

  table_writer(const std::string& path, const column_names& columns)
      : table_writer(path, columns, table_format_of(path)) {}
  // An aligned table needs the layout of a writer that got the same cells.
  table_writer(const std::string& path, const column_names& columns, table_format format,
               std::vector<column_layout> layout = {});
  // Writes nothing: finds the layout of an aligned table.
  explicit table_writer(const column_names& columns);
  [[nodiscard]] const std::vector<column_layout>& layout() const { return layout_; }

  void label(const vertex_names& names, std::int64_t vertex);
  template <std::integral T>
  void number(T value) {
    integer(value);
  }
  void number(double value);  // non-finite values are null in JSON
  // A missing value: `text`, in JSON null.
  void none(std::string_view text);
  // Text, quoted where the format requires it; in JSON a number or a boolean if `kind` is one and the text is.
  void text(const std::string& value, attribute_kind kind = attribute_kind::text);
  // A vertex's attributes, if it can have any.
  void attributes(const vertex_names& names, std::int64_t vertex);
  void end_row();
  void commit();

 private:
  void begin_cell();
  void end_cell(bool number);
  void integer(std::int64_t value);
  void begin(const column_names& columns);

  std::optional<output_file> file_;
  table_format format_;
  std::vector<column_layout> layout_;
  std::size_t cell_ = 0;             // where the current one begins
  std::vector<std::string> before_;  // text before each column's value
  std::string line_;
  std::size_t column_ = 0;
  bool empty_ = true;
};

// Vertices in line order. Counted by --max-memory.
using vertex_order = std::vector<std::int64_t, counted_allocator<std::int64_t>>;

// The first `count` (0: all) of `vertices`, ordered by `before`, then id. O(n log count) time, memory for `count`.
template <class Before>
[[nodiscard]] vertex_order first_vertices(std::int64_t vertices, std::int64_t count, const Before& before) {
  const auto precedes = [&](std::int64_t a, std::int64_t b) { return before(a, b) || (!before(b, a) && a < b); };
  const std::int64_t kept = count > 0 ? std::min(count, vertices) : vertices;
  vertex_order order(static_cast<std::size_t>(kept));  // a heap with the last of those kept in front
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (kept == vertices) {
    std::sort(order.begin(), order.end(), precedes);
    return order;
  }
  std::make_heap(order.begin(), order.end(), precedes);
  for (std::int64_t v = kept; v < vertices; ++v) {
    if (!precedes(v, order.front())) continue;
    std::pop_heap(order.begin(), order.end(), precedes);
    order.back() = v;
    std::push_heap(order.begin(), order.end(), precedes);
  }
  std::sort_heap(order.begin(), order.end(), precedes);
  return order;
}

// Writes the cells of a line, for a vertex or an edge.
using cell_writer = std::function<void(std::int64_t item, table_writer& row)>;

// Writes a line per item, 0 to count - 1, in this order if there is one. Adds the row "written" and the key "output".
void write_lines(report& out, const table_flags& flags, const column_names& columns, std::int64_t count,
                 const vertex_order* order, const cell_writer& cells);

// The same; `before(a, b)`: whether item a comes first with --sort.
template <class Before>
void write_sorted(report& out, const table_flags& flags, const column_names& columns, std::int64_t count,
                  const Before& before, const cell_writer& cells) {
  if (!flags.is_sorted()) return write_lines(out, flags, columns, count, nullptr, cells);
  const vertex_order order = [&] {
    const busy sorting("sorting");
    return first_vertices(count, flags.top, before);
  }();
  write_lines(out, flags, columns, count, &order, cells);
}

// The columns of a table and the attributes of its vertices: of a line's one vertex, or of the ends of its edge. Warns
// of names that change.
[[nodiscard]] column_names with_attributes(report& out, const vertex_names& names, std::string_view columns,
                                           const std::vector<std::string>& prefixes = {""});

// The table of a result: a line per vertex, its label, further cells and attributes.
template <class Before>
void write_vertices(report& out, const table_flags& flags, const vertex_names& names, std::string_view columns,
                    const Before& before, const cell_writer& cells) {
  const column_names all = with_attributes(out, names, columns);
  write_sorted(out, flags, all, names.vertices, before, [&](std::int64_t v, table_writer& row) {
    row.label(names, v);
    cells(v, row);
    row.attributes(names, v);
  });
}

// A line per edge: the labels of its ends, and further cells. `before` compares edges by their numbers.
template <class I, class Before>
void write_edges(report& out, const table_flags& flags, const vertex_names& names, std::string_view columns,
                 const span<const I, host>& sources, const std::type_identity_t<span<const I, host>>& targets,
                 const Before& before, const cell_writer& cells) {
  const column_names all = with_attributes(out, names, columns, {"source_", "target_"});
  write_sorted(out, flags, all, sources.size(), before, [&](std::int64_t e, table_writer& row) {
    row.label(names, sources[e]);
    row.label(names, targets[e]);
    cells(e, row);
    row.attributes(names, sources[e]);
    row.attributes(names, targets[e]);
  });
}

// A line per vertex with its value, the highest first with --sort.
template <class T>
void write_values(report& out, const table_flags& flags, const vertex_names& names, std::string_view columns,
                  span<const T, host> values) {
  const auto higher = [&](std::int64_t a, std::int64_t b) { return values[a] > values[b]; };
  write_vertices(out, flags, names, columns, higher, [&](std::int64_t v, table_writer& row) { row.number(values[v]); });
}

// A line per edge with its value, the highest first with --sort.
template <class I, class T>
void write_edge_values(report& out, const table_flags& flags, const vertex_names& names, std::string_view columns,
                       const array<I, host>& sources, const array<I, host>& targets, const array<T, host>& values) {
  const auto higher = [&](std::int64_t a, std::int64_t b) { return values[a] > values[b]; };
  write_edges(out, flags, names, columns, sources.view(), targets.view(), higher,
              [&](std::int64_t e, table_writer& row) { row.number(values[e]); });
}

}  // namespace spargo::apps
