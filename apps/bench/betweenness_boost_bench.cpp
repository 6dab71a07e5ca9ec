// Peer on the host: Boost.Graph's brandes_betweenness_centrality on its own CSR graph.
#include "bench/betweenness_cases.hpp"

#include <boost/graph/betweenness_centrality.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

#include <memory>
#include <utility>

namespace spargo::bench {

namespace {

using boost_graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                       boost::no_property, bfs_index, bfs_index>;

betweenness_peer::find make(const bfs_view& g) {
  std::vector<std::pair<bfs_index, bfs_index>> edges;
  edges.reserve(static_cast<std::size_t>(g.out.nnz()));
  for (bfs_index u = 0; u < g.vertices(); ++u) {
    for (bfs_index e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) edges.emplace_back(u, g.out.indices[e]);
  }
  return [graph = std::make_shared<const boost_graph>(boost::edges_are_sorted, edges.begin(), edges.end(),
                                                      g.vertices())](std::vector<double>& sums) {
    const auto index = get(boost::vertex_index, *graph);
    boost::brandes_betweenness_centrality(
        *graph, boost::centrality_map(boost::make_iterator_property_map(sums.begin(), index)).vertex_index_map(index));
  };
}

const bool added = (betweenness_peers().push_back({"boost", make}), true);

}  // namespace

}  // namespace spargo::bench
