// Shared by the graph build benchmarks: pairs in memory, and the check of the result.
//
// A case builds the symmetric, sorted CSR without duplicates and loops from unordered pairs. MTEPS: million pairs.
#pragma once

#include "bench/bench.hpp"
#include "bench/cached.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/io/generate.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace spargo::bench {

using build_index = std::int32_t;
using build_pairs = coo_matrix<pattern, build_index, host>;
using build_view = graph_view<build_index, build_index, host>;

struct build_problem {
  context<host> ctx{{.threads = current_settings().threads}};
  build_pairs pairs;

  explicit build_problem(const std::string& spec) : pairs(generate<pattern, build_index>(ctx, spec)) {}
};

// Throws wrong_result unless rows ascend, without loops, and have every pair both ways (nothing else: distinct_pairs).
inline void expect_built(const build_problem& p, const build_view& g) {
  const auto offsets = g.out.offsets;
  const auto indices = g.out.indices;
  const auto row = [&](build_index u) {
    return std::pair(indices.data() + offsets[u], indices.data() + offsets[u + 1]);
  };
  std::int64_t faults = 0;
#pragma omp parallel for num_threads(p.ctx.threads()) schedule(dynamic, 1024) reduction(+ : faults)
  for (build_index u = 0; u < g.vertices(); ++u) {
    const auto [first, last] = row(u);
    faults += std::adjacent_find(first, last, std::greater_equal<>()) != last;
    for (const build_index* v = first; v < last; ++v) {
      const auto [back, end] = row(*v);
      faults += *v == u || !std::binary_search(back, end, u);
    }
  }
  const auto pairs = p.pairs.view();
#pragma omp parallel for num_threads(p.ctx.threads()) schedule(static) reduction(+ : faults)
  for (std::int64_t k = 0; k < pairs.nnz(); ++k) {
    const build_index u = pairs.row_indices[k];
    const build_index v = pairs.col_indices[k];
    const auto [first, last] = row(u);
    faults += u != v && !std::binary_search(first, last, v);
  }
  if (faults != 0) throw wrong_result("wrong result: " + std::to_string(faults) + " entries are missing or misplaced");
}

// Half the expected number of entries, computed independently: sorted, distinct pairs.
inline std::int64_t distinct_pairs(const build_problem& p) {
  std::vector<std::pair<build_index, build_index>> edges;
  edges.reserve(static_cast<std::size_t>(p.pairs.nnz()));
  const auto pairs = p.pairs.view();
  for (std::int64_t k = 0; k < pairs.nnz(); ++k) {
    const auto [u, v] = std::minmax(pairs.row_indices[k], pairs.col_indices[k]);
    if (u != v) edges.emplace_back(u, v);
  }
  std::sort(edges.begin(), edges.end());
  return std::unique(edges.begin(), edges.end()) - edges.begin();
}

inline void report_build(benchmark::State& state, const build_problem& p, double seconds) {
  state.counters[mteps] = static_cast<double>(p.pairs.nnz()) / seconds * 1e-6;
}

}  // namespace spargo::bench
