// Edge lists: SNAP text, .el, .wel, CSV.
//
// One edge per line: source, target, optionally a weight; further columns are ignored. Separators are blanks, tabs,
// commas and semicolons; lines that start with # or % are comments; CRLF is accepted; gzip is recognised from content.
// The first line may name the columns, which may then be in any order (see `edge_list_header`). Instead of a weight a
// line may have attributes as networkx writes them: `{}`, or `{'weight': 3.0}` for a weight. If the separator is not a
// comma, weights may have decimal commas, provided that the first lines do.
//
// Vertices have either integer ids or names throughout a file (`id_kind`). Ids are 0 to 2^63-1, quoted or not, and may
// be sparse; they are renumbered 0..n-1 in ascending order. A negative, fractional or larger id is a `parse` error with
// line and column. Names are arbitrary bytes and are numbered in order of first occurrence. A name that contains blanks
// or the separator must be in double quotes, with double quotes inside it doubled. The separator is then a tab, a
// semicolon, a comma or blanks, whichever most of the first lines have. The numbering does not depend on threads.
//
// A weight is a real number as in Matrix Market files, including inf and nan, which algorithms must handle (`info
// --check` counts them). A weight beyond float64 is an error; one that underflows becomes 0.
// Limits: ids below 2^63, lines of at most 1 MiB (comments of any length), any number of concatenated gzip members.
// Memory: the result plus a quarter of its size, and 16 to 40 bytes per id if ids are sparse; per name twice its
// characters and some 80 bytes. Time on one core: 45 ns per name if few names repeat often, 190 if most are new.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/formats/coo.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>
#include <spargo/io/vertex_names.hpp>

#include <string>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// What identifies vertices. `automatic` looks at the lines in the first 64 KiB: names if more than half of them have an
// id that does not look like a number; otherwise integers, and a later name is an error with line and column.
enum class id_kind { automatic, integers, names };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<id_kind> enum_rows() noexcept;

struct SPARGO_EXPORT edge_list_options : read_options {
  // "SOURCE,TARGET[,WEIGHT]": each column by its name or its number from 1; empty: as the header line says. "bip:" in
  // front: the columns number different things (`edge_list_header::left_ids`); takes two passes over a regular file.
  std::string columns{};
  id_kind ids = id_kind::automatic;
};

enum class edge_direction { not_said, directed, undirected };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<edge_direction> enum_rows() noexcept;

// How to read an edge list, from its first 64 KiB after comments.
//
// A header line names columns, ignoring case and blanks, _, - or . within a name. Source: source, from, src, u, start,
// origin, i, tail, node1, id1, FromNodeId; target: target, to, dst, v, end, j, head, node2, id2, ToNodeId, dest,
// destination; weight: weight, w, value, length, distance. If source and target are named, others are ignored. If none
// of these names occurs, the order is source, target, weight; the line is then a header if the lines below have numbers
// below the third name, or ids and the separator is not blanks. A first column without a name is an index and ignored,
// as are R's row names, which have no name in the header. A column `Type` (Gephi) gives the direction of edges; so do
// comments before the first edge: KONECT's `% sym`, `% asym` and `% bip`, SNAP's `# Undirected graph`. Excel's first
// line `sep=;` gives the separator. Weights may have decimal commas, in quotes if the separator is a comma.
struct SPARGO_EXPORT edge_list_header {
  std::vector<std::string> names;  // of the columns; empty: no header line
  int source = 0;                  // column, from 0
  int target = 1;
  int weight = 2;  // if there is such a column; -1: no weights
  int type = -1;   // Gephi's column; -1: none
  edge_direction direction = edge_direction::not_said;
  std::string said_by;  // the comment or column that gives the direction
  char separator = 0;   // ' ' for blanks and tabs; 0: any, as in a list without a header
  char delimiter = 0;   // separator 0: after the source of most of the first lines (below a header, of the first
                        // edge) a comma, semicolon or tab, else ' '; 0 if they have no edge
  bool separator_said = false;  // given by a first line `sep=;` (Excel)
  bool decimal_commas = false;
  bool row_names = false;           // an index column without a name in the header line
  int columns = 0;                  // most fields of a line, as the header line says; 0: any number. More are refused
  std::int64_t left_ids = -1;       // right vertex k of a bipartite graph has id left_ids + k: KONECT's number of left
                                    // vertices, or with "bip:" the largest left id + 1; -1: not bipartite
  id_kind ids = id_kind::integers;  // integers or names
  bool quoted_ids = false;          // integers in double quotes

  // Ignored columns of numbers, if the header names source and target but no weight.
  std::vector<int> unused_numbers;
  // The ends of the first edge if neither occurs again among the first lines: they may be names of columns. `columns`
  // with these names makes the line a header.
  std::vector<std::string> possible_names;
  // Number of vertices if the lines may be the rows of an adjacency matrix of three columns, else 0: labels that are no
  // names of columns above numbers, of which two hold: all are 0 or 1, symmetric, 0 on the diagonal. `columns` settles
  // it.
  std::int64_t possible_matrix = 0;
  // The header names source and target by other words than these, which may number different things (user_id, item_id):
  // equal integers are one vertex nevertheless. `columns` settles it: names as they are, or with "bip:" in front.
  bool may_be_two_kinds = false;

  // Number of lines before the first edge, comments not counted.
  [[nodiscard]] int lines() const { return (separator_said ? 1 : 0) + (names.empty() ? 0 : 1); }
};

// Throws `parse`, with the names, for a header line with ambiguous columns, for lines of four fields that may contain a
// decimal comma ("1,2,0,5"), and for a bipartite graph without the number of its left vertices; `unsupported` for an
// adjacency matrix and for other graph formats; `invalid_argument` for `columns` that do not exist. `columns` turns off
// the checks for matrices and for decimal commas.
[[nodiscard]] SPARGO_EXPORT edge_list_header read_edge_list_header(const input_file& file,
                                                                   const std::string& columns = {},
                                                                   id_kind ids = id_kind::automatic);

// Edges in file order, including self-loops and duplicates. `edges.rows == edges.cols` is the number of ids or names.
template <index_type I>
struct edge_list {
  coo_matrix<double, I, host> edges;  // values are weights; all 1 if not `weighted`
  bool weighted = false;              // every line has a third column (mixed: a parse error)
  std::vector<std::int64_t> ids;      // ids[v]: id of vertex v in the file; ascending
  std::int64_t first_vertex = -1;     // first vertex in the file, 0 to n-1; -1: none
  std::int64_t rounded_integers = 0;  // integer weights that float64 cannot represent exactly
  edge_list_header header;
  vertex_name_table names;  // used instead of ids if vertices have names; in order of first occurrence
};

// I must hold the number of distinct ids (else `unsupported`).
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT edge_list<I> read_edge_list(const context<host>& ctx, const input_file& file,
                                                        const edge_list_options& options = {});

// The same without weights, which are parsed and checked but not stored: for graphs without weights.
template <index_type I>
struct edge_pattern {
  coo_matrix<pattern, I, host> edges;
  bool weighted = false;  // whether the file has weights
  std::vector<std::int64_t> ids;
  std::int64_t first_vertex = -1;
  edge_list_header header;
  vertex_name_table names;
};
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT edge_pattern<I> read_edge_pattern(const context<host>& ctx, const input_file& file,
                                                              const edge_list_options& options = {});

// Style of written edge lists: with tabs after a comment line `# source target [weight]`, or CSV or TSV with the header
// line `source,target[,weight]`.
enum class edge_list_style { tabs, commas, named_tabs };

// Writes one `source target [weight]` per line. `ids` maps vertices to written ids (empty: the vertex numbers). The
// file appears complete or not at all; compressed if the name ends in .gz. Throws `invalid_data` for a vertex outside
// the matrix or a negative id, `unsupported` for complex weights.
template <entry_type V, index_type I>
SPARGO_EXPORT void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges,
                                   span<const std::int64_t, host> ids = {},
                                   edge_list_style style = edge_list_style::tabs);
// The same with names, quoted as by `append_name`.
template <entry_type V, index_type I, std::same_as<vertex_name_table> Names>
SPARGO_EXPORT void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges, const Names& names,
                                   edge_list_style style = edge_list_style::tabs);
template <detail::viewable Edges>
void write_edge_list(const std::string& path, const Edges& edges, span<const std::int64_t, host> ids = {},
                     edge_list_style style = edge_list_style::tabs) {
  write_edge_list(path, detail::view_of(edges), ids, style);
}
template <detail::viewable Edges, std::same_as<vertex_name_table> Names>
void write_edge_list(const std::string& path, const Edges& edges, const Names& names,
                     edge_list_style style = edge_list_style::tabs) {
  write_edge_list(path, detail::view_of(edges), names, style);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
