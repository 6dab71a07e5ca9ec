// Similarities: Jaccard and Adamic-Adar of the ends of every edge, Jaccard of 2^20 edges as given pairs, and the 10
// most similar vertices of every vertex of smaller graphs.
#include "bench/plan_cases.hpp"

#include <spargo/graph/similarity.hpp>

namespace spargo::bench {

namespace {

template <class Space>
double report_pairs(benchmark::State& state, const bench_graph<Space>& g, auto& plan, similarity_pairs kind,
                    const similarity_options& options) {
  const double seconds = g.median_run([&] { plan.run(); });
  const auto sources = g.fetch(plan.sources());
  const auto targets = g.fetch(plan.targets());
  const auto values = g.fetch(plan.values());
  expect_no_fault(check_similarity(g.cpu(), g.host_view(), {sources, targets, values}, kind, options).fault);
  state.counters["Mpairs/s"] = static_cast<double>(values.size()) / seconds * 1e-6;
  return report_plan(state, g, plan, seconds);
}

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         const similarity_options& options) {
  similarity_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), options);
  return report_pairs(state, g, plan, options.top > 0 ? similarity_pairs::top : similarity_pairs::edges, options);
};

// Edges evenly spaced among all.
constexpr auto measure_given = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                               std::int64_t pairs) {
  const auto& edges = g.host_view().out;
  array<bfs_index, host> sources(g.cpu(), std::min<std::int64_t>(pairs, edges.nnz()));
  array<bfs_index, host> targets(g.cpu(), sources.size());
  bfs_index u = 0;
  for (std::int64_t k = 0; k < sources.size(); ++k) {
    const std::int64_t e = k * (edges.nnz() / sources.size());
    while (edges.offsets[u + 1] <= e) ++u;
    sources[k] = u;
    targets[k] = edges.indices[e];
  }
  similarity_plan<bfs_index, bfs_index, Space> plan(g.ctx(), g.view(), g.place(sources).view(),
                                                    g.place(targets).view());
  return report_pairs(state, g, plan, similarity_pairs::given, {});
};

const registration here{[] {
  const plan_graphs graphs = plan_graphs().undirected();
  const auto small = bfs_cases_or_file({{"rmat_16_16", {"gen:rmat:scale=16,degree=16"}}});
  add_plan_cases<similarity_options>("similarity",
                                     {{"rows", {}}, {"rows+adamic-adar", {.measure = similarity_measure::adamic_adar}}},
                                     measure, graphs);
  add_plan_cases<std::int64_t>("similarity", {{"rows+given", std::int64_t{1} << 20}}, measure_given, graphs);
  add_plan_cases<similarity_options>("similarity", {{"rows+top_10", {.top = 10}}}, measure,
                                     plan_graphs{small, small}.undirected());
}};

}  // namespace

}  // namespace spargo::bench
