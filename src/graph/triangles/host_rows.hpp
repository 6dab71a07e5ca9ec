// Triangles of graphs with short rows, from the rows as stored: no reordering, no copy.
//
// Rows ascend, so v's neighbours below v come first. For each of them, u, the part of v's row before u is merged with
// u's row, so a triangle is found at its largest vertex. Cost: the sum over the edges of both ends' rows.
#pragma once

#include "core/parallel.hpp"
#include "graph/frontier/row_parts.hpp"
#include "graph/triangles/executor.hpp"

#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <atomic>

namespace spargo::detail::triangles {

struct rows_tuning {
  // Vertices plus entries: some 30 us of a grid. Zen 5, grid 2000^2, CPU time of 2^14 / 2^16: 10.2 / 8.9 ms, since each
  // part searches for its bounds.
  static constexpr std::int64_t part_units = std::int64_t{1} << 16;
};

template <class I, class O>
[[nodiscard]] row_survey survey_undirected(int threads, const csr_pattern_view<I, O, host>& rows) {
  const row_parts<I, O> shares(rows, rows_tuning::part_units);
  std::atomic<bool> canonical{true};
  std::atomic<std::int64_t> shortest{0};  // minus the maximum
  parallel_parts(threads, shares.count(), [&](std::int64_t part) {
    const auto range = shares.vertices(part);
    std::int64_t longest = 0;
    bool fine = true;
    for (std::int64_t v = range.first; v < range.last; ++v) {
      const O first = rows.offsets[v];
      const O last = rows.offsets[v + 1];
      longest = std::max<std::int64_t>(longest, last - first);
      I previous = -1;
      for (O e = first; e < last; ++e) {
        fine = fine && rows.indices[e] > previous && rows.indices[e] != v;
        previous = rows.indices[e];
      }
    }
    if (!fine) canonical.store(false, std::memory_order_relaxed);
    lower_to(shortest, -longest);
  });
  return {-shortest.load(), canonical.load()};
}

template <class I, class O>
class row_counter {
 public:
  row_counter(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows)
      : threads_(ctx.threads()), rows_(rows) {}

  // Adds each vertex's triangles to counts [vertex] unless that is null. Returns the total.
  [[nodiscard]] std::int64_t run(std::int64_t* counts) const {
    const row_parts<I, O> shares(rows_, rows_tuning::part_units);
    std::atomic<std::int64_t> total{0};
    on_threads(threads_, shares.count(), [&](part_taker& mine) {
      std::int64_t own = 0;
      for (std::int64_t part; mine.take(part);) {
        const auto range = shares.vertices(part);
        own += counts == nullptr
                   ? count(range.first, range.last, [](std::int64_t, std::int64_t) {})
                   : count(range.first, range.last, [counts](std::int64_t v, std::int64_t some) {
                       std::atomic_ref<std::int64_t>(counts[v]).fetch_add(some, std::memory_order_relaxed);
                     });
      }
      total.fetch_add(own, std::memory_order_relaxed);
    });
    return total.load();
  }

 private:
  // Counts at vertices [first, last); calls add(v, count) for each vertex of a triangle.
  template <class Add>
  [[nodiscard]] std::int64_t count(std::int64_t first, std::int64_t last, Add&& add) const {
    const O* const offsets = rows_.offsets.data();
    const I* const indices = rows_.indices.data();
    std::int64_t total = 0;
    for (std::int64_t v = first; v < last; ++v) {
      const I* const begin = indices + offsets[v];
      const I* const end = indices + offsets[v + 1];
      if (begin == end) continue;
      std::int64_t mine = 0;
      for (const I* u = begin + 1; u < end && *u < v; ++u) {
        const std::int64_t common = merge(begin, u, indices + offsets[*u], indices + offsets[*u + 1], add);
        if (common > 0) add(*u, common);
        mine += common;
      }
      if (mine > 0) add(v, mine);
      total += mine;
    }
    return total;
  }

  template <class Add>
  [[nodiscard]] static std::int64_t merge(const I* a, const I* a_end, const I* b, const I* b_end, Add& add) {
    std::int64_t common = 0;
    while (a != a_end && b != b_end) {
      if (*a < *b) {
        ++a;
      } else if (*b < *a) {
        ++b;
      } else {
        ++common;
        add(*a, 1);
        ++a;
        ++b;
      }
    }
    return common;
  }

  int threads_;
  csr_pattern_view<I, O, host> rows_;
};

}  // namespace spargo::detail::triangles
