// Ranks vertices by descending degree and reserves room for each rank's list.
//
// A stable counting sort by degree: vertices of equal degree keep the locality of the numbering. The few vertices of
// the largest degrees share a bin, sorted afterwards. Cost: two passes over the offsets, one write per vertex.
#pragma once

#include "core/parallel.hpp"
#include "core/search.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::triangles {

// The stored neighbours of vertices: out-edges of an undirected graph, out- and in-edges of a directed one.
template <class I, class O>
struct neighbour_rows {
  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;  // of a directed graph; otherwise empty

  [[nodiscard]] bool directed() const { return !in.offsets.empty(); }
  [[nodiscard]] std::int64_t vertices() const { return out.rows; }
  [[nodiscard]] std::int64_t entries() const { return out.nnz() + (directed() ? in.nnz() : 0); }
  // Entries of the vertices before v.
  [[nodiscard]] std::int64_t entries_before(std::int64_t v) const {
    return std::int64_t{out.offsets[v]} + (directed() ? std::int64_t{in.offsets[v]} : 0);
  }
  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return entries_before(v + 1) - entries_before(v); }
};

// Neighbours of a vertex with lower rank, as ranks, hubs first. The list has room for all its entries from `first`.
template <class I>
struct out_list {
  std::int64_t first;
  I hubs;
  I size;
};

template <class I, class O>
class degree_order {
  // Vertices with at least this many entries share a bin: at most entries / top_degree of them.
  static constexpr std::int64_t top_degree = 4096;
  static constexpr std::int64_t bins = top_degree + 1;

 public:
  degree_order(const context<host>& ctx, const neighbour_rows<I, O>& rows)
      : threads_(ctx.threads()),
        rows_(rows),
        shares_(split(rows.vertices(), threads_, grain::elements)),
        next_(ctx, shares_.count * bins),
        tops_(ctx, std::min(rows.vertices(), rows.entries() / top_degree)) {}

  // Fills rank [vertex], and the start of each rank's list; lists has one element more than there are vertices.
  void run(I* rank, out_list<I>* lists) {
    count();
    const std::int64_t tops = add_up();
    place(rank, lists);
    place_tops(tops, rank, lists);
    lists[rows_.vertices()] = {rows_.entries(), 0, 0};
  }

  [[nodiscard]] std::int64_t bytes() const {
    return next_.size() * std::int64_t{sizeof(std::int64_t)} + tops_.size() * std::int64_t{sizeof(I)};
  }

 private:
  [[nodiscard]] std::int64_t bin_of(std::int64_t degree) const { return top_degree - std::min(degree, top_degree); }

  void count() {
    parallel_parts(threads_, shares_.count, [&](std::int64_t p) {
      std::int64_t* const own = next_.data() + p * bins;
      std::fill_n(own, bins, std::int64_t{0});
      for (std::int64_t v = shares_.first(p); v < shares_.last(p); ++v) ++own[bin_of(rows_.degree(v))];
    });
  }

  // Counts become the first ranks of each share's vertices in each bin. Returns the size of the first bin.
  [[nodiscard]] std::int64_t add_up() {
    std::int64_t before = 0;
    std::int64_t tops = 0;
    for (std::int64_t b = 0; b < bins; ++b) {
      first_rank_[b] = before;
      for (std::int64_t p = 0; p < shares_.count; ++p) before += std::exchange(next_[p * bins + b], before);
      if (b == 0) tops = before;
    }
    // Bins from the last: number of entries before each, counted down from the end.
    std::int64_t entries = rows_.entries();
    for (std::int64_t b = bins - 1, last = before; b > 0; last = first_rank_[b--]) {
      entries -= (last - first_rank_[b]) * (top_degree - b);
      first_slot_[b] = entries;
    }
    return tops;
  }

  void place(I* rank, out_list<I>* lists) {
    parallel_parts(threads_, shares_.count, [&](std::int64_t p) {
      std::int64_t* const next = next_.data() + p * bins;
      for (std::int64_t v = shares_.first(p); v < shares_.last(p); ++v) {
        const std::int64_t b = bin_of(rows_.degree(v));
        const std::int64_t r = next[b]++;
        if (b == 0) {
          tops_[r] = static_cast<I>(v);
          continue;
        }
        rank[v] = static_cast<I>(r);
        lists[r] = {first_slot_[b] + (r - first_rank_[b]) * (top_degree - b), 0, 0};
      }
    });
  }

  void place_tops(std::int64_t tops, I* rank, out_list<I>* lists) {
    std::sort(tops_.data(), tops_.data() + tops, [&](I a, I b) {
      const std::int64_t da = rows_.degree(a);
      const std::int64_t db = rows_.degree(b);
      return da > db || (da == db && a < b);
    });
    std::int64_t slot = 0;
    for (std::int64_t r = 0; r < tops; ++r) {
      rank[tops_[r]] = static_cast<I>(r);
      lists[r] = {slot, 0, 0};
      slot += rows_.degree(tops_[r]);
    }
  }

  int threads_;
  neighbour_rows<I, O> rows_;
  parts shares_;
  array<std::int64_t, host> next_;  // [share][bin]
  array<I, host> tops_;             // vertices of the first bin, by rank
  std::int64_t first_rank_[bins] = {};
  std::int64_t first_slot_[bins] = {};
};

}  // namespace spargo::detail::triangles
