// Breadth-first search on the host: a sequential reference, a parallel push, and Beamer's direction-optimizing
// search. The loop over levels is in host_levels.hpp, what a level costs and why it is right is told in
// host_steps.hpp, host_narrow.hpp, host_push.hpp and host_pull.hpp; this file has the plan.
//
// A plan does not clear its results before a run: a run writes every vertex that it reaches, so only those that the
// run before had reached and this one has not are set back to -1 at its end, usually none.
//
// Cost: O(vertices + edges) for push; a direction-optimizing search of a small-world graph follows about a tenth
// of the edges. Workspace: sizeof(I) (queue) + 8 (level sizes) + at most 4/8 (bitmaps) bytes a vertex and 0.4 MiB a
// thread (bins and narrow levels; untouched on small graphs), besides the results.
#include "core/parallel.hpp"
#include "graph/bfs/common.hpp"
#include "graph/bfs/host_levels.hpp"
#include "graph/bfs/host_parents.hpp"

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <utility>

namespace spargo {

namespace {

using detail::bfs_host_search;
using detail::bfs_host_tuning;
using detail::bfs_limits;

template <class T>
void fill(int threads, span<T, host> to, T value) {
  const std::int64_t size = to.size();
  detail::parallel_for(threads, size, detail::grain::elements, [&](std::int64_t i) { to[i] = value; });
}

// The reference: one thread, the current and the next queue back to back in one array. `mark` is the result array
// that tells what was reached.
template <class I, class O, class Mark>
std::int64_t search_sequentially(const bfs_host_search<I, O>& s, const Mark* mark, I source, const bfs_limits& limits,
                                 detail::bfs_level_sizes& sizes) {
  detail::bfs_level_log log(sizes);
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

}  // namespace

template <index_type I, index_type O, class Space>
struct bfs_plan<I, O, Space>::state {
  int threads;
  std::int64_t vertices;
  detail::bfs_choice choice;
  bfs_limits limits;
  bool hides_levels;    // kept for the smallest parents, not asked for
  bool picks_smallest;  // parents
  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;
  array<std::int32_t, host> levels;
  array<I, host> parents;
  array<I, host> queue;
  array<detail::bfs_host_piece<I, O>, host> pieces;
  array<detail::bfs_host_bins<I>, host> bins;
  array<I, host> narrow;
  array<std::uint64_t, host> start;  // the visited set before a search: see mark_isolated
  array<std::uint64_t, host> bitmaps;
  bfs_host_search<I, O> search;
  std::uint64_t* before = nullptr;  // what the run before the last had reached
  I source = 0;                     // of the last run
  detail::bfs_smallest_parents<I, O> smallest;
  detail::bfs_level_sizes level_sizes;
  std::int64_t reached = 0;

  state(const context<host>& ctx, const graph_view<I, O, host>& g, const bfs_options& options)
      : threads(ctx.threads()),
        vertices(g.vertices()),
        choice(
            (detail::check_bfs_graph(g), detail::choose_bfs(detail::bfs_backend::host, detail::facts_of(g), options))),
        limits{options.target, options.max_depth},
        hides_levels(!detail::wants_levels(options.output)),
        picks_smallest(options.parents == bfs_parents::smallest && detail::wants_parents(options.output)),
        out(g.out) {
    if (detail::wants_levels(options.output) || picks_smallest) levels = {ctx, vertices};
    if (detail::wants_parents(options.output)) parents = {ctx, vertices};
    queue = {ctx, vertices};
    level_sizes.sizes = {ctx, vertices};
    if (choice.algorithm != bfs_algorithm::sequential) prepare_levels(ctx, g);
    search.out = out;
    search.levels = levels.data();
    search.parents = parents.data();
    search.queue = queue.data();
    search.threads = threads;
    search.counts_edges = choice.direction == bfs_direction::automatic;
    if (picks_smallest) smallest = {threads, g};
    forget_all();
  }

  // What only the parallel searches need.
  void prepare_levels(const context<host>& ctx, const graph_view<I, O, host>& g) {
    const bool pulls = choice.direction != bfs_direction::push;
    pieces = {ctx, detail::most_pieces(out.nnz())};
    bins = {ctx, threads};
    if (threads > 1) narrow = {ctx, detail::narrow_entries(threads)};
    search.narrow = narrow.data();
    start = {ctx, div_up(vertices, 64)};
    bitmaps = {ctx, start.size() * (pulls ? 3 : 2)};
    search.visited = bitmaps.data();
    before = bitmaps.data() + start.size();
    search.pieces = pieces.data();
    search.bins = bins.data();
    if (pulls) {
      in = detail::pull_edges(g);
      search.in = in;
      search.successor = bitmaps.data() + 2 * start.size();
    }
    mark_isolated();
    copy_start();
  }

  // Vertices without any edge, and the bits past the last vertex, count as visited from the start: a pull need
  // never look at them, and no edge leads to them.
  void mark_isolated() {
    const bool pulls = search.successor != nullptr;
    detail::parallel_for(threads, start.size(), detail::grain::elements / 64, [&](std::int64_t w) {
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
    detail::parallel_for(threads, start.size(), detail::grain::elements,
                         [&](std::int64_t w) { search.visited[w] = start[w]; });
  }

  void forget_all() {
    fill(threads, levels.view(), std::int32_t{-1});
    fill(threads, parents.view(), I{-1});
  }

  // Vertices that only the run before had reached. Its source may be without edges, and is then in no bitmap.
  void forget_stale() {
    detail::parallel_for(threads, start.size(), detail::grain::elements, [&](std::int64_t w) {
      for (std::uint64_t rest = before[w] & ~search.visited[w]; rest != 0; rest &= rest - 1) {
        search.found(static_cast<I>(w * 64 + std::countr_zero(rest)), I{-1}, -1);
      }
    });
  }

  void run(I from) {
    detail::check_bfs_source(from, vertices);
    if (choice.algorithm != bfs_algorithm::sequential) {
      search.found(source, I{-1}, -1);
      source = from;
      std::swap(before, search.visited);
      copy_start();
      reached = detail::bfs_host_levels(search, choice.direction, limits, level_sizes).run(source);
      forget_stale();
    } else {
      forget_all();
      reached = levels.empty() ? search_sequentially(search, parents.data(), from, limits, level_sizes)
                               : search_sequentially(search, levels.data(), from, limits, level_sizes);
    }
    if (picks_smallest) smallest.pick(threads, levels.data(), parents.data());
  }

  [[nodiscard]] std::int64_t workspace_bytes() const {
    const auto bytes = [](const auto& a) { return a.size() * static_cast<std::int64_t>(sizeof(*a.data())); };
    return bytes(levels) + bytes(parents) + bytes(queue) + bytes(pieces) + bytes(bins) + bytes(narrow) + bytes(start) +
           bytes(bitmaps) + bytes(level_sizes.sizes);
  }
};

template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                const bfs_options& options) try
    : state_(std::make_unique<state>(ctx, g, options)) {
} catch (...) {
  detail::rethrow("bfs");
}
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>& bfs_plan<I, O, Space>::operator=(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::~bfs_plan() = default;

template <index_type I, index_type O, class Space>
void bfs_plan<I, O, Space>::run(I source) try {
  state_->run(source);
} catch (...) {
  detail::rethrow("bfs");
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> bfs_plan<I, O, Space>::levels() const noexcept {
  if (state_->hides_levels) return {};
  return std::as_const(state_->levels).view();
}
template <index_type I, index_type O, class Space>
span<const I, Space> bfs_plan<I, O, Space>::parents() const noexcept {
  return std::as_const(state_->parents).view();
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::reached() const noexcept {
  return state_->reached;
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, host> bfs_plan<I, O, Space>::level_sizes() const noexcept {
  return std::as_const(state_->level_sizes.sizes).view().subspan(0, state_->level_sizes.levels);
}
template <index_type I, index_type O, class Space>
bfs_algorithm bfs_plan<I, O, Space>::algorithm() const noexcept {
  return state_->choice.algorithm;
}
template <index_type I, index_type O, class Space>
const std::string& bfs_plan<I, O, Space>::reason() const noexcept {
  return state_->choice.reason;
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->workspace_bytes();
}

template <index_type I, index_type O, class Space>
bfs_result<I, Space> bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g, std::int64_t source,
                         const bfs_options& options) try {
  return detail::bfs_once(ctx, g, source, options);
} catch (...) {
  detail::rethrow("bfs");
}

#define INSTANTIATE(I, O)                                                                                         \
  template class bfs_plan<I, O, host>;                                                                            \
  template bfs_result<I, host> bfs<I, O, host>(const context<host>&, const graph_view<I, O, host>&, std::int64_t, \
                                               const bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
