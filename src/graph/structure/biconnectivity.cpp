// Bridges, articulation points and biconnected components by one depth-first search (Hopcroft, Tarjan, CACM 1973).
//
// low(v) is the smallest discovery number reachable from v's subtree by one further edge. The subtree of a child c of v
// is cut off by v if low(c) >= number(v), and by the edge alone if low(c) > number(v). A stack of vertices holds those
// whose component is not complete; when v cuts off c, those above c, c itself and v are one.
#include <spargo/graph/properties.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/structure/checks.hpp"

#include <algorithm>
#include <vector>

namespace spargo {

namespace {

template <class I, class O>
class biconnectivity_search {
 public:
  biconnectivity_search(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges)
      : ctx_(ctx),
        edges_(edges),
        numbers_(filled(I{-1})),
        low_(ctx, edges.rows),
        parents_(filled(I{-1})),
        next_(ctx, edges.rows),
        state_(static_cast<std::size_t>(edges.rows)) {}

  [[nodiscard]] biconnectivity_result<I> run() {
    offsets_.push_back(0);
    for (std::int64_t v = 0; v < edges_.rows; ++v) {
      if (numbers_[v] < 0) search_from(static_cast<I>(v));
    }
    return results();
  }

 private:
  enum flags : unsigned char { to_parent_seen = 1, is_bridge = 2, is_cut = 4 };  // of a vertex

  [[nodiscard]] array<I, host> filled(I value) const {
    array<I, host> values(ctx_, edges_.rows);
    std::fill(values.begin(), values.end(), value);
    return values;
  }
  [[nodiscard]] unsigned char& state(I v) { return state_[static_cast<std::size_t>(v)]; }

  void enter(I v, I parent) {
    detail::structure::poll(found_);
    numbers_[v] = low_[v] = found_++;
    parents_[v] = parent;
    next_[v] = edges_.offsets[v];
    open_.push_back(v);
  }

  void search_from(I root) {
    enter(root, -1);
    std::int64_t children = 0;
    for (I v = root;;) {
      if (next_[v] < edges_.offsets[std::int64_t{v} + 1]) {
        const I u = edges_.indices[next_[v]++];
        if (numbers_[u] < 0) {
          enter(u, v);
          v = u;
        } else if (u == parents_[v] && (state(v) & to_parent_seen) == 0) {
          state(v) |= to_parent_seen;  // the edge from the parent; a parallel one is a back edge
        } else {
          low_[v] = std::min(low_[v], numbers_[u]);
        }
        continue;
      }
      const I parent = parents_[v];
      if (parent < 0) break;
      leave(v, parent);
      if (parent == root) ++children;
      v = parent;
    }
    open_.clear();
    if (children > 1) cuts_.push_back(root);
  }

  void leave(I v, I parent) {
    if (low_[v] >= numbers_[parent]) {
      if (low_[v] > numbers_[parent]) state(v) |= is_bridge;
      I last;
      do {
        last = open_.back();
        open_.pop_back();
        vertices_.push_back(last);
      } while (last != v);
      vertices_.push_back(parent);
      offsets_.push_back(static_cast<std::int64_t>(vertices_.size()));
      if (parents_[parent] >= 0 && (state(parent) & is_cut) == 0) {
        state(parent) |= is_cut;
        cuts_.push_back(parent);
      }
    }
    low_[parent] = std::min(low_[parent], low_[v]);
  }

  // Whether the edge is the one from v to its parent, and a bridge.
  [[nodiscard]] bool is_bridge_up(I v, I parent) { return parents_[v] == parent && (state(v) & is_bridge) != 0; }

  [[nodiscard]] biconnectivity_result<I> results() {
    std::vector<I> sources;
    std::vector<I> targets;
    for (I u = 0; u < edges_.rows; ++u) {
      for (O e = edges_.offsets[u]; e < edges_.offsets[std::int64_t{u} + 1]; ++e) {
        const I v = edges_.indices[e];
        if (v <= u || !(is_bridge_up(v, u) || is_bridge_up(u, v))) continue;
        sources.push_back(u);
        targets.push_back(v);
      }
    }
    return {copy(sources), copy(targets), copy(cuts_), copy(vertices_), copy(offsets_)};
  }
  template <class T>
  [[nodiscard]] array<T, host> copy(const std::vector<T>& from) const {
    array<T, host> to(ctx_, static_cast<std::int64_t>(from.size()));
    std::copy(from.begin(), from.end(), to.begin());
    return to;
  }

  const context<host>& ctx_;
  const csr_pattern_view<I, O, host>& edges_;
  array<I, host> numbers_;  // [vertex] of discovery; -1: not found yet
  array<I, host> low_;
  array<I, host> parents_;
  array<O, host> next_;  // [vertex] the next edge to follow
  std::vector<unsigned char> state_;
  std::vector<I> open_;
  std::vector<I> cuts_;
  std::vector<I> vertices_;
  std::vector<std::int64_t> offsets_;
  I found_ = 0;
};

}  // namespace

template <index_type I, index_type O>
biconnectivity_result<I> biconnectivity(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  SPARGO_EXPECTS(g.direction == direction_kind::undirected,
                 "biconnectivity: the graph is directed (expected an undirected one)");
  return biconnectivity_search<I, O>(ctx, g.out).run();
} catch (...) {
  detail::rethrow("biconnectivity");
}

#define INSTANTIATE(I, O) \
  template biconnectivity_result<I> biconnectivity<I, O>(const context<host>&, const graph_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
