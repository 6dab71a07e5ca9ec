// Shared by the BFS benchmarks: the graphs, timing and validation of searches, and the figures of merit.
//
// A case searches once from each of 64 sources and reports the median, minimum, quartiles and maximum of the times, and
// traversed edges per second by Graph500's rules: the harmonic mean over the searches and its standard error. MTEPS
// counts each edge of the built graph once; Graph500_MTEPS, like Graph500, counts input edges, including loops and
// duplicates. Every search is validated after it is timed: its levels against the benchmarks' own search
// (bfs_problem.hpp), and both results by check_bfs; a wrong result fails the case. Validation would disturb the times
// of quick searches; so the previous search is repeated, untimed, before the clock starts, and caches and clocks are as
// in back-to-back searches.
#pragma once

#include "bench/bfs_problem.hpp"

#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace spargo::bench {

// A graph with its name in cases, and whether the rungs that are slow by design run on it.
struct bfs_case {
  std::string name;
  bfs_spec spec;
  bool push_only_rungs = true;
};

// The user's file or spec, otherwise `built_in`; directed unless the file or generator says that it is symmetric.
inline std::vector<bfs_case> bfs_cases_or_file(std::vector<bfs_case> built_in) {
  const std::string& file = current_settings().file;
  if (file.empty()) return built_in;
  bool symmetric = false;
  if (is_generator_spec(file)) {
    symmetric = describe_generator(file).symmetric;
  } else if (is_matrix_market_name(file)) {
    symmetric = read_matrix_market_header(file).symmetry != symmetry_kind::general;
  }
  std::string name = file.substr(file.find_last_of('/') + 1);
  return {{name, {file, symmetric ? direction_kind::undirected : direction_kind::directed}}};
}

// Graphs for measuring graph algorithms on a device.
inline std::vector<bfs_case> device_graphs_or_file() {
  return bfs_cases_or_file({{"rmat_22_16", {"gen:rmat:scale=22,degree=16"}},
                            {"rmat_22_16_directed", {"gen:rmat:scale=22,degree=16", direction_kind::directed}},
                            {"uniform_4m_16", {"gen:uniform:rows=4194304,degree=16"}},
                            {"grid_2048", {"gen:grid2d:n=2048"}}});
}

struct bfs_rates {
  double mean = 0;   // harmonic
  double error = 0;  // standard error
};

// Norris, "The standard errors of the geometric and harmonic means", 1940, as in Graph500's reference code.
inline bfs_rates harmonic_mean(const std::vector<double>& seconds, const std::vector<double>& edges) {
  const auto n = static_cast<double>(seconds.size());
  double sum = 0;
  for (std::size_t k = 0; k < seconds.size(); ++k) sum += seconds[k] / edges[k];
  double squares = 0;
  for (std::size_t k = 0; k < seconds.size(); ++k) squares += std::pow(seconds[k] / edges[k] - sum / n, 2);
  const double mean = n / sum;
  return {mean, n > 1 ? std::sqrt(squares) / (n - 1) * mean * mean : 0};
}

// Quantile q of the sorted values, interpolated.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

inline void note_searches(benchmark::State& state, bfs_problem& p, const std::vector<double>& seconds) {
  std::vector<double> sorted(seconds);
  std::sort(sorted.begin(), sorted.end());
  state.counters["searches"] = static_cast<double>(seconds.size());
  state.counters[least_ms] = sorted.front() * 1e3;
  state.counters[first_quartile_ms] = quantile(sorted, 0.25) * 1e3;
  state.counters[third_quartile_ms] = quantile(sorted, 0.75) * 1e3;
  state.counters[greatest_ms] = sorted.back() * 1e3;
  std::vector<double> edges;
  std::vector<double> pairs;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    edges.push_back(p.expected(k).edges);
    pairs.push_back(p.expected(k).pairs);
  }
  const bfs_rates rates = harmonic_mean(seconds, edges);
  state.counters[mteps] = rates.mean * 1e-6;
  state.counters[mteps_error] = rates.error * 1e-6;
  state.counters["Graph500_MTEPS"] = harmonic_mean(seconds, pairs).mean * 1e-6;
}

inline void validate(bfs_problem& p, std::size_t k, span<const std::int32_t, host> levels,
                     span<const bfs_index, host> parents) {
  const std::string from = "wrong result from source " + std::to_string(p.sources[k]) + ": ";
  if (levels_hash(levels, p.ctx.threads()) != p.expected(k).hash) {
    const auto& right = p.reference(k);
    std::int64_t v = 0;
    while (v < levels.size() && levels[v] == right[static_cast<std::size_t>(v)]) ++v;
    throw wrong_result(from + "the level of vertex " + std::to_string(v));
  }
  const std::string wrong = check_bfs(p.ctx, p.graph.view(), p.sources[k], levels, parents);
  if (!wrong.empty()) throw wrong_result(from + wrong);
}

// Times `run(source)`; `levels()` and `parents()` (may be empty) are its result on the host. Returns median seconds.
template <class Run, class Levels, class Parents>
double measure_bfs(benchmark::State& state, bfs_problem& p, Run&& run, Levels&& levels, Parents&& parents) {
  constexpr double quick = 0.02;  // longer searches fill the caches themselves
  std::vector<double> seconds;
  run(p.sources.back());
  for (std::size_t k = 0; k < p.sources.size(); ++k) {
    if (k > 0 && seconds.back() < quick) run(p.sources[k - 1]);
    seconds.push_back(median_seconds([&] { run(p.sources[k]); }, 1, 0));
    validate(p, k, span<const std::int32_t, host>(levels()), span<const bfs_index, host>(parents()));
  }
  note_searches(state, p, seconds);
  return median(seconds);
}

inline std::string bfs_rung(bfs_algorithm algorithm, bfs_output output) {
  return std::string(to_string(algorithm)) + (output == bfs_output::levels ? "" : "+parents");
}

// Another library's host search, prepared by `make`. Fills both vectors (an element per vertex, -1 if unreached).
struct bfs_peer {
  using search =
      std::function<void(bfs_index source, std::vector<std::int32_t>& levels, std::vector<bfs_index>& parents)>;
  std::string name;
  int threads;
  std::function<search(const bfs_view&)> make;
};

inline std::vector<bfs_peer>& bfs_peers() {
  static std::vector<bfs_peer> all;
  return all;
}

// Adds a graph's cases for one backend; graph by graph, so that each graph is built once.
struct bfs_backend_cases {
  std::function<void(const bfs_case&)> add;
  std::vector<std::string> built_in;  // names of the built-in graphs that it runs
};

inline std::vector<bfs_backend_cases>& bfs_backends() {
  static std::vector<bfs_backend_cases> all;
  return all;
}

}  // namespace spargo::bench
