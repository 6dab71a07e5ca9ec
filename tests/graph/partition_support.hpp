// Graphs and oracles for Louvain and Leiden. Oracles work on lists of weighted edges, independently of the library.
#pragma once

#include "graph/communities_support.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace spargo::test {

struct weighted_edge {
  std::int64_t from;
  std::int64_t to;
  double weight;
};
using weighted_edges = std::vector<weighted_edge>;

inline constexpr communities_method both_methods[] = {communities_method::louvain, communities_method::leiden};
inline constexpr direction_kind both_directions[] = {direction_kind::undirected, direction_kind::directed};

template <class I>
label_vector widened(span<const I, host> labels) {
  return {labels.begin(), labels.end()};
}

// --- Graphs

inline const context<host>& cpu() {
  static const context<host> ctx({.threads = 3});
  return ctx;
}

// Weights of parallel edges are added; loops are kept.
template <class W, class I, class O>
weighted_graph<W, I, O, host> build(std::int64_t n, const weighted_edges& edges, direction_kind direction) {
  std::vector<I> from, to;
  std::vector<W> weights;
  for (const auto& [u, v, weight] : edges) {
    from.push_back(static_cast<I>(u));
    to.push_back(static_cast<I>(v));
    weights.push_back(static_cast<W>(weight));
  }
  const auto size = static_cast<I>(n);
  return build_weighted_graph<O>(
      cpu(), coo_pattern_view<I, host>{size, size, from, to}, weights,
      {.direction = direction, .duplicates = duplicate_weights::sum, .loops = self_loops::keep});
}

// Loops, duplicates, isolated vertices, several components, equal weights and weights of 0.
enum class drawn { whole, dyadic, any };
template <class W>
inline constexpr drawn drawn_for = std::integral<W>         ? drawn::whole
                                   : std::same_as<W, float> ? drawn::dyadic
                                                            : drawn::any;

inline weighted_edges draw_edges(random_source& random, std::int64_t n, std::int64_t count, drawn kind) {
  weighted_edges edges;
  const std::int64_t weights = 1 + random.below(5);
  for (const auto& [u, v] : random_edges(random, n, count, static_cast<int>(random.below(3)))) {
    const double weight = static_cast<double>(random.below(weights + 1));
    const auto place = static_cast<double>(u % 64);
    edges.push_back({u, v,
                     weights == 1           ? 1
                     : kind == drawn::whole ? weight
                     : kind == drawn::any   ? weight * 0.37 + 1e-3 * place
                                            : weight * 0.375 + place / 1024});
  }
  return edges;
}

// --- Oracles

// As networkx defines it. An undirected loop counts twice in its vertex's degree, and once among the edges inside.
inline double naive_modularity(std::int64_t n, const weighted_edges& edges, direction_kind direction,
                               const label_vector& labels, double resolution = 1) {
  std::vector<double> out(static_cast<std::size_t>(n)), in(out);
  double all = 0;
  double inside = 0;
  for (const auto& [u, v, weight] : edges) {
    const std::int64_t a = labels[static_cast<std::size_t>(u)];
    const std::int64_t b = labels[static_cast<std::size_t>(v)];
    out[static_cast<std::size_t>(a)] += weight;
    in[static_cast<std::size_t>(b)] += weight;
    all += weight;
    if (a == b) inside += weight;
  }
  if (all == 0) return 0;
  double expected = 0;
  for (std::size_t c = 0; c < out.size(); ++c) {
    expected += direction == direction_kind::directed ? out[c] * in[c] / (all * all)
                                                      : std::pow((out[c] + in[c]) / (2 * all), 2);
  }
  return inside / all - resolution * expected;
}

// Weight inside less resolution times pairs inside (directed: ordered pairs).
inline double naive_cpm(const weighted_edges& edges, direction_kind direction, const label_vector& labels,
                        double resolution) {
  std::map<std::int64_t, double> sizes;
  for (const std::int64_t label : labels) ++sizes[label];
  double quality = 0;
  for (const auto& [u, v, weight] : edges) {
    if (labels[static_cast<std::size_t>(u)] == labels[static_cast<std::size_t>(v)]) quality += weight;
  }
  for (const auto& [label, size] : sizes) {
    quality -= resolution * size * (size - 1) / (direction == direction_kind::directed ? 1 : 2);
  }
  return quality;
}

// Number of connected parts that the communities fall into.
inline std::int64_t naive_parts(std::int64_t n, const weighted_edges& edges, const label_vector& labels) {
  std::vector<std::vector<std::size_t>> near(static_cast<std::size_t>(n));
  for (const auto& [u, v, weight] : edges) {
    if (weight <= 0 || labels[static_cast<std::size_t>(u)] != labels[static_cast<std::size_t>(v)]) continue;
    near[static_cast<std::size_t>(u)].push_back(static_cast<std::size_t>(v));
    near[static_cast<std::size_t>(v)].push_back(static_cast<std::size_t>(u));
  }
  std::vector<bool> seen(near.size());
  std::int64_t parts = 0;
  for (std::size_t v = 0; v < near.size(); ++v) {
    if (seen[v]) continue;
    ++parts;
    std::vector<std::size_t> waiting{v};
    seen[v] = true;
    while (!waiting.empty()) {
      const std::size_t u = waiting.back();
      waiting.pop_back();
      for (const std::size_t w : near[u]) {
        if (!seen[w]) waiting.push_back(w);
        seen[w] = true;
      }
    }
  }
  return parts;
}

// Louvain's first level, one vertex at a time, evaluating modularity anew for each move. Slow.
inline label_vector naive_moving(std::int64_t n, const weighted_edges& edges, direction_kind direction) {
  label_vector labels = own_labels(n);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t v = 0; v < n; ++v) {
      double best = naive_modularity(n, edges, direction, labels);
      std::int64_t& own = labels[static_cast<std::size_t>(v)];
      std::int64_t to = own;
      const std::int64_t from = own;
      std::set<std::int64_t> near;
      for (const auto& [a, b, weight] : edges) {
        if (a == v || b == v) near.insert(labels[static_cast<std::size_t>(a == v ? b : a)]);
      }
      for (const std::int64_t label : near) {
        own = label;
        const double found = naive_modularity(n, edges, direction, labels);
        if (found > best + 1e-12) {
          best = found;
          to = label;
        }
      }
      own = to;
      moved = moved || to != from;
    }
  }
  return labels;
}

// Normalised mutual information of two partitions.
inline double mutual_information(const label_vector& a, const label_vector& b) {
  std::map<std::int64_t, double> of_a, of_b;
  std::map<std::pair<std::int64_t, std::int64_t>, double> of_both;
  const auto n = static_cast<double>(a.size());
  for (std::size_t v = 0; v < a.size(); ++v) {
    of_a[a[v]] += 1 / n;
    of_b[b[v]] += 1 / n;
    of_both[{a[v], b[v]}] += 1 / n;
  }
  double shared = 0;
  double entropy = 0;
  for (const auto& [pair, p] : of_both) shared += p * std::log(p / (of_a[pair.first] * of_b[pair.second]));
  for (const auto& [label, p] : of_a) entropy -= p * std::log(p);
  for (const auto& [label, p] : of_b) entropy -= p * std::log(p);
  return entropy == 0 ? 1 : 2 * shared / entropy;
}

}  // namespace spargo::test
