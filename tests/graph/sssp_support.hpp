// Weighted graphs and oracles for the tests of shortest paths, independent of the library's builders and searches.
#pragma once

#include "graph/graph_support.hpp"
#include "graph/placed_graph.hpp"

#include <spargo/graph/sssp.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace spargo::test {

template <class W>
struct weighted_edge {
  std::int64_t from = 0;
  std::int64_t to = 0;
  W weight = 0;
};
template <class W>
using weighted_edges = std::vector<weighted_edge<W>>;

enum class graph_form { out_only, out_and_in, undirected };
constexpr graph_form all_forms[] = {graph_form::out_only, graph_form::out_and_in, graph_form::undirected};

// With loops and duplicates, in the order given; undirected: each edge in both directions (a loop twice).
template <class W, class I, class O>
struct raw_weighted_graph {
  raw_graph<I, O> structure;
  std::vector<W> weights, in_weights;

  [[nodiscard]] weighted_graph_view<W, I, O, host> view() const {
    weighted_graph_view<W, I, O, host> g;
    static_cast<graph_view<I, O, host>&>(g) = structure.view();
    g.out_weights = weights;
    if (!structure.in_offsets.empty()) g.in_weights = in_weights;
    return g;
  }
};

template <class W>
std::vector<W> weights_by_row(std::int64_t n, const weighted_edges<W>& edges) {
  std::vector<std::vector<W>> rows(static_cast<std::size_t>(n));
  for (const auto& e : edges) rows[static_cast<std::size_t>(e.from)].push_back(e.weight);
  std::vector<W> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

// In the space of a typed test.
template <class W, class I, class O, class Space>
class placed_weighted;

template <class W, class I, class O>
class placed_weighted<W, I, O, host> : public placed_graph<I, O, host> {
 public:
  explicit placed_weighted(const raw_weighted_graph<W, I, O>& g, int threads = 3)
      : placed_graph<I, O, host>(g.structure, threads), raw_(g) {}
  [[nodiscard]] weighted_graph_view<W, I, O, host> view() const { return raw_.view(); }

 private:
  const raw_weighted_graph<W, I, O>& raw_;
};

template <class W, class I, class O>
class placed_weighted<W, I, O, device> : public placed_graph<I, O, device> {
 public:
  explicit placed_weighted(const raw_weighted_graph<W, I, O>& g, int threads = 0)
      : placed_graph<I, O, device>(g.structure, threads) {
    weights_ = to_device(this->ctx(), span<const W, host>(g.weights));
    in_weights_ = to_device(this->ctx(), span<const W, host>(g.in_weights));
  }
  [[nodiscard]] weighted_graph_view<W, I, O, device> view() const {
    weighted_graph_view<W, I, O, device> g;
    static_cast<graph_view<I, O, device>&>(g) = placed_graph<I, O, device>::view();
    g.out_weights = weights_.view();
    if (g.has_in_edges()) g.in_weights = in_weights_.view();
    return g;
  }

 private:
  array<W, device> weights_, in_weights_;
};

template <class W>
weighted_edges<W> turned(const weighted_edges<W>& edges) {
  weighted_edges<W> result;
  for (const auto& e : edges) result.push_back({e.to, e.from, e.weight});
  return result;
}

// The edges in the directions a search may follow.
template <class W>
weighted_edges<W> followed(const weighted_edges<W>& edges, graph_form form) {
  weighted_edges<W> all;
  for (const auto& e : edges) {
    all.push_back(e);
    if (form == graph_form::undirected) all.push_back({e.to, e.from, e.weight});
  }
  return all;
}

template <class W, class I, class O>
raw_weighted_graph<W, I, O> make_weighted(std::int64_t n, const weighted_edges<W>& edges, graph_form form) {
  const weighted_edges<W> all = followed(edges, form);
  edge_vector pairs;
  for (const auto& e : all) pairs.emplace_back(e.from, e.to);
  raw_weighted_graph<W, I, O> g;
  g.structure =
      make_directed<I, O>(n, pairs, form == graph_form::out_and_in ? edges_kept::out_and_in : edges_kept::out);
  g.weights = weights_by_row(n, all);
  if (form == graph_form::out_and_in) g.in_weights = weights_by_row(n, turned(all));
  if (form == graph_form::undirected) {
    g.structure.direction = direction_kind::undirected;
    g.structure.in_offsets = g.structure.offsets;
    g.structure.in_indices = g.structure.indices;
    g.in_weights = g.weights;
  }
  return g;
}

// The oracle: relaxes every edge until nothing changes (Bellman, Ford).
template <class W>
std::vector<sssp_distance<W>> naive_distances(std::int64_t n, const weighted_edges<W>& edges, std::int64_t source) {
  using D = sssp_distance<W>;
  std::vector<D> distance(static_cast<std::size_t>(n), sssp_unreached<W>);
  distance[static_cast<std::size_t>(source)] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& e : edges) {
      const D before = distance[static_cast<std::size_t>(e.from)];
      D& held = distance[static_cast<std::size_t>(e.to)];
      if (before == sssp_unreached<W> || !(before + static_cast<D>(e.weight) < held)) continue;
      held = before + static_cast<D>(e.weight);
      changed = true;
    }
  }
  return distance;
}

// As defined by sssp_parents::smallest, by rounds over all edges.
template <class W>
std::vector<std::int64_t> naive_smallest_parents(std::int64_t n, const weighted_edges<W>& edges, std::int64_t source,
                                                 const std::vector<sssp_distance<W>>& distance) {
  using D = sssp_distance<W>;
  std::vector<std::int64_t> parents(static_cast<std::size_t>(n), -1);
  const auto is_tight = [&](const weighted_edge<W>& e) {
    const D before = distance[static_cast<std::size_t>(e.from)];
    const D after = distance[static_cast<std::size_t>(e.to)];
    return before != sssp_unreached<W> && after != sssp_unreached<W> && before + static_cast<D>(e.weight) == after;
  };
  const auto offer = [](std::int64_t& parent, std::int64_t u) { parent = parent < 0 ? u : std::min(parent, u); };
  for (const auto& e : edges) {
    const bool nearer = distance[static_cast<std::size_t>(e.from)] < distance[static_cast<std::size_t>(e.to)];
    if (is_tight(e) && nearer) offer(parents[static_cast<std::size_t>(e.to)], e.from);
  }
  parents[static_cast<std::size_t>(source)] = source;
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::int64_t> next = parents;
    for (const auto& e : edges) {
      const auto to = static_cast<std::size_t>(e.to);
      if (parents[to] >= 0 || parents[static_cast<std::size_t>(e.from)] < 0 || !is_tight(e)) continue;
      offer(next[to], e.from);
      changed = true;
    }
    parents = std::move(next);
  }
  return parents;
}

// Adds the weights weight(k), edge by edge.
template <class W, class Weight>
weighted_edges<W> with_weights(const edge_vector& pairs, Weight&& weight) {
  weighted_edges<W> edges;
  for (std::size_t k = 0; k < pairs.size(); ++k) edges.push_back({pairs[k].first, pairs[k].second, weight(k)});
  return edges;
}

}  // namespace spargo::test
