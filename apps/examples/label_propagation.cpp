// label_propagation [EDGES]: counts connected components; EDGES: a file or spec (gen:rmat:scale=16,degree=16).
#include "label_propagation.hpp"

#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) try {
  using namespace spargo;
  const std::string name = argc > 1 ? argv[1] : "gen:rmat:scale=16,degree=16";
  const context<host> ctx;
  const auto edges = is_generator_spec(name) ? generate<double, std::int32_t>(ctx, name)
                                             : read_edge_list<std::int32_t>(ctx, name).edges;
  const auto g = build_graph<std::int64_t>(ctx, edges.view(), {.direction = direction_kind::undirected});
  const auto label = connected_components(ctx, g.view());
  std::int64_t components = 0;  // number of vertices that keep their own label
  for (std::size_t v = 0; v < label.size(); ++v) components += label[v] == static_cast<std::int32_t>(v) ? 1 : 0;
  std::printf("components: %lld\n", static_cast<long long>(components));
  return 0;
} catch (const spargo::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
