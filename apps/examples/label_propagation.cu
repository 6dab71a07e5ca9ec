// The same on a device; exits with 77 if there is none.
#include "label_propagation.cuh"

#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) try {
  using namespace spargo;
  const std::string name = argc > 1 ? argv[1] : "gen:rmat:scale=16,degree=16";
  const context<host> here;
  const auto edges = is_generator_spec(name) ? generate<double, std::int32_t>(here, name)
                                             : read_edge_list<std::int32_t>(here, name).edges;
  const auto g = build_graph<std::int64_t>(here, edges.view(), {.direction = direction_kind::undirected});
  const context<device> ctx;
  const auto there = to_device(ctx, g.view());
  const auto label = connected_components(ctx, there.view());
  std::int64_t components = 0;  // number of vertices that keep their own label
  for (std::size_t v = 0; v < label.size(); ++v) components += label[v] == static_cast<std::int32_t>(v) ? 1 : 0;
  std::printf("components: %lld\n", static_cast<long long>(components));
  return 0;
} catch (const spargo::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return e.code() == spargo::error_code::device_unavailable ? 77 : 1;
}
