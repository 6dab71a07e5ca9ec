#include <spargo/spargo.hpp>

#include <cstdio>
#include <string>
#include <vector>

// The product y = A * 1 of a Matrix Market file, and the system A s = y; its graph searched and ranked.
int main(int argc, char** argv) try {
  using namespace spargo;
  const context<host> ctx;
  const auto entries = read_matrix_market(ctx, argc > 1 ? argv[1] : "matrix.mtx");

  const auto a = to_csr(ctx, entries);
  const std::vector<double> x(static_cast<std::size_t>(a.cols()), 1.0);
  std::vector<double> y(static_cast<std::size_t>(a.rows()));
  const spmv_plan plan(ctx, a);
  plan.run(1.0, x, 0.0, y);  // as often as you like: it allocates nothing

  std::vector<double> s(x.size());                                    // the first guess, then the solution
  const krylov_result solved = krylov_plan(ctx, a.view()).run(y, s);  // the matrix decides on the method
  std::printf("A s = A*1 by %s, %lld iterations: residual %.0e, s begins with %.3f\n",
              std::string(to_string(solved.method)).c_str(), static_cast<long long>(solved.iterations),
              solved.relative_residual, s.empty() ? 0.0 : s[0]);

  const auto g = build_graph(ctx, entries, {.direction = direction_kind::undirected});
  const auto tree = bfs(ctx, g, 0);
  const auto ranks = pagerank(ctx, g);
  std::printf("spargo %s (%s): A*1 begins with %g; reached %lld of %d, depth %zu; %lld steps of PageRank\n",
              SPARGO_VERSION_STRING, plan.reason().c_str(), y.empty() ? 0.0 : y[0],
              static_cast<long long>(tree.reached), g.vertices(), tree.level_sizes.size() - 1,
              static_cast<long long>(ranks.iterations));
  return 0;
} catch (const spargo::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
