// Shared by the host searches: a rank's own vertices and its part of the frontier.
//
// A rank has a bitmap of the vertices that a push may reach: own bits mark visited vertices, others those that it has
// sent. Frontiers ascend, so a rank finds its smallest parent first; the owner takes the smallest over all ranks.
#pragma once

#include "core/parallel.hpp"
#include "distributed/bfs/executor.hpp"
#include "graph/bfs/host_pull.hpp"

namespace spargo::detail::distributed {

// Calls found(vertex, first reached neighbour) for list[j]; neighbours are [offsets[rows[j]], offsets[rows[j] + 1]).
template <class I, class Row, class Found>
void find_reached_neighbours(const I* list, const Row* rows, std::int64_t size, const std::uint64_t* reached,
                             const std::int64_t* offsets, const I* indices, const Found& found) {
  constexpr std::int64_t ahead = detail::bfs::host_pull_tuning::ahead;
  for (std::int64_t j = 0; j < size; ++j) {
    if (j + ahead < size) __builtin_prefetch(indices + offsets[rows[j + ahead]]);
    for (std::int64_t e = offsets[rows[j]], end = offsets[rows[j] + 1]; e < end; ++e) {
      if (!detail::test_bit(reached, indices[e])) continue;
      found(list[j], indices[e]);
      break;
    }
  }
}

template <class I>
class host_vertices : public stepped_bfs<I, host> {
 protected:
  using words = array<std::uint64_t, host>;
  static constexpr std::int64_t chunk = detail::bfs::host_pull_tuning::chunk_words;
  using stepped_bfs<I, host>::comm_;

  // The bitmap has `all_words` words; this rank's begin at `own_at`.
  host_vertices(const communicator& ranks, const context<host>& on, const distributed_graph<I>& graph,
                const bfs_task& all, std::int64_t all_words, std::int64_t own_at)
      : stepped_bfs<I, host>(ranks, all),
        ctx(on),
        g(graph),
        out(graph.out()),
        first(graph.parts().first(ranks.rank())),
        own_words(div_up(static_cast<std::int64_t>(out.rows), 64)),  // 0 for an empty part, which may begin anywhere
        at(own_at),
        marks(on, all_words),
        start(on, own_words),
        fresh(on, own_words),
        before(on, own_words),
        levels(on, out.rows),
        parents(on, out.rows),
        frontier(on, out.rows) {
    const auto in = graph.in();
    for (std::int64_t w = 0; w < own_words; ++w) {
      std::uint64_t bits = 0;
      for (std::int64_t b = 0; b < 64; ++b) {
        const std::int64_t v = w * 64 + b;
        const bool isolated = v >= out.rows || (!in.offsets.empty() && out.offsets[v] == out.offsets[v + 1] &&
                                                in.offsets[v] == in.offsets[v + 1]);
        bits |= std::uint64_t{isolated} << b;
      }
      before[w] = start[w] = bits;
    }
    for (std::int64_t v = 0; v < out.rows; ++v) forget(v);
  }

  [[nodiscard]] std::uint64_t* own() { return marks.data() + at; }
  void forget(std::int64_t v) {
    levels[v] = -1;
    parents[v] = -1;
  }

  // An edge into a vertex of this rank; each vertex enters the frontier once.
  void offer(I v, I parent, std::int32_t level) {
    if (!detail::test_and_set_bit(own(), v)) {
      levels[v] = level;
      parents[v] = parent;
      frontier[frontier_size++] = v;
    } else if (levels[v] == level) {
      parents[v] = std::min(parents[v], parent);
    }
  }

  // boxes[r]: for rank r of `among`, alternating vertex (r's number) and parent. Returns those received. Collective.
  [[nodiscard]] array<I, host> deliver(const communicator& among, const std::vector<std::vector<I>>& boxes) {
    packed.clear();
    std::vector<std::int64_t> counts;
    for (const std::vector<I>& box : boxes) {
      counts.push_back(std::ssize(box));
      packed.insert(packed.end(), box.begin(), box.end());
    }
    std::vector<std::int64_t> received;
    return among.template all_to_all<I>(ctx, packed, counts, received);
  }
  void offer_all(const array<I, host>& edges, std::int32_t level) {
    for (std::int64_t k = 0; k < edges.size(); k += 2) offer(edges[k], edges[k + 1], level);
  }

  void sort_frontier() {
    if (frontier_size < own_words / 4) {
      std::sort(frontier.data(), frontier.data() + frontier_size);
      return;
    }
    fill_zero(ctx, fresh.view());
    for (std::int64_t k = 0; k < frontier_size; ++k) (void)detail::test_and_set_bit(fresh.data(), frontier[k]);
    list_fresh();
  }
  void list_fresh() {
    frontier_size = detail::bfs::list_bits(
        0, own_words, [&](std::int64_t w) { return fresh[w]; }, frontier.data());
  }

  [[nodiscard]] level_sums sum_level() override {
    level_sums mine{frontier_size, 0};
    for (std::int64_t k = 0; k < frontier_size; ++k)
      mine.edges += out.offsets[frontier[k] + 1] - out.offsets[frontier[k]];
    return mine;
  }

  void begin(std::int64_t from) override {
    if (source >= 0) forget(source);  // a source without edges is in no bitmap
    source = -1;
    std::fill(marks.data(), marks.end(), std::uint64_t{0});
    std::copy(start.data(), start.end(), own());
    frontier_size = 0;
    if (g.parts().owner(from) != comm_.rank()) return;
    source = from - first;
    levels[source] = 0;
    parents[source] = static_cast<I>(from);
    frontier[frontier_size++] = static_cast<I>(source);
    (void)detail::test_and_set_bit(own(), source);
  }

  void end() override {
    for (std::int64_t w = 0; w < own_words; ++w) {  // vertices reached only by the previous search
      for (std::uint64_t rest = before[w] & ~own()[w]; rest != 0; rest &= rest - 1)
        forget(w * 64 + std::countr_zero(rest));
      before[w] = own()[w];
    }
  }
  [[nodiscard]] span<const std::int32_t, host> found_levels() const noexcept override { return levels.view(); }
  [[nodiscard]] span<const I, host> found_parents() const noexcept override { return parents.view(); }

  context<host> ctx;
  const distributed_graph<I>& g;
  csr_pattern_view<I, std::int64_t, host> out;
  std::int64_t first;  // own vertex
  std::int64_t own_words;
  std::int64_t at;
  words marks;
  words start;   // own words at the start: vertices without edges and past the last
  words fresh;   // own words of the level in progress
  words before;  // own words after the previous search
  array<std::int32_t, host> levels;
  array<I, host> parents;
  array<I, host> frontier;  // own vertices, local numbers
  std::int64_t frontier_size = 0;
  std::vector<I> packed;
  std::int64_t source = -1;
};

// Ranks in a grid of `rows` by size / rows (grid_host.cpp). Also for tests with any number of ranks.
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, host>> make_grid_bfs(const communicator& comm, const context<host>& ctx,
                                                                   const distributed_graph<I>& g, const bfs_task& task,
                                                                   int rows);

}  // namespace spargo::detail::distributed
