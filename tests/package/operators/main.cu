// The same on a device; ends with 77 where there is none.
#include "components.cuh"

#include <spargo/io/edge_list.hpp>

#include <cstdio>
#include <set>

int main(int argc, char** argv) try {
  using namespace spargo;
  const auto list = read_edge_list<std::int32_t>(context<host>(), argc > 1 ? argv[1] : "edges.txt");
  const auto g =
      build_graph<std::int64_t>(context<host>(), list.edges.view(), {.direction = direction_kind::undirected});
  const context<device> ctx;
  const auto there = to_device(ctx, g.view());
  const auto label = connected_components(ctx, there.view());
  std::printf("components: %zu\n", std::set<std::int32_t>(label.begin(), label.end()).size());
  return 0;
} catch (const spargo::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return e.code() == spargo::error_code::device_unavailable ? 77 : 1;
}
