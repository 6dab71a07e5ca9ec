// Edge relaxation by one of several threads.
//
// Three loops over a list of edges; only the last, over few edges, has unpredictable branches. First: list paths below
// the bound. Second: prefetch the distances, keep paths that improve them. Third: write. See host_steps.hpp of BFS.
#pragma once

#include "graph/sssp/host_bins.hpp"
#include "graph/sssp/host_buckets.hpp"
#include "graph/sssp/host_search.hpp"

#include <spargo/graph/frontier/bitmap.hpp>

namespace spargo::detail::sssp {

struct host_relax_tuning {
  static constexpr std::int64_t ahead = 16;  // entries, as in prefetch.hpp
  // Edges of a vertex prefetched with it. Uniform 2^20, degree 16, one thread: only the first line 330 to 360 ms, 32
  // edges 230, 64 and 128 190 to 205; 16 threads: 33 and 23.5.
  static constexpr std::int64_t fetched = 64;
  static constexpr std::int64_t list_edges = 256;  // as in host_steps.hpp of BFS
  static constexpr std::int64_t run = 64;          // edges between checks of the list's length, as in BFS
};

struct alignas(64) relax_counts {
  std::int64_t edges = 0;  // out of the vertices expanded
};

template <class D>
struct relax_step {
  D* distance = nullptr;
  const std::uint64_t* dead_ends = nullptr;  // vertices never expanded
  bucket_rule<D> buckets;
  D bound = unreached<D>;  // only shorter paths are followed
};

template <class W, class D, class I, class O>
class host_relaxer {
 public:
  using tuning = host_relax_tuning;
  using chunk = bin_chunk<I, D>;

  host_relaxer(const host_search<W, D, I, O>& s, const relax_step<D>& step, thread_bins<I, D>& bins,
               relax_counts& counts)
      : s_(s), step_(step), bins_(bins), counts_(counts) {}

  void expand(const chunk& c) {
    const O* const offsets = s_.out.edges.offsets.data();
    const I* const indices = s_.out.edges.indices.data();
    const W* const weights = s_.out.weights;
    const D bound = step_.bound;
    I* const to = to_.data();
    D* const lengths = path_.data();
    std::int64_t listed = 0;
    for (std::int64_t k = 0; k < c.size; ++k) {
      prefetch(c, k);
      const auto [u, path] = c.entries[k];
      if (load_relaxed(step_.distance[u]) != path) continue;  // stale: expanded with a shorter path
      const O last = offsets[u + 1];
      O e = offsets[u];
      edges_ += last - e;
      while (e < last) {
        const O stop = static_cast<O>(std::min<std::int64_t>(last, e + tuning::run));
        for (; e < stop; ++e) {
          const D length = longer(path, weights[e]);
          to[listed] = indices[e];
          lengths[listed] = length;
          listed += std::int64_t{length < bound};
        }
        if (listed >= tuning::list_edges) {
          process_list(listed);
          listed = 0;
        }
      }
    }
    process_list(listed);
  }

  void finish() { counts_.edges += edges_; }

 private:
  void prefetch(const chunk& c, std::int64_t k) const {
    const auto& rows = s_.out.edges;
    if (k + tuning::ahead < c.size) {
      const I v = c.entries[k + tuning::ahead].vertex;
      __builtin_prefetch(step_.distance + v);
      __builtin_prefetch(rows.offsets.data() + v);
    }
    if (k + tuning::ahead / 2 < c.size) {
      const auto [v, path] = c.entries[k + tuning::ahead / 2];
      if (load_relaxed(step_.distance[v]) != path) return;
      constexpr auto of_line = static_cast<std::int64_t>(64 / std::max(sizeof(I), sizeof(W)));
      const std::int64_t first = rows.offsets[v];
      const std::int64_t last = std::min<std::int64_t>(rows.offsets[v + 1], first + tuning::fetched);
      for (std::int64_t e = first; e < last; e += of_line) {
        __builtin_prefetch(rows.indices.data() + e);
        __builtin_prefetch(s_.out.weights + e);
      }
    }
  }

  void process_list(std::int64_t listed) {
    for (std::int64_t j = 0; j < listed; ++j) __builtin_prefetch(step_.distance + to_[static_cast<std::size_t>(j)]);
    std::int64_t kept = 0;
    for (std::int64_t j = 0; j < listed; ++j) {
      const I v = to_[static_cast<std::size_t>(j)];
      const D path = path_[static_cast<std::size_t>(j)];
      to_[static_cast<std::size_t>(kept)] = v;
      path_[static_cast<std::size_t>(kept)] = path;
      kept += std::int64_t{path < load_relaxed(step_.distance[v])};
    }
    for (std::int64_t j = 0; j < kept; ++j) relax(to_[static_cast<std::size_t>(j)], path_[static_cast<std::size_t>(j)]);
  }

  void relax(I v, D path) {
    const std::atomic_ref<D> held(step_.distance[v]);
    D now = held.load(std::memory_order_relaxed);
    while (path < now) {
      if (!held.compare_exchange_weak(now, path, std::memory_order_relaxed)) continue;
      if (!test_bit(step_.dead_ends, v)) bins_.push(step_.buckets.of(path), v, path);
      return;
    }
  }

  const host_search<W, D, I, O>& s_;
  const relax_step<D>& step_;
  thread_bins<I, D>& bins_;
  relax_counts& counts_;
  std::int64_t edges_ = 0;
  std::array<I, static_cast<std::size_t>(tuning::list_edges + tuning::run)> to_;
  std::array<D, static_cast<std::size_t>(tuning::list_edges + tuning::run)> path_;
};

}  // namespace spargo::detail::sssp
