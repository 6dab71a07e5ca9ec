// Ranks of vertices on the host: a radix sort of keys, and the peeling behind `smallest_last`.
//
// Peeling proceeds in rounds. Level k removes all vertices with at most k remaining neighbours at once, then those that
// drop to k, until none is left; then k becomes the smallest remaining degree. A vertex has at most k neighbours in its
// own and later rounds, so the reverse of the rounds, in any order within a round, gives at most max_core + 1 colours.
// O(vertices + edges), plus one pass over the remaining vertices per level.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "formats/rows/sort_pairs.hpp"
#include "graph/greedy/order.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace spargo::detail::greedy {

namespace {

constexpr int batch = 256;  // vertices that a thread appends at once

// Vertices that threads append in any order.
template <class I>
class vertex_list {
 public:
  vertex_list(const context<host>& ctx, std::int64_t capacity) : items_(ctx, capacity) {}

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] I operator[](std::int64_t k) const { return items_.data()[k]; }
  void clear() { size_ = 0; }
  void swap(vertex_list& other) {
    items_.swap(other.items_);
    size_ = other.size_.exchange(size_);
  }

  // A thread's buffer for appending to the list.
  class appender {
   public:
    explicit appender(vertex_list& to) : to_(to) {}
    appender(const appender&) = delete;
    appender& operator=(const appender&) = delete;
    ~appender() { flush(); }
    void push(I v) {
      if (count_ == batch) flush();
      items_[count_++] = v;
    }

   private:
    void flush() {
      std::copy_n(items_, count_, to_.items_.data() + to_.size_.fetch_add(count_, std::memory_order_relaxed));
      count_ = 0;
    }
    vertex_list& to_;
    int count_ = 0;
    I items_[batch];
  };

 private:
  array<I, host> items_;
  std::atomic<std::int64_t> size_{0};
};

template <class I, class O>
class peeler {
 public:
  peeler(const context<host>& ctx, const graph_view<I, O, host>& g)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        sides_(sides_of(g)),
        degree_(ctx, n_),
        round_(ctx, n_),
        left_(ctx, n_),
        next_left_(ctx, n_),
        frontier_(ctx, n_),
        next_(ctx, n_) {}

  // Computes the round in which each vertex is removed; returns the last one.
  std::int64_t run() {
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t v) {
      std::int64_t degree = 0;
      for_each_neighbour(v, [&](I) { ++degree; });
      degree_[v] = degree;
      round_[v] = I{-1};
    });
    share(
        n_, [&](std::int64_t v, auto& list) { list.push(static_cast<I>(v)); }, left_);
    I round = 0;
    while (next_level(round)) {
      for (; frontier_.size() > 0; ++round) remove_frontier(round);
    }
    return round;
  }
  [[nodiscard]] const array<I, host>& rounds() const { return round_; }

 private:
  template <class F>
  void for_each_neighbour(std::int64_t v, F&& f) const {
    for (const auto& side : sides_) {
      if (side.offsets.empty()) continue;
      for (O e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
        if (side.indices[e] != v) f(side.indices[e]);
      }
    }
  }

  // body(k, appender) for k in [0, size).
  template <class Body>
  void share(std::int64_t size, const Body& body, vertex_list<I>& to) {
    const parts shares = split_loop(useful_threads(threads_, size, grain::rows), size, grain::rows);
    on_threads(threads_, shares.count, [&](part_taker& mine) {
      typename vertex_list<I>::appender list(to);
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) body(k, list);
      }
    });
  }

  // Sets k to the smallest remaining degree and the frontier to the vertices of degree k; false if no vertex remains.
  bool next_level(I round) {
    next_left_.clear();
    share(
        left_.size(),
        [&](std::int64_t j, auto& list) {
          if (round_[left_[j]] < 0) list.push(left_[j]);
        },
        next_left_);
    left_.swap(next_left_);
    k_ = parallel_reduce(
        threads_, left_.size(), grain::elements, std::numeric_limits<std::int64_t>::max(),
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t least = std::numeric_limits<std::int64_t>::max();
          for (std::int64_t j = first; j < last; ++j) least = std::min(least, degree_[left_[j]]);
          return least;
        },
        [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
    frontier_.clear();
    share(
        left_.size(),
        [&](std::int64_t j, auto& list) {
          const I v = left_[j];
          if (degree_[v] > k_) return;
          round_[v] = round;
          list.push(v);
        },
        frontier_);
    return frontier_.size() > 0;
  }

  void remove_frontier(I round) {
    next_.clear();
    share(
        frontier_.size(),
        [&](std::int64_t j, auto& list) {
          for_each_neighbour(frontier_[j], [&](I u) {
            const std::atomic_ref<I> removed(round_[u]);
            if (removed.load(std::memory_order_relaxed) >= 0) return;
            if (std::atomic_ref<std::int64_t>(degree_[u]).fetch_sub(1, std::memory_order_relaxed) != k_ + 1) return;
            removed.store(static_cast<I>(round + 1), std::memory_order_relaxed);
            list.push(u);
          });
        },
        next_);
    frontier_.swap(next_);
  }

  int threads_;
  std::int64_t n_;
  std::array<csr_pattern_view<I, O, host>, 2> sides_;
  array<std::int64_t, host> degree_;  // number of remaining neighbours
  array<I, host> round_;              // -1: not yet removed
  vertex_list<I> left_, next_left_, frontier_, next_;
  std::int64_t k_ = 0;
};

template <class I, class O>
[[nodiscard]] std::int64_t degree_of(const std::array<csr_pattern_view<I, O, host>, 2>& sides, std::int64_t v) {
  std::int64_t sum = 0;
  for (const auto& side : sides) {
    if (!side.offsets.empty()) sum += static_cast<std::int64_t>(side.offsets[v + 1]) - side.offsets[v];
  }
  return sum;
}

// major(v) is below 2^51.
template <class I, class Major>
[[nodiscard]] ranking<I, host> sorted(const context<host>& ctx, std::int64_t n, const key_maker& key,
                                      const Major& major) {
  pair_sort::sorted_pairs<I> pairs{{ctx, n}, {ctx, n}};
  parallel_for(ctx.threads(), n, grain::rows, [&](std::int64_t v) {
    pairs.keys[v] = static_cast<std::int64_t>(key(major(v), v));
    pairs.values[v] = static_cast<I>(v);
  });
  pair_sort::sort_pairs(ctx, pairs);
  ranking<I, host> made{std::move(pairs.values), {ctx, n}};
  parallel_for(ctx.threads(), n, grain::elements,
               [&](std::int64_t k) { made.rank[made.order[k]] = static_cast<I>(k); });
  return made;
}

}  // namespace

template <class I, class O>
ranking<I, host> rank_vertices(const context<host>& ctx, const graph_view<I, O, host>& g, greedy_order order,
                               std::uint64_t seed) {
  const auto sides = sides_of(g);
  const std::int64_t n = g.vertices();
  const key_maker key = keys_of(g, seed);
  const auto by = [&](const auto& major) { return sorted<I>(ctx, n, key, major); };
  switch (order) {
    case greedy_order::smallest_first:
      return by([&](std::int64_t v) { return static_cast<std::uint64_t>(degree_of(sides, v)); });
    case greedy_order::random:
      return by([&](std::int64_t v) { return key.random_major(v); });
    case greedy_order::smallest_last: {
      peeler<I, O> peeled(ctx, g);
      const auto last = static_cast<std::uint64_t>(peeled.run());
      return by([&](std::int64_t v) { return last - static_cast<std::uint64_t>(peeled.rounds()[v]); });
    }
    default: {
      const std::int64_t most = parallel_reduce(
          ctx.threads(), n, grain::elements, std::int64_t{0},
          [&](std::int64_t first, std::int64_t last) {
            std::int64_t largest = 0;
            for (std::int64_t v = first; v < last; ++v) largest = std::max(largest, degree_of(sides, v));
            return largest;
          },
          [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
      return by([&](std::int64_t v) { return static_cast<std::uint64_t>(most - degree_of(sides, v)); });
    }
  }
}

#define INSTANTIATE(I, O)                                                                                    \
  template ranking<I, host> rank_vertices(const context<host>&, const graph_view<I, O, host>&, greedy_order, \
                                          std::uint64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::greedy
