// The smallest-id parent of every vertex, from the levels of a finished search.
//
// Any neighbour one level above is a valid parent, so the levels, which are deterministic, determine all candidates. If
// in-edges exist in ascending order, a vertex takes its first candidate and stops. Otherwise every reached vertex
// proposes itself to its out-neighbours and the smallest proposal wins. Neither depends on the order of the search.
//
// Cost: in-edges up to the first candidate of each vertex; or all out-edges of the reached vertices, with an atomic
// minimum where a proposal improves. The plan checks the order of the in-edges once, in O(edges).
#pragma once

#include "core/parallel.hpp"
#include "graph/bfs/common.hpp"

#include <atomic>
#include <cstdint>
#include <functional>

namespace spargo::detail::bfs {

template <class I, class O>
class smallest_parents {
 public:
  smallest_parents() = default;
  smallest_parents(int threads, const graph_view<I, O, host>& g) : out_(g.out) {
    if (!facts_of(g).can_pull) return;
    in_ = pull_edges(g);
    ascending_ = is_ascending(threads, in_);
  }

  // levels: of a search, -1 where unreached. parents: valid on entry, smallest on return. The source keeps its own.
  void pick(int threads, const std::int32_t* levels, I* parents) const {
    if (ascending_) {
      take_first(threads, levels, parents);
    } else {
      offer_all(threads, levels, parents);
    }
  }

 private:
  static constexpr int chunk = 1024;  // vertices per chunk

  [[nodiscard]] static bool is_ascending(int threads, const csr_pattern_view<I, O, host>& rows) {
    return parallel_reduce(
        threads, rows.rows, chunk, true,
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t v = first; v < last; ++v) {
            const I* const begin = rows.indices.data() + rows.offsets[v];
            if (!std::is_sorted(begin, rows.indices.data() + rows.offsets[v + 1])) return false;
          }
          return true;
        },
        std::logical_and<>{});
  }

  void take_first(int threads, const std::int32_t* levels, I* parents) const {
    parallel_for(threads, in_.rows, chunk, [&](std::int64_t v) {
      if (levels[v] < 1) return;
      for (O e = in_.offsets[v]; e < in_.offsets[v + 1]; ++e) {
        if (levels[in_.indices[e]] != levels[v] - 1) continue;
        parents[v] = in_.indices[e];
        break;
      }
    });
  }

  void offer_all(int threads, const std::int32_t* levels, I* parents) const {
    parallel_for(threads, out_.rows, chunk, [&](std::int64_t u) {
      if (levels[u] < 0) return;
      for (O e = out_.offsets[u]; e < out_.offsets[u + 1]; ++e) {
        const I v = out_.indices[e];
        if (levels[v] == levels[u] + 1) lower(parents[v], static_cast<I>(u));
      }
    });
  }

  static void lower(I& parent, I offer) {
    const std::atomic_ref<I> least(parent);
    I now = least.load(std::memory_order_relaxed);
    while (offer < now && !least.compare_exchange_weak(now, offer, std::memory_order_relaxed)) {
    }
  }

  csr_pattern_view<I, O, host> out_;
  csr_pattern_view<I, O, host> in_;
  bool ascending_ = false;
};

}  // namespace spargo::detail::bfs
