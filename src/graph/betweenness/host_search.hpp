// State of the searches from up to L sources, and the results of a level.
//
// A level is a list of entries: a vertex, and the lanes whose sources reach it at this level. A vertex is in up to L
// levels, once each. Its counts are in `factors` of the level's parity, so that writing a level does not change what
// its readers see. `members`, one byte per vertex, tells which neighbours are in the previous level and for which
// lanes; it stays in the L2 cache where counts do not. Three such arrays rotate: the level read, the level written, and
// the one before, which is cleared. All are zero between searches.
#pragma once

#include "core/parallel.hpp"
#include "graph/betweenness/host_lanes.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace spargo::detail::betweenness {

struct host_tuning {
  static constexpr std::int64_t chunk = 256;          // entries per chunk
  static constexpr std::int64_t pulled_chunk = 2048;  // vertices per chunk of a pull
  static constexpr std::int64_t ahead = 8;            // rows prefetched
  // Edges per thread and level: about 5 us.
  static constexpr std::int64_t share_edges = 2048;
};

// Sums over the entries of a level; independent of order.
struct level_facts {
  std::int64_t size = 0;
  std::int64_t edges = 0;     // out-edges of the entries
  std::int64_t finished = 0;  // in-edges of vertices that all sources have reached
  unsigned found = 0;         // lanes
  double largest = 0;         // factor
  std::int32_t exponent = 0;  // largest

  void add(const level_facts& other) {
    size += other.size;
    edges += other.edges;
    finished += other.finished;
    found |= other.found;
    largest = std::max(largest, other.largest);
    exponent = std::max(exponent, other.exponent);
  }
};

// A thread's buffer in front of a shared list.
template <class I>
class found_vertices {
 public:
  found_vertices(I* list, std::int64_t& tail) : list_(list), tail_(tail) {}

  void push(I v) {
    held_[size_++] = v;
    if (size_ == held_.size()) flush();
  }
  void flush() {
    const auto count = static_cast<std::int64_t>(size_);
    const std::int64_t at = std::atomic_ref<std::int64_t>(tail_).fetch_add(count, std::memory_order_relaxed);
    std::copy_n(held_.data(), size_, list_ + at);
    size_ = 0;
  }

 private:
  I* list_;
  std::int64_t& tail_;
  std::size_t size_ = 0;
  std::array<I, 512> held_;
};

template <class I, class O, int L>
class host_search {
 public:
  static constexpr unsigned all_lanes = (1U << L) - 1;

  host_search(const context<host>& ctx, const csr_pattern_view<I, O, host>& out_edges,
              const csr_pattern_view<I, O, host>& in_edges, int thread_count)
      : out(out_edges),
        in(in_edges),
        threads(thread_count),
        factors_{array<double, host>(ctx, n() * L), array<double, host>(ctx, n() * L)},
        exponents_{array<std::int32_t, host>(ctx, n() * L), array<std::int32_t, host>(ctx, n() * L)},
        seen_(ctx, n()),
        members_{array<lane_set, host>(ctx, n()), array<lane_set, host>(ctx, n()), array<lane_set, host>(ctx, n())},
        vertices_(ctx, n() * L),
        lanes_(ctx, n() * L),
        begins_(ctx, n() + 2),
        wide_(ctx, n() + 2) {
    parallel_for(threads, n(), grain::elements, [&](std::int64_t v) {
      for (auto& members : members_) members[v] = 0;
      for (auto& factors : factors_) std::fill_n(factors.data() + v * L, L, 0.0);
    });
  }

  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;
  int threads;

  [[nodiscard]] std::int64_t n() const { return out.rows; }
  [[nodiscard]] static std::int64_t degree(const csr_pattern_view<I, O, host>& edges, std::int64_t v) {
    return std::int64_t{edges.offsets[v + 1]} - edges.offsets[v];
  }

  // [vertex * L + lane], for the vertices of a level of this depth's parity.
  [[nodiscard]] double* factors(std::int64_t depth) { return factors_[depth & 1].data(); }
  [[nodiscard]] std::int32_t* exponents(std::int64_t depth) { return exponents_[depth & 1].data(); }
  // [vertex]: its lanes in the level of this depth; three depths rotate.
  [[nodiscard]] lane_set* members(std::int64_t depth) { return members_[static_cast<std::size_t>(depth % 3)].data(); }
  [[nodiscard]] lane_set* seen() { return seen_.data(); }  // [vertex]: lanes
  // [entry]
  [[nodiscard]] I* vertices() { return vertices_.data(); }
  [[nodiscard]] lane_set* lanes() { return lanes_.data(); }
  // The level of depth d has the entries [begin(d), begin(d + 1)).
  [[nodiscard]] std::int64_t& begin(std::int64_t depth) { return begins_[depth]; }
  [[nodiscard]] bool is_wide(std::int64_t depth) const {
    return wide_[depth] != 0;
  }  // some counts have exponents above 0
  void set_wide(std::int64_t depth, bool wide) { wide_[depth] = wide ? 1 : 0; }

  [[nodiscard]] std::int64_t bytes() const {
    const std::int64_t of_numbers = L * 2 * std::int64_t{sizeof(double) + sizeof(std::int32_t)};
    const std::int64_t of_sets = std::int64_t{sizeof(lane_set)} * 4;
    const std::int64_t of_entries = L * std::int64_t{sizeof(I) + sizeof(lane_set)};
    return n() * (of_numbers + of_sets + of_entries) + begins_.size() * std::int64_t{sizeof(std::int64_t) + 1};
  }

  // Number of threads worth using for this many edges.
  [[nodiscard]] int threads_for(std::int64_t edges) const {
    return useful_threads(threads, edges, host_tuning::share_edges);
  }

  template <class Body>
  void for_each_entry(std::int64_t first, std::int64_t last, int team, Body&& body) {
    const parts shares = chunks_of(last - first, host_tuning::chunk);
    parallel_parts(
        team, shares.count,
        [&](std::int64_t p) {
          for (std::int64_t j = first + shares.first(p); j < first + shares.last(p); ++j) body(j);
        },
        waking::unless_busy);
  }

  // Prefetches the rows of the entries after j. Always inlined, as in prefetch.hpp.
  [[gnu::always_inline]] void prefetch(const csr_pattern_view<I, O, host>& edges, std::int64_t j,
                                       std::int64_t last) const {
    constexpr std::int64_t ahead = host_tuning::ahead;
    if (j + 2 * ahead < last) __builtin_prefetch(edges.offsets.data() + vertices_[j + 2 * ahead]);
    if (j + ahead < last) __builtin_prefetch(edges.indices.data() + edges.offsets[vertices_[j + ahead]]);
  }

 private:
  std::array<array<double, host>, 2> factors_;
  std::array<array<std::int32_t, host>, 2> exponents_;
  array<lane_set, host> seen_;
  std::array<array<lane_set, host>, 3> members_;
  array<I, host> vertices_;
  array<lane_set, host> lanes_;
  array<std::int64_t, host> begins_;
  array<std::uint8_t, host> wide_;
};

}  // namespace spargo::detail::betweenness
