// Subgraphs as results: --output takes their edges, as an edge list.
#pragma once

#include "placement/graph_command.hpp"

#include <spargo/formats/coo.hpp>
#include <spargo/graph/graph.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace spargo::apps {

// Edges of a subgraph, an undirected one once, and how many vertices it has.
template <class I>
struct subgraph {
  std::vector<I> sources;
  std::vector<I> targets;
  std::int64_t vertices = 0;

  [[nodiscard]] std::int64_t edges() const { return static_cast<std::int64_t>(sources.size()); }
};

// The edges of a part of a graph, whose vertex k is vertices[k] of the whole.
template <class I, class O>
[[nodiscard]] subgraph<I> edges_of_part(const graph_view<I, O, host>& part, const span<const I, host>& vertices) {
  subgraph<I> found;
  found.vertices = vertices.size();
  for (I v = 0; v < part.vertices(); ++v) {
    for (O e = part.out.offsets[v]; e < part.out.offsets[v + 1]; ++e) {
      const I u = part.out.indices[e];
      if (part.direction == direction_kind::undirected && u < v) continue;
      found.sources.push_back(vertices[v]);
      found.targets.push_back(vertices[u]);
    }
  }
  return found;
}

// The edges e of a list with keeps(e), and the vertices at their ends; n: vertices of the graph. O(n + edges).
template <class I, class Keeps>
[[nodiscard]] subgraph<I> edge_subset(std::int64_t n, const array<I, host>& sources, const array<I, host>& targets,
                                      const Keeps& keeps) {
  subgraph<I> found;
  std::vector<bool> is_end(static_cast<std::size_t>(n));
  for (std::int64_t e = 0; e < sources.size(); ++e) {
    if (!keeps(e)) continue;
    found.sources.push_back(sources[e]);
    found.targets.push_back(targets[e]);
    is_end[static_cast<std::size_t>(sources[e])] = is_end[static_cast<std::size_t>(targets[e])] = true;
  }
  found.vertices = std::count(is_end.begin(), is_end.end(), true);
  return found;
}

// "3 vertices, 2 edges".
template <class I>
[[nodiscard]] std::string size_of(const subgraph<I>& part) {
  return counted(part.vertices, "vertex", "vertices") + ", " + counted(part.edges(), "edge");
}

// Throws usage_error for flags of --output that an edge list cannot follow; `flag` asked for the subgraph, "a K-core".
void check_subgraph_flags(const table_flags& flags, const std::string& flag, const std::string& subgraph);

// Writes an edge list, with a header line for FILE.csv and FILE.tsv. Adds the row "written" and the key "output".
template <class I>
void write_subgraph(report& out, const table_flags& flags, const vertex_names& names, const subgraph<I>& found);

}  // namespace spargo::apps
