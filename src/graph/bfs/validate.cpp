// The five checks of Graph500 (specification 2.0, section 8) in three passes: over vertices, edges, and vertices again.
// Each pass reports the smallest offending vertex, so the message does not depend on the thread count.
//
// Why they suffice. Let only the source have level 0, and let every other reached vertex have a parent one level above
// it (pass 1), joined to it by an edge of the graph (passes 2, 3). Then parents form a tree rooted at the source, and a
// level is the length of a path, hence at least the distance. No edge leads from a reached vertex to an unreached one
// or skips a level (pass 2): so a level is at most the distance, and every reachable vertex is reached. Without
// parents, any neighbour one level above replaces the parent; without levels, they are first computed along the
// parents, which detects cycles.
//
// Cost: O(vertices + edges) reads, 1 byte per vertex (and 4 more without levels).
#include <spargo/graph/bfs_validate.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace spargo {

namespace {

enum class fault {
  none,
  source_level,
  source_parent,
  level_range,
  parent_range,
  own_parent,
  second_root,
  reached_without_parent,
  parent_without_level,
  parent_level,
};

template <class I, class O>
class bfs_checker {
 public:
  bfs_checker(const context<host>& ctx, const graph_view<I, O, host>& g, I source,
              span<const std::int32_t, host> levels, span<const I, host> parents, std::int64_t max_depth)
      : ctx_(ctx),
        g_(g),
        n_(g.vertices()),
        source_(source),
        levels_(levels),
        parents_(parents),
        max_depth_(max_depth),
        last_level_(max_depth < 0 ? n_ - 1 : std::min(max_depth, n_ - 1)) {}

  std::string run() {
    if (std::string wrong = check_sizes(); !wrong.empty()) return wrong;
    if (levels_.empty()) {
      if (std::string wrong = check_vertices(); !wrong.empty()) return wrong;
      if (std::string wrong = count_levels(); !wrong.empty()) return wrong;
    }
    if (std::string wrong = check_vertices(); !wrong.empty()) return wrong;
    if (std::string wrong = check_edges(); !wrong.empty()) return wrong;
    return check_joined();
  }

 private:
  static constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] std::string check_sizes() const {
    if (!levels_.empty() && levels_.size() != n_) {
      return fmt::format("there are {} levels for {} vertices", levels_.size(), n_);
    }
    if (!parents_.empty() && parents_.size() != n_) {
      return fmt::format("there are {} parents for {} vertices", parents_.size(), n_);
    }
    return {};
  }

  // --- Pass 1: each vertex and its parent --------------------------------------------------------------------------
  [[nodiscard]] fault parent_fault(std::int64_t v) const {
    const std::int64_t p = parents_[v];
    if (p < -1 || p >= n_) return fault::parent_range;
    if (v == source_) return p == v ? fault::none : fault::source_parent;
    return p == v ? fault::own_parent : fault::none;
  }
  [[nodiscard]] fault level_fault(std::int64_t v) const {
    const std::int64_t l = levels_[v];
    if (l < -1 || l > last_level_) return fault::level_range;
    if (v == source_) return l == 0 ? fault::none : fault::source_level;
    return l == 0 ? fault::second_root : fault::none;
  }
  [[nodiscard]] fault pair_fault(std::int64_t v) const {
    const bool reached = levels_[v] >= 0;
    if (reached != (parents_[v] >= 0)) return reached ? fault::reached_without_parent : fault::parent_without_level;
    if (!reached || v == source_) return fault::none;
    const std::int64_t above = levels_[parents_[v]];
    return above < 0 || above + 1 != levels_[v] ? fault::parent_level : fault::none;
  }
  [[nodiscard]] fault vertex_fault(std::int64_t v) const {
    fault f = fault::none;
    if (!levels_.empty()) f = level_fault(v);
    if (f == fault::none && !parents_.empty()) f = parent_fault(v);
    if (f == fault::none && !levels_.empty() && !parents_.empty()) f = pair_fault(v);
    return f;
  }

  [[nodiscard]] std::string sentence(std::int64_t v, fault f) const {
    const std::int64_t l = levels_.empty() ? 0 : levels_[v];
    const std::int64_t p = parents_.empty() ? 0 : parents_[v];
    switch (f) {
      case fault::source_level:
        return fmt::format("the source, vertex {}, is at level {} (expected 0)", v, l);
      case fault::source_parent:
        return fmt::format("the source, vertex {}, has the parent {} (expected itself)", v, p);
      case fault::level_range:
        return fmt::format("vertex {} is at level {} (expected -1 to {})", v, l, last_level_);
      case fault::parent_range:
        return fmt::format("vertex {} has the parent {} (expected -1 to {})", v, p, n_ - 1);
      case fault::own_parent:
        return fmt::format("vertex {} is its own parent, but is not the source", v);
      case fault::second_root:
        return fmt::format("vertex {} is at level 0, but is not the source", v);
      case fault::reached_without_parent:
        return fmt::format("vertex {} is at level {}, but has no parent", v, l);
      case fault::parent_without_level:
        return fmt::format("vertex {} has the parent {}, but no level", v, p);
      case fault::parent_level:
        return fmt::format("vertex {} is at level {}, but its parent {} is at level {}", v, l, p, levels_[p]);
      case fault::none:
        break;
    }
    return {};
  }

  // The first vertex for which `wrong` is true; it is called once per vertex.
  template <class Wrong>
  [[nodiscard]] std::int64_t first_where(const Wrong& wrong, std::int64_t least) const {
    std::atomic<std::int64_t> first{nobody};
    detail::parallel_for(ctx_.threads(), n_, least, [&](std::int64_t v) {
      if (wrong(v)) detail::lower_to(first, v);
    });
    return first.load();
  }

  [[nodiscard]] std::string check_vertices() const {
    const std::int64_t first =
        first_where([this](std::int64_t v) { return vertex_fault(v) != fault::none; }, detail::grain::elements);
    return first == nobody ? std::string{} : sentence(first, vertex_fault(first));
  }

  // --- Levels from parents -----------------------------------------------------------------------------------------
  // Climbs from each vertex to the first ancestor of known level, then climbs again and writes. Each vertex is written
  // once, so one thread needs O(vertices).
  [[nodiscard]] std::string count_levels() {
    constexpr std::int32_t unknown = -2;
    counted_ = array<std::int32_t, host>(ctx_, n_);
    for (std::int64_t v = 0; v < n_; ++v) counted_[v] = parents_[v] < 0 ? -1 : unknown;
    counted_[source_] = 0;
    for (std::int64_t v = 0; v < n_; ++v) {
      std::int64_t top = v;
      std::int64_t steps = 0;
      while (counted_[top] == unknown && steps <= n_) {
        top = parents_[top];
        ++steps;
      }
      if (steps > n_) return fmt::format("the parents of vertex {} form a cycle", v);
      if (counted_[top] < 0 && steps > 0) {
        return fmt::format("the parents of vertex {} lead to vertex {}, which has none", v, top);
      }
      auto level = static_cast<std::int32_t>(counted_[top] + steps);
      for (std::int64_t u = v; counted_[u] == unknown; u = parents_[u]) counted_[u] = level--;
    }
    levels_ = std::as_const(counted_).view();
    return {};
  }

  // --- Pass 2: edges -----------------------------------------------------------------------------------------------
  // An edge must not leave the reached set, unless from the depth limit, or skip a level; in an undirected graph this
  // holds in both directions.
  [[nodiscard]] bool leads_right(std::int64_t from, std::int64_t to) const {
    if (from < 0) return true;
    return to < 0 ? from == max_depth_ : to <= from + 1;
  }
  [[nodiscard]] bool edge_is_right(std::int64_t u, std::int64_t v) const {
    const std::int64_t from = levels_[u];
    const std::int64_t to = levels_[v];
    return leads_right(from, to) && (g_.direction == direction_kind::directed || leads_right(to, from));
  }

  // Whether the edge joins v to the tree.
  [[nodiscard]] bool edge_joins(std::int64_t u, std::int64_t v) const {
    if (!parents_.empty()) return parents_[v] == u;
    return levels_[u] >= 0 && levels_[v] == levels_[u] + 1;
  }

  [[nodiscard]] std::string check_edges() {
    joined_ = array<unsigned char, host>(ctx_, n_);
    fill_zero(ctx_, joined_.view());
    const std::int64_t first = first_where(
        [this](std::int64_t u) {
          bool wrong = false;
          for (O e = g_.out.offsets[u]; e < g_.out.offsets[u + 1]; ++e) {
            const std::int64_t v = g_.out.indices[e];
            wrong |= !edge_is_right(u, v);
            if (edge_joins(u, v)) std::atomic_ref<unsigned char>(joined_[v]).store(1, std::memory_order_relaxed);
          }
          return wrong;
        },
        detail::grain::rows);
    return first == nobody ? std::string{} : edge_sentence(first);
  }

  [[nodiscard]] std::string edge_sentence(std::int64_t u) const {
    const auto place = [this](std::int64_t v) {
      return levels_[v] < 0 ? fmt::format("vertex {}, which is unreached", v)
                            : fmt::format("vertex {} at level {}", v, levels_[v]);
    };
    for (O e = g_.out.offsets[u]; e < g_.out.offsets[u + 1]; ++e) {
      const std::int64_t v = g_.out.indices[e];
      if (!edge_is_right(u, v)) return fmt::format("an edge leads from {}, to {}", place(u), place(v));
    }
    return {};
  }

  // --- Pass 3: every reached vertex is joined by an edge -----------------------------------------------------------
  [[nodiscard]] std::string check_joined() const {
    const std::int64_t first = first_where(
        [this](std::int64_t v) { return v != source_ && levels_[v] >= 0 && joined_[v] == 0; }, detail::grain::elements);
    if (first == nobody) return {};
    if (parents_.empty()) {
      return fmt::format("vertex {} is at level {}, but no edge leads to it from level {}", first, levels_[first],
                         levels_[first] - 1);
    }
    return fmt::format("vertex {} has the parent {}, but no edge leads from there", first, parents_[first]);
  }

  const context<host>& ctx_;
  graph_view<I, O, host> g_;
  std::int64_t n_;
  std::int64_t source_;
  span<const std::int32_t, host> levels_;
  span<const I, host> parents_;
  std::int64_t max_depth_;
  std::int64_t last_level_;
  array<std::int32_t, host> counted_;
  array<unsigned char, host> joined_;
};

}  // namespace

template <index_type I, index_type O>
std::string check_bfs(const context<host>& ctx, const graph_view<I, O, host>& g, std::int64_t source,
                      span<const std::int32_t, host> levels, std::type_identity_t<span<const I, host>> parents,
                      std::int64_t max_depth) try {
  detail::expect_source("check_bfs", source, g.vertices());
  SPARGO_EXPECTS(!levels.empty() || !parents.empty(), "check_bfs: neither levels nor parents to check");
  return bfs_checker<I, O>(ctx, g, static_cast<I>(source), levels, parents, max_depth).run();
} catch (...) {
  detail::rethrow("check_bfs");
}

#define INSTANTIATE(I, O)                                                                                 \
  template std::string check_bfs<I, O>(const context<host>&, const graph_view<I, O, host>&, std::int64_t, \
                                       span<const std::int32_t, host>, span<const I, host>, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
