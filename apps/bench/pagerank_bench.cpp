// PageRank on the host: one Jacobi step, and runs to the GAP benchmark's tolerance by both algorithms.
#include "bench/pagerank_cases.hpp"

namespace spargo::bench {

namespace {

template <class V>
double measure(benchmark::State& state, const bfs_spec& spec, const pagerank_options& options) {
  bfs_problem& p = bfs_problem::of(spec);
  pagerank_plan<V, bfs_index, bfs_index, host> plan(p.ctx, p.graph.view(), options);
  const double seconds = median_seconds([&] { plan.run(); }, 11, 2);
  expect_ranks<V>(p, plan.ranks(), options);
  const double step = seconds / static_cast<double>(plan.iterations());
  report_step<V>(state, p, step);
  state.counters["iterations"] = static_cast<double>(plan.iterations());
  return options.iterations > 0 ? step : seconds;
}

template <class V>
void add(const bfs_case& c) {
  add_case(pagerank_group<V>(c) + "/step/cpu/jacobi",
           [c](benchmark::State& state) { return measure<V>(state, c.spec, pagerank_steps_options()); });
  for (const auto algorithm : {pagerank_algorithm::jacobi, pagerank_algorithm::gauss_seidel}) {
    const pagerank_options options{
        .algorithm = algorithm, .tolerance = 1e-4, .max_iterations = 1000, .dangling = pagerank_dangling::drop};
    add_case(pagerank_group<V>(c) + "/tolerance/cpu/" + std::string(to_string(algorithm)),
             [c, options](benchmark::State& state) { return measure<V>(state, c.spec, options); });
  }
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const bfs_case& c :
       bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                          {"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}},
                          {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                          {"grid_2000", {"gen:grid2d:n=2000"}}})) {
    add<float>(c);
    add<double>(c);
  }
}};

}  // namespace

}  // namespace spargo::bench
