// Hopcroft and Karp's maximum matching, and Koenig's cover.
//
// Each round numbers the vertices of side 1 by the length of the shortest alternating path to them from one without a
// mate, then follows disjoint paths along these numbers: each entry is read at most once per round. When no path ends
// at a free vertex of side 0, the cover is what the search did not reach of side 1 and reached of side 0: the same for
// every maximum matching (Dulmage, Mendelsohn, 1958). Side 1 has no isolated vertices.
#include <spargo/core/interruption.hpp>
#include <spargo/graph/bipartite_matching.hpp>
#include <spargo/graph/properties.hpp>

#include "core/instantiate.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace spargo {

namespace detail::matching {

namespace {

template <class I, class O>
class path_finder {
 public:
  path_finder(const context<host>& ctx, const graph_view<I, O, host>& g, span<const std::int8_t, host> sides)
      : n_(g.vertices()),
        rows_{g.out, g.direction == direction_kind::directed ? g.in : csr_pattern_view<I, O, host>()},
        sides_(sides),
        mates_(ctx, n_),
        chosen_(ctx, n_),
        distance_(ctx, n_),
        next_(ctx, n_),
        list_(ctx, n_) {
    std::fill_n(mates_.data(), n_, I{-1});
  }

  void run() {
    start();
    while (number_vertices()) {
      std::fill_n(next_.data(), n_, O{0});
      for (std::int64_t v = 0; v < n_; ++v) {
        if (is_free(v)) size_ += augment(static_cast<I>(v)) ? 1 : 0;
      }
    }
  }

  [[nodiscard]] bipartite_matching_result<I> result(const context<host>& ctx) && {
    array<std::uint8_t, host> cover(ctx, n_);
    for (std::int64_t v = 0; v < n_; ++v) {
      const bool covers = sides_[v] == 1 ? distance_[v] < 0 : is_reached(static_cast<I>(v));
      cover[v] = covers ? 1 : 0;
    }
    return {std::move(mates_), std::move(cover), size_};
  }

 private:
  [[nodiscard]] O length(std::int64_t v) const { return side_length(0, v) + side_length(1, v); }
  [[nodiscard]] O side_length(std::size_t side, std::int64_t v) const {
    const auto& rows = rows_[side];
    return rows.offsets.empty() ? O{0} : static_cast<O>(rows.offsets[v + 1] - rows.offsets[v]);
  }
  [[nodiscard]] I neighbour(std::int64_t v, O k) const {
    const O first = side_length(0, v);
    return k < first ? rows_[0].indices[rows_[0].offsets[v] + k] : rows_[1].indices[rows_[1].offsets[v] + (k - first)];
  }
  [[nodiscard]] bool is_free(std::int64_t v) const { return sides_[v] == 1 && mates_[v] < 0; }
  // Of a vertex of side 0, from side 1.
  [[nodiscard]] bool is_reached(I v) const {
    for (O k = 0; k < length(v); ++k) {
      if (distance_[neighbour(v, k)] >= 0) return true;
    }
    return false;
  }

  void match(I v, I u) {
    mates_[v] = u;
    mates_[u] = v;
  }

  // A greedy matching, which has most of the edges of a maximum one.
  void start() {
    for (std::int64_t v = 0; v < n_; ++v) {
      for (O k = 0; k < length(v) && is_free(v); ++k) {
        const I u = neighbour(v, k);
        if (mates_[u] >= 0) continue;
        match(static_cast<I>(v), u);
        ++size_;
      }
    }
  }

  // Distances of side 1 from its free vertices, -1: not reached. Whether a path ends at a free vertex of side 0.
  bool number_vertices() {
    interruption::look();
    std::int64_t tail = 0;
    for (std::int64_t v = 0; v < n_; ++v) {
      distance_[v] = I{-1};
      if (!is_free(v)) continue;
      distance_[v] = 0;
      list_[tail++] = static_cast<I>(v);
    }
    I last = static_cast<I>(n_);  // no augmenting path is longer
    for (std::int64_t head = 0; head < tail && distance_[list_[head]] <= last; ++head) {
      const I v = list_[head];
      for (O k = 0; k < length(v); ++k) {
        const I next = mates_[neighbour(v, k)];
        if (next < 0) {
          last = distance_[v];
        } else if (distance_[next] < 0) {
          distance_[next] = static_cast<I>(distance_[v] + 1);
          list_[tail++] = next;
        }
      }
    }
    return last < n_;
  }

  // Follows one path from `root`. A vertex that leads nowhere is not tried again.
  bool augment(I root) {
    std::int64_t depth = 1;
    list_[0] = root;
    while (depth > 0) {
      const I v = list_[depth - 1];
      if (next_[v] == length(v)) {
        --depth;
        continue;
      }
      const I u = neighbour(v, next_[v]++);
      const I next = mates_[u];
      if (next >= 0 && (distance_[next] != distance_[v] + 1 || next_[next] == length(next))) continue;
      chosen_[v] = u;
      if (next < 0) {
        for (std::int64_t k = 0; k < depth; ++k) match(list_[k], chosen_[list_[k]]);
        return true;
      }
      list_[depth++] = next;
    }
    return false;
  }

  std::int64_t n_;
  std::array<csr_pattern_view<I, O, host>, 2> rows_;
  span<const std::int8_t, host> sides_;
  array<I, host> mates_;
  array<I, host> chosen_;    // of the current path
  array<I, host> distance_;  // [vertex of side 1]
  array<O, host> next_;      // [vertex of side 1] its neighbours that have been tried
  array<I, host> list_;
  std::int64_t size_ = 0;
};

}  // namespace

}  // namespace detail::matching

template <index_type I, index_type O>
bipartite_matching_result<I> maximum_bipartite_matching(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  detail::expect_graph("bipartite matching", g);
  const detail::with_in_edges<I, O, host> pulled(ctx, g);
  const bipartition_result<I> halves = bipartition(ctx, pulled.view());
  if (!halves.is_bipartite()) {
    throw error(error_code::invalid_argument,
                fmt::format("bipartite matching: vertex {} is on a cycle of {} edges (expected a bipartite graph)",
                            halves.odd_cycle[0], halves.odd_cycle.size()));
  }
  detail::matching::path_finder<I, O> finder(ctx, pulled.view(), halves.sides.view());
  finder.run();
  return std::move(finder).result(ctx);
} catch (...) {
  detail::rethrow("bipartite matching");
}

#define INSTANTIATE(I, O)                                                                      \
  template bipartite_matching_result<I> maximum_bipartite_matching<I, O>(const context<host>&, \
                                                                         const graph_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
