// Host multi-source BFS: executor, workspace and the loop over levels. host_steps.hpp: a level, its cost, correctness.
//
// Cost: on a small-world graph two or three passes over the edges for 64 or 256 sources, instead of one search each.
// Source: Then et al., VLDB 2015; direction: Beamer, Asanovic, Patterson, SC 2012.
#include "core/parallel.hpp"
#include "graph/multi_bfs/executor.hpp"
#include "graph/multi_bfs/host_steps.hpp"

#include "core/instantiate.hpp"

#include <fmt/format.h>

#include <limits>

namespace spargo::detail::multi_bfs {

namespace {

template <class T>
void fill(int threads, span<T, host> to, T value) {
  const std::int64_t size = to.size();
  parallel_for(threads, size, grain::elements, [&](std::int64_t i) { to[i] = value; });
}

// Level 0: each source sets its own bit; a duplicate is queued once.
template <class I, class O, int W>
host_frontier start(const host_search<I, O, W>& s, span<const I, host> sources) {
  host_frontier now;
  for (std::int64_t k = 0; k < sources.size(); ++k) {
    const I v = sources[k];
    if (!any<W>(s.seen[v])) {
      s.queue[now.vertices++] = v;
      now.edges += s.degree(s.out, v);
    }
    s.seen[v][static_cast<std::size_t>(k / 64)] |= std::uint64_t{1} << (k % 64);
    if (s.levels != nullptr) s.levels[static_cast<std::int64_t>(v) * s.stride + k] = 0;
  }
  for (std::int64_t k = 0; k < now.vertices; ++k) {
    const I v = s.queue[k];
    s.front[v] = s.seen[v];
    s.finish(v, s.seen[v], now);
  }
  return now;
}

template <int W>
search_bits<W> full_of(std::int64_t sources) {
  search_bits<W> full{};
  for (std::int64_t k = 0; k < sources; ++k) full[static_cast<std::size_t>(k / 64)] |= std::uint64_t{1} << (k % 64);
  return full;
}

// Runs one batch. `s` is a copy, since its arrays are swapped.
template <class I, class O, int W>
void search(host_search<I, O, W> s, bfs_direction allowed, span<const I, host> sources,
            span<multi_bfs_counts, host> counts) {
  for (multi_bfs_counts& c : counts) c = {.reached = 1};
  s.full = full_of<W>(sources.size());
  s.wanted = s.full;
  host_frontier now = start(s, sources);
  std::int64_t unfinished = s.out.nnz() - now.finished;
  bool in_queue = true;  // otherwise the frontier is seen & ~other, after a pull
  for (std::int32_t level = 1; now.vertices > 0; ++level) {
    bool pull = allowed == bfs_direction::pull;
    if (allowed == bfs_direction::automatic) {
      pull = pulls({s.out.rows, now.edges, unfinished}, host_tuning::alpha);
    }
    if (pull) {
      now = pull_together(s, level);
    } else {
      if (!in_queue) queue_pulled(s);
      now = push_together(s, now, level);
    }
    in_queue = !pull;
    unfinished = pull ? now.open : unfinished - now.finished;
    s.wanted = {};
    for (std::int64_t k = 0; k < sources.size(); ++k) {
      const std::int64_t found = std::exchange(s.found[k], 0);
      add_level(counts[k], found, level);
      if (found > 0) s.wanted[static_cast<std::size_t>(k / 64)] |= std::uint64_t{1} << (k % 64);
    }
    if (level == std::numeric_limits<std::int32_t>::max()) {
      throw error(error_code::unsupported, "multi_bfs: more than 2^31 - 1 levels");
    }
  }
}

template <class I, class O>
struct host_executor final : executor<I, host> {
  int threads;
  std::int64_t vertices;
  multi_bfs::choice choice;
  csr_pattern_view<I, O, host> out;
  csr_pattern_view<I, O, host> in;
  array<std::int32_t, host> level_of;
  array<std::uint64_t, host> seen;  // `seen`, `other` and `front`: words() per vertex
  array<std::uint64_t, host> other;
  array<std::uint64_t, host> front;
  array<std::uint64_t, host> marks;
  array<I, host> queue;
  array<I, host> next_queue;
  array<I, host> buffers;
  array<std::int64_t, host> found;
  std::vector<multi_bfs_counts> counted;
  std::int64_t sources = 0;  // of the last run

  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const multi_bfs::choice& chosen,
                std::int64_t most, multi_bfs_output output)
      : threads(ctx.threads()), vertices(g.vertices()), choice(chosen), out(g.out) {
    if (output == multi_bfs_output::counts_and_levels) {
      level_of = {ctx, static_cast<std::int64_t>(checked_bytes(vertices, static_cast<std::size_t>(most)))};
    }
    const std::int64_t words = vertices * choice.words();
    seen = {ctx, words};
    other = {ctx, words};
    front = {ctx, words};
    marks = {ctx, div_up(vertices, 64)};
    queue = {ctx, vertices};
    next_queue = {ctx, vertices};
    buffers = {ctx, threads * bfs::host_tuning::buffer_entries};
    found = {ctx, choice.batch()};
    if (choice.direction != bfs_direction::push) in = bfs::pull_edges(g);
    counted.reserve(static_cast<std::size_t>(most));
  }

  template <int W>
  void run_batch(span<const I, host> batch, std::int64_t first) {
    using bits = search_bits<W>;
    fill(threads, seen.view(), std::uint64_t{0});
    fill(threads, other.view(), std::uint64_t{0});
    fill(threads, marks.view(), std::uint64_t{0});
    fill(threads, found.view(), std::int64_t{0});
    const host_search<I, O, W> s{.out = out,
                                 .in = in,
                                 .seen = reinterpret_cast<bits*>(seen.data()),
                                 .other = reinterpret_cast<bits*>(other.data()),
                                 .front = reinterpret_cast<bits*>(front.data()),
                                 .marks = marks.data(),
                                 .queue = queue.data(),
                                 .next_queue = next_queue.data(),
                                 .buffers = buffers.data(),
                                 .found = found.data(),
                                 .levels = level_of.empty() ? nullptr : level_of.data() + first,
                                 .stride = sources,
                                 .threads = threads};
    search(s, choice.direction, batch, span<multi_bfs_counts, host>(counted).subspan(first, batch.size()));
  }

  void run(span<const I, host> all) override {
    sources = all.size();
    counted.assign(static_cast<std::size_t>(sources), {});
    if (!level_of.empty()) fill(threads, level_of.view().subspan(0, vertices * sources), std::int32_t{-1});
    for (std::int64_t first = 0; first < sources; first += choice.batch()) {
      const auto batch = all.subspan(first, std::min(choice.batch(), sources - first));
      if (choice.words() == 1) {
        run_batch<1>(batch, first);
      } else {
        run_batch<4>(batch, first);
      }
    }
  }

  [[nodiscard]] span<const std::int32_t, host> levels() const noexcept override {
    if (level_of.empty()) return {};
    return level_of.view().subspan(0, vertices * sources);
  }
  [[nodiscard]] const std::vector<multi_bfs_counts>& counts() const noexcept override { return counted; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto bytes = [](const auto& a) { return a.size() * static_cast<std::int64_t>(sizeof(*a.data())); };
    return bytes(level_of) + bytes(seen) + bytes(other) + bytes(front) + bytes(marks) + bytes(queue) +
           bytes(next_queue) + bytes(buffers) + bytes(found);
  }
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const choice& choice, std::int64_t max_sources,
                                                 multi_bfs_output output) {
  return std::make_unique<host_executor<I, O>>(ctx, g, choice, max_sources, output);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const choice&, std::int64_t, multi_bfs_output);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::multi_bfs
