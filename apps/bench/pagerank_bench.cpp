// PageRank on both backends: one Jacobi step, on the host beside runs to the GAP benchmark's tolerance by both
// algorithms. On a device the host checks for convergence now and then, so the host clock times a run, twenty steps at
// once; `plan` cases: the cost of a plan, including its copy of the graph.
#include "bench/pagerank_cases.hpp"
#include "bench/plan_cases.hpp"

namespace spargo::bench {

namespace {

template <class V, class Space>
double measure(benchmark::State& state, const bfs_spec& spec, const pagerank_options& options) {
  const bench_graph<Space> g(spec);
  pagerank_plan<V, bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  const double seconds = g.median_run([&] { plan.run(); }, g.on_host ? 11 : 21, g.on_host ? 2 : 3);
  expect_ranks<V>(g.problem(), g.fetch(plan.ranks()), options);
  const double step = seconds / static_cast<double>(plan.iterations());
  report_step<V>(state, g.problem(), step);
  state.counters["iterations"] = static_cast<double>(plan.iterations());
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return options.iterations > 0 ? step : seconds;
}

template <class V>
double measure_plan(const bfs_spec& spec) {
  const bench_graph<device> g(spec);
  return median_seconds([&] {
    const pagerank_plan<V, bfs_index, bfs_index, device> plan(g.ctx(), g.view(), pagerank_steps_options());
    g.ctx().synchronize();
  });
}

template <class V, class Space>
void add(const bfs_case& c) {
  const auto add_one = [&](const std::string& name, const pagerank_options& options) {
    add_case(pagerank_group<V>(c) + name,
             [=](benchmark::State& state) { return measure<V, Space>(state, c.spec, options); });
  };
  if constexpr (std::same_as<Space, host>) {
    add_one("/step/cpu/jacobi", pagerank_steps_options());
    for (const auto algorithm : {pagerank_algorithm::jacobi, pagerank_algorithm::gauss_seidel}) {
      add_one("/tolerance/cpu/" + std::string(to_string(algorithm)),
              {.algorithm = algorithm, .tolerance = 1e-4, .max_iterations = 1000, .dangling = pagerank_dangling::drop});
    }
  } else {
    pagerank_options no_copy = pagerank_steps_options();
    no_copy.copy = pagerank_copy::none;
    add_one("/step/cuda/jacobi", pagerank_steps_options());
    add_one("/step/cuda/jacobi_no_copy", no_copy);
    add_case(pagerank_group<V>(c) + "/plan/cuda/jacobi", [c](benchmark::State&) { return measure_plan<V>(c.spec); });
  }
}

template <class Space>
void add_all(const std::vector<bfs_case>& cases) {
  for (const bfs_case& c : cases) {
    add<float, Space>(c);
    add<double, Space>(c);
  }
}

const registration here{[] {
  const auto host_graphs =
      bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                         {"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}},
                         {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                         {"grid_2000", {"gen:grid2d:n=2000"}}});
  if (current_settings().host) add_all<host>(host_graphs);
  if (current_settings().device) add_all<device>(device_graphs_or_file());
}};

}  // namespace

}  // namespace spargo::bench
