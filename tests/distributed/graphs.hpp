// Test graphs, shares of them, and the results of a naive search.
#pragma once

#include <spargo/distributed/communicator.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/io/generate.hpp>

#include <algorithm>
#include <ostream>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace spargo::test {

using edges = coo_matrix<pattern, std::int64_t, host>;

inline edges make_edges(std::int64_t n, const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  edges made(context<host>(), n, n, std::ssize(pairs));
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    std::tie(made.row_indices()[static_cast<std::int64_t>(k)], made.col_indices()[static_cast<std::int64_t>(k)]) =
        pairs[k];
  }
  return made;
}

inline edges edges_of(const std::string& name) {
  if (name == "none") return make_edges(300, {});
  if (name == "no vertices") return make_edges(0, {});
  if (name == "one") return make_edges(1, {{0, 0}});
  if (name ==
      "cliques") {  // pulled, pushed along a path, and pulled again: the second clique has a leaf at each vertex
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const std::int64_t first : {0, 190}) {
      for (std::int64_t u = first; u < first + 140; ++u) {
        for (std::int64_t v = u + 1; v < first + 140; ++v) pairs.insert(pairs.end(), {{u, v}, {v, u}});
      }
    }
    for (std::int64_t v = 139; v < 190; ++v) pairs.insert(pairs.end(), {{v, v + 1}, {v + 1, v}});
    for (std::int64_t v = 190; v < 330; ++v) pairs.insert(pairs.end(), {{v, v + 140}, {v + 140, v}});
    return make_edges(470, pairs);
  }
  if (name == "two parts") {  // with loops and duplicates, and vertices without edges in between
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs{{5, 5}, {5, 5}};
    for (std::int64_t v = 0; v < 900; v += 3)
      pairs.insert(pairs.end(), {{v, (v + 6) % 900}, {v, (v + 6) % 900}, {(v + 99) % 900, v}});
    return make_edges(1000, pairs);
  }
  return generate<pattern, std::int64_t>(context<host>(), name);
}

inline edges share_of(const communicator& comm, const edges& all) {
  std::vector<std::pair<std::int64_t, std::int64_t>> mine;
  for (std::int64_t k = comm.rank(); k < all.nnz(); k += comm.size())
    mine.emplace_back(all.row_indices()[k], all.col_indices()[k]);
  return make_edges(all.rows(), mine);
}

using lists = std::vector<std::vector<std::int64_t>>;

inline lists neighbours_of(const edges& all, bool both, self_loops loops = self_loops::drop) {
  lists made(static_cast<std::size_t>(all.rows()));
  for (std::int64_t k = 0; k < all.nnz(); ++k) {
    const std::int64_t u = all.row_indices()[k];
    const std::int64_t v = all.col_indices()[k];
    if (u == v && loops == self_loops::drop) continue;
    made[static_cast<std::size_t>(u)].push_back(v);
    if (both) made[static_cast<std::size_t>(v)].push_back(u);
  }
  for (auto& row : made) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return made;
}

struct tree {
  std::vector<std::int32_t> levels;
  std::vector<std::int32_t> parents;
  bool operator==(const tree&) const = default;
};

// Finds the smallest parents in a second pass over all edges.
inline tree search(const lists& out, std::int64_t source) {
  tree found{std::vector<std::int32_t>(out.size(), -1), std::vector<std::int32_t>(out.size(), -1)};
  std::queue<std::int64_t> waiting;
  waiting.push(source);
  found.levels[static_cast<std::size_t>(source)] = 0;
  found.parents[static_cast<std::size_t>(source)] = static_cast<std::int32_t>(source);
  for (; !waiting.empty(); waiting.pop()) {
    for (const std::int64_t v : out[static_cast<std::size_t>(waiting.front())]) {
      if (found.levels[static_cast<std::size_t>(v)] >= 0) continue;
      found.levels[static_cast<std::size_t>(v)] = found.levels[static_cast<std::size_t>(waiting.front())] + 1;
      waiting.push(v);
    }
  }
  for (std::size_t u = 0; u < out.size(); ++u) {
    for (const std::int64_t v : out[u]) {
      const auto to = static_cast<std::size_t>(v);
      if (found.levels[u] >= 0 && found.levels[to] == found.levels[u] + 1 && found.parents[to] < 0)
        found.parents[to] = static_cast<std::int32_t>(u);
    }
  }
  return found;
}

struct graph_case {
  const char* name;
  direction_kind direction;
  friend void PrintTo(const graph_case& c, std::ostream* to) {
    *to << c.name << (c.direction == direction_kind::directed ? " directed" : " undirected");
  }
};

inline std::vector<graph_case> graph_cases() {
  std::vector<graph_case> cases;
  for (const char* name :
       {"gen:rmat:scale=11,degree=8", "gen:uniform:rows=1500,degree=2", "gen:grid2d:n=30,m=50", "gen:path:n=300",
        "gen:star:n=900", "gen:star:n=40", "gen:complete:n=140", "two parts", "cliques", "none", "one"}) {
    cases.push_back({name, direction_kind::directed});
    cases.push_back({name, direction_kind::undirected});
  }
  return cases;
}

}  // namespace spargo::test
