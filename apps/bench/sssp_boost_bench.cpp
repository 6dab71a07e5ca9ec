// Peer on the host: Boost.Graph's dijkstra_shortest_paths on its own CSR graph.
#include "bench/sssp_cases.hpp"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

#include <memory>
#include <utility>

namespace spargo::bench {

namespace {

struct weighted_edge {
  std::int64_t weight;
};

using boost_graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, weighted_edge,
                                                       boost::no_property, bfs_index, bfs_index>;

std::shared_ptr<const boost_graph> copied(const sssp_view& g) {
  std::vector<std::pair<bfs_index, bfs_index>> edges;
  std::vector<weighted_edge> weights;
  edges.reserve(static_cast<std::size_t>(g.out.nnz()));
  weights.reserve(static_cast<std::size_t>(g.out.nnz()));
  for (bfs_index u = 0; u < g.vertices(); ++u) {
    for (bfs_index e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      edges.emplace_back(u, g.out.indices[e]);
      weights.push_back({g.out_weights[e]});
    }
  }
  return std::make_shared<const boost_graph>(boost::edges_are_sorted, edges.begin(), edges.end(), weights.begin(),
                                             g.vertices());
}

sssp_peer::search make(const sssp_view& g) {
  return [graph = copied(g)](bfs_index source, std::vector<std::int64_t>& distances) {
    const auto index = get(boost::vertex_index, *graph);
    boost::dijkstra_shortest_paths(*graph, source,
                                   boost::weight_map(get(&weighted_edge::weight, *graph))
                                       .distance_map(boost::make_iterator_property_map(distances.begin(), index))
                                       .distance_inf(sssp_unreached<sssp_weight>));
  };
}

const bool added = (sssp_peers().push_back({"boost", make}), true);

}  // namespace

}  // namespace spargo::bench
