// One level of a host multi-source search, pushed or pulled, with W words (64 W searches) per vertex.
//
// seen[v] is the set of searches that have reached v. A pull reads `seen` and writes `other`: an in-neighbour's bit
// that a vertex lacks must be from the last level, so the union of the in-neighbours' words is the vertex's next word,
// and the scan of a row ends once all active searches are in. Then the arrays are swapped. A push needs the frontier: a
// queue, and the new bits of each queued vertex in `front`. It collects bits in `other`, all zero between pushes; a
// second pass over the vertices reached moves them into `seen`. A bit in `marks` prevents queueing a vertex twice.
#pragma once

#include <spargo/core/interruption.hpp>
#include <spargo/formats/csr.hpp>

#include "core/parallel.hpp"
#include "graph/bfs/host_steps.hpp"
#include "graph/multi_bfs/common.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

namespace spargo::detail::multi_bfs {

struct host_tuning {
  // One thread runs levels with fewer edges: see bfs::host_tuning::sequential_edges.
  static constexpr std::int64_t sequential_edges = 16384;
  static constexpr std::int64_t chunk_vertices = 64;  // per chunk when pushing
  static constexpr std::int64_t chunk_pulled = 1024;  // per chunk when pulling
  static constexpr std::int64_t alpha = 4;            // pulls()
};

template <int W>
using search_bits = std::array<std::uint64_t, W>;

template <int W>
[[nodiscard]] bool any(const search_bits<W>& a) {
  std::uint64_t all = 0;
  for (const std::uint64_t w : a) all |= w;
  return all != 0;
}

template <int W>
[[nodiscard]] bool covers(const search_bits<W>& a, const search_bits<W>& wanted) {
  std::uint64_t lacking = 0;
  for (int w = 0; w < W; ++w) lacking |= wanted[w] & ~a[w];
  return lacking == 0;
}

// Counts per bit position how often it was set in the words added. Eight-bit counters, stored as bit planes across 64
// positions, so that adding a word takes a few word operations. Totals are 64-bit.
template <int W>
class bit_counter {
 public:
  explicit bit_counter(std::int64_t* totals) : totals_(totals) {}
  bit_counter(const bit_counter&) = delete;
  bit_counter& operator=(const bit_counter&) = delete;
  ~bit_counter() { flush(); }

  void add(const search_bits<W>& bits) {
    for (int w = 0; w < W; ++w) {
      std::uint64_t carry = bits[w];
      for (int b = 0; carry != 0; ++b) {
        const std::uint64_t both = planes_[b][w] & carry;
        planes_[b][w] ^= carry;
        carry = both;
      }
    }
    if (++added_ == most) flush();
  }

 private:
  static constexpr int planes = 8;
  static constexpr unsigned most = (1U << planes) - 1;

  void flush() {
    for (int b = 0; b < static_cast<int>(std::bit_width(added_)); ++b) {
      for (int w = 0; w < W; ++w) {
        for (std::uint64_t rest = planes_[b][w]; rest != 0; rest &= rest - 1) {
          std::atomic_ref<std::int64_t>(totals_[64 * w + std::countr_zero(rest)])
              .fetch_add(std::int64_t{1} << b, std::memory_order_relaxed);
        }
        planes_[b][w] = 0;
      }
    }
    added_ = 0;
  }

  std::int64_t* totals_;
  std::array<search_bits<W>, planes> planes_{};
  unsigned added_ = 0;
};

// Result of a level: vertices in the queue (after a push), and sums over the vertices with new bits.
struct host_frontier {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;     // their out-edges
  std::int64_t finished = 0;  // in-edges of vertices that are now complete
  std::int64_t open = 0;      // after a pull: in-edges of vertices that lack an active search

  void add(const host_frontier& other) {
    vertices += other.vertices;
    edges += other.edges;
    finished += other.finished;
    open += other.open;
  }
};

// State of a batch: the graph, its output and its workspace, all borrowed from the plan.
template <class I, class O, int W>
struct host_search {
  using bits = search_bits<W>;

  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;  // empty when the search never pulls
  bits full{};                      // all searches of this batch
  bits wanted{};                    // active searches: those that found something in the last level
  bits* seen = nullptr;             // [vertices]
  bits* other = nullptr;            // [vertices]
  bits* front = nullptr;            // [vertices]
  std::uint64_t* marks = nullptr;   // [vertices / 64], all zero between levels
  I* queue = nullptr;               // [vertices]
  I* next_queue = nullptr;          // [vertices]
  I* buffers = nullptr;             // [threads * buffer_entries]
  std::int64_t* found = nullptr;    // [64 * W]: vertices found by each search in this level
  std::int32_t* levels = nullptr;   // [vertex * stride + source], from this batch's first source on; null: no levels
  std::int64_t stride = 0;
  distance_sum* sums = nullptr;  // [vertices], added to; null: no sums
  sum_rule rule{};               // of the sums
  int threads = 1;

  [[nodiscard]] static std::int64_t degree(const csr_pattern_view<I, O, host>& g, I v) {
    return g.offsets[v + 1] - g.offsets[v];
  }

  // Records a vertex's new bits: levels, sums, counts, frontier sums. One thread owns v.
  void reached(I v, const bits& fresh, std::int32_t level, bit_counter<W>& counter, host_frontier& sum) const {
    counter.add(fresh);
    ++sum.vertices;
    sum.edges += degree(out, v);
    if (sums != nullptr) {
      std::int64_t found_by = 0;
      for (const std::uint64_t word : fresh) found_by += std::popcount(word);
      sums[v].weighted += found_by * rule.weight(level);
      sums[v].sources += found_by;
    }
    if (levels == nullptr) return;
    std::int32_t* const row = levels + static_cast<std::int64_t>(v) * stride;
    for (int w = 0; w < W; ++w) {
      for (std::uint64_t rest = fresh[w]; rest != 0; rest &= rest - 1) row[64 * w + std::countr_zero(rest)] = level;
    }
  }
  void finish(I v, const bits& has, host_frontier& sum) const {
    if (has == full && !in.offsets.empty()) sum.finished += degree(in, v);
  }
  [[nodiscard]] int threads_for(std::int64_t edges) const {
    return edges < host_tuning::sequential_edges ? 1 : threads;
  }
};

// Union of v's word and its in-neighbours' words; stops once all wanted bits are set.
template <class I, class O, int W>
[[nodiscard]] search_bits<W> gather(const host_search<I, O, W>& s, I v) {
  search_bits<W> has = s.seen[v];
  const O last = s.in.offsets[v + 1];
  for (O e = s.in.offsets[v]; e < last && !covers<W>(has, s.wanted); ++e) {
    const search_bits<W>& neighbour = s.seen[s.in.indices[e]];
    for (int w = 0; w < W; ++w) has[w] |= neighbour[w];
  }
  return has;
}

template <class I, class O, int W>
void pull_vertex(const host_search<I, O, W>& s, I v, std::int32_t level, bit_counter<W>& counter, host_frontier& sum) {
  const search_bits<W> before = s.seen[v];
  if (covers<W>(before, s.wanted)) {
    s.other[v] = before;
    return;
  }
  const search_bits<W> has = gather(s, v);
  s.other[v] = has;
  if (!covers<W>(has, s.wanted)) sum.open += s.degree(s.in, v);
  if (has == before) return;
  search_bits<W> fresh;
  for (int w = 0; w < W; ++w) fresh[w] = has[w] & ~before[w];
  s.reached(v, fresh, level, counter, sum);
}

// Pull by all threads. Afterwards `seen` and `other` are swapped: new bits are seen & ~other.
template <class I, class O, int W>
[[nodiscard]] host_frontier pull_together(host_search<I, O, W>& s, std::int32_t level) {
  const parts shares = chunks_of(s.in.rows, host_tuning::chunk_pulled);
  host_frontier all;
  std::mutex mutex;
  on_threads(s.threads, shares.count, [&](part_taker& mine) {
    bit_counter<W> counter(s.found);
    host_frontier sum;
    for (std::int64_t p; mine.take(p);) {
      interruption::look();  // a level of 256 searches takes long
      for (std::int64_t v = shares.first(p); v < shares.last(p); ++v) {
        pull_vertex(s, static_cast<I>(v), level, counter, sum);
      }
    }
    const std::lock_guard lock(mutex);
    all.add(sum);
  });
  std::swap(s.seen, s.other);
  return {.vertices = all.vertices, .edges = all.edges, .open = all.open};
}

// After a pull: writes its frontier into the queue and `front`, and clears `other` for pushes.
template <class I, class O, int W>
void queue_pulled(const host_search<I, O, W>& s) {
  std::int64_t tail = 0;
  const parts shares = chunks_of(s.out.rows, host_tuning::chunk_pulled);
  on_threads(s.threads, shares.count, [&](part_taker& mine) {
    bfs::host_buffer<I> buffer(s.buffers + mine.slot() * bfs::host_tuning::buffer_entries, s.queue, tail);
    for (std::int64_t p; mine.take(p);) {
      for (std::int64_t v = shares.first(p); v < shares.last(p); ++v) {
        search_bits<W> fresh;
        for (int w = 0; w < W; ++w) fresh[w] = s.seen[v][w] & ~s.other[v][w];
        s.other[v] = {};
        if (!any<W>(fresh)) continue;
        s.front[v] = fresh;
        buffer.push(static_cast<I>(v));
      }
    }
    buffer.flush();
  });
}

// First pass of a push: u's new bits go to neighbours that lack them; each neighbour is queued once.
template <class I, class O, int W>
void push_edges(const host_search<I, O, W>& s, I u, bfs::host_buffer<I>& buffer) {
  const search_bits<W> carried = s.front[u];
  const O last = s.out.offsets[u + 1];
  for (O e = s.out.offsets[u]; e < last; ++e) {
    const I v = s.out.indices[e];
    std::uint64_t all = 0;
    for (int w = 0; w < W; ++w) {
      const std::uint64_t lacks = carried[w] & ~s.seen[v][w];
      if (lacks == 0) continue;
      const std::atomic_ref<std::uint64_t> to(s.other[v][w]);
      if ((lacks & ~to.load(std::memory_order_relaxed)) != 0) to.fetch_or(lacks, std::memory_order_relaxed);
      all |= lacks;
    }
    if (all != 0 && claim_bit(s.marks, v)) buffer.push(v);
  }
}

// Second pass: moves v's collected bits into `seen`. One thread owns v, but its word of `marks` is shared.
template <class I, class O, int W>
void take_gathered(const host_search<I, O, W>& s, I v, std::int32_t level, bit_counter<W>& counter,
                   host_frontier& sum) {
  const search_bits<W> fresh = s.other[v];
  for (int w = 0; w < W; ++w) s.seen[v][w] |= fresh[w];
  s.front[v] = fresh;
  s.other[v] = {};
  std::atomic_ref<std::uint64_t>(s.marks[v >> 6]).fetch_and(~(std::uint64_t{1} << (v & 63)), std::memory_order_relaxed);
  s.reached(v, fresh, level, counter, sum);
  s.finish(v, s.seen[v], sum);
}

// Push by all threads from the queue of `now` into the next one; then they are swapped.
template <class I, class O, int W>
[[nodiscard]] host_frontier push_together(host_search<I, O, W>& s, const host_frontier& now, std::int32_t level) {
  const int threads = s.threads_for(now.edges);
  std::int64_t tail = 0;
  const parts pushed = chunks_of(now.vertices, host_tuning::chunk_vertices);
  on_threads(threads, pushed.count, [&](part_taker& mine) {
    bfs::host_buffer<I> buffer(s.buffers + mine.slot() * bfs::host_tuning::buffer_entries, s.next_queue, tail);
    for (std::int64_t p; mine.take(p);) {
      interruption::look();
      for (std::int64_t k = pushed.first(p); k < pushed.last(p); ++k) push_edges(s, s.queue[k], buffer);
    }
    buffer.flush();
  });
  host_frontier all;
  std::mutex mutex;
  const parts taken = chunks_of(tail, host_tuning::chunk_pulled);
  on_threads(threads, taken.count, [&](part_taker& mine) {
    bit_counter<W> counter(s.found);
    host_frontier sum;
    for (std::int64_t p; mine.take(p);) {
      for (std::int64_t k = taken.first(p); k < taken.last(p); ++k) {
        take_gathered(s, s.next_queue[k], level, counter, sum);
      }
    }
    const std::lock_guard lock(mutex);
    all.add(sum);
  });
  std::swap(s.queue, s.next_queue);
  return {.vertices = tail, .edges = all.edges, .finished = all.finished};
}

}  // namespace spargo::detail::multi_bfs
