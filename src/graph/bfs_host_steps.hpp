// One level of a host search: pushed by one thread, pushed by all, or pulled by all.
//
// The visited set is a bitmap: at a byte for eight vertices it stays in the second-level cache where levels would
// not. In a pull, "visited" is also the frontier: every edge out of earlier levels has been followed, so a visited
// in-neighbour of an unvisited vertex can only be in the last level. One bitmap therefore serves as both; a pull
// reads it and writes its successor, each word by one thread, and the two change places.
//
// A push claims vertices with an atomic OR (after a plain look, which nearly always answers) and appends the
// winners to one queue through a buffer of each thread's own. A vertex is queued at most once in a search, so the
// queue of `vertices` elements slides along and never overflows. Vertices of very high degree are put aside and
// their edges split among all threads, so that a star does not run on one core.
#pragma once

#include <spargo/formats/csr.hpp>

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

namespace spargo::detail {

struct bfs_host_tuning {
  // A frontier with fewer edges is expanded by the calling thread, in about 40 us: two threads need 2 to 5 us to
  // meet, twice a level, and far longer on a busy machine, so that thousands of such levels (a 2000 x 2000 grid has
  // 4000, of 8000 edges) lose more by sharing than they gain.
  static constexpr std::int64_t sequential_edges = 16384;
  // Arrays shorter than this are filled by one thread.
  static constexpr std::int64_t sequential_fill = std::int64_t{1} << 16;
  // Vertices with more edges are expanded by all threads together: no chunk holds over chunk * hub_degree edges.
  static constexpr std::int64_t hub_degree = 2048;
  static constexpr std::int64_t chunk_vertices = 64;  // handed out at a time when pushing
  static constexpr std::int64_t chunk_words = 32;     // bitmap words (2048 vertices) at a time when pulling
  static constexpr std::int64_t buffer_entries = 1024;
};

// Vertices [begin, end) of the queue, and the sum of their out-degrees where a search counts them.
struct bfs_host_frontier {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t edges = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

// What a search works on: the graph, its output and its workspace, all borrowed from the plan.
template <class I, class O>
struct bfs_host_search {
  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;  // empty when the search never pulls
  std::int32_t* levels = nullptr;   // null: not asked for
  I* parents = nullptr;             // null: not asked for
  std::uint64_t* visited = nullptr;
  std::uint64_t* successor = nullptr;  // what a pull writes; null when the search never pulls
  I* queue = nullptr;                  // [vertices]
  I* hubs = nullptr;                   // [edges / hub_degree + 1]
  I* buffers = nullptr;                // [threads * buffer_entries]
  int threads = 1;
  bool counts_edges = true;  // of frontiers; a search that never pulls need not

  [[nodiscard]] std::int64_t words() const { return div_up(static_cast<std::int64_t>(out.rows), 64); }
  [[nodiscard]] std::int64_t degree(I v) const { return out.offsets[v + 1] - out.offsets[v]; }
  void found(I v, I parent, std::int32_t level) const {
    if (levels != nullptr) levels[v] = level;
    if (parents != nullptr) parents[v] = parent;
  }
  [[nodiscard]] bool was_found(std::int64_t v) const { return levels != nullptr ? levels[v] >= 0 : parents[v] >= 0; }
};

template <class I>
[[nodiscard]] bool test_bit(const std::uint64_t* bitmap, I v) {
  return (bitmap[v >> 6] >> (v & 63) & 1) != 0;
}

// True for the one caller that sets the bit first.
template <class I>
[[nodiscard]] bool claim_bit(std::uint64_t* bitmap, I v) {
  const std::atomic_ref<std::uint64_t> word(bitmap[v >> 6]);
  const std::uint64_t bit = std::uint64_t{1} << (v & 63);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

// A thread's own end of the shared queue.
template <class I>
class bfs_host_buffer {
 public:
  bfs_host_buffer(I* buffer, I* queue, std::int64_t& tail) : buffer_(buffer), queue_(queue), tail_(tail) {}

  void push(I v) {
    buffer_[size_++] = v;
    if (size_ == bfs_host_tuning::buffer_entries) flush();
  }
  void flush() {
    if (size_ == 0) return;
    const std::int64_t at = std::atomic_ref<std::int64_t>(tail_).fetch_add(size_, std::memory_order_relaxed);
    std::copy_n(buffer_, size_, queue_ + at);
    size_ = 0;
  }

 private:
  I* buffer_;
  I* queue_;
  std::int64_t& tail_;
  std::int64_t size_ = 0;
};

// By the calling thread alone; no atomics.
template <class I, class O>
[[nodiscard]] bfs_host_frontier push_alone(const bfs_host_search<I, O>& s, const bfs_host_frontier& now,
                                           std::int32_t next_level) {
  bfs_host_frontier next{now.end, now.end, 0};
  for (std::int64_t k = now.begin; k < now.end; ++k) {
    const I u = s.queue[k];
    const O last = s.out.offsets[u + 1];
    for (O e = s.out.offsets[u]; e < last; ++e) {
      const I v = s.out.indices[e];
      if (test_bit(s.visited, v)) continue;
      s.visited[v >> 6] |= std::uint64_t{1} << (v & 63);
      s.found(v, u, next_level);
      s.queue[next.end++] = v;
      if (s.counts_edges) next.edges += s.degree(v);
    }
  }
  return next;
}

// Follows entries [first, last) of u; returns the out-edges of what it found.
template <class I, class O>
[[nodiscard]] std::int64_t push_edges(const bfs_host_search<I, O>& s, I u, O first, O last, std::int32_t next_level,
                                      bfs_host_buffer<I>& buffer) {
  std::int64_t edges = 0;
  for (O e = first; e < last; ++e) {
    const I v = s.out.indices[e];
    if (!claim_bit(s.visited, v)) continue;
    s.found(v, u, next_level);
    buffer.push(v);
    if (s.counts_edges) edges += s.degree(v);
  }
  return edges;
}

// By all threads: vertices first, then the hubs they met, edge by edge.
template <class I, class O>
[[nodiscard]] bfs_host_frontier push_together(const bfs_host_search<I, O>& s, const bfs_host_frontier& now,
                                              std::int32_t next_level) {
  std::int64_t tail = now.end;
  std::int64_t hubs = 0;
  std::int64_t edges = 0;
#pragma omp parallel num_threads(s.threads) reduction(+ : edges)
  {
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t team = omp_get_num_threads();
    bfs_host_buffer<I> buffer(s.buffers + thread * bfs_host_tuning::buffer_entries, s.queue, tail);
#pragma omp for schedule(dynamic, bfs_host_tuning::chunk_vertices)
    for (std::int64_t k = now.begin; k < now.end; ++k) {
      const I u = s.queue[k];
      if (s.degree(u) > bfs_host_tuning::hub_degree) {
        s.hubs[std::atomic_ref<std::int64_t>(hubs).fetch_add(1, std::memory_order_relaxed)] = u;
      } else {
        edges += push_edges(s, u, s.out.offsets[u], s.out.offsets[u + 1], next_level, buffer);
      }
    }
    for (std::int64_t h = 0; h < hubs; ++h) {
      const I u = s.hubs[h];
      const std::int64_t piece = div_up(s.degree(u), team);
      const std::int64_t first = std::min(piece * thread, s.degree(u));
      const std::int64_t last = std::min(first + piece, s.degree(u));
      const O row = s.out.offsets[u];
      edges += push_edges(s, u, static_cast<O>(row + first), static_cast<O>(row + last), next_level, buffer);
    }
    buffer.flush();
  }
  return {now.end, tail, edges};
}

// The unvisited vertices of one word that have a visited in-neighbour, as bits.
template <class I, class O>
[[nodiscard]] std::uint64_t pull_word(const bfs_host_search<I, O>& s, std::int64_t word, std::int32_t next_level) {
  std::uint64_t result = 0;
  for (std::uint64_t rest = ~s.visited[word]; rest != 0; rest &= rest - 1) {
    const I v = static_cast<I>(word * 64 + std::countr_zero(rest));
    const O last = s.in.offsets[v + 1];
    for (O e = s.in.offsets[v]; e < last; ++e) {
      const I u = s.in.indices[e];
      if (!test_bit(s.visited, u)) continue;
      s.found(v, u, next_level);
      result |= rest & -rest;
      break;
    }
  }
  return result;
}

// By all threads. The new frontier is visited & ~successor after the call: nothing is queued. Returns its size
// (as [0, size)) and its out-edges.
template <class I, class O>
[[nodiscard]] bfs_host_frontier pull_together(bfs_host_search<I, O>& s, std::int32_t next_level) {
  std::int64_t size = 0;
  std::int64_t edges = 0;
  const std::int64_t words = s.words();
#pragma omp parallel for num_threads(s.threads) schedule(dynamic, bfs_host_tuning::chunk_words) \
    reduction(+ : size, edges)
  for (std::int64_t w = 0; w < words; ++w) {
    const std::uint64_t fresh = pull_word(s, w, next_level);
    s.successor[w] = s.visited[w] | fresh;
    size += std::popcount(fresh);
    for (std::uint64_t rest = fresh; rest != 0; rest &= rest - 1) {
      edges += s.degree(static_cast<I>(w * 64 + std::countr_zero(rest)));
    }
  }
  std::swap(s.visited, s.successor);
  return {0, size, edges};
}

// After a pull: its frontier as a queue, from the start again.
template <class I, class O>
[[nodiscard]] bfs_host_frontier queue_pulled(const bfs_host_search<I, O>& s, std::int64_t edges) {
  std::int64_t tail = 0;
  const std::int64_t words = s.words();
#pragma omp parallel num_threads(s.threads)
  {
    bfs_host_buffer<I> buffer(s.buffers + omp_get_thread_num() * bfs_host_tuning::buffer_entries, s.queue, tail);
#pragma omp for schedule(static) nowait
    for (std::int64_t w = 0; w < words; ++w) {
      for (std::uint64_t rest = s.visited[w] & ~s.successor[w]; rest != 0; rest &= rest - 1) {
        buffer.push(static_cast<I>(w * 64 + std::countr_zero(rest)));
      }
    }
    buffer.flush();
  }
  return {0, tail, edges};
}

}  // namespace spargo::detail
