// Describes any input, recognised from its content, and the labels of its vertices. read.hpp reads it.
//
// Labels ("ids as in the file"): for an edge list, GML, GraphML and a snapshot of one, the listed ids or names; for a
// Matrix Market, METIS or DIMACS file and a snapshot without ids, rows from 1; for a generated graph, from 0.
#pragma once

#include <spargo/io/edge_list.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>
#include <spargo/io/vertex_names.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spargo::apps {

enum class input_kind { matrix_market, edge_list, metis, dimacs, snapshot, generator, document };

// Graph formats whose size and weights are known only after reading.
[[nodiscard]] constexpr bool is_graph_text(input_kind kind) {
  return kind == input_kind::edge_list || kind == input_kind::metis || kind == input_kind::dimacs ||
         kind == input_kind::document;
}

// Formats that list an undirected edge once, from either end: edge lists, and documents (GML, GraphML).
[[nodiscard]] constexpr bool lists_edges(input_kind kind) {
  return kind == input_kind::edge_list || kind == input_kind::document;
}

struct input_description {
  std::string path;
  std::optional<input_file> file;  // none for a generator
  input_kind kind = input_kind::matrix_market;
  std::string format;  // "Matrix Market coordinate", "edge list", ...
  matrix_market_field field = matrix_market_field::real;
  bool single_precision = false;  // a snapshot with fp32 or complex fp32
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;   // default direction of its graph
  std::int64_t rows = 0;  // as declared; 0 for a graph as text
  std::int64_t cols = 0;
  std::int64_t entries = 0;        // as declared; not verified
  std::optional<snapshot> mapped;  // the verified snapshot
  std::string wanted_columns;      // of an edge list, from --columns; empty: from its header
  id_kind wanted_ids = id_kind::automatic;
  edge_list_header columns;  // the resolved columns

  // Whether the text can be read again; true for a file, false for a pipe.
  [[nodiscard]] bool can_be_read_again() const { return !file.has_value() || file->can_be_read_again(); }

  [[nodiscard]] edge_list_options reading(const read_options& options) const {
    return {options, wanted_columns, wanted_ids};
  }
};

// Opens `path` (`-`: standard input), examines its beginning and describes it. Throws `error` (io, unsupported) with
// the file's name for an unreadable file, a directory or an unsupported format. `columns` and `ids`: from the flags,
// for edge lists only (otherwise invalid_argument).
[[nodiscard]] input_description describe_input(const context<host>& ctx, const std::string& path,
                                               const std::string& columns = {}, id_kind ids = id_kind::automatic);

// The symmetry by which a directed graph mirrors the entries that are read with `symmetry`. An undirected graph has
// each edge in both directions, and edge lists and snapshots may list only one of them.
[[nodiscard]] symmetry_kind mirrored_as(const input_description& input, symmetry_kind symmetry);

// Throws unsupported for a graph as text.
void expect_matrix(const input_description& input);

struct vertex_attributes;

enum class vertex_naming { listed, rows_from_one, from_zero, names };

// Maps vertices to labels, integers or names of the file. All outputs use labels.
struct vertex_names {
  vertex_naming naming = vertex_naming::rows_from_one;
  std::vector<std::int64_t> ids;  // if listed; ascending
  std::int64_t vertices = 0;
  vertex_name_table table{};                              // if named
  std::shared_ptr<const vertex_attributes> attributes{};  // by --join (attribute_table.hpp); null: none

  [[nodiscard]] bool are_integers() const { return naming != vertex_naming::names; }

  // The label for people and table fields.
  [[nodiscard]] std::string label(std::int64_t vertex) const;
  // Appends the label; a name is quoted if readers of edge lists require it.
  void append_label(std::int64_t vertex, std::string& line) const;
  // The vertex with this label, quoted or not; none: no such vertex, or not an integer where ids are integers.
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view label) const;

  // For integer labels only.
  [[nodiscard]] std::int64_t id(std::int64_t vertex) const;
  [[nodiscard]] std::optional<std::int64_t> vertex(std::int64_t id) const;  // none: no such vertex
  [[nodiscard]] std::vector<std::int64_t> all() const;                      // every id, by vertex
};

// Labels of an edge list; takes its ids.
template <class List>
[[nodiscard]] vertex_names names_of(List& list) {
  const vertex_naming naming = list.header.ids == id_kind::names ? vertex_naming::names : vertex_naming::listed;
  return {naming, std::move(list.ids), static_cast<std::int64_t>(list.edges.rows()), std::move(list.names)};
}

// The vertex `label`, value of `flag`; `error` (invalid_argument) if none. `also`: what else the flag accepts.
[[nodiscard]] std::int64_t expect_vertex(const vertex_names& names, const std::string& flag, const std::string& label,
                                         const std::string& also = {});

// The labels in lists `A,B,C`; double-quoted ones may contain commas and doubled quotes. Throws usage_error.
[[nodiscard]] std::vector<std::string> split_labels(const std::vector<std::string>& lists);

// Facts from reading besides the entries.
struct input_facts {
  std::int64_t stored = 0;            // entries in the file
  std::int64_t expanded = 0;          // including mirrored entries, before duplicates are summed
  std::int64_t rounded_integers = 0;  // integers that the values cannot represent exactly
  bool weighted = true;               // a graph as text has weights
  std::int64_t first_vertex = -1;     // first vertex in the file; -1: none
  bool parsed_on_device = false;
  std::vector<std::string> warnings;  // about the file's contents
  vertex_names names;
};

}  // namespace spargo::apps
