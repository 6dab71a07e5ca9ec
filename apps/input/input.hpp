// Any input, recognised from its content: what it is, and how its vertices are called. read.hpp reads it.
//
// How vertices are called ("ids as the file writes them"): an edge list and a snapshot of one, as listed; a Matrix
// Market, METIS or DIMACS file and a snapshot without ids, rows from 1; a generated graph, from 0.
#pragma once

#include <spargo/io/edge_list.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>
#include <spargo/io/vertex_names.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spargo::apps {

enum class input_kind { matrix_market, edge_list, metis, dimacs, snapshot, generator };

// A graph as text: its size, and whether it has weights, are known when it is read.
[[nodiscard]] constexpr bool is_graph_text(input_kind kind) {
  return kind == input_kind::edge_list || kind == input_kind::metis || kind == input_kind::dimacs;
}

struct input_description {
  std::string path;
  std::optional<input_file> file;  // none for a generator
  input_kind kind = input_kind::matrix_market;
  std::string format;  // "Matrix Market coordinate", "edge list", ...
  matrix_market_field field = matrix_market_field::real;
  bool single_precision = false;  // a snapshot that holds fp32 or complex fp32
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;   // what a graph of it is unless the user says otherwise
  std::int64_t rows = 0;  // as declared; 0 for a graph as text
  std::int64_t cols = 0;
  std::int64_t entries = 0;        // as declared by what has rows and columns; a file's own word
  std::optional<snapshot> mapped;  // the snapshot itself, verified
  std::string wanted_columns;      // of an edge list, by --columns; empty: as its header says
  id_kind wanted_ids = id_kind::automatic;
  edge_list_header columns;  // the same as they are

  // Whether the text can be read once more, as a file can and a pipe cannot.
  [[nodiscard]] bool can_be_read_again() const { return !file.has_value() || file->can_be_read_again(); }

  // Of an edge list.
  [[nodiscard]] edge_list_options reading(const read_options& options) const {
    return {options, wanted_columns, wanted_ids};
  }
};

// Opens `path` (`-`: standard input), looks at the beginning, and says what the file is. An unreadable file, a
// directory, a format that is not read: `error` (io, unsupported), with the file's name. `columns` and `ids`: of the
// flags, which only an edge list may have (invalid_argument).
[[nodiscard]] input_description describe_input(const context<host>& ctx, const std::string& path,
                                               const std::string& columns = {}, id_kind ids = id_kind::automatic);

// Throws unsupported for a graph as text.
void expect_matrix(const input_description& input);

[[nodiscard]] std::string to_string(matrix_market_field field);
[[nodiscard]] std::string to_string(symmetry_kind symmetry);

enum class vertex_naming { listed, rows_from_one, from_zero, names };

// Vertex <-> its label: the integer or the name that the file has for it. Every output writes labels.
struct vertex_names {
  vertex_naming naming = vertex_naming::rows_from_one;
  std::vector<std::int64_t> ids;  // when listed: ascending
  std::int64_t vertices = 0;
  vertex_name_table table{};  // when names

  [[nodiscard]] bool are_integers() const { return naming != vertex_naming::names; }

  // As the file has it: for people, and for a field of a table.
  [[nodiscard]] std::string label(std::int64_t vertex) const;
  // The same at the end of `line`, a name in quotes where a reader of edge lists needs them.
  void append_label(std::int64_t vertex, std::string& line) const;
  // The vertex that a user calls so, in quotes or not; none: no such vertex, or for integers no integer.
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view label) const;

  // Of integer labels only.
  [[nodiscard]] std::int64_t id(std::int64_t vertex) const;
  [[nodiscard]] std::optional<std::int64_t> vertex(std::int64_t id) const;  // none: no such vertex
  [[nodiscard]] std::vector<std::int64_t> all() const;                      // every id, by vertex
};

// Of an edge list that was read; takes its ids.
template <class List>
[[nodiscard]] vertex_names names_of(List& list) {
  const vertex_naming naming = list.header.ids == id_kind::names ? vertex_naming::names : vertex_naming::listed;
  return {naming, std::move(list.ids), static_cast<std::int64_t>(list.edges.rows()), std::move(list.names)};
}

// The vertex that a user calls `label`, as the value of `flag`. Throws `error` (invalid_argument) if there is none;
// `also` is what else the flag takes.
[[nodiscard]] std::int64_t expect_vertex(const vertex_names& names, const std::string& flag, const std::string& label,
                                         const std::string& also = {});

// The labels of lists `A,B,C`; one in double quotes may hold commas, and doubled quotes. Throws usage_error.
[[nodiscard]] std::vector<std::string> split_labels(const std::vector<std::string>& lists);

// What reading told besides the entries.
struct input_facts {
  std::int64_t stored = 0;            // entries in the file
  std::int64_t expanded = 0;          // with mirrored ones, before duplicates are summed
  std::int64_t rounded_integers = 0;  // integers past what the values hold exactly
  bool weighted = true;               // a graph as text: whether it has weights
  std::int64_t first_vertex = -1;     // the first vertex named in the file; -1: none
  bool parsed_on_device = false;
  std::vector<std::string> warnings;  // of what the file holds
  vertex_names names;
};

}  // namespace spargo::apps
