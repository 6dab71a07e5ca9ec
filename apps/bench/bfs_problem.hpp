// A graph, its sources, and the expected results, by the benchmarks' own search.
//
// Sources: 64 vertices with out-edges, sampled with a fixed seed, as in Graph500. The graph is built once for all its
// cases, on the device if device cases run, otherwise on the host. Every search is compared with a plain level-by-level
// host search that is independent of the library. Its levels are kept as a sum of hashes, 8 bytes per source, since 64
// sets of levels of a large graph would not fit in memory.
#pragma once

#include "bench/bench.hpp"

#include <spargo/graph/graph.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spargo::bench {

using bfs_index = std::int32_t;
using bfs_graph = graph<bfs_index, bfs_index, host>;
using bfs_view = graph_view<bfs_index, bfs_index, host>;

// Source of a graph: a generator's spec, a Matrix Market file (`.mtx` in its name) or an edge list.
struct bfs_spec {
  std::string source;
  direction_kind direction = direction_kind::undirected;
};

inline coo_matrix<pattern, bfs_index, host> bfs_pairs(const context<host>& ctx, const std::string& source) {
  if (is_generator_spec(source)) return generate<pattern, bfs_index>(ctx, source);
  coo_matrix<double, bfs_index, host> read = is_matrix_market_name(source)
                                                 ? read_matrix_market<double, bfs_index>(ctx, source)
                                                 : std::move(read_edge_list<bfs_index>(ctx, source).edges);
  return {read.rows(), read.cols(), std::move(read.row_indices()), std::move(read.col_indices()), {}};
}

// Level by level; threads share a level's vertices. The arrays are reused.
class reference_search {
 public:
  const std::vector<std::int32_t>& run(const bfs_view& g, bfs_index source, int threads) {
    const auto n = static_cast<std::size_t>(g.vertices());
    levels_.assign(n, -1);
    now_.resize(n);
    next_.resize(n);
    levels_[static_cast<std::size_t>(source)] = 0;
    now_[0] = source;
    std::int64_t size = 1;
    for (std::int32_t level = 1; size > 0; ++level) {
      size = expand(g, size, level, threads);
      std::swap(now_, next_);
    }
    return levels_;
  }

 private:
  std::int64_t expand(const bfs_view& g, std::int64_t size, std::int32_t level, int threads) {
    std::int64_t tail = 0;
#pragma omp parallel num_threads(threads) if (size > 4096)
    {
      std::vector<bfs_index> found;
      const auto flush = [&] {
        const auto count = static_cast<std::int64_t>(found.size());
        const std::int64_t at = std::atomic_ref<std::int64_t>(tail).fetch_add(count);
        std::copy(found.begin(), found.end(), next_.begin() + at);
        found.clear();
      };
#pragma omp for schedule(dynamic, 64)
      for (std::int64_t k = 0; k < size; ++k) {
        const bfs_index u = now_[static_cast<std::size_t>(k)];
        for (bfs_index e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
          if (claims(g.out.indices[e], level)) found.push_back(g.out.indices[e]);
        }
        if (found.size() >= 1024) flush();
      }
      flush();
    }
    return tail;
  }

  [[nodiscard]] bool claims(bfs_index v, std::int32_t level) {
    const std::atomic_ref<std::int32_t> held(levels_[static_cast<std::size_t>(v)]);
    std::int32_t none = -1;
    return held.load(std::memory_order_relaxed) < 0 && held.compare_exchange_strong(none, level);
  }

  std::vector<std::int32_t> levels_;
  std::vector<bfs_index> now_;
  std::vector<bfs_index> next_;
};

// Equal for equal levels, for any number of threads; otherwise different, except with probability 2^-64.
inline std::uint64_t levels_hash(span<const std::int32_t, host> levels, int threads) {
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
  for (std::int64_t v = 0; v < levels.size(); ++v) {
    std::uint64_t z = static_cast<std::uint64_t>(v) << 32 | static_cast<std::uint32_t>(levels[v]);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    sum += z ^ (z >> 31);
  }
  return sum;
}

struct bfs_problem {
  static constexpr std::size_t source_count = 64;

  // The expected result of a search from one source.
  struct truth {
    std::uint64_t hash = 0;
    double edges = 0;  // edges of the graph among the reached vertices, an undirected one once
    double pairs = 0;  // the same for the input, including loops and duplicates: what Graph500 counts
  };

  context<host> ctx{{.threads = current_settings().threads}};
  bfs_spec spec;
  bfs_graph graph;
  std::unique_ptr<spargo::graph<bfs_index, bfs_index, device>> device_graph;  // if device cases run
  std::vector<bfs_index> sources;
  std::vector<std::int32_t> pairs_of;  // [vertex] input pairs that list it first

  explicit bfs_problem(bfs_spec of) : spec(std::move(of)) {
    const auto pairs = bfs_pairs(ctx, spec.source);
    count_pairs(pairs.row_indices().view(), pairs.rows());
    if (current_settings().device) {
      build_on_device(pairs.view());
    } else {
      note_build(
          median_seconds([&] { graph = build_graph<bfs_index, bfs_index, host>(ctx, pairs.view(), options()); }, 1, 0));
    }
    draw_sources();
    truths_.resize(sources.size());
  }

  // For source number k; searched on first use.
  const truth& expected(std::size_t k) {
    truth& t = truths_[k];
    if (t.hash != 0) return t;
    const auto& levels = reference(k);
    t.hash = levels_hash(levels, ctx.threads());
    const auto offsets = graph.view().out.offsets;
    std::int64_t ends = 0;
    std::int64_t named = 0;
#pragma omp parallel for num_threads(ctx.threads()) schedule(static) reduction(+ : ends, named)
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
      if (levels[static_cast<std::size_t>(v)] < 0) continue;
      ends += offsets[v + 1] - offsets[v];
      named += pairs_of[static_cast<std::size_t>(v)];
    }
    t.edges = static_cast<double>(ends) / (spec.direction == direction_kind::undirected ? 2 : 1);
    t.pairs = static_cast<double>(named) / (lists_both_ways() ? 2 : 1);
    return t;
  }

  // Searches the levels of source number k; valid until the next call.
  const std::vector<std::int32_t>& reference(std::size_t k) {
    return reference_.run(graph.view(), sources[k], ctx.threads());
  }

  // Caches the last problem for the next case. Never destroyed, since at exit the device may be gone.
  static bfs_problem& of(const bfs_spec& wanted) {
    static bfs_problem* kept = nullptr;
    if (kept == nullptr || kept->spec.source != wanted.source || kept->spec.direction != wanted.direction) {
      delete std::exchange(kept, nullptr);
      kept = new bfs_problem(wanted);
    }
    return *kept;
  }
  static bfs_problem& of(const std::string& source) { return of(bfs_spec{source}); }

 private:
  [[nodiscard]] graph_options options() const {
    return {.direction = spec.direction, .in_edges = spec.direction == direction_kind::directed};
  }

  // Whether the input lists each undirected edge twice: symmetric generators and files do.
  [[nodiscard]] bool lists_both_ways() const {
    return spec.direction == direction_kind::undirected &&
           (!is_generator_spec(spec.source) || describe_generator(spec.source).symmetric);
  }

  void build_on_device(const coo_pattern_view<bfs_index, host>& pairs) {
    const context<device> there;
    const auto rows = to_device(there, pairs.row_indices);
    const auto cols = to_device(there, pairs.col_indices);
    const coo_pattern_view<bfs_index, device> view{pairs.rows, pairs.cols, rows.view(), cols.view()};
    device_graph = std::make_unique<spargo::graph<bfs_index, bfs_index, device>>();
    const auto build = [&] { *device_graph = build_graph<bfs_index>(there, view, options()); };
    note_build(median_seconds(build, 1, 1));  // the first build waits for the pool to grow
    graph = to_host(there, device_graph->view());
  }

  // From pairs in the builder's memory; not part of the search times.
  void note_build(double seconds) const {
    const char* const where = current_settings().device ? " on the device" : " on the host";
    run_context()["build_seconds " + spec.source + where] = std::to_string(seconds);
  }

  void count_pairs(span<const bfs_index, host> rows, bfs_index n) {
    pairs_of.assign(static_cast<std::size_t>(n), 0);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
    for (std::int64_t k = 0; k < rows.size(); ++k) {
      std::atomic_ref<std::int32_t>(pairs_of[static_cast<std::size_t>(rows[k])])
          .fetch_add(1, std::memory_order_relaxed);
    }
  }

  // With replacement, as in Graph500's specification; a graph without edges has no sources.
  void draw_sources() {
    const auto offsets = graph.view().out.offsets;
    if (graph.view().out.nnz() == 0) {
      throw error(error_code::invalid_data, "'" + spec.source + "' has no edges");
    }
    std::mt19937_64 random(1);
    while (sources.size() < source_count) {
      const auto v = static_cast<bfs_index>(random() % static_cast<std::uint64_t>(graph.vertices()));
      if (offsets[v + 1] > offsets[v]) sources.push_back(v);
    }
  }

  std::vector<truth> truths_;
  reference_search reference_;
};

// Undirected edges among the reached vertices.
inline double component_edges(const bfs_problem& p, span<const std::int32_t, host> levels) {
  const auto offsets = p.graph.view().out.offsets;
  std::int64_t ends = 0;
#pragma omp parallel for num_threads(p.ctx.threads()) schedule(static) reduction(+ : ends)
  for (std::int64_t v = 0; v < levels.size(); ++v) ends += levels[v] >= 0 ? offsets[v + 1] - offsets[v] : 0;
  return static_cast<double>(ends) / 2;
}

}  // namespace spargo::bench
