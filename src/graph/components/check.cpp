// The checks of labels, independent of the algorithms.
//
// Weak. No edge joins two labels, so there are at least as many components as labels; and a spanning forest, grown edge
// by edge, has vertices minus labels edges, so there are no more. Strong. Within each label every vertex reaches the
// label's first vertex and is reached from it, so a label is within a component; and the labels have an order that all
// edges between them follow, so no component has two.
//
// Cost: O(vertices + edges), the forest nearly so. Memory: weak 8 bytes per vertex; strong, I = O = int32: 20 bytes per
// vertex and 4 per edge, including its own transpose.
#include <spargo/graph/components.hpp>

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

// Adjacency lists; the edges of v are [first[v], first[v + 1]).
template <class I>
struct neighbour_lists {
  std::vector<std::int64_t> first;
  std::vector<I> ends;
};

template <class I, class O>
class components_checker {
 public:
  components_checker(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges, span<const I, host> labels)
      : threads_(ctx.threads()), edges_(edges), n_(edges.rows), labels_(labels) {}

  std::string run(components_labels kind, bool strong) {
    if (labels_.size() != n_) return fmt::format("{} labels for {} vertices", labels_.size(), n_);
    if (std::string wrong = check_form(kind); !wrong.empty()) return wrong;
    if (kind == components_labels::sinks_first) {
      if (std::string wrong = check_sinks_first(); !wrong.empty()) return wrong;
    }
    return strong ? check_strong() : check_weak();
  }

 private:
  [[nodiscard]] std::size_t at(std::int64_t v) const { return static_cast<std::size_t>(v); }
  [[nodiscard]] I first_of(std::int64_t v) const { return first_[at(labels_[v])]; }

  // Checks that need no edges. Finds each label's first vertex and the number of labels.
  std::string check_form(components_labels kind) {
    first_.assign(at(n_), I{-1});
    for (std::int64_t v = 0; v < n_; ++v) {
      const std::int64_t label = labels_[v];
      if (label < 0 || label >= n_) return fmt::format("vertex {} has label {} of {} vertices", v, label, n_);
      if (first_[at(label)] >= 0) continue;
      const std::int64_t expected = kind == components_labels::dense ? found_ : v;
      if (kind != components_labels::sinks_first && label != expected) {
        return fmt::format("vertex {}, the first of its label, has label {} (expected {})", v, label, expected);
      }
      first_[at(label)] = static_cast<I>(v);
      ++found_;
    }
    return {};
  }

  std::string check_sinks_first() const {
    for (std::int64_t v = 0; v < n_; ++v) {
      if (labels_[v] >= found_) return fmt::format("vertex {} has label {} of {} labels", v, labels_[v], found_);
      for (O e = edges_.offsets[v]; e < edges_.offsets[v + 1]; ++e) {
        const I w = edges_.indices[e];
        if (labels_[w] > labels_[v]) {
          return fmt::format(
              "an edge leads from vertex {}, label {}, to vertex {}, label {} (expected none to a larger one)", v,
              labels_[v], w, labels_[w]);
        }
      }
    }
    return {};
  }

  std::string check_weak() {
    std::atomic<std::int64_t> offending{no_vertex};
    detail::parallel_for(threads_, n_, detail::grain::rows, [&](std::int64_t v) {
      for (O e = edges_.offsets[v]; e < edges_.offsets[v + 1]; ++e) {
        if (labels_[edges_.indices[e]] != labels_[v]) detail::lower_to(offending, v);
      }
    });
    if (const std::int64_t v = offending.load(); v != no_vertex) {
      for (O e = edges_.offsets[v];; ++e) {
        const I w = edges_.indices[e];
        if (labels_[w] != labels_[v]) {
          return fmt::format("an edge joins vertex {}, label {}, and vertex {}, label {}", v, labels_[v], w,
                             labels_[w]);
        }
      }
    }
    return check_spanned();
  }

  // Union by size: tree[v] is the vertex above v, or minus the size of the tree.
  std::string check_spanned() const {
    std::vector<std::int64_t> tree(at(n_), -1);
    const auto top = [&](std::int64_t v) {
      std::int64_t end = v;
      while (tree[at(end)] >= 0) end = tree[at(end)];
      while (v != end) v = std::exchange(tree[at(v)], end);
      return end;
    };
    std::int64_t missing = n_ - found_;
    for (std::int64_t v = 0; v < n_ && missing > 0; ++v) {
      for (O e = edges_.offsets[v]; e < edges_.offsets[v + 1]; ++e) {
        std::int64_t large = top(v);
        std::int64_t small = top(edges_.indices[e]);
        if (large == small) continue;
        if (tree[at(large)] > tree[at(small)]) std::swap(large, small);
        tree[at(large)] += tree[at(small)];
        tree[at(small)] = large;
        --missing;
      }
    }
    for (std::int64_t v = 0; v < n_ && missing > 0; ++v) {
      if (top(v) != top(first_of(v))) {
        return fmt::format("vertices {} and {} have label {}, but no path joins them", first_of(v), v, labels_[v]);
      }
    }
    return {};
  }

  std::string check_strong() const {
    neighbour_lists<I> out{{edges_.offsets.begin(), edges_.offsets.end()}, {}};
    out.ends.assign(edges_.indices.begin(), edges_.indices.end());
    if (n_ == 0) return {};
    const neighbour_lists<I> in = turned(out);
    if (const std::int64_t v = not_reached(out); v != no_vertex) {
      return fmt::format("vertices {} and {} have label {}, but within it no path leads from the first to the second",
                         first_of(v), v, labels_[v]);
    }
    if (const std::int64_t v = not_reached(in); v != no_vertex) {
      return fmt::format("vertices {} and {} have label {}, but within it no path leads from the second to the first",
                         first_of(v), v, labels_[v]);
    }
    return check_order(out);
  }

  [[nodiscard]] neighbour_lists<I> turned(const neighbour_lists<I>& from) const {
    neighbour_lists<I> to{std::vector<std::int64_t>(at(n_ + 2)), std::vector<I>(from.ends.size())};
    for (const I w : from.ends) ++to.first[at(w) + 2];
    for (std::size_t k = 2; k < to.first.size(); ++k) to.first[k] += to.first[k - 1];
    for (std::int64_t v = 0; v < n_; ++v) {
      for (std::int64_t e = from.first[at(v)]; e < from.first[at(v + 1)]; ++e) {
        to.ends[at(to.first[at(from.ends[at(e)]) + 1]++)] = static_cast<I>(v);
      }
    }
    return to;
  }

  // The smallest vertex that its label's first vertex does not reach within the label.
  [[nodiscard]] std::int64_t not_reached(const neighbour_lists<I>& lists) const {
    std::vector<bool> reached(at(n_));
    std::vector<I> waiting;
    for (std::int64_t v = 0; v < n_; ++v) {
      if (first_of(v) != v) continue;
      reached[at(v)] = true;
      waiting.assign(1, static_cast<I>(v));
      while (!waiting.empty()) {
        const std::int64_t u = waiting.back();
        waiting.pop_back();
        for (std::int64_t e = lists.first[at(u)]; e < lists.first[at(u + 1)]; ++e) {
          const I w = lists.ends[at(e)];
          if (labels_[w] != labels_[u] || reached[at(w)]) continue;
          reached[at(w)] = true;
          waiting.push_back(w);
        }
      }
    }
    for (std::int64_t v = 0; v < n_; ++v) {
      if (!reached[at(v)]) return v;
    }
    return no_vertex;
  }

  // Repeatedly removes labels without edges from other labels left; fails if some remain.
  [[nodiscard]] std::string check_order(const neighbour_lists<I>& out) const {
    std::vector<std::int64_t> entering(at(n_));   // [label] edges from other labels left
    std::vector<std::int64_t> begin(at(n_ + 2));  // [label] start of its vertices in `members`
    for (std::int64_t v = 0; v < n_; ++v) {
      ++begin[at(labels_[v]) + 2];
      for (std::int64_t e = out.first[at(v)]; e < out.first[at(v + 1)]; ++e) {
        const I w = out.ends[at(e)];
        if (labels_[w] != labels_[v]) ++entering[at(labels_[w])];
      }
    }
    for (std::size_t k = 2; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<I> members(at(n_));
    for (std::int64_t v = 0; v < n_; ++v) members[at(begin[at(labels_[v]) + 1]++)] = static_cast<I>(v);
    std::vector<I> free;
    for (std::int64_t v = 0; v < n_; ++v) {
      if (first_of(v) == v && entering[at(labels_[v])] == 0) free.push_back(labels_[v]);
    }
    std::int64_t taken = 0;
    for (; !free.empty(); ++taken) {
      const std::int64_t label = free.back();
      free.pop_back();
      for (std::int64_t k = begin[at(label)]; k < begin[at(label + 1)]; ++k) {
        const std::int64_t v = members[at(k)];
        for (std::int64_t e = out.first[at(v)]; e < out.first[at(v + 1)]; ++e) {
          const I to = labels_[out.ends[at(e)]];
          if (to != label && --entering[at(to)] == 0) free.push_back(to);
        }
      }
    }
    if (taken == found_) return {};
    for (std::int64_t v = 0;; ++v) {
      if (entering[at(labels_[v])] > 0) {
        return fmt::format("vertex {}, label {}, is on or behind a cycle through several labels", v, labels_[v]);
      }
    }
  }

  int threads_;
  csr_pattern_view<I, O, host> edges_;
  std::int64_t n_;
  span<const I, host> labels_;
  std::vector<I> first_;  // [label]: its first vertex, or -1
  std::int64_t found_ = 0;
};

}  // namespace

template <index_type I, index_type O>
std::string check_components(const context<host>& ctx, const graph_view<I, O, host>& g,
                             std::type_identity_t<span<const I, host>> labels, const components_options& options) try {
  const bool strong = options.connection == components_connection::strong && g.direction == direction_kind::directed;
  return components_checker<I, O>(ctx, g.out, labels).run(options.labels, strong);
} catch (...) {
  detail::rethrow("check_components");
}

#define INSTANTIATE(I, O)                                                                          \
  template std::string check_components<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                              std::type_identity_t<span<const I, host>>, const components_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
