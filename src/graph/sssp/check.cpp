// The check of distances and parents, independent of the searches.
//
// Why it suffices. No edge leads from a reached vertex to one that is farther than this edge allows; so, edge by edge
// along a shortest path, no distance exceeds the shortest path's length, and every reachable vertex is reached. Call an
// edge tight if the distances of its ends differ by exactly its weight. If tight edges lead from the source to a
// vertex, its distance is that path's length, hence no less. A vertex with a tight edge from a nearer vertex is reached
// by tight edges if that vertex is, and so on inductively; only the others, over zero-length edges, are traversed one
// by one. With a cutoff or a target, paths that end beyond the limit do not count.
//
// Cost: O(vertices + edges). Memory: one byte per vertex; with parents one index more, and one for the smallest.
#include <spargo/graph/sssp.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <vector>

namespace spargo {

namespace {

constexpr std::int64_t no_vertex = std::numeric_limits<std::int64_t>::max();

enum mark : unsigned char { has_nearer = 1, has_parent = 2 };

template <class W, class I, class O>
class sssp_checker {
 public:
  using distance_type = sssp_distance<W>;

  sssp_checker(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, std::int64_t source,
               span<const distance_type, host> distances, span<const I, host> parents, const sssp_options& options)
      : threads_(ctx.threads()),
        edges_(g.out),
        weights_(g.out_weights),
        n_(g.vertices()),
        source_(source),
        distances_(distances),
        parents_(parents),
        options_(options) {}

  std::string run() {
    if (distances_.size() != n_) return fmt::format("{} distances for {} vertices", distances_.size(), n_);
    if (!parents_.empty() && parents_.size() != n_)
      return fmt::format("{} parents for {} vertices", parents_.size(), n_);
    if (source_ < 0 || source_ >= n_) return fmt::format("the source {} is not one of {} vertices", source_, n_);
    if (distances_[source_] != 0) return fmt::format("the source {} has distance {}", source_, distances_[source_]);
    if (std::string wrong = check_range(); !wrong.empty()) return wrong;
    if (std::string wrong = check_edges(); !wrong.empty()) return wrong;
    if (std::string wrong = check_support(); !wrong.empty()) return wrong;
    return parents_.empty() ? std::string() : check_parents();
  }

 private:
  static constexpr distance_type none = sssp_unreached<W>;

  [[nodiscard]] static std::size_t at(std::int64_t v) { return static_cast<std::size_t>(v); }
  [[nodiscard]] bool is_reached(std::int64_t v) const { return distances_[v] != none; }

  // Length of the path extended by edge e; none on overflow.
  [[nodiscard]] distance_type by(distance_type before, O e) const {
    if constexpr (std::integral<W>) {
      distance_type sum = 0;
      return __builtin_add_overflow(before, static_cast<distance_type>(weights_[e]), &sum) ? none : sum;
    } else {
      return before + static_cast<distance_type>(weights_[e]);
    }
  }

  [[nodiscard]] bool is_within(distance_type path) const {
    if (path == none || static_cast<long double>(path) > static_cast<long double>(options_.cutoff)) return false;
    return options_.target < 0 || !is_reached(options_.target) || path <= distances_[options_.target];
  }

  template <class Wrong>
  [[nodiscard]] std::int64_t first_vertex(Wrong&& wrong) const {
    std::atomic<std::int64_t> offending{no_vertex};
    detail::parallel_for(threads_, n_, detail::grain::rows, [&](std::int64_t v) {
      if (wrong(v)) detail::lower_to(offending, v);
    });
    return offending.load();
  }

  // The first edge of v for which wrong(e), or the end of its row.
  template <class Wrong>
  [[nodiscard]] O first_edge(std::int64_t v, Wrong&& wrong) const {
    O e = edges_.offsets[v];
    while (e < edges_.offsets[v + 1] && !wrong(e)) ++e;
    return e;
  }

  std::string check_range() const {
    const std::int64_t v = first_vertex(
        [&](std::int64_t u) { return !(distances_[u] >= 0) || (is_reached(u) && !is_within(distances_[u])); });
    if (v == no_vertex) return {};
    return fmt::format("vertex {} has distance {} (expected 0 or more, and within the limits)", v, distances_[v]);
  }

  // No edge shortens a path; marks the targets of tight edges.
  std::string check_edges() {
    marks_.assign(at(n_), 0);
    const auto leaves_shorter = [&](std::int64_t u, O e) {
      const distance_type path = by(distances_[u], e);
      return path < distances_[edges_.indices[e]] && is_within(path);
    };
    const std::int64_t v = first_vertex([&](std::int64_t u) {
      if (!is_reached(u)) return false;
      for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
        if (leaves_shorter(u, e)) return true;
        mark_end(u, e);
      }
      return false;
    });
    if (v == no_vertex) return {};
    const O e = first_edge(v, [&](O one) { return leaves_shorter(v, one); });
    const I w = edges_.indices[e];
    const std::string has = is_reached(w) ? fmt::format("has distance {}", distances_[w]) : "is not reached";
    return fmt::format("vertex {} {}, but an edge of weight {} leads to it from vertex {} at {}", w, has, weights_[e],
                       v, distances_[v]);
  }

  void mark_end(std::int64_t u, O e) {
    const I w = edges_.indices[e];
    if (by(distances_[u], e) != distances_[w] || !is_reached(w)) return;
    unsigned found = distances_[u] < distances_[w] ? has_nearer : 0;
    if (!parents_.empty() && parents_[w] == static_cast<I>(u)) found |= has_parent;
    if (found == 0) return;
    const std::atomic_ref<unsigned char> marks(marks_[at(w)]);
    if ((marks.load(std::memory_order_relaxed) & found) != found) {
      marks.fetch_or(static_cast<unsigned char>(found), std::memory_order_relaxed);
    }
  }

  // Whether edge e from u is tight and of zero length.
  [[nodiscard]] bool adds_nothing(std::int64_t u, O e) const {
    return distances_[edges_.indices[e]] == distances_[u] && by(distances_[u], e) == distances_[u];
  }

  // Levels of vertices without a nearer one. 0: has one, or is the source; -1: not reached by tight edges.
  std::string check_support() {
    std::int64_t missing = 0;
    for (std::int64_t v = 0; v < n_; ++v) missing += is_reached(v) && v != source_ && (marks_[at(v)] & has_nearer) == 0;
    level_.clear();
    if (missing == 0) return {};
    level_.assign(at(n_), -1);
    std::vector<I> waiting;
    for (std::int64_t v = 0; v < n_; ++v) {
      if (v != source_ && (!is_reached(v) || (marks_[at(v)] & has_nearer) == 0)) continue;
      level_[at(v)] = 0;
      waiting.push_back(static_cast<I>(v));
    }
    for (std::size_t k = 0; k < waiting.size(); ++k) {
      const I u = waiting[k];
      for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
        const I w = edges_.indices[e];
        if (!adds_nothing(u, e) || level_[at(w)] >= 0) continue;
        level_[at(w)] = level_[at(u)] + 1;
        waiting.push_back(w);
      }
    }
    for (std::int64_t v = 0; v < n_; ++v) {
      if (is_reached(v) && level_[at(v)] < 0) {
        return fmt::format("vertex {} has distance {}, but no path of this length leads to it", v, distances_[v]);
      }
    }
    return {};
  }

  std::string check_parents() {
    if (parents_[source_] != source_) return fmt::format("the source {} has parent {}", source_, parents_[source_]);
    const std::int64_t v = first_vertex([&](std::int64_t u) {
      if (u == source_) return false;
      return is_reached(u) ? (marks_[at(u)] & has_parent) == 0 : parents_[u] != -1;
    });
    if (v != no_vertex) {
      if (!is_reached(v))
        return fmt::format("vertex {} is not reached and has parent {} (expected -1)", v, parents_[v]);
      return fmt::format("vertex {} at distance {} has parent {}, which no edge of the right weight joins to it", v,
                         distances_[v], parents_[v]);
    }
    if (std::string wrong = check_roots(); !wrong.empty()) return wrong;
    return options_.parents == sssp_parents::smallest ? check_smallest() : std::string();
  }

  // Nearer parents form no cycle; chains of the others are followed, each vertex once.
  std::string check_roots() const {
    enum state : unsigned char { unknown, on_the_way, good };
    std::vector<unsigned char> states(at(n_), unknown);
    for (std::int64_t v = 0; v < n_; ++v) {
      std::int64_t u = v;
      while (is_reached(u) && u != source_ && distances_[parents_[u]] == distances_[u] && states[at(u)] == unknown) {
        states[at(u)] = on_the_way;
        u = parents_[u];
      }
      if (states[at(u)] == on_the_way) return fmt::format("the parents of vertex {} form a cycle", u);
      for (u = v; states[at(u)] == on_the_way; u = parents_[u]) states[at(u)] = good;
    }
    return {};
  }

  std::string check_smallest() const {
    std::vector<I> smallest(at(n_), std::numeric_limits<I>::max());
    for (std::int64_t u = 0; u < n_; ++u) {
      if (!is_reached(u)) continue;
      for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
        const I w = edges_.indices[e];
        if (!is_reached(w) || by(distances_[u], e) != distances_[w] || smallest[at(w)] < u) continue;
        const bool nearer = distances_[u] < distances_[w];
        const bool next = !nearer && !level_.empty() && level_[at(u)] + 1 == level_[at(w)];
        if (nearer || next) smallest[at(w)] = static_cast<I>(u);
      }
    }
    for (std::int64_t v = 0; v < n_; ++v) {
      if (v != source_ && is_reached(v) && parents_[v] != smallest[at(v)]) {
        return fmt::format("vertex {} has parent {} (expected {}, the smallest)", v, parents_[v], smallest[at(v)]);
      }
    }
    return {};
  }

  int threads_;
  csr_pattern_view<I, O, host> edges_;
  span<const W, host> weights_;
  std::int64_t n_;
  std::int64_t source_;
  span<const distance_type, host> distances_;
  span<const I, host> parents_;
  sssp_options options_;
  std::vector<unsigned char> marks_;
  std::vector<std::int64_t> level_;  // empty: all are 0
};

}  // namespace

template <detail::scalar W, index_type I, index_type O>
std::string check_sssp(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, std::int64_t source,
                       std::type_identity_t<span<const sssp_distance<W>, host>> distances,
                       std::type_identity_t<span<const I, host>> parents, const sssp_options& options) try {
  return sssp_checker<W, I, O>(ctx, g, source, distances, parents, options).run();
} catch (...) {
  detail::rethrow("check_sssp");
}

#define INSTANTIATE(W, I, O)                                                                                       \
  template std::string check_sssp<W, I, O>(const context<host>&, const weighted_graph_view<W, I, O, host>&,        \
                                           std::int64_t, std::type_identity_t<span<const sssp_distance<W>, host>>, \
                                           std::type_identity_t<span<const I, host>>, const sssp_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
