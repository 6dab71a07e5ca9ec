// The k shortest simple paths (Yen, with Lawler's rule).
//
// Every path but the first leaves an earlier one at some vertex. From each vertex of an accepted path, from where that
// path left its own predecessor on, the best detour is found: a path to the target that avoids the vertices before and
// the edges that accepted paths with the same beginning take. Detours wait in an ordered set; the first becomes the
// next path. The exact distances to the target bound all detours from below (removing edges makes nothing shorter), so
// that each is an A* search that hardly leaves its path.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/paths/growth.hpp"
#include "graph/plan.hpp"
#include "graph/sssp/executor.hpp"
#include "graph/structure/checks.hpp"
#include "graph/weighted/transposed.hpp"

#include <spargo/graph/paths.hpp>

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

namespace spargo {

namespace detail::paths {

namespace {

template <class D, class I>
struct candidate {
  D length;
  std::vector<I> vertices;
  std::size_t left_at;  // position of the vertex where it leaves an accepted path

  friend bool operator<(const candidate& a, const candidate& b) {
    return a.length != b.length ? a.length < b.length : a.vertices < b.vertices;
  }
};

template <class W, class I, class O>
class k_shortest_search {
 public:
  using D = sssp::wide_length<W>;

  k_shortest_search(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, I target)
      : g_(g), target_(target), rest_(ctx, g.vertices()), search_(ctx, g.vertices()) {
    blocked_.assign(static_cast<std::size_t>(g.vertices()), 0);
    find_rest(ctx);
  }

  std::vector<path_result<W, I>> run(I source, std::int64_t count) {
    std::vector<candidate<D, I>> accepted;
    std::set<candidate<D, I>> waiting;
    if (auto first = detour({source}, D{0}, {})) waiting.insert(*std::move(first));
    while (static_cast<std::int64_t>(accepted.size()) < count && !waiting.empty()) {
      accepted.push_back(std::move(waiting.extract(waiting.begin()).value()));
      if (static_cast<std::int64_t>(accepted.size()) < count) leave(accepted, waiting);
    }
    std::vector<path_result<W, I>> found;
    for (auto& path : accepted) {
      found.push_back({std::move(path.vertices), static_cast<sssp_distance<W>>(path.length)});
    }
    return found;
  }

 private:
  // Adds the best detours from the last accepted path.
  void leave(const std::vector<candidate<D, I>>& accepted, std::set<candidate<D, I>>& waiting) {
    const candidate<D, I>& last = accepted.back();
    std::vector<const candidate<D, I>*> alike;  // accepted paths with the same vertices so far
    for (const auto& path : accepted) alike.push_back(&path);
    std::vector<I> root;
    for (std::size_t k = 0; k + 1 < last.vertices.size(); ++k) {
      root.push_back(last.vertices[k]);
      std::erase_if(alike,
                    [&](const auto* path) { return path->vertices.size() <= k + 1 || path->vertices[k] != root[k]; });
      if (k < last.left_at) continue;
      std::vector<I> taken;
      for (const auto* path : alike) taken.push_back(path->vertices[k + 1]);
      const D length = length_of<D>(g_.out, g_.out_weights.data(), root);
      if (auto found = detour(root, length, taken)) waiting.insert(*std::move(found));
    }
  }

  // The shortest path that begins with these vertices, of this length, and whose next vertex is none of those taken.
  std::optional<candidate<D, I>> detour(const std::vector<I>& root, D length, const std::vector<I>& taken) {
    const I from = root.back();
    if (!(rest_[from] < sssp::unreached<D>)) return {};
    for (const I v : root) blocked_[static_cast<std::size_t>(v)] = 1;
    search_.start(from, length, key(length, from));
    while (search_.has_more()) {
      if (search_.has_reached(target_) && search_.nearest().key > last_key(search_.length(target_), g_.vertices()))
        break;
      const auto [bound, path, u] = search_.take();
      if (u == target_) continue;
      for_each_edge(g_.out, g_.out_weights.data(), u, [&](I v, W w) {
        if (blocked_[static_cast<std::size_t>(v)] != 0 || !(rest_[v] < sssp::unreached<D>)) return;
        if (u == from && std::find(taken.begin(), taken.end(), v) != taken.end()) return;
        const D longer = sssp::longer(path, w);
        search_.offer(v, longer, u, key(longer, v));
      });
    }
    for (const I v : root) blocked_[static_cast<std::size_t>(v)] = 0;
    if (!search_.has_reached(target_)) return {};
    std::vector<I> tail;
    search_.trace(target_, tail);
    candidate<D, I> found{search_.length(target_), root, root.size() - 1};
    found.vertices.insert(found.vertices.end(), tail.rbegin() + 1, tail.rend());
    return found;
  }

  [[nodiscard]] double key(D length, I v) const { return static_cast<double>(length) + static_cast<double>(rest_[v]); }

  // Dijkstra's algorithm from the target along in-edges, which are made if the graph has none.
  void find_rest(const context<host>& ctx) {
    const bool undirected = g_.direction == direction_kind::undirected;
    csr_pattern_view<I, O, host> rows = undirected ? g_.out : g_.in;
    span<const W, host> lengths = undirected ? g_.out_weights : g_.in_weights;
    weighted::transposed_rows<W, I, O> made;
    if (rows.offsets.empty()) {
      made = weighted::transpose<W, I, O>(ctx, g_.out, g_.out_weights);
      rows = std::as_const(made.edges).view();
      lengths = std::as_const(made.weights).view();
    }
    growth<D, I> back(ctx, g_.vertices());
    back.start(target_, D{0}, D{0});
    while (back.has_more()) {
      const auto [bound, path, u] = back.take();
      for_each_edge(rows, lengths.data(), u, [&](I v, W w) {
        const D longer = sssp::longer(path, w);
        back.offer(v, longer, u, longer);
      });
    }
    for (std::int64_t v = 0; v < g_.vertices(); ++v) rest_[v] = back.length(static_cast<I>(v));
  }

  weighted_graph_view<W, I, O, host> g_;
  I target_;
  array<D, host> rest_;  // [vertex] distance to the target
  growth<D, I, double> search_;
  std::vector<unsigned char> blocked_;
};

}  // namespace

}  // namespace detail::paths

template <detail::scalar W, index_type I, index_type O>
std::vector<path_result<W, I>> k_shortest_paths(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                                std::type_identity_t<I> source, std::type_identity_t<I> target,
                                                std::int64_t count) try {
  detail::expect_graph("k_shortest_paths", g);
  (void)detail::sssp::examine_weights(ctx, g.out, g.out_weights);
  detail::structure::expect_vertex("k_shortest_paths", source, g.vertices());
  detail::structure::expect_vertex("k_shortest_paths", target, g.vertices());
  SPARGO_EXPECTS(count >= 0, fmt::format("k_shortest_paths: {} paths (expected 0 or more)", count));
  if (count == 0) return {};
  return detail::paths::k_shortest_search<W, I, O>(ctx, g, target).run(source, count);
} catch (...) {
  detail::rethrow("k_shortest_paths");
}

#define INSTANTIATE(W, I, O)                                                                    \
  template std::vector<path_result<W, I>> k_shortest_paths<W, I, O>(                            \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<I>, \
      std::type_identity_t<I>, std::int64_t);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
