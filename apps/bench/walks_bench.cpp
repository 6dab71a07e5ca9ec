// Random walks of 80 steps from vertices that have edges: uniform, by weights, and node2vec's. 2^22 walks on a device,
// 2^18 on the host.
#include "bench/plan_cases.hpp"

#include <spargo/graph/walks.hpp>

namespace spargo::bench {

namespace {

array<bfs_index, host> choose_starts(const context<host>& ctx, const bfs_view& g, std::int64_t walks) {
  array<bfs_index, host> starts(ctx, walks);
  bfs_index v = 0;
  for (std::int64_t k = 0; k < (g.out.nnz() > 0 ? walks : 0); ++k) {
    while (g.out.offsets[v + 1] == g.out.offsets[v]) v = (v + 1) % g.vertices();
    starts[k] = std::exchange(v, static_cast<bfs_index>((v + 1) % g.vertices()));
  }
  return starts;
}

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         const walks_options& options) {
  const std::int64_t walks = std::int64_t{1} << (bench_graph<Space>::on_host ? 18 : 22);
  const auto starts = g.place(choose_starts(g.cpu(), g.host_view(), g.host_view().out.nnz() > 0 ? walks : 0));
  const bool weighted = options.algorithm == walks_algorithm::prefix_sums;
  using plan_type = walks_plan<bfs_index, bfs_index, Space>;
  plan_type plan = weighted ? plan_type(g.ctx(), g.weighted(), starts.view(), options)
                            : plan_type(g.ctx(), g.view(), starts.view(), options);
  const double seconds = g.median_stream_run([&] { plan.run(); });
  expect_no_fault(check_walks(g.cpu(), g.host_view(), g.fetch(plan.vertices()), options));
  state.counters["Msteps/s"] = static_cast<double>(plan.walks() * options.length) / seconds * 1e-6;
  return report_plan(state, g, plan, seconds);
};

const registration here{[] {
  add_plan_cases<walks_options>("walks",
                                {{"uniform", {}},
                                 {"prefix_sums", {.algorithm = walks_algorithm::prefix_sums}},
                                 {"uniform+node2vec", {.p = .5, .q = 2}}},
                                measure, plan_graphs().undirected());
}};

}  // namespace

}  // namespace spargo::bench
