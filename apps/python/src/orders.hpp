// Vertex orders that other packages promise, computed sequentially.
#pragma once

#include "graph.hpp"

#include <algorithm>
#include <vector>

namespace spargo::python {

// The vertices in queue order and their predecessors (`none` if there is none): one thread, O(vertices + edges). SciPy
// and networkx promise this order, which a level-synchronous search does not give.
template <class I, class O>
nb::tuple queue_order(const bound_graph<I, O, host>& g, std::int64_t source, std::int64_t none) {
  const auto& out = g.view().out;
  SPARGO_EXPECTS(source >= 0 && source < out.rows,
                 "bfs_order: vertex " + std::to_string(source) + " of a graph of " + std::to_string(out.rows));
  const auto ctx = threads_context(1);
  array<I, host> order(ctx, out.rows);
  array<I, host> predecessors(ctx, out.rows);
  unlocked([&] {
    std::fill(predecessors.begin(), predecessors.end(), I(-1));
    std::int64_t found = 0;
    order[found++] = static_cast<I>(source);
    predecessors[source] = static_cast<I>(source);
    for (std::int64_t next = 0; next < found; ++next) {
      if (next % 4096 == 0) interruption::look();
      const I u = order[next];
      for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
        const I v = out.indices[e];
        if (predecessors[v] >= 0) continue;
        predecessors[v] = u;
        order[found++] = v;
      }
    }
    predecessors[source] = I(-1);
    if (none != -1) std::replace(predecessors.begin(), predecessors.end(), I(-1), static_cast<I>(none));
    order.truncate(found);
  });
  return nb::make_tuple(moved(std::move(order)), moved(std::move(predecessors)));
}

// SciPy's Cuthill-McKee order: searches from each vertex of `starts` that is not found yet; new neighbours by ascending
// degree. One thread, O(edges log(largest degree)).
template <class I, class O>
nb::object cuthill_mckee(const bound_graph<I, O, host>& g, const vector_of<const std::int64_t>& starts,
                         const vector_of<const std::int32_t>& degrees) {
  const auto& out = g.view().out;
  const auto seeds = view(starts);
  const auto degree = view(degrees);
  SPARGO_EXPECTS(degree.size() == out.rows, "cuthill_mckee: a degree for each vertex is expected");
  const auto ctx = threads_context(1);
  array<std::int32_t, host> order(ctx, out.rows);
  unlocked([&] {
    std::vector<bool> seen(static_cast<std::size_t>(out.rows));
    std::int64_t found = 0;
    std::int64_t next = 0;
    const auto take = [&](std::int64_t v) {
      if (seen[static_cast<std::size_t>(v)]) return;
      seen[static_cast<std::size_t>(v)] = true;
      order[found++] = static_cast<std::int32_t>(v);
    };
    for (const std::int64_t seed : seeds) {
      take(seed);
      for (; next < found; ++next) {
        if (next % 4096 == 0) interruption::look();
        const std::int64_t u = order[next];
        const std::int64_t first = found;
        for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) take(out.indices[e]);
        std::stable_sort(order.begin() + first, order.begin() + found,
                         [&](std::int32_t v, std::int32_t w) { return degree[v] < degree[w]; });
      }
    }
    order.truncate(found);
  });
  return moved(std::move(order));
}

}  // namespace spargo::python
