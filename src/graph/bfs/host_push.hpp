// Push by all threads, without an atomic operation per vertex.
//
// Threads that claim vertices in one shared bitmap bounce its cache lines, and every claim waits for earlier stores.
// Instead, a round has two phases. Read: each thread follows edges of the frontier, drops those to vertices visited
// before the round, and bins the others by target; it writes no shared data. Settle: one thread drains each bin, over
// all readers; meanwhile it owns the bin's part of the bitmap, levels and parents. A round ends when bins are full
// (sized for the L2 cache): memory is a constant per thread, and edges to vertices of earlier rounds are dropped.
//
// A vertex belongs to one bin, hence is settled once: the queue of `vertices` elements never overflows. Rows too long
// for one thread are posted as chunks, which all threads read in the next rounds; so a star is not left to one core.
// Binning by target: Beamer, Asanovic, Patterson, Reducing Pagerank Communication via Propagation Blocking, IPDPS 2017.
//
// Cost: O(edges of the frontier); two parallel regions per round.
#pragma once

#include "core/parallel.hpp"
#include "graph/bfs/host_steps.hpp"

#include <array>
#include <atomic>

namespace spargo::detail::bfs {

struct host_push_tuning {
  // Blocks of 512 vertices (one cache line of the bitmap) are assigned to bins cyclically: neighbouring ids, which
  // often have similar degrees, spread over all bins.
  static constexpr std::int64_t bins = 64;
  static constexpr int span_bits = 9;
  // A round ends when a bin is full. 64 bins of 512 edges of 8 bytes: 256 KiB, an eighth of a server core's L2 cache.
  static constexpr std::int64_t bin_edges = 512;
  static constexpr std::int64_t run = 64;                // edges read between checks for a full bin
  static constexpr std::int64_t chunk_edges = 2048;      // longer rows are split
  static constexpr std::int64_t chunk_vertices = 64;     // per chunk of the frontier
  static constexpr std::int64_t output_vertices = 2048;  // gathered before they are appended to the queue
};

// One reader's bins, and its position in the frontier across rounds. Readers fill it, settlers drain it.
template <class I>
struct host_bins {
  using tuning = host_push_tuning;
  std::int64_t row = 0;  // position in the queue, up to `row_end`
  std::int64_t row_end = 0;
  std::int64_t edge = 0;  // position in the row of `from`, up to `edge_end`
  std::int64_t edge_end = 0;
  I from = 0;
  std::int32_t sizes[tuning::bins];
  host_edge<I> edges[tuning::bins][tuning::bin_edges + tuning::run];

  void reset() {
    row = row_end = edge = edge_end = 0;
    std::fill_n(sizes, tuning::bins, 0);
  }
};

[[nodiscard]] constexpr std::int64_t most_chunks(std::int64_t edges) {
  return 2 * (edges / host_push_tuning::chunk_edges) + 1;
}

// Remaining work of a level; shared by all threads.
struct level_progress {
  std::int64_t next = 0;     // in the queue
  std::int64_t end = 0;      // of the frontier
  std::int64_t taken = 0;    // chunks taken
  std::int64_t ready = 0;    // chunks posted before this round
  std::int64_t posted = 0;   // chunks posted
  std::int64_t stopped = 0;  // threads that stopped on full bins before the end of their share
  std::int64_t tail = 0;     // of the queue
  bool finished = false;

  // Called by one thread between two rounds.
  void end_round() {
    taken = std::min(taken, ready);
    ready = posted;
    finished = stopped == 0 && taken == ready;
    stopped = 0;
  }
};

inline std::int64_t fetch_and_add(std::int64_t& counter, std::int64_t some) {
  return std::atomic_ref<std::int64_t>(counter).fetch_add(some, std::memory_order_relaxed);
}

// Read phase of one thread; continues where the previous reader of these bins stopped.
template <class I, class O>
class host_reader {
 public:
  using tuning = host_push_tuning;
  host_reader(const host_search<I, O>& s, level_progress& progress, host_bins<I>& bins)
      : s_(s),
        progress_(progress),
        bins_(bins),
        k_(bins.row),
        k_end_(bins.row_end),
        u_(bins.from),
        e_(static_cast<O>(bins.edge)),
        last_(static_cast<O>(bins.edge_end)) {}

  void read_round() {
    while (e_ < last_ || next_row()) {
      if (!read_row()) {
        fetch_and_add(progress_.stopped, 1);
        break;
      }
    }
    bins_.row = k_;
    bins_.row_end = k_end_;
    bins_.from = u_;
    bins_.edge = e_;
    bins_.edge_end = last_;
  }

 private:
  // Returns whether there is room for more. The size is kept in a local, so that no other store can alias it.
  [[nodiscard]] bool read_row() {
    bool full = false;
    while (e_ < last_ && !full) {
      const O stop = static_cast<O>(std::min<std::int64_t>(last_, e_ + tuning::run));
      for (; e_ < stop; ++e_) {
        const I v = s_.out.indices[e_];
        const auto b = static_cast<std::size_t>(v >> tuning::span_bits) % tuning::bins;
        const std::int32_t at = bins_.sizes[b];
        bins_.edges[b][at] = {v, u_};
        bins_.sizes[b] = at + std::int32_t{!test_bit(s_.visited, v)};
        full |= at >= tuning::bin_edges;
      }
    }
    return !full;
  }

  // Finds the next row or chunk to read; false when this round has no more.
  [[nodiscard]] bool next_row() {
    while (true) {
      while (k_ < k_end_) {
        prefetch_rows(s_.out, s_.queue, k_, k_end_);
        start_row(s_.queue[k_++]);
        if (last_ - e_ <= tuning::chunk_edges) return true;
        post_row();
      }
      if (std::atomic_ref<std::int64_t>(progress_.next).load(std::memory_order_relaxed) >= progress_.end) break;
      k_ = fetch_and_add(progress_.next, tuning::chunk_vertices);
      k_end_ = std::min(k_ + tuning::chunk_vertices, progress_.end);
    }
    if (progress_.ready == 0) return false;
    const std::int64_t p = fetch_and_add(progress_.taken, 1);
    if (p >= progress_.ready) return false;
    start_row(s_.chunks[p].from);
    e_ = s_.chunks[p].first;
    last_ = static_cast<O>(std::min<std::int64_t>(last_, e_ + tuning::chunk_edges));
    return true;
  }

  void start_row(I u) {
    u_ = u;
    e_ = s_.out.offsets[u];
    last_ = s_.out.offsets[u + 1];
  }

  void post_row() {
    const std::int64_t chunks = div_up(static_cast<std::int64_t>(last_ - e_), tuning::chunk_edges);
    const std::int64_t at = fetch_and_add(progress_.posted, chunks);
    for (std::int64_t p = 0; p < chunks; ++p) {
      s_.chunks[at + p] = {u_, static_cast<O>(e_ + p * tuning::chunk_edges)};
    }
    e_ = last_;
  }

  const host_search<I, O>& s_;
  level_progress& progress_;
  host_bins<I>& bins_;
  std::int64_t k_;
  std::int64_t k_end_;
  I u_;
  O e_;
  O last_;
};

// Settle phase of one thread; holds the vertices found until they are appended to the queue.
template <class I, class O>
class host_settler {
 public:
  using tuning = host_push_tuning;
  host_settler(const host_search<I, O>& s, level_progress& progress, std::int32_t level)
      : s_(s), progress_(progress), level_(level) {}

  // Drains bin b of every thread.
  void take_bin(std::int64_t b, std::int64_t team) {
    for (std::int64_t t = 0; t < team; ++t) {
      host_bins<I>& bins = s_.bins[t];
      const std::int64_t size = bins.sizes[b];
      if (size_ + size > tuning::output_vertices) flush();
      take(bins.edges[b], size);
      bins.sizes[b] = 0;
    }
  }

  void flush() {
    if (size_ == 0) return;
    edges_ += settle(s_, to_.data(), from_.data(), size_, level_);
    std::copy_n(to_.data(), size_, s_.queue + fetch_and_add(progress_.tail, size_));
    size_ = 0;
  }
  [[nodiscard]] std::int64_t edges() const { return edges_; }

 private:
  void take(const host_edge<I>* edges, std::int64_t size) {
    std::int64_t end = size_;
    for (std::int64_t j = 0; j < size; ++j) {
      const bool seen = test_and_set_bit(s_.visited, edges[j].to);
      to_[static_cast<std::size_t>(end)] = edges[j].to;
      from_[static_cast<std::size_t>(end)] = edges[j].from;
      end += std::int64_t{!seen};
    }
    size_ = end;
  }

  const host_search<I, O>& s_;
  level_progress& progress_;
  std::int32_t level_;
  std::int64_t size_ = 0;
  std::int64_t edges_ = 0;
  std::array<I, static_cast<std::size_t>(tuning::output_vertices) + 1> to_;
  std::array<I, static_cast<std::size_t>(tuning::output_vertices) + 1> from_;
};

template <class I, class O>
[[nodiscard]] host_frontier push_together(const host_search<I, O>& s, const host_frontier& now,
                                          std::int32_t next_level) {
  level_progress progress{.next = now.begin, .end = now.end, .tail = now.end};
  const int readers = team_size(s.threads);
  for (int r = 0; r < readers; ++r) s.bins[r].reset();
  std::atomic<std::int64_t> edges{0};
  while (!progress.finished) {
    parallel_parts(readers, readers, [&](std::int64_t r) { host_reader<I, O>(s, progress, s.bins[r]).read_round(); });
    on_threads(readers, host_push_tuning::bins, [&](part_taker& mine) {
      host_settler<I, O> settler(s, progress, next_level);
      for (std::int64_t b; mine.take(b);) settler.take_bin(b, readers);
      settler.flush();
      edges.fetch_add(settler.edges(), std::memory_order_relaxed);
    });
    progress.end_round();
  }
  return {now.end, progress.tail, edges.load()};
}

}  // namespace spargo::detail::bfs
