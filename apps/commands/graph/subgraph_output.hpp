// Subgraphs as results: --output takes their edges, as an edge list.
#pragma once

#include "placement/graph_command.hpp"

#include <spargo/formats/coo.hpp>
#include <spargo/graph/graph.hpp>

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

// The edges between vertices v with keeps(v). O(vertices + edges).
template <class I, class O, class Keeps>
[[nodiscard]] subgraph<I> induced_subgraph(const graph_view<I, O, host>& g, const Keeps& keeps) {
  subgraph<I> found;
  for (I v = 0; v < g.vertices(); ++v) {
    if (!keeps(v)) continue;
    ++found.vertices;
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      const I u = g.out.indices[e];
      if (!keeps(u) || (g.direction == direction_kind::undirected && u < v)) continue;
      found.sources.push_back(v);
      found.targets.push_back(u);
    }
  }
  return found;
}

// Throws usage_error for flags of --output that an edge list cannot follow; `flag` asked for the subgraph, "a K-core".
void check_subgraph_flags(const table_flags& flags, const std::string& flag, const std::string& subgraph);

// Writes an edge list, with commas for FILE.csv. Adds the row "written" and the key "output".
template <class I>
void write_subgraph(report& out, const table_flags& flags, const vertex_names& names, const subgraph<I>& found);

}  // namespace spargo::apps
