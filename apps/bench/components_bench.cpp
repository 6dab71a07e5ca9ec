// Connected components on both backends: every algorithm, on the host beside the available peers.
#include "bench/components_cases.hpp"
#include "bench/plan_cases.hpp"

namespace spargo::bench {

namespace {

struct components_request {
  components_connection connection;
  components_algorithm algorithm;
  components_edges edges = components_edges::all;
};

constexpr auto measure = []<class Space>(benchmark::State& state, const bench_graph<Space>& g,
                                         const components_request& wanted) {
  using enum components_algorithm;
  components_plan<bfs_index, bfs_index, Space> plan(g.ctx(), with_edges(g.view(), wanted.edges),
                                                    {.connection = wanted.connection, .algorithm = wanted.algorithm});
  const double seconds = g.median_stream_run([&] { plan.run(); }, 11, 2);
  expect_components(g.problem(), g.fetch(plan.labels()), wanted.connection);
  if (wanted.algorithm == union_find || wanted.algorithm == tarjan) state.counters[host_threads_used] = 1;
  state.counters["components"] = static_cast<double>(plan.count());
  return report_plan(state, g, plan, seconds);
};

// Component numbers to labels: the smallest vertex of each.
void relabel(std::vector<bfs_index>& numbers) {
  std::vector<bfs_index> first(numbers.size(), -1);
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    bfs_index& smallest = first.at(static_cast<std::size_t>(numbers[v]));
    if (smallest < 0) smallest = static_cast<bfs_index>(v);
    numbers[v] = smallest;
  }
}

double measure_peer(benchmark::State& state, const bfs_spec& spec, const components_peer& peer) {
  bfs_problem& p = bfs_problem::of(spec);
  const auto find = peer.make(p.graph.view());
  std::vector<bfs_index> numbers(static_cast<std::size_t>(p.graph.vertices()));
  const double seconds = median_seconds([&] { find(numbers); }, 5, 1);
  relabel(numbers);
  expect_components(p, numbers, peer.connection);
  report_components(state, p, seconds);
  return seconds;
}

template <class Space>
void add(const bfs_case& c, const components_request& wanted, const std::string& name) {
  add_plan_case<Space>(c, components_kind(wanted.connection), name, wanted, measure);
}

void add_on_host(const bfs_case& c, components_connection connection,
                 const std::vector<components_algorithm>& algorithms) {
  for (const auto algorithm : algorithms) add<host>(c, {connection, algorithm}, std::string(to_string(algorithm)));
  for (const auto& peer : components_peers()) {
    if (peer.connection != connection) continue;
    add_peer_of(1, std::string(components_kind(connection)) + "/" + c.name + "/cpu/" + peer.name,
                [=](benchmark::State& state) { return measure_peer(state, c.spec, peer); });
  }
}

void add_all_on_host() {
  using enum components_algorithm;
  using enum components_connection;
  for (const bfs_case& c : plan_graphs().on_host) add_on_host(c, weak, {union_find, afforest});
  for (const bfs_case& c : bfs_cases_or_file(
           {{"rmat_20_16_directed", {"gen:rmat:scale=20,degree=16", direction_kind::directed}},
            {"uniform_1m_4_directed", {"gen:uniform:rows=1048576,degree=4", direction_kind::directed}}})) {
    add_on_host(c, strong, {tarjan, forward_backward});
    add<host>(c, {weak, afforest}, "afforest");
    add<host>(c, {weak, afforest, components_edges::out}, "afforest_out_edges");
  }
}

// A run never waits for the host, so CUDA events time it, with a cold L2 cache.
void add_all_on_device() {
  using enum components_algorithm;
  using enum components_connection;
  for (const bfs_case& c : device_graphs_or_file()) {
    add<device>(c, {weak, afforest}, "afforest");
    if (c.spec.direction == direction_kind::undirected) continue;
    add<device>(c, {weak, afforest, components_edges::out}, "afforest_out_edges");
  }
  for (const bfs_case& c : bfs_cases_or_file(
           {{"rmat_22_16_directed", {"gen:rmat:scale=22,degree=16", direction_kind::directed}},
            {"uniform_4m_16_directed", {"gen:uniform:rows=4194304,degree=16", direction_kind::directed}},
            {"uniform_4m_2_directed", {"gen:uniform:rows=4194304,degree=2", direction_kind::directed}}})) {
    add<device>(c, {strong, forward_backward}, "forward_backward");
  }
}

const registration here{[] {
  if (current_settings().host) add_all_on_host();
  if (current_settings().device) add_all_on_device();
}};

}  // namespace

}  // namespace spargo::bench
