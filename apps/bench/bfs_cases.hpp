// What the BFS benchmarks share: graphs, sources, and the figure of merit.
//
// A case searches from 16 vertices of degree above 0, drawn with a fixed seed, and reports the median time and
// Graph500's harmonic mean of traversed edges per second: edges of the component searched, each undirected edge
// once. Results are validated outside the timed part; a wrong one fails its case.
#pragma once

#include "bench/bench.hpp"

#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>
#include <spargo/io/generate.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace spargo::bench {

using bfs_index = std::int32_t;
using bfs_graph = graph<bfs_index, bfs_index, host>;
using bfs_view = graph_view<bfs_index, bfs_index, host>;

struct bfs_problem {
  context<host> ctx{{.threads = current_settings().threads}};
  bfs_graph graph;
  std::vector<bfs_index> sources;

  explicit bfs_problem(const std::string& spec) {
    const auto pairs = generate<pattern, bfs_index>(ctx, spec);
    graph = build_graph<bfs_index, bfs_index, host>(ctx, pairs.view(), {.direction = direction_kind::undirected});
    const auto offsets = graph.view().out.offsets;
    std::mt19937_64 random(1);
    while (sources.size() < 16) {
      const auto v = static_cast<bfs_index>(random() % static_cast<std::uint64_t>(graph.vertices()));
      if (offsets[v + 1] > offsets[v]) sources.push_back(v);
    }
  }

  // The last one is kept, since the cases of a graph follow each other.
  static bfs_problem& of(const std::string& spec) {
    static std::string held;
    static std::unique_ptr<bfs_problem> kept;
    if (held != spec) {
      kept.reset();
      kept = std::make_unique<bfs_problem>(spec);
      held = spec;
    }
    return *kept;
  }
};

// Undirected edges among the reached vertices.
inline double component_edges(const bfs_problem& p, span<const std::int32_t, host> levels) {
  const auto offsets = p.graph.view().out.offsets;
  std::int64_t ends = 0;
#pragma omp parallel for num_threads(p.ctx.threads()) schedule(static) reduction(+ : ends)
  for (std::int64_t v = 0; v < levels.size(); ++v) ends += levels[v] >= 0 ? offsets[v + 1] - offsets[v] : 0;
  return static_cast<double>(ends) / 2;
}

// `run(source)` is timed; `levels()` and `parents()` give its result on the host. Each `validate_every`-th source's
// result is checked.
template <class Run, class Levels, class Parents>
double measure_bfs(benchmark::State& state, const bfs_problem& p, Run&& run, Levels&& levels, Parents&& parents,
                   std::size_t validate_every) {
  std::vector<double> seconds;
  double inverse_rates = 0;
  for (std::size_t k = 0; k < p.sources.size(); ++k) {
    const bfs_index source = p.sources[k];
    seconds.push_back(median_seconds([&] { run(source); }, 3, k == 0 ? 1 : 0));
    const auto& found = levels();
    inverse_rates += seconds.back() / component_edges(p, found);
    if (k % validate_every != 0) continue;
    const std::string wrong = check_bfs(p.ctx, p.graph.view(), source, span<const std::int32_t, host>(found),
                                        span<const bfs_index, host>(parents()));
    if (!wrong.empty()) throw wrong_result("wrong result: " + wrong);
  }
  state.counters[mteps] = static_cast<double>(p.sources.size()) / inverse_rates * 1e-6;
  return median(seconds);
}

// Another library's search on the host: `make` prepares it for a graph. The returned call fills both vectors (of
// one element a vertex, -1 where unreached).
struct bfs_peer {
  using search =
      std::function<void(bfs_index source, std::vector<std::int32_t>& levels, std::vector<bfs_index>& parents)>;
  std::string name;
  std::function<search(const bfs_view&)> make;
};

inline std::vector<bfs_peer>& bfs_peers() {
  static std::vector<bfs_peer> all;
  return all;
}

}  // namespace spargo::bench
