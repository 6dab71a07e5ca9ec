// State shared by the steps of a host search, and the push by one thread.
//
// The visited set is a bitmap: at one byte per eight vertices it stays in the L2 cache where levels would not. Only
// this array is read for every edge; levels and parents are written once per vertex.
#pragma once

#include <spargo/formats/csr.hpp>
#include <spargo/graph/frontier/bitmap.hpp>
#include <spargo/graph/frontier/prefetch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace spargo::detail::bfs {

struct host_tuning {
  // A smaller level runs on one thread: it takes 40 us; two threads need 2 to 5 us per barrier, twice per level.
  static constexpr std::int64_t sequential_edges = 16384;
  static constexpr std::int64_t buffer_entries = 1024;  // per thread, before they are appended to a shared queue
  // Edges to unvisited vertices listed before they are processed, and edges read between checks of the list. Uniform
  // 2^20, one thread: 18.8 ms, 26.5 with a branch per edge; lists of 64: 5 % slower (results/graph_tuning.txt).
  static constexpr std::int64_t list_edges = 256;
  static constexpr std::int64_t run = 64;
};

// Queue range [begin, end), and the sum of its out-degrees where the search counts them.
struct host_frontier {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t edges = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

// A candidate edge: `to` was unvisited when it was read.
template <class I>
struct host_edge {
  I to;
  I from;
};

// A chunk of a long row, for any thread to expand.
template <class I, class O>
struct host_row_chunk {
  I from;
  O first;
};

template <class I>
struct host_bins;

// State of a search: the graph, its output and its workspace, all borrowed from the plan.
template <class I, class O>
struct host_search {
  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;  // empty when the search never pulls
  std::int32_t* levels = nullptr;   // null: not requested
  I* parents = nullptr;             // null: not requested
  std::uint64_t* visited = nullptr;
  std::uint64_t* successor = nullptr;      // written by a pull; null when the search never pulls
  I* queue = nullptr;                      // [vertices]
  host_bins<I>* bins = nullptr;            // [threads]
  host_row_chunk<I, O>* chunks = nullptr;  // [most_chunks(edges)]
  I* narrow = nullptr;                     // [narrow_entries(threads)]; null for one thread
  int threads = 1;
  bool counts_edges = true;  // of frontiers; not needed by a search that never pulls

  [[nodiscard]] std::int64_t words() const { return div_up(static_cast<std::int64_t>(out.rows), 64); }
  [[nodiscard]] std::int64_t degree(I v) const { return out.offsets[v + 1] - out.offsets[v]; }
  void found(I v, I parent, std::int32_t level) const {
    if (levels != nullptr) levels[v] = level;
    if (parents != nullptr) parents[v] = parent;
  }

  void prefetch_result(I v) const {
    if (levels != nullptr) __builtin_prefetch(levels + v, 1);
    if (parents != nullptr) __builtin_prefetch(parents + v, 1);
  }
};

// A thread's buffer in front of a shared queue.
template <class I>
class host_buffer {
 public:
  host_buffer(I* buffer, I* queue, std::int64_t& tail) : buffer_(buffer), queue_(queue), tail_(tail) {}

  void push(I v) {
    buffer_[size_++] = v;
    if (size_ == host_tuning::buffer_entries) flush();
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

// Writes level and parent of `size` new vertices. Returns their out-edges, where the search counts them. Stores that
// miss the cache retire one after the other, so without prefetching each line costs a full miss.
template <class I, class O>
[[nodiscard]] std::int64_t settle(const host_search<I, O>& s, const I* to, const I* from, std::int64_t size,
                                  std::int32_t level) {
  constexpr std::int64_t far = prefetch_tuning::ahead;
  std::int64_t edges = 0;
  for (std::int64_t j = 0; j < size; ++j) {
    if (j + far < size) {
      s.prefetch_result(to[j + far]);
      if (s.counts_edges) __builtin_prefetch(s.out.offsets.data() + to[j + far]);
    }
    s.found(to[j], from[j], level);
    if (s.counts_edges) edges += s.degree(to[j]);
  }
  return edges;
}

// Expands vertices on one thread, without atomics. Two loops avoid mispredicted branches: the first lists edges to
// unvisited vertices, the second processes the list. Between them everything a new vertex touches is prefetched, its
// row last: a level this small stays in the L2 cache until it is expanded.
template <class I, class O>
class host_lister {
 public:
  using tuning = host_tuning;
  host_lister(const host_search<I, O>& s, I* found, std::int32_t level) : s_(s), found_(found), level_(level) {}

  void expand(const I* frontier, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) {
      prefetch_rows(s_.out, frontier, k, size);
      const I u = frontier[k];
      const O last = s_.out.offsets[u + 1];
      for (O e = s_.out.offsets[u]; e < last;) {
        const O stop = static_cast<O>(std::min<std::int64_t>(last, e + tuning::run));
        for (; e < stop; ++e) list(s_.out.indices[e], u);
        if (listed_ >= tuning::list_edges) process_list();
      }
    }
    process_list();
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t edges() const { return edges_; }

 private:
  void list(I v, I u) {
    to_[static_cast<std::size_t>(listed_)] = v;
    from_[static_cast<std::size_t>(listed_)] = u;
    listed_ += std::int64_t{!test_bit(s_.visited, v)};
  }

  void process_list() {
    const std::int64_t fresh = visit();
    for (std::int64_t j = 0; j < fresh; ++j) {
      const I v = to_[static_cast<std::size_t>(j)];
      found_[size_ + j] = v;
      s_.found(v, from_[static_cast<std::size_t>(j)], level_);
      edges_ += s_.degree(v);
      __builtin_prefetch(s_.out.indices.data() + s_.out.offsets[v]);
    }
    size_ += fresh;
    listed_ = 0;
  }

  // Keeps the first edge to each vertex; returns the number kept.
  std::int64_t visit() {
    std::int64_t fresh = 0;
    for (std::int64_t j = 0; j < listed_; ++j) {
      const I v = to_[static_cast<std::size_t>(j)];
      s_.prefetch_result(v);
      __builtin_prefetch(s_.out.offsets.data() + v);
      to_[static_cast<std::size_t>(fresh)] = v;
      from_[static_cast<std::size_t>(fresh)] = from_[static_cast<std::size_t>(j)];
      fresh += std::int64_t{!test_and_set_bit(s_.visited, v)};
    }
    return fresh;
  }

  const host_search<I, O>& s_;
  I* found_;
  std::int32_t level_;
  std::int64_t size_ = 0;
  std::int64_t edges_ = 0;
  std::int64_t listed_ = 0;
  std::array<I, static_cast<std::size_t>(tuning::list_edges + tuning::run)> to_;
  std::array<I, static_cast<std::size_t>(tuning::list_edges + tuning::run)> from_;
};

template <class I, class O>
[[nodiscard]] host_frontier push_alone(const host_search<I, O>& s, const host_frontier& now, std::int32_t next_level) {
  host_lister<I, O> lister(s, s.queue + now.end, next_level);
  lister.expand(s.queue + now.begin, now.size());
  return {now.end, now.end + lister.size(), lister.edges()};
}

}  // namespace spargo::detail::bfs
