// Oracles for the tests of triangles, independent of the library.
#pragma once

#include "graph/graph_support.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

namespace spargo::test {

struct triangle_counts {
  std::int64_t total = 0;
  std::vector<std::int64_t> per_vertex;
  std::vector<std::int64_t> links;    // of the directed graph
  std::vector<std::int64_t> degrees;  // ignoring direction

  friend bool operator==(const triangle_counts&, const triangle_counts&) = default;
};

// By matrix, for small graphs: all triples of vertices.
inline triangle_counts naive_triangles(std::int64_t n, const edge_vector& edges, direction_kind direction) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::vector<bool>> from(size, std::vector<bool>(size));
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    from[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)] = true;
    if (direction == direction_kind::undirected) from[static_cast<std::size_t>(v)][static_cast<std::size_t>(u)] = true;
  }
  const auto joined = [&](std::size_t a, std::size_t b) { return from[a][b] || from[b][a]; };
  triangle_counts counts{0, std::vector<std::int64_t>(size), std::vector<std::int64_t>(size),
                         std::vector<std::int64_t>(size)};
  for (std::size_t v = 0; v < size; ++v) {
    for (std::size_t a = 0; a < size; ++a) {
      if (!joined(v, a)) continue;
      ++counts.degrees[v];
      for (std::size_t b = 0; b < size; ++b) {
        if (!joined(v, b) || !from[a][b]) continue;
        ++counts.links[v];
        if (!from[b][a] || a < b) ++counts.per_vertex[v];
      }
    }
    counts.total += counts.per_vertex[v];
  }
  counts.total /= 3;
  return counts;
}

// By sets, for larger graphs: all pairs of neighbours of each vertex.
inline triangle_counts set_triangles(std::int64_t n, const edge_vector& edges) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::set<std::int64_t>> to(size), around(size);
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    to[static_cast<std::size_t>(u)].insert(v);
    around[static_cast<std::size_t>(u)].insert(v);
    around[static_cast<std::size_t>(v)].insert(u);
  }
  triangle_counts counts{0, std::vector<std::int64_t>(size), std::vector<std::int64_t>(size),
                         std::vector<std::int64_t>(size)};
  for (std::size_t v = 0; v < size; ++v) {
    counts.degrees[v] = static_cast<std::int64_t>(around[v].size());
    for (const std::int64_t a : around[v]) {
      for (const std::int64_t b : around[v]) {
        counts.links[v] += static_cast<std::int64_t>(to[static_cast<std::size_t>(a)].count(b));
        if (a < b) counts.per_vertex[v] += static_cast<std::int64_t>(around[static_cast<std::size_t>(a)].count(b));
      }
    }
    counts.total += counts.per_vertex[v];
  }
  counts.total /= 3;
  return counts;
}

// For an undirected graph with each edge given once: intersects the neighbours of its ends.
inline triangle_counts sorted_triangles(std::int64_t n, const edge_vector& edges) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::vector<std::int64_t>> lists(size);
  for (const auto& [u, v] : edges) {
    lists[static_cast<std::size_t>(u)].push_back(v);
    lists[static_cast<std::size_t>(v)].push_back(u);
  }
  for (auto& list : lists) std::sort(list.begin(), list.end());
  triangle_counts counts{0, std::vector<std::int64_t>(size), std::vector<std::int64_t>(size),
                         std::vector<std::int64_t>(size)};
  std::vector<std::int64_t> common;
  for (const auto& [u, v] : edges) {
    const auto& a = lists[static_cast<std::size_t>(u)];
    const auto& b = lists[static_cast<std::size_t>(v)];
    common.clear();
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    for (const std::int64_t w : common) ++counts.per_vertex[static_cast<std::size_t>(w)];
    counts.total += static_cast<std::int64_t>(common.size());
  }
  counts.total /= 3;
  for (std::size_t v = 0; v < size; ++v) {
    counts.degrees[v] = static_cast<std::int64_t>(lists[v].size());
    counts.links[v] = 2 * counts.per_vertex[v];
  }
  return counts;
}

}  // namespace spargo::test
