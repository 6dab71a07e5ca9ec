// Levels of Louvain and Leiden: the graph as the first one, and a pass over all from any of them.
#pragma once

#include "graph/communities/executor.hpp"
#include "graph/communities/modularity.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <utility>

namespace spargo::detail::communities {

// The graph as level 0 and its degrees.
template <class I, class O>
struct level_source {
  weighted_graph<std::int64_t, I, O, host> symmetric;  // of a directed graph
  array<std::int64_t, host> weights;                   // of an undirected one; empty: 1
  level_graph<I, O> level;                             // without masses
  array<std::int64_t, host> degree;                    // directed: out-degree
  array<std::int64_t, host> in_degree;
};

template <class I, class O>
[[nodiscard]] level_source<I, O> undirected_source(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                   fixed_weights weights);
template <class I, class O>
[[nodiscard]] level_source<I, std::int64_t> directed_source(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                            fixed_weights weights);

// An owned level.
template <class I, class O>
struct level_arrays {
  array<O, host> offsets;
  array<I, host> neighbours;
  array<std::int64_t, host> weights;  // empty: each is 1
  array<std::int64_t, host> mass;
  array<std::int64_t, host> in_mass;

  [[nodiscard]] level_graph<I, O> view() const {
    return {mass.size(),       offsets.data(),
            neighbours.data(), weights.empty() ? nullptr : weights.data(),
            mass.data(),       in_mass.empty() ? nullptr : in_mass.data()};
  }
};

// Sorts every row of a level that is small enough to be moved in sequence: there the order of neighbours counts.
template <class I, class O>
void sort_rows(level_arrays<I, O>& level);

// Groups as nodes of the next level.
struct group_count {
  std::int64_t groups = 0;
  std::int64_t finished = 0;  // nodes without entries that are alone in their community: no level moves them again

  [[nodiscard]] std::int64_t all() const { return groups + finished; }
};

// A node that is no node of the next level: below 0. Its own inverse.
template <class I>
[[nodiscard]] SPARGO_HD I finished_node(I name) {
  return -1 - name;
}

// The seed of a level, the first being 1.
[[nodiscard]] inline std::uint64_t level_key(std::uint64_t seed, std::int64_t level) {
  return mixed_bits(seed, static_cast<std::uint64_t>(level));
}

// One pass over a level and all above it. community: [node] the number of a node; on return the smallest node of its
// community. `level`: the number of g, and on return of the last level.
template <class I, class O>
void improve_levels(const context<host>& ctx, level_graph<I, O> g, span<I, host> community, const gain_rule& rule,
                    const communities_options& options, std::uint64_t seed, std::int64_t& level);

// Passes until `most`, or until two in a row gain nothing. improve(seed, levels): one pass from the labels found so
// far, in 128-bit units of which `per_weight` are one of the weight of all edges; accept(): its labels are the best so
// far.
template <class Improve, class Quality, class Accept>
[[nodiscard]] run_outcome take_passes(const communities_options& options, std::int64_t most, int128 quality,
                                      double per_weight, Improve&& improve, Quality&& quality_found, Accept&& accept) {
  run_outcome outcome;
  for (int idle = 0; outcome.rounds < most && idle < 2;) {
    std::int64_t levels = 1;
    improve(mixed_bits(options.seed, static_cast<std::uint64_t>(outcome.rounds)), levels);
    ++outcome.rounds;
    const int128 found = quality_found();
    ++idle;
    if (found < quality) continue;
    accept();
    outcome.levels = levels;
    if (static_cast<double>(found - quality) / per_weight > options.tolerance) idle = 0;
    quality = found;
  }
  return outcome;
}

// Of communities: the weight inside, twice unless directed, and the sum of the squares of their masses.
struct partition_sums {
  std::int64_t inside = 0;
  int128 squares = 0;
};

// What gains add up to, or twice as much.
[[nodiscard]] inline int128 quality_of(const partition_sums& sums, const gain_rule& rule, bool ordered_pairs) {
  return sums.inside * (ordered_pairs ? 2 : 1) * rule.link - rule.penalty * sums.squares;
}
// squares: of degrees (directed: of products). total: of all degrees.
[[nodiscard]] inline double modularity_of(const partition_sums& sums, std::int64_t total,
                                          const communities_options& options) {
  if (total == 0) return 0;
  const auto all = static_cast<double>(total);
  const double resolution = options.objective == communities_objective::modularity ? options.resolution : 1;
  return static_cast<double>(sums.inside) / all - resolution * (static_cast<double>(sums.squares) / all / all);
}

}  // namespace spargo::detail::communities
