// Graphs in documents, read and written: GML, and GraphML, which is read where the library was built with Expat.
//
// Vertices are the nodes, isolated ones included. GraphML: their ids are those of the file. GML: their labels if all
// nodes have different ones, as networkx takes them, otherwise their integer ids. If all are integers from 0 to 2^63-1
// the result has `ids`, ascending; otherwise `names`, in the order of the nodes. The weight is the first of the
// attributes weight, w, value, length, distance (names as in header lines of edge lists) that an edge has; each edge
// must then have it, or GraphML's key a default. Other attributes are skipped unless asked for. The direction is GML's
// `directed 1`, else undirected, and GraphML's `edgedefault`. Refused: a second or a nested graph, hyperedges, edges
// whose direction is not the graph's, declared entities, more than 1,000 nested elements. One thread parses; memory is
// up to three times the result and twice the characters of the ids.
#pragma once

#include <spargo/io/edge_list.hpp>

#include <string>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// The direction that the first 64 KiB say; `undirected` where GML says none, `not_said` where GraphML's graph comes
// later. Throws as `read_graph_document` where that is clear by then.
[[nodiscard]] SPARGO_EXPORT edge_direction read_graph_document_direction(const input_file& file);

// Edges in file order, with self-loops and duplicates. `header` has the direction and the kind of ids. Throws `parse`
// with line and column, `io`, or `unsupported` (also for GraphML without Expat, and for more vertices than I can hold).
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT edge_list<I> read_graph_document(const context<host>& ctx, const input_file& file,
                                                             const read_options& options = {});

// Of the values that an attribute has; text where they differ.
enum class attribute_kind { boolean, integer, real, text };

// One attribute of all nodes or of all edges.
struct SPARGO_EXPORT attribute_column {
  std::string name;
  attribute_kind kind = attribute_kind::text;
  std::vector<std::string> values;  // [node or edge]; a boolean is true or false
  std::vector<bool> present;        // whether it has one
};

// Attributes by vertex number and in the order of the edges. Not among them: a node's id, a GML label that is the
// vertex's name, the ends of an edge, and its weight, whose name is kept.
struct SPARGO_EXPORT graph_attributes {
  std::vector<attribute_column> nodes;
  std::vector<attribute_column> edges;
  std::string weight_name = "weight";
  std::int64_t omitted = 0;  // second and further values of one attribute of one node or edge
};

// As `read_graph_document`, with all attributes. Those in lists of GML are named by their path: graphics.x.
template <index_type I>
struct attributed_edge_list {
  edge_list<I> list;
  graph_attributes attributes;
};
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT attributed_edge_list<I> read_attributed_document(const context<host>& ctx,
                                                                             const input_file& file,
                                                                             const read_options& options = {});

enum class document_format { gml, graphml };

struct SPARGO_EXPORT document_options {
  document_format format = document_format::graphml;
  edge_direction direction = edge_direction::undirected;
  std::int64_t first_vertex = -1;  // the node that comes first; -1: vertex 0
  graph_attributes attributes{};
};

// Writes a document that `read_graph_document` and networkx read back: the same vertices, edges in their order (an
// undirected graph: each edge once), weights and attributes. `names`: of the vertices, or their ids, or (neither) their
// numbers. GML: nodes are numbered, labels are the names; `multigraph 1` where edges repeat; a character that a key may
// not have becomes _. Weights are integers where all of them are, else real numbers. The file appears complete or not
// at all; compressed if the name ends in .gz. Throws `invalid_data` for a vertex outside the matrix, for text that is
// not UTF-8 or has characters that XML excludes, and for a weight in GML that is no number; `invalid_argument` for
// attributes of another number of vertices or edges. One thread; O(characters + edges log(edges)).
template <entry_type V, index_type I>
SPARGO_EXPORT void write_graph_document(const std::string& path, const coo_view<const V, I, host>& edges,
                                        const vertex_name_table& names, span<const std::int64_t, host> ids,
                                        const document_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
