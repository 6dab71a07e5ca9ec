// Graphs and oracles for the graph tests, independent of the library's builders and searches.
#pragma once

#include <spargo/graph/graph.hpp>

#include "support/rounds.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spargo::test {

using edge_vector = std::vector<std::pair<std::int64_t, std::int64_t>>;

template <class T>
std::vector<std::remove_const_t<T>> copy_of(span<T, host> values) {
  return {values.begin(), values.end()};
}

// A graph as given by a user: CSR in plain vectors, with loops and duplicates, neighbours in any order.
template <class I, class O>
struct raw_graph {
  I vertices = 0;
  direction_kind direction = direction_kind::directed;
  std::vector<O> offsets, in_offsets;
  std::vector<I> indices, in_indices;

  [[nodiscard]] graph_view<I, O, host> view() const {
    graph_view<I, O, host> g{{vertices, vertices, offsets, indices}, {}, direction};
    if (!in_offsets.empty()) g.in = {vertices, vertices, in_offsets, in_indices};
    return g;
  }
};

template <class I, class O>
void fill_csr(std::int64_t n, const edge_vector& edges, std::vector<O>& offsets, std::vector<I>& indices) {
  std::vector<std::vector<I>> rows(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) rows[static_cast<std::size_t>(u)].push_back(static_cast<I>(v));
  offsets.assign(1, 0);
  indices.clear();
  for (const auto& row : rows) {
    indices.insert(indices.end(), row.begin(), row.end());
    offsets.push_back(static_cast<O>(indices.size()));
  }
}

enum class edges_kept { out, out_and_in };

template <class I, class O>
raw_graph<I, O> make_directed(std::int64_t n, const edge_vector& edges, edges_kept kept) {
  raw_graph<I, O> g;
  g.vertices = static_cast<I>(n);
  fill_csr(n, edges, g.offsets, g.indices);
  if (kept == edges_kept::out) return g;
  edge_vector turned;
  for (const auto& [u, v] : edges) turned.emplace_back(v, u);
  fill_csr(n, turned, g.in_offsets, g.in_indices);
  return g;
}

// Each pair stored in both directions (a loop twice). In-edges equal the out-edges, as in graph::view.
template <class I, class O>
raw_graph<I, O> make_undirected(std::int64_t n, const edge_vector& edges) {
  edge_vector both;
  for (const auto& [u, v] : edges) {
    both.emplace_back(u, v);
    both.emplace_back(v, u);
  }
  raw_graph<I, O> g;
  g.vertices = static_cast<I>(n);
  g.direction = direction_kind::undirected;
  fill_csr(n, both, g.offsets, g.indices);
  g.in_offsets = g.offsets;
  g.in_indices = g.indices;
  return g;
}

// The oracle: levels by a deque, sequentially.
template <class I, class O>
std::vector<std::int32_t> naive_levels(const graph_view<I, O, host>& g, std::int64_t source) {
  std::vector<std::int32_t> level(static_cast<std::size_t>(g.vertices()), -1);
  std::deque<std::int64_t> waiting{source};
  level[static_cast<std::size_t>(source)] = 0;
  while (!waiting.empty()) {
    const std::int64_t u = waiting.front();
    waiting.pop_front();
    for (std::int64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      const auto v = static_cast<std::size_t>(g.out.indices[e]);
      if (level[v] >= 0) continue;
      level[v] = level[static_cast<std::size_t>(u)] + 1;
      waiting.push_back(static_cast<std::int64_t>(v));
    }
  }
  return level;
}

inline std::vector<std::int64_t> histogram_of(const std::vector<std::int32_t>& levels) {
  std::vector<std::int64_t> sizes;
  for (const std::int32_t l : levels) {
    if (l < 0) continue;
    if (static_cast<std::size_t>(l) >= sizes.size()) sizes.resize(static_cast<std::size_t>(l) + 1);
    ++sizes[static_cast<std::size_t>(l)];
  }
  return sizes;
}

// The fault in `parents`, given true levels; empty if correct. Slow and simple.
template <class I, class O>
std::string parent_fault(const graph_view<I, O, host>& g, std::int64_t source, const std::vector<std::int32_t>& level,
                         const std::vector<I>& parents) {
  if (parents.size() != level.size()) return "wrong number of parents";
  std::vector<bool> joined(level.size());  // an edge leads from the claimed parent
  for (std::int64_t u = 0; u < g.vertices(); ++u) {
    for (std::int64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      const auto v = static_cast<std::size_t>(g.out.indices[e]);
      if (parents[v] == static_cast<I>(u)) joined[v] = true;
    }
  }
  for (std::size_t v = 0; v < level.size(); ++v) {
    const std::int64_t p = parents[v];
    const std::string where = "vertex " + std::to_string(v) + ", parent " + std::to_string(p);
    if (static_cast<std::int64_t>(v) == source) {
      if (p != source) return where + ": the source is its own parent";
    } else if (level[v] < 0) {
      if (p != -1) return where + ": unreached";
    } else {
      if (p < 0 || p >= g.vertices()) return where + ": no such vertex";
      if (level[static_cast<std::size_t>(p)] != level[v] - 1) return where + ": not one level nearer";
      if (!joined[v]) return where + ": not an edge";
    }
  }
  return {};
}

// SplitMix64: the same graphs on every platform.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// Uniform random pairs; with `skew` > 0 each end is the minimum of skew + 1 draws, so that low ids become hubs.
inline edge_vector random_edges(random_source& random, std::int64_t n, std::int64_t count, int skew) {
  const auto draw = [&] {
    std::int64_t v = random.below(n);
    for (int k = 0; k < skew; ++k) v = std::min(v, random.below(n));
    return v;
  };
  edge_vector edges;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t u = draw();
    edges.emplace_back(u, draw());
  }
  return edges;
}

inline edge_vector path_edges(std::int64_t n) {
  edge_vector edges;
  for (std::int64_t v = 0; v + 1 < n; ++v) edges.emplace_back(v, v + 1);
  return edges;
}

inline edge_vector cycle_edges(std::int64_t n) {
  edge_vector edges = path_edges(n);
  edges.emplace_back(n - 1, 0);
  return edges;
}

// Of the vertices first, first + 1, ..., from the larger to the smaller.
inline edge_vector clique_edges(std::int64_t first, std::int64_t size) {
  edge_vector edges;
  for (std::int64_t u = 0; u < size; ++u) {
    for (std::int64_t v = 0; v < u; ++v) edges.emplace_back(first + u, first + v);
  }
  return edges;
}

// Vertex 0 is the hub.
inline edge_vector star_edges(std::int64_t n) {
  edge_vector edges;
  for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
  return edges;
}

inline edge_vector grid_edges(std::int64_t rows, std::int64_t cols) {
  edge_vector edges;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      if (c + 1 < cols) edges.emplace_back(r * cols + c, r * cols + c + 1);
      if (r + 1 < rows) edges.emplace_back(r * cols + c, (r + 1) * cols + c);
    }
  }
  return edges;
}

}  // namespace spargo::test
