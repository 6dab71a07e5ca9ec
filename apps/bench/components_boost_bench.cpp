// Peers on the host: Boost.Graph's connected_components and strong_components on its own CSR graph.
#include "bench/components_cases.hpp"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/strong_components.hpp>

#include <memory>
#include <utility>

namespace spargo::bench {

namespace {

using boost_graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                       boost::no_property, bfs_index, bfs_index>;

std::shared_ptr<const boost_graph> copied(const bfs_view& g) {
  std::vector<std::pair<bfs_index, bfs_index>> edges;
  edges.reserve(static_cast<std::size_t>(g.out.nnz()));
  for (bfs_index u = 0; u < g.vertices(); ++u) {
    for (bfs_index e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) edges.emplace_back(u, g.out.indices[e]);
  }
  return std::make_shared<const boost_graph>(boost::edges_are_sorted, edges.begin(), edges.end(), g.vertices());
}

// An undirected graph has every edge in both directions, as the search needs.
components_peer::find make_weak(const bfs_view& g) {
  return [graph = copied(g)](std::vector<bfs_index>& numbers) {
    const auto index = get(boost::vertex_index, *graph);
    boost::connected_components(*graph, boost::make_iterator_property_map(numbers.begin(), index));
  };
}

components_peer::find make_strong(const bfs_view& g) {
  return [graph = copied(g)](std::vector<bfs_index>& numbers) {
    const auto index = get(boost::vertex_index, *graph);
    boost::strong_components(*graph, boost::make_iterator_property_map(numbers.begin(), index));
  };
}

const bool added = (components_peers().push_back({"boost", components_connection::weak, make_weak}),
                    components_peers().push_back({"boost", components_connection::strong, make_strong}), true);

}  // namespace

}  // namespace spargo::bench
