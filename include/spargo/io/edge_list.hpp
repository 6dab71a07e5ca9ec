// Edge lists as the field writes them: SNAP text, .el, .wel, CSV.
//
// One edge per line: source, target, optionally a weight; further columns are ignored. Separators are blanks, tabs,
// commas (semicolons too); lines that start with # or % are comments; CRLF is fine; gzip is recognised from content.
// The first line may name the columns, which then may stand in any order (see `edge_list_header`). In place of a weight
// there may be attributes as networkx writes them: `{}`, or `{'weight': 3.0}`, which holds one. Where the separator is
// no comma, weights may have decimal commas, if those among the first lines do.
//
// Vertices have integer ids or names, all of a file the one or the other (`id_kind`). Ids are 0 to 2^63-1, in quotes or
// not, sparse or not: they are renumbered 0..n-1 in ascending order of id. A negative, fractional or larger id is a
// `parse` error with line and column. Names are any bytes, UTF-8 or other, numbered in the order in which they first
// occur; one with blanks or the separator in it stands in double quotes, where a doubled double quote is one. What
// separates columns is then a tab, a semicolon, a comma or blanks: what most of the first lines have.
// The numbers do not depend on threads.
//
// A weight is a real number as in Matrix Market files, inf and nan among them: what they mean is the algorithm's
// business (`info --check` counts them). One beyond float64 is an error, one too small becomes 0.
// Limits: ids below 2^63, lines of at most 1 MiB (comments of any length), any number of gzip members one after the
// other, as many edges as memory holds. Memory: the result, a quarter of its size besides, and 16 to 40 bytes for each
// id where ids are sparse; for each name its characters twice and some 80 bytes. Time of one core:
// 45 ns a name where few occur often, 190 where most are new.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/formats/coo.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>
#include <spargo/io/vertex_names.hpp>

#include <string>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// What vertices are called. `automatic`: as the lines among the first 64 KiB have it: names if more than half of them
// have an id that does not look like a number; else integers, and a name farther down is an error with line and column.
enum class id_kind { automatic, integers, names };

struct SPARGO_EXPORT edge_list_options : read_options {
  // "SOURCE,TARGET[,WEIGHT]": the columns, each by its name or its number from 1; empty: as the header line says.
  std::string columns{};
  id_kind ids = id_kind::automatic;
};

enum class edge_direction { not_said, directed, undirected };

// How to read an edge list, from its first 64 KiB (of lines that are no comments).
//
// A header line names columns. Source: source, from, src, u, start, i, tail, node1, id1, FromNodeId; target: target,
// to, dst, v, end, j, head, node2, id2, ToNodeId, dest, destination; weight: weight, w, value, length, distance; in any
// case and with blanks, _, - or . among the letters. Where source and target are named, other columns are not used;
// where none of these names occurs, the order is source, target, weight, and the line is a header if ids stand below it
// (and something other than blanks separates the columns). A first column without a name is an index and not used; so
// are the row names of R, above which the header has no name. A column `Type` (Gephi) says whether edges are directed.
// Comments before the first edge do as well: KONECT's `% sym`, `% asym` and `% bip`, SNAP's `# Undirected graph`.
struct SPARGO_EXPORT edge_list_header {
  std::vector<std::string> names;  // of the columns; empty: there is no header line
  int source = 0;                  // columns, from 0
  int target = 1;
  int weight = 2;  // where there is such a column; -1: no weights
  int type = -1;   // Gephi's; -1: there is none
  edge_direction direction = edge_direction::not_said;
  std::string said_by;  // the comment or column that the direction is from
  char separator = 0;   // of the columns, ' ' for blanks and tabs; 0: any, of lines as in a list without a header
  bool decimal_commas = false;
  bool row_names = false;      // an index column that the header line does not name
  std::int64_t left_ids = -1;  // of a bipartite graph (KONECT): right vertex k has the id left_ids + k; -1: it is none
  id_kind ids = id_kind::integers;  // or names
  bool quoted_ids = false;          // integers in double quotes
};

// Throws `parse` for a header line whose columns are ambiguous, with the names, and for a bipartite graph that does not
// say how many vertices are left; `invalid_argument` for `columns` that are not there.
[[nodiscard]] SPARGO_EXPORT edge_list_header read_edge_list_header(const input_file& file,
                                                                   const std::string& columns = {},
                                                                   id_kind ids = id_kind::automatic);

// Edges in file order, self-loops and duplicates kept. `edges.rows == edges.cols`, which is the number of ids or names.
template <index_type I>
struct edge_list {
  coo_matrix<double, I, host> edges;  // values are the weights; all 1 when `weighted` is false
  bool weighted = false;              // every line has a third column (some but not all: a parse error)
  std::vector<std::int64_t> ids;      // ids[v] is what the file calls vertex v; ascending
  std::int64_t first_vertex = -1;     // the number, 0 to n-1, of the first vertex in the file; -1 when there is none
  std::int64_t rounded_integers = 0;  // weights that are integers past what float64 holds exactly
  edge_list_header header;
  vertex_name_table names;  // in place of ids, where vertices have names: in the order in which they first occur
};

// I must hold the number of distinct ids (else `unsupported`).
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT edge_list<I> read_edge_list(const context<host>& ctx, const input_file& file,
                                                        const edge_list_options& options = {});

// The same without the weights, which are parsed and checked but take no memory: what a graph without weights is built
// from.
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

// How an edge list is written: with tabs, and a comment line `# source target [weight]` first; or as CSV, whose first
// line names the columns: `source,target[,weight]`.
enum class edge_list_style { tabs, commas };

// `source target [weight]` a line. `ids` maps vertices to what is written (empty: the vertex itself). Written whole or
// not at all; .gz by name. Throws `invalid_data` for a vertex outside the matrix or a negative id, `unsupported` for
// complex weights.
template <entry_type V, index_type I>
SPARGO_EXPORT void write_edge_list(const std::string& path, const coo_view<const V, I, host>& edges,
                                   span<const std::int64_t, host> ids = {},
                                   edge_list_style style = edge_list_style::tabs);
// The same with names, in quotes where `append_name` puts them.
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
