// Oracles of betweenness, independent of the library: all pairs of ends, and paths counted over the list of edges.
#pragma once

#include "graph/graph_support.hpp"

#include <spargo/graph/betweenness.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace spargo::test {

using doubles = std::vector<double>;

// Sources of tests; an empty list means all vertices.
template <class I>
betweenness_sources<I> all_if_none(const std::vector<I>& sources) {
  if (sources.empty()) return {};
  return sources;
}

// Distances (-1: unreached) and shortest-path counts from one vertex.
template <class Count>
struct paths_from {
  std::vector<std::int64_t> distance;
  std::vector<Count> count;

  paths_from(std::int64_t n, const edge_vector& edges, std::int64_t source)
      : distance(static_cast<std::size_t>(n), -1), count(static_cast<std::size_t>(n), Count(0)) {
    distance[static_cast<std::size_t>(source)] = 0;
    count[static_cast<std::size_t>(source)] = 1;
    bool more = true;
    for (std::int64_t d = 0; more; ++d) {
      more = false;
      for (const auto& [from, to] : edges) {
        const auto u = static_cast<std::size_t>(from);
        const auto v = static_cast<std::size_t>(to);
        if (distance[u] != d || (distance[v] >= 0 && distance[v] <= d)) continue;
        distance[v] = d + 1;
        count[v] += count[u];
        more = true;
      }
    }
  }
};

// By definition: for every source and target, and every vertex between them. O(sources vertices^2). `Count`: a type
// that holds path counts exactly, or far more precisely than a double.
template <class Count>
doubles naive_sums(std::int64_t n, const edge_vector& edges, const std::vector<std::int64_t>& sources,
                   betweenness_endpoints endpoints) {
  std::vector<paths_from<Count>> from;
  for (std::int64_t v = 0; v < n; ++v) from.emplace_back(n, edges, v);
  std::vector<Count> sums(static_cast<std::size_t>(n), Count(0));
  for (const std::int64_t source : sources) {
    const auto s = static_cast<std::size_t>(source);
    for (std::size_t t = 0; t < sums.size(); ++t) {
      if (t == s || from[s].distance[t] < 0) continue;
      for (std::size_t v = 0; v < sums.size(); ++v) {
        const bool inner = v != s && v != t;
        if (!inner && endpoints == betweenness_endpoints::excluded) continue;
        if (from[s].distance[v] < 0 || from[v].distance[t] < 0) continue;
        if (from[s].distance[v] + from[v].distance[t] != from[s].distance[t]) continue;
        sums[v] += from[s].count[v] * from[v].count[t] / from[s].count[t];
      }
    }
  }
  doubles values;
  for (const Count& sum : sums) values.push_back(static_cast<double>(sum));
  return values;
}

// The same for edges, in the order of the list; duplicates are separate edges.
inline doubles naive_edge_sums(std::int64_t n, const edge_vector& edges, const std::vector<std::int64_t>& sources) {
  std::vector<paths_from<long double>> from;
  for (std::int64_t v = 0; v < n; ++v) from.emplace_back(n, edges, v);
  doubles sums;
  for (const auto& [head, tail] : edges) {
    const auto u = static_cast<std::size_t>(head);
    const auto v = static_cast<std::size_t>(tail);
    long double sum = 0;
    for (const std::int64_t source : sources) {
      const auto& paths = from[static_cast<std::size_t>(source)];
      for (std::size_t t = 0; t < from.size(); ++t) {
        if (paths.distance[t] < 0 || paths.distance[u] < 0 || from[v].distance[t] < 0) continue;
        if (paths.distance[u] + 1 + from[v].distance[t] != paths.distance[t]) continue;
        sum += paths.count[u] * from[v].count[t] / paths.count[t];
      }
    }
    sums.push_back(static_cast<double>(sum));
  }
  return sums;
}

// Normalized as the header defines.
inline doubles normalized_edges(doubles sums, std::int64_t n, bool undirected, const std::vector<std::int64_t>& sources,
                                betweenness_normalization normalization) {
  double divisor = 1;
  if (normalization == betweenness_normalization::pairs) {
    divisor = static_cast<double>((sources.empty() ? n : static_cast<std::int64_t>(sources.size())) * (n - 1));
    if (undirected && sources.empty()) divisor /= 2;
  }
  if (normalization == betweenness_normalization::by_maximum && !sums.empty()) {
    divisor = *std::max_element(sums.begin(), sums.end());
  }
  for (double& sum : sums) sum = divisor > 0 ? sum / divisor : 0;
  return sums;
}

inline std::vector<std::int64_t> all_of(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t v = 0; v < n; ++v) all.push_back(v);
  return all;
}

// `sums` scaled for the options; an empty list of sources means all.
inline doubles normalized(doubles sums, bool undirected, const std::vector<std::int64_t>& sources,
                          const betweenness_options& options) {
  const auto n = static_cast<double>(sums.size());
  const bool endpoints = options.endpoints == betweenness_endpoints::included;
  for (std::size_t v = 0; v < sums.size(); ++v) {
    const auto times = static_cast<double>(std::count(sources.begin(), sources.end(), static_cast<std::int64_t>(v)));
    const double own = sources.empty() ? 1 : times;
    const double all = sources.empty() ? n : static_cast<double>(sources.size());
    double divisor = undirected && sources.empty() ? 2 : 1;
    if (options.normalization == betweenness_normalization::pairs) {
      divisor = endpoints ? all * (n - 1) : (all - own) * (n - 2);
    }
    sums[v] = divisor > 0 ? sums[v] / divisor : 0;
  }
  const double largest = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  if (options.normalization == betweenness_normalization::by_maximum && largest > 0) {
    for (double& value : sums) value /= largest;
  }
  return sums;
}

// The vertex with the largest relative error above `tolerance`, -1 if none.
inline std::int64_t farthest_off(const doubles& got, const doubles& expected, double tolerance = 1e-12) {
  if (got.size() != expected.size()) return 0;
  std::int64_t worst = -1;
  double most = tolerance;
  for (std::size_t v = 0; v < got.size(); ++v) {
    const double off = std::abs(got[v] - expected[v]) / std::max(std::abs(expected[v]), 1e-290);
    if (off <= most) continue;  // NaN counts as an error
    worst = static_cast<std::int64_t>(v);
    most = off;
  }
  return worst;
}

// Layers of `width` vertices, each joined with all of the next: width^k shortest paths to layer k. In parallel a chain
// of the same length between the same first and last vertices, and some edges between both that preserve the levels.
inline edge_vector layered_edges(std::int64_t layers, std::int64_t width, random_source& random) {
  edge_vector edges;
  const std::int64_t chain = layers * width;  // its first vertex
  for (std::int64_t k = 0; k + 1 < layers; ++k) {
    for (std::int64_t a = 0; a < width; ++a) {
      for (std::int64_t b = 0; b < width; ++b) edges.emplace_back(k * width + a, (k + 1) * width + b);
    }
    edges.emplace_back(chain + k, chain + k + 1);
    if (random.below(4) == 0) edges.emplace_back(chain + k, (k + 1) * width + random.below(width));
    if (random.below(16) == 0) edges.emplace_back(k * width + random.below(width), chain + k + 1);
  }
  return edges;
}
inline std::int64_t layered_vertices(std::int64_t layers, std::int64_t width) { return layers * (width + 1); }

}  // namespace spargo::test
