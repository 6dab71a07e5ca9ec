// Peer on the host: Boost.Graph's breadth_first_search on its own CSR graph, with levels and parents recorded.
#include "bench/bfs_cases.hpp"

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

#include <algorithm>
#include <utility>

namespace spargo::bench {

namespace {

using boost_graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                       boost::no_property, bfs_index, bfs_index>;

boost_graph copied(const bfs_view& g) {
  std::vector<std::pair<bfs_index, bfs_index>> edges;
  edges.reserve(static_cast<std::size_t>(g.out.nnz()));
  for (bfs_index u = 0; u < g.vertices(); ++u) {
    for (bfs_index e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) edges.emplace_back(u, g.out.indices[e]);
  }
  return {boost::edges_are_sorted, edges.begin(), edges.end(), g.vertices()};
}

bfs_peer::search make(const bfs_view& g) {
  return [graph = copied(g)](bfs_index source, std::vector<std::int32_t>& levels, std::vector<bfs_index>& parents) {
    std::fill(levels.begin(), levels.end(), -1);
    std::fill(parents.begin(), parents.end(), -1);
    levels[static_cast<std::size_t>(source)] = 0;
    parents[static_cast<std::size_t>(source)] = source;
    const auto index = get(boost::vertex_index, graph);
    const auto level_map = boost::make_iterator_property_map(levels.begin(), index);
    const auto parent_map = boost::make_iterator_property_map(parents.begin(), index);
    boost::breadth_first_search(graph, source,
                                boost::visitor(boost::make_bfs_visitor(
                                    std::pair(boost::record_distances(level_map, boost::on_tree_edge()),
                                              boost::record_predecessors(parent_map, boost::on_tree_edge())))));
  };
}

bool add() {
  bfs_peers().push_back({"boost", 1, make});
  return true;
}

const bool added = add();

}  // namespace

}  // namespace spargo::bench
