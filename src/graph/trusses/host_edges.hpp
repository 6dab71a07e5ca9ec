// The edges that a run works on, on the host: rows of ranks in which each edge has its number, and their copies without
// removed edges.
//
// Vertices are called by rank: descending degree, so an edge points from its end of higher rank (lower degree) to its
// end of lower rank, and the edges from one vertex, ascending by their other ends, have consecutive numbers. A row has
// all neighbours, ascending: first those of lower rank, whose edges are the vertex's own, then the others.
#pragma once

#include "core/bytes_of.hpp"
#include "graph/triangles/host_oriented.hpp"
#include "graph/trusses/executor.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

namespace spargo::detail::trusses {

struct edge_tuning {
  static constexpr std::int64_t vertices = 64;  // per part, rows of hubs included; untuned
};

// Triangles of an edge that are left, and the round in which it is or was removed.
template <class I>
struct edge_state {
  I support;
  I round;
};
template <class I>
inline constexpr I never = std::numeric_limits<I>::max();

template <class I, class O>
struct edge_rows {
  std::int64_t edges = 0;
  array<O, host> offsets;  // [rank], plus one: of the row
  array<O, host> first;    // [rank], plus one: the first of the edges from it
  array<I, host> ends;     // [entry]
  array<O, host> numbers;  // [entry] the edge
  array<I, host> from;     // [edge]
  array<I, host> to;
  array<O, host> originals;  // [edge] its number in the graph; empty: the same
  array<edge_state<I>, host> states;

  edge_rows() = default;
  edge_rows(const context<host>& ctx, std::int64_t n, std::int64_t capacity)
      : offsets(ctx, n + 1),
        first(ctx, n + 1),
        ends(ctx, 2 * capacity),
        numbers(ctx, 2 * capacity),
        from(ctx, capacity),
        to(ctx, capacity),
        states(ctx, capacity) {}

  [[nodiscard]] O original(O e) const { return originals.empty() ? e : originals[e]; }
  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return std::int64_t{offsets[v + 1]} - offsets[v]; }
  [[nodiscard]] std::int64_t lower(std::int64_t v) const { return std::int64_t{first[v + 1]} - first[v]; }
  [[nodiscard]] std::int64_t bytes() const {
    return bytes_of(offsets, first, ends, numbers, from, to, originals, states);
  }
};

// body(v) for all of n vertices, in parts of a few.
template <class Body>
void for_each_vertex(int threads, std::int64_t n, Body&& body) {
  const parts shares = chunks_of(n, edge_tuning::vertices);
  parallel_parts(useful_threads(threads, n, edge_tuning::vertices), shares.count, [&](std::int64_t part) {
    interruption::look();
    for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) body(v);
  });
}

// Appends each edge e to the group key(e): to[next[group]++]; then sorts each group by `less`, so the order does not
// depend on threads. `next`: starts on entry, ends on return.
template <class O, class Key, class Less>
void group_edges(int threads, std::int64_t edges, std::int64_t groups, O* next, O* to, Key&& key, Less&& less) {
  const auto start = [&](std::int64_t g) { return std::atomic_ref<O>(next[g]); };
  std::vector<O> starts(next, next + groups);
  parallel_for(threads, edges, grain::elements, [&](std::int64_t e) {
    to[start(key(static_cast<O>(e))).fetch_add(1, std::memory_order_relaxed)] = static_cast<O>(e);
  });
  for_each_vertex(threads, groups, [&](std::int64_t g) {
    O* const begin = to + starts[static_cast<std::size_t>(g)];
    if (!std::is_sorted(begin, to + next[g], less)) std::sort(begin, to + next[g], less);
  });
}

// Calls f(i, place) for every i of [0, size) with is(i), which have the places 0, 1, ... in order. Returns how many
// there are. Reads everything twice.
template <class Is, class F>
std::int64_t for_each_kept(int threads, std::int64_t size, std::vector<std::int64_t>& places, Is&& is, F&& f) {
  const parts shares = chunks_of(size, grain::elements);
  places.resize(static_cast<std::size_t>(shares.count));
  const int team = useful_threads(threads, size, grain::elements);
  parallel_parts(team, shares.count, [&](std::int64_t part) {
    std::int64_t count = 0;
    for (std::int64_t i = shares.first(part); i < shares.last(part); ++i) count += is(i) ? 1 : 0;
    places[static_cast<std::size_t>(part)] = count;
  });
  std::int64_t sum = 0;
  for (std::int64_t& place : places) sum += std::exchange(place, sum);
  parallel_parts(team, shares.count, [&](std::int64_t part) {
    std::int64_t place = places[static_cast<std::size_t>(part)];
    for (std::int64_t i = shares.first(part); i < shares.last(part); ++i) {
      if (is(i)) f(i, place++);
    }
  });
  return sum;
}

// The rows of a graph whose lists of lower ranks are known.
template <class I, class O>
edge_rows<I, O> rows_of_lists(const context<host>& ctx, const triangles::oriented_graph<I, O>& oriented) {
  const int threads = ctx.threads();
  const std::int64_t n = oriented.vertices();
  const auto* const lists = oriented.lists();
  std::int64_t edges = 0;
  for (std::int64_t v = 0; v < n; ++v) edges += lists[v].size;
  edge_rows<I, O> made(ctx, n, edges);
  made.edges = edges;
  O before = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    made.first[v] = before;
    before += static_cast<O>(lists[v].size);
    made.offsets[v] = static_cast<O>(lists[v].size);
  }
  made.first[n] = before;
  for_each_vertex(threads, n, [&](std::int64_t v) {
    for (I k = 0; k < lists[v].size; ++k) {
      const auto u = static_cast<I>(oriented.ends()[lists[v].first + k]);
      made.from[made.first[v] + k] = static_cast<I>(v);
      made.to[made.first[v] + k] = u;
      std::atomic_ref<O>(made.offsets[u]).fetch_add(1, std::memory_order_relaxed);
    }
  });
  // Room of each row; its upper part is grouped behind the lower one.
  array<O, host> next(ctx, n);
  O total = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    total += std::exchange(made.offsets[v], total);
    next[v] = static_cast<O>(made.offsets[v] + static_cast<O>(made.lower(v)));
  }
  made.offsets[n] = total;
  group_edges(
      threads, edges, n, next.data(), made.numbers.data(), [&](O e) { return made.to[e]; },
      [](O a, O b) { return a < b; });
  for_each_vertex(threads, n, [&](std::int64_t v) {
    const std::int64_t lower = made.lower(v);
    for (std::int64_t k = 0; k < made.degree(v); ++k) {
      const std::int64_t at = made.offsets[v] + k;
      if (k < lower) made.numbers[at] = static_cast<O>(made.first[v] + k);
      made.ends[at] = k < lower ? made.to[made.numbers[at]] : made.from[made.numbers[at]];
    }
  });
  return made;
}

// Copies the edges that are not removed. `ids`: room for a number per edge.
template <class I, class O>
void copy_left(int threads, const edge_rows<I, O>& all, edge_rows<I, O>& left, O* ids,
               std::vector<std::int64_t>& places) {
  const std::int64_t n = all.offsets.size() - 1;
  const auto is_left = [&](std::int64_t e) { return all.states[e].round == never<I>; };
  left.edges = for_each_kept(threads, all.edges, places, is_left, [&](std::int64_t e, std::int64_t to) {
    ids[e] = static_cast<O>(to);
    left.from[to] = all.from[e];
    left.to[to] = all.to[e];
    left.originals[to] = all.original(static_cast<O>(e));
    left.states[to] = all.states[e];
  });
  for_each_vertex(threads, n, [&](std::int64_t v) {
    const std::int64_t own_end = all.offsets[v] + all.lower(v);
    O lower = 0;
    O upper = 0;
    for (std::int64_t k = all.offsets[v]; k < own_end; ++k) lower += is_left(all.numbers[k]) ? 1 : 0;
    for (std::int64_t k = own_end; k < all.offsets[v + 1]; ++k) upper += is_left(all.numbers[k]) ? 1 : 0;
    left.first[v] = lower;
    left.offsets[v] = static_cast<O>(lower + upper);
  });
  O first = 0;
  O offset = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    first += std::exchange(left.first[v], first);
    offset += std::exchange(left.offsets[v], offset);
  }
  left.first[n] = first;
  left.offsets[n] = offset;
  for_each_vertex(threads, n, [&](std::int64_t v) {
    O to = left.offsets[v];
    for (O k = all.offsets[v]; k < all.offsets[v + 1]; ++k) {
      if (!is_left(all.numbers[k])) continue;
      left.ends[to] = all.ends[k];
      left.numbers[to++] = ids[all.numbers[k]];
    }
  });
}

}  // namespace spargo::detail::trusses
