// Triangles by merging ascending lists: that of v with that of each neighbour u of v, below u.
#pragma once

#include "graph/triangles/simd/loops.hpp"

#include <atomic>

namespace spargo::detail::triangles {

template <class I>
class merged_ranks {
  using key = std::make_unsigned_t<I>;

 public:
  merged_ranks(const count_job<I>& job, triangles_output output)
      : job_(job), counts_(output != triangles_output::total), links_(job.mutual != nullptr) {}

  // Same contract as count_loops.
  [[nodiscard]] std::int64_t count(std::int64_t first, std::int64_t last) const {
    std::int64_t total = 0;
    for (std::int64_t v = first; v < last; ++v) {
      const out_list<I> list = job_.lists[v];
      std::int64_t mine = 0;
      for (I k = 1; k < list.size; ++k) mine += count_edge(v, list.first, list.first + k);
      if (counts_ && mine > 0) add(job_.counts, static_cast<key>(v), mine);
      total += mine;
    }
    return total;
  }

 private:
  static void add(std::int64_t* to, key r, std::int64_t count) {
    std::atomic_ref<std::int64_t>(to[r]).fetch_add(count, std::memory_order_relaxed);
  }

  // Counts the triangles of v, the end u of slot `edge`, and an end before it.
  [[nodiscard]] std::int64_t count_edge(std::int64_t v, std::int64_t mine, std::int64_t edge) const {
    const key u = job_.ends[edge];
    std::int64_t theirs = job_.lists[u].first;
    const std::int64_t end = theirs + job_.lists[u].size;
    std::int64_t common = 0;
    while (mine < edge && theirs < end) {
      const key a = job_.ends[mine];
      const key b = job_.ends[theirs];
      if (a == b) {
        ++common;
        if (counts_) add(job_.counts, a, 1);
        if (links_) add_links(v, edge, mine, theirs);
      }
      mine += a <= b ? 1 : 0;
      theirs += b <= a ? 1 : 0;
    }
    if (counts_ && common > 0) add(job_.counts, u, common);
    return common;
  }

  // Each vertex of a triangle, given by the slots of its three edges, gets the opposite edge.
  void add_links(std::int64_t v, std::int64_t to_u, std::int64_t to_w, std::int64_t between) const {
    add(job_.links, static_cast<key>(v), 1 + job_.mutual[between]);
    add(job_.links, job_.ends[to_u], 1 + job_.mutual[to_w]);
    add(job_.links, job_.ends[to_w], 1 + job_.mutual[to_u]);
  }

  const count_job<I>& job_;
  bool counts_;
  bool links_;
};

}  // namespace spargo::detail::triangles
