// Host delta-stepping: buckets of vertices by distance, in order, each expanded by all threads until it stays empty.
//
// Three additions. Bucket fusion: a thread that runs out of chunks continues with what it added to the same bucket, as
// long as that is little; this saves barriers in the many small rounds. Dead ends: a vertex that leads nowhere, such as
// one with a single neighbour in an undirected graph, gets a distance but no bin entry.
//
// Bound: in a graph of small diameter most vertices have similar distances, found early if not exactly; a path longer
// than nearly all of them is hardly ever shortest. Once most vertices are reached, the bound is set so that the
// vertices beyond it, by their current distances, hold a small share of the edges; from then on it only falls. Longer
// paths are dropped by length alone, without reading the target's distance, which dominates the time. Once all buckets
// below the bound are done, their vertices are final, and those beyond it scan their in-edges once for dropped paths
// (without in-edges, the final vertices push once more). Then the search continues without a bound. After the pruning
// of long edges by Chakaravarthy et al. (see sssp.hpp).
//
// Invariant: when no bucket below `next` has an entry, every path from vertices below start(next) that is shorter than
// the bound has been followed; so distances below both are final.
#pragma once

#include "core/parallel.hpp"
#include "graph/sssp/host_relax.hpp"

#include <vector>

namespace spargo::detail::sssp {

struct host_delta_tuning {
  // Steps with at most this many entries run on one thread: some 10 us of work, by choice.
  static constexpr std::int64_t sequential_entries = 128;
  // Limits of bucket fusion, chunks and entries: as in the GAP suite, by choice.
  static constexpr int fused_chunks = 4;
  static constexpr std::int64_t fused_entries = 8192;
  // Minimum edges per vertex for a bound: in a grid it would come when most edges are done, by choice.
  static constexpr std::int64_t bound_degree = 6;
  // The bound is first computed after 1 / first_bound of the edges, then at each doubling, up to 1 / last_bound.
  static constexpr std::int64_t first_bound = 256;
  static constexpr std::int64_t last_bound = 2;
  // Vertices beyond the bound hold at most 1 / beyond of the edges. Edges whose targets were read, of 31 and 34
  // million, in R-MAT 20 and uniform 2^20, degree 16, weights 1..255: 1/32 14.6 and 20.2 million, 1/8 6.9 and 12.6, 1/4
  // 5.9 and 9.6, 1/3 5.1 and 8.3; without a bound 32 and 39.
  static constexpr std::int64_t beyond = 4;
  static constexpr std::int64_t ahead = 1024;  // buckets considered for a bound
};

template <class W, class D, class I, class O>
class delta_search final : public distance_search<I, D> {
 public:
  using tuning = host_delta_tuning;
  using chunk = bin_chunk<I, D>;

  delta_search(const context<host>& ctx, const host_search<W, D, I, O>& s, double delta)
      : s_(s),
        pool_(ctx, s.vertices(), s.threads),
        frontier_(ctx, pool_.size()),
        dead_ends_(ctx, div_up(s.vertices(), 64)),
        bins_(static_cast<std::size_t>(s.threads), thread_bins<I, D>(pool_)),
        counts_(static_cast<std::size_t>(s.threads)) {
    step_.buckets = bucket_rule<D>(delta);
    step_.dead_ends = dead_ends_.data();
    mark_dead_ends();
  }

  void run(I source, D* distance) override {
    start(source, distance);
    while (true) {
      const std::int64_t next = first_bucket();
      if (is_target_final(next)) return;
      if (next >= bound_bucket_) {
        if (bound_bucket_ == no_bucket) return;
        pass_bound();
        continue;
      }
      set_base(next);
      if (dropped() <= next) rescan(next);
      expand_bucket(next);
      if (edges() >= next_bound_) lower_bound();
    }
  }

  [[nodiscard]] std::int64_t bytes() const override {
    return pool_.size() * std::int64_t{sizeof(chunk) + sizeof(chunk*)} +
           dead_ends_.size() * std::int64_t{sizeof(std::uint64_t)} +
           s_.threads * std::int64_t{sizeof(thread_bins<I, D>) + sizeof(relax_counts)};
  }

 private:
  [[nodiscard]] std::int64_t degree(const weighted_rows<W, I, O>& rows, std::int64_t v) const {
    return rows.edges.offsets[v + 1] - rows.edges.offsets[v];
  }

  // Dead ends: no out-edges, or in an undirected graph a single one, back to the predecessor.
  void mark_dead_ends() {
    const std::int64_t least = s_.undirected ? 2 : 1;
    parallel_ranges(s_.threads, dead_ends_.size(), grain::rows / 64, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t w = first; w < last; ++w) {
        std::uint64_t word = 0;
        for (std::int64_t v = w * 64; v < std::min(w * 64 + 64, s_.vertices()); ++v) {
          if (degree(s_.out, v) < least) word |= std::uint64_t{1} << (v % 64);
        }
        dead_ends_[w] = word;
      }
    });
  }

  void start(I source, D* distance) {
    step_.distance = distance;
    step_.bound = s_.limits.length;
    bound_bucket_ = no_bucket;
    const std::int64_t edges = s_.out.edges.nnz();
    next_bound_ = edges >= tuning::bound_degree * s_.vertices() ? edges / tuning::first_bound + 1 : no_bucket;
    parallel_ranges(s_.threads, s_.vertices(), grain::elements, [&](std::int64_t first, std::int64_t last) {
      std::fill(distance + first, distance + last, unreached<D>);
    });
    std::fill(counts_.begin(), counts_.end(), relax_counts{});
    empty_bins();
    set_base(0);
    distance[source] = D{0};
    bins_[0].push(0, source, D{0});
  }

  void empty_bins() {
    for (auto& bins : bins_) bins.clear();
    pool_.reset();
  }
  void set_base(std::int64_t bucket) {
    for (auto& bins : bins_) bins.set_base(bucket);
  }
  [[nodiscard]] std::int64_t first_bucket() const {
    std::int64_t first = no_bucket;
    for (const auto& bins : bins_) first = std::min(first, bins.first_bucket());
    return first;
  }
  [[nodiscard]] std::int64_t dropped() const {
    std::int64_t first = no_bucket;
    for (const auto& bins : bins_) first = std::min(first, bins.dropped());
    return first;
  }
  [[nodiscard]] std::int64_t edges() const {
    std::int64_t sum = 0;
    for (const relax_counts& own : counts_) sum += own.edges;
    return sum;
  }
  [[nodiscard]] bool is_target_final(std::int64_t next) const {
    if (s_.limits.target < 0) return false;
    const D distance = step_.distance[s_.limits.target];
    return distance < unreached<D> && step_.buckets.of(distance) < std::min(next, bound_bucket_);
  }

  // Expands the current entries of a bucket, and some of those added meanwhile.
  void expand_bucket(std::int64_t bucket) {
    std::int64_t chunks = 0;
    std::int64_t entries = 0;
    for (auto& bins : bins_) {
      for (chunk* c = bins.take(bucket); c != nullptr; c = c->next) {
        frontier_[chunks++] = c;
        entries += c->size;
      }
    }
    if (entries <= tuning::sequential_entries) {
      std::int64_t taken = 0;
      relax_chunks(bucket, 0, [&](std::int64_t& k) { return (k = taken++) < chunks; });
      return;
    }
    on_threads(s_.threads, chunks, [&](part_taker& mine) {
      relax_chunks(bucket, mine.slot(), [&](std::int64_t& k) { return mine.take(k); });
    });
  }

  // next(k): sets k to the next chunk; false if there is none.
  template <class Next>
  void relax_chunks(std::int64_t bucket, int slot, Next&& next) {
    auto& bins = bins_[static_cast<std::size_t>(slot)];
    host_relaxer<W, D, I, O> relaxer(s_, step_, bins, counts_[static_cast<std::size_t>(slot)]);
    for (std::int64_t k = 0; next(k);) {
      relaxer.expand(*frontier_[k]);
      bins.recycle(frontier_[k]);
    }
    std::int64_t fused = 0;
    while (fused < tuning::fused_entries) {
      chunk* const own = bins.take_one(bucket, tuning::fused_chunks);
      if (own == nullptr) break;
      fused += own->size;
      relaxer.expand(*own);
      bins.recycle(own);
    }
    relaxer.finish();
  }

  // Refills the bins with all vertices from a bucket on.
  void rescan(std::int64_t bucket) {
    empty_bins();
    set_base(bucket);
    const parts shares = split_loop(s_.threads, s_.vertices(), grain::elements);
    on_threads(s_.threads, shares.count, [&](part_taker& mine) {
      auto& bins = bins_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t v = shares.first(p); v < shares.last(p); ++v) {
          const D distance = step_.distance[v];
          if (distance == unreached<D> || test_bit(step_.dead_ends, v)) continue;
          const std::int64_t of = step_.buckets.of(distance);
          if (of >= bucket) bins.push(of, static_cast<I>(v), distance);
        }
      }
    });
  }

  // --- The bound

  // Sets a bound, if most vertices are reached, and the next time to compute one.
  void lower_bound() {
    const std::int64_t all = s_.out.edges.nnz();
    while (edges() >= next_bound_) next_bound_ *= 2;
    if (next_bound_ > all / tuning::last_bound) next_bound_ = no_bucket;
    const std::int64_t first = std::min(first_bucket(), bound_bucket_);
    if (first == no_bucket) return;
    std::int64_t left = all / tuning::beyond;
    const std::vector<std::int64_t>& beyond = edges_by_bucket(first);
    std::int64_t bucket = first + tuning::ahead;
    for (std::int64_t k = tuning::ahead; k >= 0; --k) {  // beyond[ahead]: farther, or unreached
      left -= beyond[static_cast<std::size_t>(k)];
      if (left < 0) break;
      bucket = first + k;
    }
    if (bucket == first + tuning::ahead || bucket >= bound_bucket_ || bucket <= first) return;
    bound_bucket_ = bucket;
    step_.bound = std::min(s_.limits.length, step_.buckets.start(bucket));
  }

  // [k]: edges of vertices in bucket first + k.
  const std::vector<std::int64_t>& edges_by_bucket(std::int64_t first) {
    std::fill(histogram_.begin(), histogram_.end(), 0);
    std::mutex mutex;
    const parts shares = split_loop(s_.threads, s_.vertices(), grain::elements);
    on_threads(s_.threads, shares.count, [&](part_taker& mine) {
      std::array<std::int64_t, static_cast<std::size_t>(tuning::ahead) + 1> own{};
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t v = shares.first(p); v < shares.last(p); ++v) {
          const D distance = step_.distance[v];
          const std::int64_t of = distance == unreached<D> ? no_bucket : step_.buckets.of(distance);
          if (of < first) continue;
          own[static_cast<std::size_t>(std::min(of - first, tuning::ahead))] += degree(s_.out, v);
        }
      }
      const std::lock_guard lock(mutex);
      for (std::size_t k = 0; k < own.size(); ++k) histogram_[k] += own[k];
    });
    return histogram_;
  }

  // All distances below the bound are final: applies the dropped paths to the rest.
  void pass_bound() {
    const D bound = step_.bound;
    const std::int64_t bucket = bound_bucket_;
    step_.bound = s_.limits.length;
    bound_bucket_ = next_bound_ = no_bucket;
    if (s_.in.has_edges()) {
      pull_beyond(bound);
    } else {
      push_beyond(bound);
    }
    rescan(bucket);
  }

  void pull_beyond(D bound) {
    parallel_for(s_.threads, s_.vertices(), grain::rows, [&](std::int64_t v) {
      D shortest = load_relaxed(step_.distance[v]);
      if (shortest < bound) return;
      const auto& rows = s_.in.edges;
      for (O e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
        const D before = load_relaxed(step_.distance[rows.indices[e]]);
        if (before >= bound) continue;
        const D path = longer(before, s_.in.weights[e]);
        if (path < shortest && path < step_.bound) shortest = path;
      }
      std::atomic_ref<D>(step_.distance[v]).store(shortest, std::memory_order_relaxed);
    });
  }

  void push_beyond(D bound) {
    parallel_for(s_.threads, s_.vertices(), grain::rows, [&](std::int64_t u) {
      const D before = load_relaxed(step_.distance[u]);
      if (before >= bound) return;
      const auto& rows = s_.out.edges;
      for (O e = rows.offsets[u]; e < rows.offsets[u + 1]; ++e) {
        const D path = longer(before, s_.out.weights[e]);
        if (path < bound || path >= step_.bound) continue;
        const std::atomic_ref<D> held(step_.distance[rows.indices[e]]);
        D now = held.load(std::memory_order_relaxed);
        while (path < now && !held.compare_exchange_weak(now, path, std::memory_order_relaxed)) {
        }
      }
    });
  }

  host_search<W, D, I, O> s_;
  chunk_pool<I, D> pool_;
  array<chunk*, host> frontier_;
  array<std::uint64_t, host> dead_ends_;
  std::vector<thread_bins<I, D>> bins_;
  std::vector<relax_counts> counts_;
  std::vector<std::int64_t> histogram_ = std::vector<std::int64_t>(static_cast<std::size_t>(tuning::ahead) + 1);
  relax_step<D> step_;
  std::int64_t bound_bucket_ = no_bucket;
  std::int64_t next_bound_ = no_bucket;  // in edges out of expanded vertices
};

}  // namespace spargo::detail::sssp
