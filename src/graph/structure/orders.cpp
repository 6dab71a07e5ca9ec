// Sequential orders of vertices: breadth-first, depth-first, and Cuthill and McKee's (ACM 1969).
#include <spargo/graph/structure.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/structure/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace spargo {

namespace detail::structure {

namespace {

// Vertices by ascending degree, ties by number.
template <class I>
array<I, host> by_degree(const context<host>& ctx, span<const std::int64_t, host> degrees) {
  array<I, host> vertices(ctx, degrees.size());
  std::iota(vertices.begin(), vertices.end(), I{0});
  std::stable_sort(vertices.begin(), vertices.end(), [&](I v, I w) { return degrees[v] < degrees[w]; });
  return vertices;
}

}  // namespace

}  // namespace detail::structure

template <index_type I, index_type O>
search_order<I> bfs_order(const context<host>& ctx, const graph_view<I, O, host>& g,
                          std::type_identity_t<I> source) try {
  const auto& out = g.out;
  detail::structure::expect_vertex("bfs_order", source, out.rows);
  array<I, host> order(ctx, out.rows);
  array<I, host> predecessors(ctx, out.rows);
  std::fill(predecessors.begin(), predecessors.end(), I{-1});
  predecessors[source] = source;  // until the end: it counts as found
  order[0] = source;
  std::int64_t found = 1;
  for (std::int64_t next = 0; next < found; ++next) {
    detail::structure::poll(next);
    const I u = order[next];
    for (O e = out.offsets[u]; e < out.offsets[std::int64_t{u} + 1]; ++e) {
      const I v = out.indices[e];
      if (predecessors[v] >= 0) continue;
      predecessors[v] = u;
      order[found++] = v;
    }
  }
  predecessors[source] = I{-1};
  order.truncate(found);
  return {std::move(order), std::move(predecessors)};
} catch (...) {
  detail::rethrow("bfs_order");
}

// The path from the source to the current vertex is that of the predecessors.
template <index_type I, index_type O>
search_order<I> dfs_order(const context<host>& ctx, const graph_view<I, O, host>& g,
                          std::type_identity_t<I> source) try {
  const auto& out = g.out;
  detail::structure::expect_vertex("dfs_order", source, out.rows);
  array<I, host> order(ctx, out.rows);
  array<I, host> predecessors(ctx, out.rows);
  array<O, host> next(ctx, out.rows);  // [vertex on the path] its first edge that was not followed yet
  std::fill(predecessors.begin(), predecessors.end(), I{-1});
  std::int64_t found = 0;
  const auto enter = [&](I v, I from) {
    predecessors[v] = from;
    next[v] = out.offsets[v];
    order[found++] = v;
  };
  enter(source, source);  // its own predecessor until the end: it counts as found
  I u = source;
  for (std::int64_t steps = 0;; ++steps) {
    detail::structure::poll(steps);
    const O last = out.offsets[std::int64_t{u} + 1];
    O e = next[u];
    while (e < last && predecessors[out.indices[e]] >= 0) ++e;
    if (e < last) {
      next[u] = e + 1;
      enter(out.indices[e], u);
      u = out.indices[e];
    } else if (u != source) {
      u = predecessors[u];
    } else {
      break;
    }
  }
  predecessors[source] = I{-1};
  order.truncate(found);
  return {std::move(order), std::move(predecessors)};
} catch (...) {
  detail::rethrow("dfs_order");
}

template <index_type I, index_type O>
array<I, host> cuthill_mckee(const context<host>& ctx, const graph_view<I, O, host>& g,
                             const cuthill_mckee_options<I>& options) try {
  const auto& out = g.out;
  array<std::int64_t, host> out_degrees;
  span<const std::int64_t, host> degrees = options.degrees;
  if (degrees.empty()) {
    out_degrees = {ctx, out.rows};
    for (std::int64_t v = 0; v < out.rows; ++v) out_degrees[v] = out.offsets[v + 1] - out.offsets[v];
    degrees = out_degrees.view();
  }
  SPARGO_EXPECTS(
      degrees.size() == out.rows,
      fmt::format("cuthill_mckee: expected a degree for each of {} vertices, got {}", out.rows, degrees.size()));
  array<I, host> sorted;
  span<const I, host> starts = options.starts;
  if (starts.empty()) {
    sorted = detail::structure::by_degree<I>(ctx, degrees);
    starts = sorted.view();
  }
  array<I, host> order(ctx, out.rows);
  std::vector<bool> seen(static_cast<std::size_t>(out.rows));
  std::int64_t found = 0;
  std::int64_t next = 0;
  const auto append = [&](I v) {
    if (seen[static_cast<std::size_t>(v)]) return;
    seen[static_cast<std::size_t>(v)] = true;
    order[found++] = v;
  };
  for (const I start : starts) {
    detail::structure::expect_vertex("cuthill_mckee", start, out.rows);
    append(start);
    for (; next < found; ++next) {
      detail::structure::poll(next);
      const I u = order[next];
      const std::int64_t first = found;
      for (O e = out.offsets[u]; e < out.offsets[std::int64_t{u} + 1]; ++e) append(out.indices[e]);
      std::stable_sort(order.begin() + first, order.begin() + found, [&](I v, I w) { return degrees[v] < degrees[w]; });
    }
  }
  order.truncate(found);
  return order;
} catch (...) {
  detail::rethrow("cuthill_mckee");
}

#define INSTANTIATE(I, O)                                                                          \
  template search_order<I> bfs_order<I, O>(const context<host>&, const graph_view<I, O, host>&,    \
                                           std::type_identity_t<I>);                               \
  template search_order<I> dfs_order<I, O>(const context<host>&, const graph_view<I, O, host>&,    \
                                           std::type_identity_t<I>);                               \
  template array<I, host> cuthill_mckee<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                              const cuthill_mckee_options<I>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
