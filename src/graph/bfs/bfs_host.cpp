// Host BFS: a sequential reference, a parallel push, and Beamer's direction-optimizing search. This file holds the
// executor; host_levels.hpp the loop over levels; host_steps.hpp, host_narrow.hpp, host_push.hpp and host_pull.hpp the
// steps, with their costs and why they are correct.
//
// A run does not clear its results first. It overwrites every vertex it reaches; at the end, vertices that only the
// previous run reached are reset to -1, usually none.
//
// Cost: O(vertices + edges) for push; a direction-optimizing search of a small-world graph follows about a tenth of the
// edges. Workspace besides the results: sizeof(I) (queue) + 8 (level sizes) + at most 4/8 (bitmaps) bytes per vertex,
// and 0.4 MiB per thread (bins and narrow levels; untouched on small graphs).
#include "core/parallel.hpp"
#include "graph/bfs/executor.hpp"
#include "graph/bfs/host_levels.hpp"
#include "graph/bfs/host_parents.hpp"

#include "core/instantiate.hpp"

#include <utility>

namespace spargo::detail::bfs {

namespace {

template <class T>
void fill(int threads, span<T, host> to, T value) {
  const std::int64_t size = to.size();
  parallel_for(threads, size, grain::elements, [&](std::int64_t i) { to[i] = value; });
}

// Single-threaded reference. The current and the next queue are adjacent ranges of one array. `mark` is the result
// array (levels or parents) that shows which vertices have been reached.
template <class I, class O, class Mark>
std::int64_t search_sequentially(const host_search<I, O>& s, const Mark* mark, I source, const search_limits& limits,
                                 level_size_list& sizes) {
  level_log log(sizes);
  s.found(source, source, 0);
  s.queue[0] = source;
  std::int64_t begin = 0;
  std::int64_t end = 1;
  while (begin < end) {
    log.add(end - begin);
    if (limits.end_at(log.depth(), [&](std::int64_t v) { return mark[v] != Mark{-1}; })) break;
    const std::int32_t level = log.next_level();
    std::int64_t tail = end;
    for (std::int64_t k = begin; k < end; ++k) {
      const I u = s.queue[k];
      for (O e = s.out.offsets[u]; e < s.out.offsets[u + 1]; ++e) {
        const I v = s.out.indices[e];
        if (mark[v] != Mark{-1}) continue;
        s.found(v, u, level);
        s.queue[tail++] = v;
      }
    }
    begin = end;
    end = tail;
  }
  return log.reached();
}

template <class I, class O>
struct host_executor final : executor<I, host> {
  int threads;
  std::int64_t vertices;
  bfs::choice choice;
  search_limits limits;
  bool hides_levels;    // levels are computed for the smallest parents, but were not requested
  bool picks_smallest;  // the smallest parent instead of any
  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;
  array<std::int32_t, host> level_of;
  array<I, host> parent_of;
  array<I, host> queue;
  array<host_row_chunk<I, O>, host> chunks;
  array<host_bins<I>, host> bins;
  array<I, host> narrow;
  array<std::uint64_t, host> start;  // initial visited set: see mark_isolated
  array<std::uint64_t, host> bitmaps;
  host_search<I, O> search;
  std::uint64_t* before = nullptr;  // vertices reached by the previous run
  I source = 0;                     // of the last run
  smallest_parents<I, O> smallest;
  level_size_list sizes;
  std::int64_t reached_vertices = 0;

  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const bfs::choice& chosen,
                const bfs_options& options)
      : threads(ctx.threads()),
        vertices(g.vertices()),
        choice(chosen),
        limits{options.target, options.max_depth},
        hides_levels(!wants_levels(options.output)),
        picks_smallest(options.parents == bfs_parents::smallest && wants_parents(options.output)),
        out(g.out) {
    if (wants_levels(options.output) || picks_smallest) level_of = {ctx, vertices};
    if (wants_parents(options.output)) parent_of = {ctx, vertices};
    queue = {ctx, vertices};
    sizes.sizes = {ctx, vertices};
    if (choice.algorithm != bfs_algorithm::sequential) prepare_levels(ctx, g);
    search.out = out;
    search.levels = level_of.data();
    search.parents = parent_of.data();
    search.queue = queue.data();
    search.threads = threads;
    search.counts_edges = choice.direction == bfs_direction::automatic;
    if (picks_smallest) smallest = {threads, g};
    reset_results();
  }

  void prepare_levels(const context<host>& ctx, const graph_view<I, O, host>& g) {
    const bool pulls = choice.direction != bfs_direction::push;
    chunks = {ctx, most_chunks(out.nnz())};
    bins = {ctx, threads};
    if (threads > 1) narrow = {ctx, narrow_entries(threads)};
    search.narrow = narrow.data();
    start = {ctx, div_up(vertices, 64)};
    bitmaps = {ctx, start.size() * (pulls ? 3 : 2)};
    search.visited = bitmaps.data();
    before = bitmaps.data() + start.size();
    search.chunks = chunks.data();
    search.bins = bins.data();
    if (pulls) {
      in = pull_edges(g);
      search.in = in;
      search.successor = bitmaps.data() + 2 * start.size();
    }
    mark_isolated();
    copy_start();
  }

  // Vertices without edges, and the bits past the last vertex, count as visited: pulls skip them, no edge leads there.
  void mark_isolated() {
    const bool pulls = search.successor != nullptr;
    parallel_for(threads, start.size(), grain::elements / 64, [&](std::int64_t w) {
      std::uint64_t bits = 0;
      for (std::int64_t b = 0; b < 64; ++b) {
        const std::int64_t v = w * 64 + b;
        const bool isolated =
            v >= vertices || (pulls && out.offsets[v] == out.offsets[v + 1] && in.offsets[v] == in.offsets[v + 1]);
        bits |= std::uint64_t{isolated} << b;
      }
      start[w] = bits;
    });
  }

  void copy_start() {
    parallel_for(threads, start.size(), grain::elements, [&](std::int64_t w) { search.visited[w] = start[w]; });
  }

  void reset_results() {
    fill(threads, level_of.view(), std::int32_t{-1});
    fill(threads, parent_of.view(), I{-1});
  }

  // Resets vertices that only the previous run reached. Its source may be isolated, so in no bitmap; `run` resets it.
  void reset_stale() {
    parallel_for(threads, start.size(), grain::elements, [&](std::int64_t w) {
      for (std::uint64_t rest = before[w] & ~search.visited[w]; rest != 0; rest &= rest - 1) {
        search.found(static_cast<I>(w * 64 + std::countr_zero(rest)), I{-1}, -1);
      }
    });
  }

  void run(I from) override {
    if (choice.algorithm != bfs_algorithm::sequential) {
      search.found(source, I{-1}, -1);
      source = from;
      std::swap(before, search.visited);
      copy_start();
      reached_vertices = host_levels(search, choice.direction, limits, sizes).run(source);
      reset_stale();
    } else {
      reset_results();
      reached_vertices = level_of.empty() ? search_sequentially(search, parent_of.data(), from, limits, sizes)
                                          : search_sequentially(search, level_of.data(), from, limits, sizes);
    }
    if (picks_smallest) smallest.pick(threads, level_of.data(), parent_of.data());
  }

  [[nodiscard]] span<const std::int32_t, host> levels() const noexcept override {
    if (hides_levels) return {};
    return level_of.view();
  }
  [[nodiscard]] span<const I, host> parents() const noexcept override { return parent_of.view(); }
  [[nodiscard]] std::int64_t reached() const noexcept override { return reached_vertices; }
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept override {
    return sizes.sizes.view().subspan(0, sizes.levels);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto bytes = [](const auto& a) { return a.size() * static_cast<std::int64_t>(sizeof(*a.data())); };
    return bytes(level_of) + bytes(parent_of) + bytes(queue) + bytes(chunks) + bytes(bins) + bytes(narrow) +
           bytes(start) + bytes(bitmaps) + bytes(sizes.sizes);
  }
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const choice& choice, const bfs_options& options) {
  return std::make_unique<host_executor<I, O>>(ctx, g, choice, options);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const choice&, const bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::bfs
