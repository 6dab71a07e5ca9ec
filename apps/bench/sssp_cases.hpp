// Shared by the shortest paths benchmarks: weights for the BFS benchmarks' graphs, timing, check of distances.
//
// Weights are integers from 1 to 255, sampled uniformly for each pair of vertices, as in the GAP benchmark. A case
// searches once from each of 8 sources, after an untimed search, and reports the median time and million stored edges
// per second. Distances only, as in GAP; `+parents`: with parents. check_sssp checks each result.
#pragma once

#include "bench/bfs_cases.hpp"

#include <spargo/graph/sssp.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace spargo::bench {

using sssp_weight = std::int32_t;
using sssp_view = weighted_graph_view<sssp_weight, bfs_index, bfs_index, host>;

// Weights for the graph of bfs_problem; cached like it.
class sssp_problem {
 public:
  static constexpr std::size_t searches = 8;

  static sssp_problem& of(const bfs_spec& spec) {
    static sssp_problem* kept = nullptr;  // never destroyed, like bfs_problem
    bfs_problem& graph = bfs_problem::of(spec);
    if (kept == nullptr || kept->source_ != spec.source) {
      delete std::exchange(kept, nullptr);
      kept = new sssp_problem(graph);
    }
    kept->graph_ = &graph;  // rebuilt if another graph was used meanwhile: the same graph and weights
    return *kept;
  }

  [[nodiscard]] const context<host>& ctx() const { return graph_->ctx; }
  [[nodiscard]] bfs_index source(std::size_t k) const { return graph_->sources[k]; }
  [[nodiscard]] sssp_view view() const {
    sssp_view g;
    static_cast<bfs_view&>(g) = graph_->graph.view();
    g.out_weights = weights_;
    settle_in_edges(g);
    return g;
  }

  // In device memory, if device cases run.
  [[nodiscard]] weighted_graph_view<sssp_weight, bfs_index, bfs_index, device> device_view() const {
    weighted_graph_view<sssp_weight, bfs_index, bfs_index, device> g;
    static_cast<graph_view<bfs_index, bfs_index, device>&>(g) = graph_->device_graph->view();
    g.out_weights = weights_there_.view();
    settle_in_edges(g);
    return g;
  }

  void check(std::size_t k, span<const std::int64_t, host> distances, span<const bfs_index, host> parents) const {
    const std::string wrong = check_sssp(ctx(), view(), source(k), distances, parents);
    if (!wrong.empty()) throw wrong_result("wrong result from source " + std::to_string(source(k)) + ": " + wrong);
  }

 private:
  // Weights are in the order of out-edges: a directed graph is searched without in-edges.
  template <class View>
  static void settle_in_edges(View& g) {
    if (g.direction == direction_kind::directed) g.in = {};
    if (g.has_in_edges()) g.in_weights = g.out_weights;
  }

  explicit sssp_problem(bfs_problem& graph) : graph_(&graph), source_(graph.spec.source) {
    const bfs_view g = graph.graph.view();
    weights_.resize(static_cast<std::size_t>(g.out.nnz()));
#pragma omp parallel for num_threads(ctx().threads()) schedule(static)
    for (bfs_index u = 0; u < g.vertices(); ++u) {
      for (bfs_index e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
        weights_[static_cast<std::size_t>(e)] = weight_of(u, g.out.indices[e]);
      }
    }
    if (graph.device_graph == nullptr) return;
    const context<device> there;
    weights_there_ = to_device(there, span<const sssp_weight, host>(weights_));
  }

  [[nodiscard]] static sssp_weight weight_of(bfs_index u, bfs_index v) {
    std::uint64_t z = static_cast<std::uint64_t>(std::min(u, v)) << 32 | static_cast<std::uint32_t>(std::max(u, v));
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<sssp_weight>(1 + (z ^ (z >> 31)) % 255);
  }

  bfs_problem* graph_;
  std::string source_;
  std::vector<sssp_weight> weights_;
  array<sssp_weight, device> weights_there_;
};

// Times `run(source)`; `distances()` and `parents()` (which may be empty) return its result.
template <class Run, class Distances, class Parents>
double measure_sssp(benchmark::State& state, const sssp_problem& p, Run&& run, Distances&& distances,
                    Parents&& parents) {
  std::vector<double> seconds;
  run(p.source(sssp_problem::searches));
  for (std::size_t k = 0; k < sssp_problem::searches; ++k) {
    seconds.push_back(median_seconds([&] { run(p.source(k)); }, 1, 0));
    p.check(k, distances(), parents());
  }
  const double middle = median(seconds);
  state.counters["searches"] = static_cast<double>(sssp_problem::searches);
  state.counters[mteps] = static_cast<double>(p.view().out.nnz()) / middle * 1e-6;
  return middle;
}

// Another library's search on the host: `make` prepares it for a graph; the returned call fills the distances.
struct sssp_peer {
  using search = std::function<void(bfs_index source, std::vector<std::int64_t>& distances)>;
  std::string name;
  std::function<search(const sssp_view&)> make;
};

inline std::vector<sssp_peer>& sssp_peers() {
  static std::vector<sssp_peer> all;
  return all;
}

}  // namespace spargo::bench
