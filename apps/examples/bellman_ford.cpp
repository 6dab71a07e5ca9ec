// bellman_ford [EDGES [SOURCE]]: distances. EDGES: lines `from to weight`, or gen:...; edge e then weighs 1 + e % 255.
#include "bellman_ford.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

int main(int argc, char** argv) try {
  using namespace spargo;
  const std::string name = argc > 1 ? argv[1] : "gen:grid2d:n=256";
  const bool generated = is_generator_spec(name);
  const context<host> ctx;
  auto edges = generated ? generate<double, std::int32_t>(ctx, name) : read_edge_list<std::int32_t>(ctx, name).edges;
  auto rows = to_csr<std::int64_t>(ctx, edges.view());
  for (std::int64_t e = 0; generated && e < rows.nnz(); ++e) rows.values()[e] = static_cast<double>(1 + e % 255);
  const graph_view<std::int32_t, std::int64_t, host> g{std::as_const(rows).view(), {}, direction_kind::directed};
  const std::int32_t source = argc > 2 ? std::stoi(argv[2]) : 0;
  if (source < 0 || source >= g.vertices()) throw std::invalid_argument("the source is not a vertex");

  std::int64_t reached = 0;
  double farthest = 0;
  for (const double d : bellman_ford(ctx, g, rows.values().data(), source)) {
    if (d == std::numeric_limits<double>::max()) continue;
    ++reached;
    farthest = std::max(farthest, d);
  }
  std::printf("reached: %lld of %lld, farthest: %g\n", static_cast<long long>(reached),
              static_cast<long long>(g.vertices()), farthest);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
