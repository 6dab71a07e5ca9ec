// Kahn's topological order and two-colouring by breadth-first search; both return a cycle as the proof of a failure.
#include <spargo/graph/properties.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/structure/checks.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace spargo {

namespace detail::properties {

namespace {

template <class T>
array<T, host> to_array(const context<host>& ctx, const std::vector<T>& values) {
  array<T, host> copy(ctx, static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), copy.begin());
  return copy;
}

// Every remaining vertex has a remaining predecessor, so a path backwards along these closes to a cycle.
template <class I, class O>
std::vector<I> find_cycle(const context<host>& ctx, const csr_pattern_view<I, O, host>& out,
                          const array<O, host>& in_degrees) {
  array<I, host> before(ctx, out.rows);
  I start = -1;
  for (std::int64_t u = 0; u < out.rows; ++u) {
    if (in_degrees[u] == 0) continue;
    start = static_cast<I>(u);
    for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) before[out.indices[e]] = static_cast<I>(u);
  }
  for (std::int64_t step = 0; step < out.rows; ++step) start = before[start];  // now on the cycle
  std::vector<I> cycle{start};
  for (I v = before[start]; v != start; v = before[v]) cycle.push_back(v);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

// The cycle that the edge between u and v closes in the tree of `parents`.
template <class I>
std::vector<I> close_cycle(const array<I, host>& parents, I u, I v) {
  std::vector<I> up{u};
  while (parents[up.back()] != up.back()) up.push_back(parents[up.back()]);
  std::vector<I> down{v};
  while (parents[down.back()] != down.back()) down.push_back(parents[down.back()]);
  while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
    up.pop_back();
    down.pop_back();
  }
  down.pop_back();  // the common ancestor
  up.insert(up.end(), down.rbegin(), down.rend());
  return up;
}

template <class I, class O>
class two_coloring {
 public:
  two_coloring(const context<host>& ctx, const graph_view<I, O, host>& g)
      : parts_{g.out, g.direction == direction_kind::directed ? g.in : csr_pattern_view<I, O, host>{}},
        parents_(ctx, g.vertices()),
        queue_(ctx, g.vertices()),
        sides_(ctx, g.vertices()) {
    std::fill(sides_.begin(), sides_.end(), unseen);
  }

  // The odd cycle; empty: there is none.
  [[nodiscard]] std::vector<I> color() {
    for (std::int64_t v = 0; v < sides_.size(); ++v) {
      if (sides_[v] != unseen || parts_[0].offsets[v] == parts_[0].offsets[v + 1]) continue;
      std::vector<I> cycle = color_from(static_cast<I>(v));
      if (!cycle.empty()) return cycle;
    }
    std::replace(sides_.begin(), sides_.end(), unseen, std::int8_t{0});
    return {};
  }
  [[nodiscard]] array<std::int8_t, host> take_sides() { return std::move(sides_); }

 private:
  static constexpr std::int8_t unseen = -1;

  [[nodiscard]] std::vector<I> color_from(I start) {
    sides_[start] = 1;
    parents_[start] = start;
    queue_[0] = start;
    std::int64_t found = 1;
    for (std::int64_t next = 0; next < found; ++next) {
      structure::poll(next);
      const I u = queue_[next];
      for (const auto& part : parts_) {
        if (part.offsets.empty()) continue;
        for (O e = part.offsets[u]; e < part.offsets[std::int64_t{u} + 1]; ++e) {
          const I v = part.indices[e];
          if (sides_[v] == sides_[u]) return close_cycle(parents_, u, v);
          if (sides_[v] != unseen) continue;
          sides_[v] = static_cast<std::int8_t>(1 - sides_[u]);
          parents_[v] = u;
          queue_[found++] = v;
        }
      }
    }
    return {};
  }

  std::array<csr_pattern_view<I, O, host>, 2> parts_;  // in-edges of a directed graph
  array<I, host> parents_;
  array<I, host> queue_;
  array<std::int8_t, host> sides_;
};

}  // namespace

}  // namespace detail::properties

template <index_type I, index_type O>
topological_result<I> topological_order(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  SPARGO_EXPECTS(g.direction == direction_kind::directed,
                 "topological_order: the graph is undirected (expected a directed one)");
  const auto& out = g.out;
  array<O, host> in_degrees(ctx, out.rows);
  std::fill(in_degrees.begin(), in_degrees.end(), O{0});
  for (const I v : out.indices) ++in_degrees[v];
  topological_result<I> result;
  result.order = {ctx, out.rows};
  std::int64_t found = 0;
  for (std::int64_t v = 0; v < out.rows; ++v) {
    if (in_degrees[v] == 0) result.order[found++] = static_cast<I>(v);
  }
  std::vector<std::int64_t> levels{0};
  for (std::int64_t next = 0; next < found;) {
    for (const std::int64_t end = found; next < end; ++next) {
      detail::structure::poll(next);
      const I u = result.order[next];
      for (O e = out.offsets[u]; e < out.offsets[std::int64_t{u} + 1]; ++e) {
        if (--in_degrees[out.indices[e]] == 0) result.order[found++] = out.indices[e];
      }
    }
    levels.push_back(next);
  }
  result.order.truncate(found);
  result.level_offsets = detail::properties::to_array(ctx, levels);
  if (found < out.rows) {
    result.cycle = detail::properties::to_array(ctx, detail::properties::find_cycle(ctx, out, in_degrees));
  }
  return result;
} catch (...) {
  detail::rethrow("topological_order");
}

template <index_type I, index_type O>
bipartition_result<I> bipartition(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  const detail::with_in_edges<I, O, host> whole(ctx, g);
  detail::properties::two_coloring<I, O> coloring(ctx, whole.view());
  bipartition_result<I> result;
  result.odd_cycle = detail::properties::to_array(ctx, coloring.color());
  result.sides = coloring.take_sides();
  return result;
} catch (...) {
  detail::rethrow("bipartition");
}

#define INSTANTIATE(I, O)                                                                                      \
  template topological_result<I> topological_order<I, O>(const context<host>&, const graph_view<I, O, host>&); \
  template bipartition_result<I> bipartition<I, O>(const context<host>&, const graph_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
