#include "commands/graph/vertex_pairs.hpp"

#include <spargo/io/edge_list.hpp>

#include <algorithm>
#include <vector>

namespace spargo::apps {

template <class I>
vertex_pairs<I> read_vertex_pairs(const std::string& flag, const std::string& path, const vertex_names& names) {
  const context<host> cpu;
  auto list = read_edge_pattern<I>(cpu, path);
  const vertex_names listed = names_of(list);
  std::vector<I> vertices;
  for (std::int64_t k = 0; k < listed.vertices; ++k) {
    vertices.push_back(static_cast<I>(expect_vertex(names, flag + " " + path + ": vertex", listed.label(k))));
  }
  const auto in_graph = [&](const auto& ends) {
    array<I, host> found(cpu, ends.size());
    std::transform(ends.begin(), ends.end(), found.begin(), [&](I k) { return vertices[static_cast<std::size_t>(k)]; });
    return found;
  };
  const auto pairs = list.edges.view();
  return {in_graph(pairs.row_indices), in_graph(pairs.col_indices)};
}

template vertex_pairs<std::int32_t> read_vertex_pairs(const std::string&, const std::string&, const vertex_names&);
template vertex_pairs<std::int64_t> read_vertex_pairs(const std::string&, const std::string&, const vertex_names&);

}  // namespace spargo::apps
