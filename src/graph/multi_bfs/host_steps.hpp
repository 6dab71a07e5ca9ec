// One level of a multi-source search on the host, pushed or pulled, for W words (64 W searches) a vertex.
//
// `seen` has a vertex's bits: the searches that have found it. A pull reads `seen` and writes `other`: an
// in-neighbour's bit that a vertex lacks can only be in the last level, so the union of the in-neighbours' words is the
// vertex's next word, and the scan of a vertex ends as soon as all that go on are in. The two arrays change places. A
// push needs the frontier itself: a queue of vertices, with the bits they have just got in `front`; it gathers into
// `other`, all zero between pushes, and a second pass over what it has met moves these bits into `seen`. Bits in
// `marks` keep a vertex from being queued twice.
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
  // Levels with fewer edges are walked by one thread: see bfs::host_tuning::sequential_edges.
  static constexpr std::int64_t sequential_edges = 16384;
  static constexpr std::int64_t chunk_vertices = 64;  // handed out at a time when pushing
  static constexpr std::int64_t chunk_pulled = 1024;  // and when pulling
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

// Whether `a` has all bits of `wanted`.
template <int W>
[[nodiscard]] bool covers(const search_bits<W>& a, const search_bits<W>& wanted) {
  std::uint64_t lacking = 0;
  for (int w = 0; w < W; ++w) lacking |= wanted[w] & ~a[w];
  return lacking == 0;
}

// How often each bit was set in the words added: counters of eight bits, stored bit by bit across 64 of them, so that
// adding a word is a few word operations. Totals are 64-bit.
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

// What a level found: vertices in the queue (after a push), and sums over the vertices with new bits.
struct host_frontier {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;     // their out-edges
  std::int64_t finished = 0;  // in-edges of those that now lack no search
  std::int64_t open = 0;      // after a pull: in-edges of all that lack a search that goes on

  void add(const host_frontier& other) {
    vertices += other.vertices;
    edges += other.edges;
    finished += other.finished;
    open += other.open;
  }
};

// What a batch works on: the graph, its output and its workspace, all borrowed from the plan.
template <class I, class O, int W>
struct host_search {
  using bits = search_bits<W>;

  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;  // empty when the search never pulls
  bits full{};                      // the searches of this batch
  bits wanted{};                    // those that found something at the last level: the others have ended
  bits* seen = nullptr;             // [vertices]
  bits* other = nullptr;            // [vertices]
  bits* front = nullptr;            // [vertices]
  std::uint64_t* marks = nullptr;   // [vertices / 64], all zero between levels
  I* queue = nullptr;               // [vertices]
  I* next_queue = nullptr;          // [vertices]
  I* buffers = nullptr;             // [threads * buffer_entries]
  std::int64_t* found = nullptr;    // [64 * W]: vertices that each search has found at this level
  std::int32_t* levels = nullptr;   // [vertex * stride + source], from this batch's first source on; null: no levels
  std::int64_t stride = 0;
  int threads = 1;

  [[nodiscard]] static std::int64_t degree(const csr_pattern_view<I, O, host>& g, I v) {
    return g.offsets[v + 1] - g.offsets[v];
  }

  // New bits of a vertex: its levels, its count, its share of the frontier.
  void reached(I v, const bits& fresh, std::int32_t level, bit_counter<W>& counter, host_frontier& sum) const {
    counter.add(fresh);
    ++sum.vertices;
    sum.edges += degree(out, v);
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

// The union of the words of v's in-neighbours and its own; stops when it has all that is wanted.
template <class I, class O, int W>
[[nodiscard]] search_bits<W> gather(const host_search<I, O, W>& s, I v) {
  search_bits<W> has = s.seen[v];
  const O last = s.in.offsets[v + 1];
  for (O e = s.in.offsets[v]; e < last && !covers<W>(has, s.wanted); ++e) {
    const search_bits<W>& near = s.seen[s.in.indices[e]];
    for (int w = 0; w < W; ++w) has[w] |= near[w];
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

// By all threads. Afterwards `seen` and `other` have changed places: new bits are seen & ~other.
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

// After a pull: its frontier as a queue and in `front`, and `other` cleared for pushes.
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

// First half of a push: u's new bits to those of its neighbours that lack them; whom they meet first is queued.
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

// Second half: what was gathered becomes seen. Only one thread has v; its bit in `marks` shares a word with others'.
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

// From the queue of `now` into the next one; the two change places.
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
