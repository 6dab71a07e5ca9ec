// Whether edges are the spanning forest of a graph: proved by the cycle property.
//
// The forest's edges, in the order of weight and place, join trees by size, without path compression. Each vertex then
// has one edge to its parent, and edges come later towards the root; so the climb from two vertices to their lowest
// common ancestor meets the last edge of the path between them. A forest is the minimum one if no edge of the graph
// comes before the last edge of the path between its ends. Cost: at most O(log vertices) steps per edge. Source: King,
// Algorithmica 18, 1997 (verification by the tree of merges).
#include <spargo/core/interruption.hpp>
#include <spargo/graph/forest.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/frontier/row_parts.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

namespace spargo {

namespace {

template <class W, class I, class O>
class forest_proof {
 public:
  forest_proof(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
               const span<const I, host>& sources, const span<const I, host>& targets,
               const span<const W, host>& weights, forest_objective objective)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        rows_(g.out),
        given_(g.out_weights),
        heaviest_first_(objective == forest_objective::maximum),
        edges_(static_cast<std::size_t>(sources.size())),
        links_(static_cast<std::size_t>(n_)) {
    for (std::size_t k = 0; k < edges_.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k);
      edges_[k] = {sources[at], targets[at], weights[at]};
    }
  }

  [[nodiscard]] std::string fault() {
    for (const forest_edge& of : edges_) {
      if (of.u < 0 || of.u >= of.v || of.v >= n_) {
        return fmt::format("{} (expected two vertices, the smaller first)", named(of));
      }
    }
    find_places();
    for (const forest_edge& of : edges_) {
      if (of.place < 0) return fmt::format("{} with weight {} is not in the graph", named(of), of.weight);
    }
    interruption::look();
    if (const forest_edge* const of = join(); of != nullptr) return fmt::format("{} closes a cycle", named(*of));
    return fault_of_edges();
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  struct forest_edge {
    I u;
    I v;
    W weight;
    std::int64_t place = -1;  // the first entry of the graph that is this edge
  };

  // A vertex's parent in the tree of merges, and the position of the edge by which they were joined.
  struct link {
    std::int64_t time = never;
    I parent = -1;
  };

  [[nodiscard]] static std::string named(const forest_edge& of) {
    return fmt::format("edge ({}, {}) of the forest", of.u, of.v);
  }

  // Sorts the edges by their ends.
  void find_places() {
    const auto by_ends = [](const forest_edge& a, const forest_edge& b) {
      return std::pair(a.u, a.v) < std::pair(b.u, b.v);
    };
    if (!std::is_sorted(edges_.begin(), edges_.end(), by_ends)) std::sort(edges_.begin(), edges_.end(), by_ends);
    for_each_row_part([&](I u, std::int64_t first, std::int64_t last) {
      const auto begin = std::lower_bound(edges_.begin(), edges_.end(), forest_edge{u, 0, {}}, by_ends);
      if (begin == edges_.end() || begin->u != u) return;
      for (std::int64_t e = first; e < last; ++e) {
        const I v = rows_.indices[e];
        for (auto at = std::lower_bound(begin, edges_.end(), forest_edge{u, v, {}}, by_ends);
             at != edges_.end() && at->u == u && at->v == v; ++at) {
          if (at->weight == given_[e]) lower_place(at->place, e);
        }
      }
    });
  }
  static void lower_place(std::int64_t& at, std::int64_t e) {
    std::atomic_ref<std::int64_t> place(at);
    std::int64_t now = place.load(std::memory_order_relaxed);
    while ((now < 0 || e < now) && !place.compare_exchange_weak(now, e, std::memory_order_relaxed)) {
    }
  }

  [[nodiscard]] bool is_before(W weight, std::int64_t place, const forest_edge& other) const {
    if (weight != other.weight) return heaviest_first_ ? weight > other.weight : weight < other.weight;
    return place < other.place;
  }

  // Sorts the edges by weight and place. Returns one that closes a cycle, or null.
  [[nodiscard]] const forest_edge* join() {
    std::sort(edges_.begin(), edges_.end(),
              [&](const forest_edge& a, const forest_edge& b) { return is_before(a.weight, a.place, b); });
    std::vector<I> sizes(static_cast<std::size_t>(n_), 1);
    const auto root = [&](I v) {
      while (links_[static_cast<std::size_t>(v)].parent >= 0) v = links_[static_cast<std::size_t>(v)].parent;
      return v;
    };
    for (std::size_t time = 0; time < edges_.size(); ++time) {
      I small = root(edges_[time].u);
      I large = root(edges_[time].v);
      if (small == large) return &edges_[time];
      if (sizes[static_cast<std::size_t>(large)] < sizes[static_cast<std::size_t>(small)]) std::swap(small, large);
      sizes[static_cast<std::size_t>(large)] += sizes[static_cast<std::size_t>(small)];
      links_[static_cast<std::size_t>(small)] = {static_cast<std::int64_t>(time), large};
    }
    return nullptr;
  }

  // The position of the last edge on the path between two vertices; `never` if they are in different trees.
  [[nodiscard]] std::int64_t last_of_path(I u, I v) const {
    std::int64_t last = -1;
    while (u != v) {
      const link& of_u = links_[static_cast<std::size_t>(u)];
      const link& of_v = links_[static_cast<std::size_t>(v)];
      last = std::min(of_u.time, of_v.time);
      if (last == never) return never;
      (of_u.time < of_v.time ? u : v) = of_u.time < of_v.time ? of_u.parent : of_v.parent;
    }
    return last;
  }

  [[nodiscard]] std::string fault_of_edges() const {
    std::atomic<std::int64_t> first_bad{never};
    for_each_row_part([&](I u, std::int64_t first, std::int64_t last) {
      for (std::int64_t e = first; e < last; ++e) {
        const I v = rows_.indices[e];
        if (v > u && given_[e] == given_[e] && is_bad(u, v, e)) detail::lower_to(first_bad, e);
      }
    });
    if (first_bad == never) return {};
    const std::int64_t e = first_bad;
    const auto above = std::upper_bound(rows_.offsets.begin(), rows_.offsets.end(), static_cast<O>(e));
    const auto u = static_cast<I>(above - rows_.offsets.begin() - 1);
    const I v = rows_.indices[e];
    const std::int64_t last = last_of_path(u, v);
    if (last == never) return fmt::format("the forest does not join {} and {}, which an edge joins", u, v);
    const forest_edge& of = edges_[static_cast<std::size_t>(last)];
    return fmt::format(
        "edge ({}, {}) with weight {} comes before {} with weight {}, which is on the path between its ends", u, v,
        given_[e], named(of), of.weight);
  }

  [[nodiscard]] bool is_bad(I u, I v, std::int64_t e) const {
    const std::int64_t last = last_of_path(u, v);
    return last == never || is_before(given_[e], e, edges_[static_cast<std::size_t>(last)]);
  }

  template <class F>
  void for_each_row_part(F&& f) const {
    const detail::row_parts<I, O> parts(rows_, std::int64_t{1} << 15);
    detail::parallel_parts(threads_, parts.count(), [&](std::int64_t part) {
      interruption::look();
      parts.for_each(part, f);
    });
  }

  int threads_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> rows_;
  span<const W, host> given_;
  bool heaviest_first_;
  std::vector<forest_edge> edges_;
  std::vector<link> links_;  // [vertex]
};

}  // namespace

template <detail::scalar W, index_type I, index_type O>
std::string check_forest(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                         std::type_identity_t<span<const I, host>> sources,
                         std::type_identity_t<span<const I, host>> targets,
                         std::type_identity_t<span<const W, host>> weights, const forest_options& options) try {
  detail::expect_graph("check_forest", g);
  if (sources.size() != targets.size() || sources.size() != weights.size()) {
    return fmt::format("{} sources, {} targets and {} weights", sources.size(), targets.size(), weights.size());
  }
  return forest_proof<W, I, O>(ctx, g, sources, targets, weights, options.objective).fault();
} catch (...) {
  detail::rethrow("check_forest");
}

#define INSTANTIATE(W, I, O)                                                                                      \
  template std::string check_forest<W, I, O>(                                                                     \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<span<const I, host>>, \
      std::type_identity_t<span<const I, host>>, std::type_identity_t<span<const W, host>>, const forest_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
