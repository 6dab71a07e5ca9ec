// BFS on the device: every algorithm. A search synchronises at its end, so the host's clock times it whole, launch
// and copy of the level sizes included.
#include "bench/bfs_cases.hpp"

namespace spargo::bench {

namespace {

struct device_problem {
  const bfs_problem& on_host;
  context<device> ctx;
  graph<bfs_index, bfs_index, device> graph_there;

  explicit device_problem(const std::string& spec)
      : on_host(bfs_problem::of(spec)), graph_there(to_device(ctx, on_host.graph.view())) {}
};

double measure_plan(benchmark::State& state, const std::string& spec, bfs_algorithm algorithm) {
  const device_problem p(spec);
  bfs_plan<bfs_index, bfs_index, device> plan(p.ctx, p.graph_there.view(), {.algorithm = algorithm});
  return measure_bfs(
      state, p.on_host, [&](bfs_index source) { plan.run(source); }, [&] { return to_host(p.ctx, plan.levels()); },
      [&] { return to_host(p.ctx, plan.parents()); }, 5);
}

void add_graph(const std::string& name, const std::string& spec) {
  for (const auto algorithm : {bfs_algorithm::global_queue, bfs_algorithm::block_queue, bfs_algorithm::load_balanced,
                               bfs_algorithm::direction_optimizing}) {
    add_case("bfs/" + name + "/cuda/" + std::string(to_string(algorithm)),
             [=](benchmark::State& state) { return measure_plan(state, spec, algorithm); });
  }
}

void add_all() {
  if (!current_settings().device) return;
  add_graph("rmat_22_16", "gen:rmat:scale=22,degree=16");
  add_graph("uniform_4m_16", "gen:uniform:rows=4194304,degree=16");
  add_graph("grid_2048", "gen:grid2d:n=2048");
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
