// Graphs in documents: GML, and GraphML where the library was built with Expat.
//
// Vertices are the nodes, isolated ones included. GraphML: their ids are those of the file. GML: their labels if all
// nodes have different ones, as networkx takes them, otherwise their integer ids. If all are integers from 0 to 2^63-1
// the result has `ids`, ascending; otherwise `names`, in the order of the nodes. The weight is the first of the
// attributes weight, w, value, length, distance (names as in header lines of edge lists) that an edge has; each edge
// must then have it, or GraphML's key a default. Other attributes are skipped. The direction is GML's `directed 1`,
// else undirected, and GraphML's `edgedefault`. Refused: a second or a nested graph, hyperedges, edges whose direction
// is not the graph's, declared entities, more than 1,000 nested elements. One thread parses; memory is up to three
// times the result and twice the characters of the ids.
#pragma once

#include <spargo/io/edge_list.hpp>

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

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
