// The oracle for the tests of communities, following the rule literally and independent of the library.
#pragma once

#include "graph/graph_support.hpp"

#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace spargo::test {

using label_vector = std::vector<std::int64_t>;

inline label_vector own_labels(std::int64_t n) {
  label_vector labels(static_cast<std::size_t>(n));
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

// The most frequent label; ties: the smallest.
inline std::int64_t naive_most_frequent(const label_vector& labels) {
  std::map<std::int64_t, int> times;
  for (const std::int64_t label : labels) ++times[label];
  std::int64_t best = -1;
  for (const auto& [label, count] : times) {
    if (best < 0 || count > times[best]) best = label;
  }
  return best;
}

// Each listed pair makes its ends neighbours: out- and in-edges of a directed graph, or edges of an undirected one.
inline label_vector naive_cdlp(std::int64_t n, const edge_vector& edges, std::int64_t rounds, label_vector labels) {
  std::vector<std::vector<std::size_t>> near(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) {
    near[static_cast<std::size_t>(u)].push_back(static_cast<std::size_t>(v));
    near[static_cast<std::size_t>(v)].push_back(static_cast<std::size_t>(u));
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    const label_vector before = labels;
    for (std::size_t v = 0; v < near.size(); ++v) {
      label_vector neighbour_labels;
      for (const std::size_t u : near[v]) neighbour_labels.push_back(before[u]);
      if (!neighbour_labels.empty()) labels[v] = naive_most_frequent(neighbour_labels);
    }
  }
  return labels;
}

inline std::int64_t different(const label_vector& labels) {
  return static_cast<std::int64_t>(std::set<std::int64_t>(labels.begin(), labels.end()).size());
}

}  // namespace spargo::test
