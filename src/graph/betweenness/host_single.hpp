// Dependencies of one source by one thread: Brandes' algorithm with a queue.
//
// Vertices are identified by their positions in the queue, where levels are consecutive: a vertex found again is a
// successor if its position is at or after the end of the level being expanded. Path counts (host_lanes.hpp) and
// successor lists are stored by position: only the forward pass looks up random vertices, 4 bytes each, and the
// backward pass reads sequentially from the end. A count is complete when its vertex leaves the queue; backward, the
// quotient (1 + dependency) / count replaces it. Cost: each edge is read once and each successor once more, without
// atomics or level lists, so that thousands of narrow levels cost nothing extra.
#pragma once

#include "graph/betweenness/host_lanes.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/graph/frontier/prefetch.hpp>

#include <algorithm>
#include <cstdint>

namespace spargo::detail::betweenness {

template <class I, class O>
class host_single {
 public:
  host_single(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges)
      : edges_(edges),
        places_(ctx, edges.rows),
        queue_(ctx, edges.rows),
        numbers_(ctx, edges.rows),
        exponents_(ctx, edges.rows),
        successors_(ctx, edges.rows + std::int64_t{edges.nnz()}) {
    std::fill(places_.begin(), places_.end(), I{-1});
  }

  // Adds to values. own: contribution of a path to its last vertex.
  void add(I source, double own, double* values) {
    const std::int64_t reached = count(source);
    const I* next = successors_.data() + listed_;
    for (std::int64_t k = reached; k-- > 1;) {
      const double dependency = numbers_[k] * sum_successors(k, next);
      numbers_[k] = (1 + dependency) / numbers_[k];
      values[queue_[k]] += dependency + own;
    }
    values[source] += own * static_cast<double>(reached - 1);
    for (std::int64_t k = 0; k < reached; ++k) places_[queue_[k]] = -1;
  }

  [[nodiscard]] std::int64_t bytes() const {
    return (places_.size() + queue_.size() + successors_.size()) * std::int64_t{sizeof(I)} +
           places_.size() * std::int64_t{sizeof(double) + sizeof(std::int32_t)};
  }

 private:
  // Computes positions, counts and successors; returns the number of vertices reached.
  [[nodiscard]] std::int64_t count(I source) {
    I* const places = places_.data();
    I* const queue = queue_.data();
    I* next = successors_.data();
    std::int64_t tail = 0;
    const auto append = [&](I v, double number, std::int32_t exponent) {
      places[v] = static_cast<I>(tail);
      queue[tail] = v;
      numbers_[tail] = number;
      exponents_[tail++] = exponent;
    };
    append(source, 1, 0);
    std::int64_t level_end = 0;
    for (std::int64_t head = 0; head < tail; ++head) {
      prefetch_rows(edges_, queue, head, tail);
      if (head == level_end) level_end = tail;
      if (numbers_[head] >= number_range::end) {
        numbers_[head] *= number_range::down;
        ++exponents_[head];
      }
      const double number = numbers_[head];
      const std::int32_t exponent = exponents_[head];
      *next++ = -1;
      for (O e = edges_.offsets[queue[head]]; e < edges_.offsets[queue[head] + 1]; ++e) {
        const I v = edges_.indices[e];
        const I place = places[v];
        if (place < 0) {
          *next++ = static_cast<I>(tail);
          append(v, number, exponent);
        } else if (place >= level_end) {
          *next++ = place;
          if (exponents_[place] != exponent) [[unlikely]] {
            add_scaled(place, number, exponent);
          } else {
            numbers_[place] += number;
          }
        }
      }
    }
    listed_ = next - successors_.data();
    return tail;
  }

  void add_scaled(std::int64_t place, double number, std::int32_t exponent) {
    const std::int32_t up = exponent - exponents_[place];
    if (up > 0) {
      numbers_[place] = number + (up == 1 ? numbers_[place] * number_range::down : 0);
      exponents_[place] = exponent;
    } else if (up == -1) {
      numbers_[place] += number * number_range::down;
    }
  }

  // Sums the quotients of the successor list that ends before `next`, and moves `next` to its start. A successor's
  // count, hence its exponent, is at least the vertex's.
  [[nodiscard]] double sum_successors(std::int64_t k, const I*& next) const {
    const std::int32_t exponent = exponents_[k];
    double sum = 0;
    for (I place; (place = *--next) >= 0;) {
      if (exponents_[place] == exponent) [[likely]] {
        sum += numbers_[place];
      } else if (exponents_[place] == exponent + 1) {
        sum += numbers_[place] * number_range::down;
      }
    }
    return sum;
  }

  csr_pattern_view<I, O, host> edges_;
  array<I, host> places_;  // [vertex]: position in the queue, -1 outside
  // [place]
  array<I, host> queue_;
  array<double, host> numbers_;  // factors
  array<std::int32_t, host> exponents_;
  array<I, host> successors_;  // per vertex of the queue: -1, then the positions of its successors
  std::int64_t listed_ = 0;
};

}  // namespace spargo::detail::betweenness
