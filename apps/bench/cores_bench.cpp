// Core numbers on both backends: the median time of a plan's runs by the host's clock, which includes waiting for the
// device, and million stored edges per second, each counted once.
#include "bench/bfs_cases.hpp"

#include <spargo/graph/cores.hpp>

#include <string>
#include <vector>

namespace spargo::bench {

namespace {

template <class Space>
double measure_plan(benchmark::State& state, const bfs_spec& spec) {
  constexpr bool on_host = std::same_as<Space, host>;
  bfs_problem& p = bfs_problem::of(spec);
  const auto time = [&](const auto& ctx, const auto& g) {
    cores_plan<bfs_index, bfs_index, Space> plan(ctx, g);
    const auto run = [&] {
      plan.run();
      (void)plan.max_core();  // waits
    };
    const double seconds = median_seconds(run, on_host ? 5 : 25, on_host ? 1 : 3);
    state.counters["max_core"] = static_cast<double>(plan.max_core());
    state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
    std::string wrong;
    if constexpr (on_host) {
      wrong = check_cores(p.ctx, p.graph.view(), plan.cores());
    } else {
      wrong = check_cores(p.ctx, p.graph.view(), to_host(ctx, plan.cores()).view());
    }
    if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
    state.counters[mteps] = static_cast<double>(p.graph.view().out.nnz()) / seconds * 1e-6;
    return seconds;
  };
  if constexpr (on_host) {
    return time(p.ctx, p.graph.view());
  } else {
    return time(context<device>(), p.graph_there->view());
  }
}

template <class Space>
void add(const std::vector<bfs_case>& cases, const std::string& place) {
  for (const bfs_case& c : cases) {
    add_case("cores/" + c.name + place + "/peel",
             [spec = c.spec](benchmark::State& state) { return measure_plan<Space>(state, spec); });
  }
}

const registration here{[] {
  if (current_settings().host) {
    add<host>(bfs_cases_or_file({{"rmat_20_16", {"gen:rmat:scale=20,degree=16"}},
                                 {"uniform_1m_16", {"gen:uniform:rows=1048576,degree=16"}},
                                 {"grid_2000", {"gen:grid2d:n=2000"}}}),
              "/cpu");
  }
  if (current_settings().device) add<device>(device_graphs_or_file(), "/cuda");
}};

}  // namespace

}  // namespace spargo::bench
