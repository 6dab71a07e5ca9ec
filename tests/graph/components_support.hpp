// Oracles for the tests of components, independent of the library: labels are smallest vertices.
#pragma once

#include "graph/graph_support.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spargo::test {

using label_vector = std::vector<std::int64_t>;

inline std::vector<std::vector<std::int64_t>> lists_of(std::int64_t n, const edge_vector& edges) {
  std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) lists[static_cast<std::size_t>(u)].push_back(v);
  return lists;
}

// Marks the vertices reachable from `source`.
inline std::vector<bool> flood(const std::vector<std::vector<std::int64_t>>& lists, std::int64_t source) {
  std::vector<bool> met(lists.size());
  std::vector<std::int64_t> waiting{source};
  met[static_cast<std::size_t>(source)] = true;
  while (!waiting.empty()) {
    const auto u = static_cast<std::size_t>(waiting.back());
    waiting.pop_back();
    for (const std::int64_t v : lists[u]) {
      if (met[static_cast<std::size_t>(v)]) continue;
      met[static_cast<std::size_t>(v)] = true;
      waiting.push_back(v);
    }
  }
  return met;
}

inline label_vector naive_weak(std::int64_t n, edge_vector edges) {
  for (std::size_t k = 0, size = edges.size(); k < size; ++k) edges.emplace_back(edges[k].second, edges[k].first);
  const auto lists = lists_of(n, edges);
  label_vector labels(static_cast<std::size_t>(n), -1);
  std::vector<std::size_t> waiting;
  for (std::size_t v = 0; v < labels.size(); ++v) {
    if (labels[v] >= 0) continue;
    labels[v] = static_cast<std::int64_t>(v);
    waiting.assign(1, v);
    while (!waiting.empty()) {
      const std::size_t u = waiting.back();
      waiting.pop_back();
      for (const std::int64_t w : lists[u]) {
        if (labels[static_cast<std::size_t>(w)] >= 0) continue;
        labels[static_cast<std::size_t>(w)] = static_cast<std::int64_t>(v);
        waiting.push_back(static_cast<std::size_t>(w));
      }
    }
  }
  return labels;
}

// Reachability of all pairs, for small graphs.
inline label_vector naive_strong(std::int64_t n, const edge_vector& edges) {
  const auto lists = lists_of(n, edges);
  std::vector<std::vector<bool>> reaches;
  for (std::int64_t v = 0; v < n; ++v) reaches.push_back(flood(lists, v));
  label_vector labels(static_cast<std::size_t>(n));
  for (std::size_t v = 0; v < labels.size(); ++v) {
    std::size_t u = 0;
    while (!reaches[u][v] || !reaches[v][u]) ++u;
    labels[v] = static_cast<std::int64_t>(u);
  }
  return labels;
}

inline label_vector dense(const label_vector& labels) {
  label_vector numbers(labels.size());
  std::int64_t next = 0;
  for (std::size_t v = 0; v < labels.size(); ++v) {
    const auto root = static_cast<std::size_t>(labels[v]);
    if (root == v) numbers[v] = next++;
    numbers[v] = numbers[root];
  }
  return numbers;
}

inline std::int64_t count_of(const label_vector& labels) {
  std::int64_t count = 0;
  for (std::size_t v = 0; v < labels.size(); ++v) count += labels[v] == static_cast<std::int64_t>(v) ? 1 : 0;
  return count;
}

}  // namespace spargo::test
