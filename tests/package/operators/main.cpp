// Counts the connected components of an edge list, on the host.
#include "components.hpp"

#include <spargo/io/edge_list.hpp>

#include <cstdio>
#include <set>

int main(int argc, char** argv) try {
  using namespace spargo;
  const context<host> ctx;
  const auto list = read_edge_list<std::int32_t>(ctx, argc > 1 ? argv[1] : "edges.txt");
  const auto g = build_graph<std::int64_t>(ctx, list.edges.view(), {.direction = direction_kind::undirected});
  const auto label = connected_components(ctx, g.view());
  std::printf("components: %zu\n", std::set<std::int32_t>(label.begin(), label.end()).size());
  return 0;
} catch (const spargo::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
