// Strong components on the host: Tarjan's algorithm on one thread, forward-backward on many.
//
// Forward-backward: two direction-optimizing searches find what a hub reaches and what reaches it; the intersection is
// its component, in most graphs by far the largest. Of the rest, trimming removes vertices without an edge to or from
// others left, round by round; Tarjan's algorithm does what remains. The searches split the graph into four parts that
// no component crosses, so edges between parts are ignored.
#pragma once

#include "core/parallel.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/bfs.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <tuple>
#include <utility>

namespace spargo::detail::components {

struct host_strong_tuning {
  // Trimming continues while a round removes 1 / worth_a_round of the vertices left, which is cheaper than a search.
  static constexpr std::int64_t worth_a_round = 8;
};

// Iterative depth-first search; `calls` is the current path. On Tarjan's stack: numbered, but without a label yet.
template <class I, class O>
class tarjan_search {
 public:
  tarjan_search(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges)
      : edges_(edges),
        number_(ctx, edges.rows),
        low_(ctx, edges.rows),
        stack_(ctx, edges.rows),
        calls_(ctx, edges.rows),
        next_(ctx, edges.rows) {}

  // Labels the unlabelled vertices (-1), by the edges among them. finished[smallest vertex], unless null: the number of
  // components finished before that one.
  void run(I* labels, I* finished = nullptr) {
    finished_ = finished;
    finished_count_ = 0;
    const I n = edges_.rows;
    for (I v = 0; v < n; ++v) {
      if (labels[v] < 0) number_[v] = -1;
    }
    numbered_ = 0;
    for (I v = 0; v < n; ++v) {
      if (labels[v] < 0) search(v, labels);
    }
  }

  [[nodiscard]] std::int64_t bytes() const {
    return edges_.rows * (4 * std::int64_t{sizeof(I)} + std::int64_t{sizeof(O)});
  }

 private:
  void search(I source, I* labels) {
    depth_ = 0;
    open(source);
    while (depth_ > 0) {
      const I v = calls_[depth_ - 1];
      O& e = next_[depth_ - 1];
      if (e == edges_.offsets[v + 1]) {
        close(v, labels);
        continue;
      }
      const I w = edges_.indices[e++];
      if (labels[w] >= 0) continue;
      if (number_[w] < 0) {
        open(w);
      } else {
        low_[v] = std::min(low_[v], number_[w]);
      }
    }
  }

  void open(I v) {
    number_[v] = low_[v] = static_cast<I>(numbered_++);
    stack_[waiting_++] = v;
    calls_[depth_] = v;
    next_[depth_++] = edges_.offsets[v];
  }

  void close(I v, I* labels) {
    --depth_;
    if (depth_ > 0) {
      I& above = low_[calls_[depth_ - 1]];
      above = std::min(above, low_[v]);
    }
    if (low_[v] != number_[v]) return;
    const std::int64_t end = waiting_;
    I smallest = v;
    do {
      smallest = std::min(smallest, stack_[--waiting_]);
    } while (stack_[waiting_] != v);
    for (std::int64_t k = waiting_; k < end; ++k) labels[stack_[k]] = smallest;
    if (finished_ != nullptr) finished_[smallest] = finished_count_++;
  }

  csr_pattern_view<I, O, host> edges_;
  array<I, host> number_, low_, stack_, calls_;
  array<O, host> next_;
  I* finished_ = nullptr;
  I finished_count_ = 0;
  std::int64_t numbered_ = 0;
  std::int64_t waiting_ = 0;
  std::int64_t depth_ = 0;
};

template <class I, class O>
class host_forward_backward {
 public:
  host_forward_backward(const context<host>& ctx, const graph_view<I, O, host>& g)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        transposed_(g.has_in_edges() ? csr_matrix<pattern, I, O, host>()
                                     : transpose(ctx, csr_view<const pattern, I, O, host>{{g.out}, {}})),
        out_(g.out),
        in_(g.has_in_edges() ? g.in : transposed_.view()),
        forward_(ctx, {out_, in_, direction_kind::directed}, {.output = bfs_output::levels}),
        backward_(ctx, {in_, out_, direction_kind::directed}, {.output = bfs_output::levels}),
        rest_(ctx, out_) {}

  void run(I* labels) {
    if (n_ == 0) return;
    split(choose_pivot(), labels);
    trim(labels);
    rest_.run(labels);
  }

  [[nodiscard]] std::int64_t bytes() const {
    return transposed_.offsets().size() * std::int64_t{sizeof(O)} + transposed_.nnz() * std::int64_t{sizeof(I)} +
           forward_.workspace_bytes() + backward_.workspace_bytes() + rest_.bytes();
  }

 private:
  [[nodiscard]] static std::int64_t degree(const csr_pattern_view<I, O, host>& edges, std::int64_t v) {
    return std::int64_t{edges.offsets[v + 1]} - edges.offsets[v];
  }

  // The smallest vertex with the most 2-edge paths through it.
  [[nodiscard]] I choose_pivot() const {
    using candidate = std::pair<double, std::int64_t>;  // number of paths, minus the vertex
    const auto better = [](const candidate& a, const candidate& b) { return std::max(a, b); };
    const candidate best = parallel_reduce(
        threads_, n_, grain::elements, candidate{-1.0, 0},
        [&](std::int64_t first, std::int64_t last) {
          candidate own{-1.0, 0};
          for (std::int64_t v = first; v < last; ++v) {
            own = std::max(own, {static_cast<double>(degree(out_, v)) * static_cast<double>(degree(in_, v)), -v});
          }
          return own;
        },
        better);
    return static_cast<I>(-best.second);
  }

  // Labels the pivot's component; all others get -1.
  void split(I pivot, I* labels) {
    forward_.run(pivot);
    backward_.run(pivot);
    const auto reached = forward_.levels();
    const auto reaching = backward_.levels();
    const I smallest = parallel_reduce(
        threads_, n_, grain::elements, pivot,
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t v = first; v < last; ++v) {
            if (reached[v] >= 0 && reaching[v] >= 0) return static_cast<I>(v);
          }
          return std::numeric_limits<I>::max();
        },
        [](I a, I b) { return std::min(a, b); });
    parallel_for(threads_, n_, grain::elements,
                 [&](std::int64_t v) { labels[v] = reached[v] >= 0 && reaching[v] >= 0 ? smallest : I{-1}; });
  }

  // Whether an edge joins v to another vertex left in its part.
  [[nodiscard]] bool has_neighbour(const csr_pattern_view<I, O, host>& edges, std::int64_t v, I* labels) const {
    const auto reached = forward_.levels();
    const auto reaching = backward_.levels();
    for (O e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
      const I w = edges.indices[e];
      if (w != v && std::atomic_ref<I>(labels[w]).load(std::memory_order_relaxed) < 0 &&
          (reached[w] >= 0) == (reached[v] >= 0) && (reaching[w] >= 0) == (reaching[v] >= 0)) {
        return true;
      }
    }
    return false;
  }

  void trim(I* labels) const {
    std::int64_t left = 0;
    std::int64_t trimmed = 0;
    do {
      using counts = std::pair<std::int64_t, std::int64_t>;
      std::tie(left, trimmed) = parallel_reduce(
          threads_, n_, grain::rows, counts{0, 0},
          [&](std::int64_t first, std::int64_t last) {
            counts own{0, 0};
            for (std::int64_t v = first; v < last; ++v) {
              if (std::atomic_ref<I>(labels[v]).load(std::memory_order_relaxed) >= 0) continue;
              ++own.first;
              if (has_neighbour(out_, v, labels) && has_neighbour(in_, v, labels)) continue;
              ++own.second;
              std::atomic_ref<I>(labels[v]).store(static_cast<I>(v), std::memory_order_relaxed);
            }
            return own;
          },
          [](const counts& a, const counts& b) {
            return counts{a.first + b.first, a.second + b.second};
          });
    } while (trimmed < left && trimmed * host_strong_tuning::worth_a_round > left);
  }

  int threads_;
  std::int64_t n_;
  csr_matrix<pattern, I, O, host> transposed_;
  csr_pattern_view<I, O, host> out_, in_;
  bfs_plan<I, O, host> forward_, backward_;
  tarjan_search<I, O> rest_;
};

}  // namespace spargo::detail::components
