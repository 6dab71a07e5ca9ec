// Rabbit order: communities by incremental aggregation, numbered depth-first.
//
// Vertices are visited by ascending degree, ties by larger number first. Each merges into the community next to it that
// gains most modularity, if any gains; the merges form a forest. Edges are aggregated lazily: a visited vertex sums the
// lists of the vertices merged into it, by the communities that the far ends are in now, and keeps the sums for its own
// parent. A vertex without children keeps nothing, since its parent can read the graph's row. Invariant: each list is
// read once by its vertex and once by its parent, so the time is near O(edges), and the lists kept never exceed the
// rows of the vertices in them. Gains are compared exactly, in integers; ties go to the smaller number. Sequential,
// hence deterministic. Arai, Shiokawa, Yamamuro, Onizuka, Iwamura, "Rabbit Order: Just-in-time Parallel Reordering for
// Fast Graph Analysis", IPDPS 2016.
#include <spargo/graph/reorder.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/structure/checks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo {

namespace {

__extension__ using int128 = __int128;

template <class I, class O>
class aggregation {
 public:
  aggregation(const context<host>& ctx, const csr_pattern_view<I, O, host>& out)
      : out_(out),
        parent_(ctx, out.rows),
        child_(ctx, out.rows),
        sibling_(ctx, out.rows),
        degree_(ctx, out.rows),
        weight_(ctx, out.rows),
        lists_(static_cast<std::size_t>(out.rows)) {
    for (std::int64_t v = 0; v < out.rows; ++v) {
      parent_[v] = static_cast<I>(v);
      child_[v] = sibling_[v] = none;
      degree_[v] = out.offsets[v + 1] - out.offsets[v];
      weight_[v] = 0;
    }
  }

  // Merges v into a community, or leaves it as the root of its own.
  void visit(I v) {
    touched_.clear();
    add_row(v);
    for (I c = child_[v]; c != none; c = sibling_[c]) add_list_of(c);
    weight_[v] = 0;  // edges inside
    I best = none;
    int128 most = 0;
    for (const I u : touched_) {
      if (weight_[u] == 0) continue;
      const int128 gain = int128{weight_[u]} * out_.nnz() - int128{degree_[v]} * degree_[u];
      if (gain > most || (gain == most && gain > 0 && u < best)) {
        most = gain;
        best = u;
      }
    }
    if (best != none && child_[v] != none) {
      auto& list = lists_[static_cast<std::size_t>(v)];
      list.reserve(touched_.size());
      for (const I u : touched_) {
        if (weight_[u] > 0) list.emplace_back(u, weight_[u]);
      }
    }
    for (const I u : touched_) weight_[u] = 0;
    if (best == none) return;
    parent_[v] = best;
    sibling_[v] = child_[best];
    child_[best] = v;
    degree_[best] += degree_[v];
  }

  // Roots by number; below each, a vertex and then its children, those merged last first.
  void number(array<I, host>& order) const {
    std::int64_t next = 0;
    std::vector<I> stack;
    for (std::int64_t root = 0; root < out_.rows; ++root) {
      if (parent_[root] != root) continue;
      stack.push_back(static_cast<I>(root));
      while (!stack.empty()) {
        const I v = stack.back();
        stack.pop_back();
        order[next++] = v;
        if (parent_[v] != v && sibling_[v] != none) stack.push_back(sibling_[v]);
        if (child_[v] != none) stack.push_back(child_[v]);
      }
    }
  }

 private:
  static constexpr I none = -1;

  [[nodiscard]] I root(I v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];  // halves the path
    return v;
  }
  void add(I far_end, O weight) {
    const I u = root(far_end);
    if (weight_[u] == 0) touched_.push_back(u);
    weight_[u] += weight;
  }
  void add_row(I v) {
    for (O e = out_.offsets[v]; e < out_.offsets[std::int64_t{v} + 1]; ++e) add(out_.indices[e], 1);
  }
  void add_list_of(I child) {
    if (child_[child] == none) return add_row(child);
    auto& list = lists_[static_cast<std::size_t>(child)];
    for (const auto& [far_end, weight] : list) add(far_end, weight);
    std::exchange(list, {});
  }

  csr_pattern_view<I, O, host> out_;
  array<I, host> parent_;                            // [vertex] on the path to its community's root
  array<I, host> child_;                             // [vertex] merged into it last
  array<I, host> sibling_;                           // [vertex] merged into the same one before it
  array<O, host> degree_;                            // [root] sum over its community
  array<O, host> weight_;                            // [root] edges from the visited vertex; 0 between visits
  std::vector<std::vector<std::pair<I, O>>> lists_;  // [vertex] edges from its community by far end, if it has children
  std::vector<I> touched_;                           // whose weight is not 0
};

}  // namespace

template <index_type I, index_type O>
array<I, host> rabbit_order(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  SPARGO_EXPECTS(g.direction == direction_kind::undirected, "rabbit_order: expected an undirected graph");
  array<I, host> order = degree_order(ctx, g);
  aggregation<I, O> communities(ctx, g.out);
  for (std::int64_t k = order.size() - 1; k >= 0; --k) {
    detail::structure::poll(k);
    communities.visit(order[k]);
  }
  communities.number(order);
  return order;
} catch (...) {
  detail::rethrow("rabbit_order");
}

#define INSTANTIATE(I, O) \
  template array<I, host> rabbit_order<I, O>(const context<host>&, const graph_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
