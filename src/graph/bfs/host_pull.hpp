// Pull by all threads: every unvisited vertex looks for a visited in-neighbour.
//
// In a pull the visited set also serves as the frontier: all edges out of earlier levels have been followed, so a
// visited in-neighbour of an unvisited vertex must be in the last level. A pull reads one bitmap and writes its
// successor, each word by one thread; then the two are swapped.
//
// Most vertices find a neighbour after a few entries, so latency of a row's first entries dominates: the unvisited
// vertices of a chunk are listed first, and their rows are prefetched some entries ahead. Testing 8 or 16 neighbours at
// once with gathers (AVX-512) was no faster (R-MAT 20 6.0 to 6.6 ms, uniform 2^20 12.1 to 12.9).
#pragma once

#include "core/parallel.hpp"
#include "graph/bfs/host_steps.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace spargo::detail::bfs {

struct host_pull_tuning {
  static constexpr std::int64_t chunk_words = 32;  // bitmap words (2048 vertices) per chunk
  // Prefetch distance in rows. R-MAT 20, two threads of a Xeon, 8 / 16 / 32 ahead: 7.0 / 6.0 / 5.9 ms.
  static constexpr std::int64_t ahead = 16;
};

// Lists the vertices whose bits are set in words [first, last) of `word(w)`; returns their number.
template <class I, class Word>
[[nodiscard]] std::int64_t list_bits(std::int64_t first, std::int64_t last, Word&& word, I* list) {
  std::int64_t size = 0;
  for (std::int64_t w = first; w < last; ++w) {
    for (std::uint64_t rest = word(w); rest != 0; rest &= rest - 1) {
      list[size++] = static_cast<I>(w * 64 + std::countr_zero(rest));
    }
  }
  return size;
}

template <class I>
using host_chunk = std::array<I, static_cast<std::size_t>(64 * host_pull_tuning::chunk_words)>;

// Pulls for the unvisited vertices of words [first, last). Returns the number found and their out-edges.
template <class I, class O>
[[nodiscard]] host_frontier pull_words(const host_search<I, O>& s, std::int64_t first, std::int64_t last,
                                       std::int32_t next_level) {
  host_chunk<I> list;
  const std::int64_t size = list_bits(
      first, last, [&](std::int64_t w) { return ~s.visited[w]; }, list.data());
  std::copy(s.visited + first, s.visited + last, s.successor + first);
  const O* const offsets = s.in.offsets.data();
  const I* const indices = s.in.indices.data();
  host_frontier found;
  for (std::int64_t j = 0; j < size; ++j) {
    if (j + host_pull_tuning::ahead < size) {
      __builtin_prefetch(indices + offsets[list[static_cast<std::size_t>(j + host_pull_tuning::ahead)]]);
    }
    const I v = list[static_cast<std::size_t>(j)];
    const O end = offsets[v + 1];
    for (O e = offsets[v]; e < end; ++e) {
      const I u = indices[e];
      if (!test_bit(s.visited, u)) continue;
      s.found(v, u, next_level);
      s.successor[v >> 6] |= std::uint64_t{1} << (v & 63);
      ++found.end;
      found.edges += s.degree(v);
      break;
    }
  }
  return found;
}

// Pull by all threads. Afterwards the new frontier is visited & ~successor: nothing is queued. Returns its size (as [0,
// size)) and its out-edges.
template <class I, class O>
[[nodiscard]] host_frontier pull_together(host_search<I, O>& s, std::int32_t next_level) {
  const std::int64_t words = s.words();
  constexpr std::int64_t chunk = host_pull_tuning::chunk_words;
  std::atomic<std::int64_t> size{0};
  std::atomic<std::int64_t> edges{0};
  on_threads(s.threads, div_up(words, chunk), [&](part_taker& mine) {
    host_frontier own;
    for (std::int64_t p; mine.take(p);) {
      const host_frontier found = pull_words(s, p * chunk, std::min((p + 1) * chunk, words), next_level);
      own.end += found.size();
      own.edges += found.edges;
    }
    size.fetch_add(own.end, std::memory_order_relaxed);
    edges.fetch_add(own.edges, std::memory_order_relaxed);
  });
  std::swap(s.visited, s.successor);
  return {0, size.load(), edges.load()};
}

// Queues the frontier of a pull, from the start of the queue.
template <class I, class O>
[[nodiscard]] host_frontier queue_pulled(const host_search<I, O>& s, std::int64_t edges) {
  std::int64_t tail = 0;
  const std::int64_t words = s.words();
  constexpr std::int64_t chunk = host_pull_tuning::chunk_words;
  parallel_ranges(s.threads, words, chunk, [&](std::int64_t first, std::int64_t last) {
    host_chunk<I> list;
    for (std::int64_t w = first; w < last; w += chunk) {
      const std::int64_t size = list_bits(
          w, std::min(w + chunk, last), [&](std::int64_t k) { return s.visited[k] & ~s.successor[k]; }, list.data());
      if (size == 0) continue;
      const std::int64_t at = std::atomic_ref<std::int64_t>(tail).fetch_add(size, std::memory_order_relaxed);
      std::copy_n(list.data(), size, s.queue + at);
    }
  });
  return {0, tail, edges};
}

}  // namespace spargo::detail::bfs
