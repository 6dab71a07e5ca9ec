// The dependencies of one source, by one thread: Brandes' algorithm with a queue.
//
// What an edge looks up of a vertex is together in 16 bytes: its level, its number of shortest paths, and the exponent
// of that number (host_lanes.hpp). A vertex's number is complete when it comes out of the queue; on the way back the
// quotient (1 + dependency) / number takes its place. Cost: two looks at every edge, without atomics or lists of
// levels, so that a graph of thousands of narrow levels costs no more than another.
#pragma once

#include "graph/betweenness/host_lanes.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/graph/frontier/prefetch.hpp>

#include <cstdint>

namespace spargo::detail::betweenness {

template <class I, class O>
class host_single {
 public:
  host_single(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges)
      : edges_(edges), queue_(ctx, edges.rows), vertices_(ctx, edges.rows) {
    for (vertex& v : vertices_) v = {};
  }

  // Adds to values. own: what a path counts for its last vertex.
  void add(I source, double own, double* values) {
    const std::int64_t reached = count(source);
    for (std::int64_t k = reached; k-- > 1;) {
      if (k > ahead) prefetch(queue_[k - ahead]);
      const I u = queue_[k];
      const double dependency = sum_row(u);
      vertices_[u].number = (1 + dependency) / vertices_[u].number;
      values[u] += dependency + own;
    }
    values[source] += own * static_cast<double>(reached - 1);
    for (std::int64_t k = 0; k < reached; ++k) vertices_[queue_[k]] = {};
  }

  [[nodiscard]] std::int64_t bytes() const { return vertices_.size() * std::int64_t{sizeof(I) + sizeof(vertex)}; }

 private:
  static constexpr std::int64_t ahead = 8;  // rows prefetched on the way back

  struct vertex {
    double number = 0;  // factor
    std::int32_t exponent = 0;
    std::int32_t level = -1;
  };

  void prefetch(I u) const { __builtin_prefetch(edges_.indices.data() + edges_.offsets[u]); }

  // Levels and numbers; returns how many vertices are reached.
  [[nodiscard]] std::int64_t count(I source) {
    std::int64_t tail = 1;
    queue_[0] = source;
    vertices_[source] = {1, 0, 0};
    for (std::int64_t head = 0; head < tail; ++head) {
      prefetch_rows(edges_, queue_.data(), head, tail);
      const I u = queue_[head];
      vertex& from = vertices_[u];
      if (from.number >= number_range::end) {
        from.number *= number_range::down;
        ++from.exponent;
      }
      const vertex own = from;
      for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
        const I v = edges_.indices[e];
        vertex& to = vertices_[v];
        if (to.level < 0) {
          to = {own.number, own.exponent, own.level + 1};
          queue_[tail++] = v;
        } else if (to.level == own.level + 1) {
          if (to.exponent != own.exponent) [[unlikely]] {
            add_scaled(to, own);
          } else {
            to.number += own.number;
          }
        }
      }
    }
    return tail;
  }

  static void add_scaled(vertex& to, const vertex& own) {
    const std::int32_t up = own.exponent - to.exponent;
    if (up > 0) {
      to.number = own.number + (up == 1 ? to.number * number_range::down : 0);
      to.exponent = own.exponent;
    } else if (up == -1) {
      to.number += own.number * number_range::down;
    }
  }

  // The dependency on u: a successor's number is at least its own, and so is the exponent.
  [[nodiscard]] double sum_row(I u) const {
    const vertex own = vertices_[u];
    double sum = 0;
    for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
      const vertex& to = vertices_[edges_.indices[e]];
      if (to.level != own.level + 1) continue;
      if (to.exponent == own.exponent) [[likely]] {
        sum += to.number;
      } else if (to.exponent == own.exponent + 1) {
        sum += to.number * number_range::down;
      }
    }
    return own.number * sum;
  }

  csr_pattern_view<I, O, host> edges_;
  array<I, host> queue_;
  array<vertex, host> vertices_;
};

}  // namespace spargo::detail::betweenness
