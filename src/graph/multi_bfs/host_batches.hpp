// Batches of the host multi-source search: workspace and the loop over levels.
#pragma once

#include "core/bytes_of.hpp"
#include "graph/multi_bfs/host_steps.hpp"

#include <limits>

namespace spargo::detail::multi_bfs {

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

// Results of a batch besides the counts; null: not wanted. As in host_search.
struct host_results {
  std::int32_t* levels = nullptr;
  std::int64_t stride = 0;
  distance_sum* sums = nullptr;
  sum_rule rule{};
};

template <class I, class O>
class host_batches {
 public:
  host_batches(const context<host>& ctx, const graph_view<I, O, host>& g, const multi_bfs::choice& chosen)
      : threads_(ctx.threads()), choice_(chosen), out_(g.out) {
    const std::int64_t n = g.vertices();
    const std::int64_t words = n * choice_.words();
    seen_ = {ctx, words};
    other_ = {ctx, words};
    front_ = {ctx, words};
    marks_ = {ctx, div_up(n, 64)};
    queue_ = {ctx, n};
    next_queue_ = {ctx, n};
    buffers_ = {ctx, threads_ * bfs::host_tuning::buffer_entries};
    found_ = {ctx, choice_.batch()};
    if (choice_.direction != bfs_direction::push) in_ = bfs::pull_edges(g);
  }

  [[nodiscard]] int threads() const noexcept { return threads_; }

  // One batch, of at most choice.batch() sources.
  void run(span<const I, host> sources, span<multi_bfs_counts, host> counts, const host_results& to) {
    if (choice_.words() == 1) {
      run_wide<1>(sources, counts, to);
    } else {
      run_wide<4>(sources, counts, to);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    return bytes_of(seen_, other_, front_, marks_, queue_, next_queue_, buffers_, found_);
  }

 private:
  template <int W>
  void run_wide(span<const I, host> sources, span<multi_bfs_counts, host> counts, const host_results& to) {
    using bits = search_bits<W>;
    fill(threads_, seen_.view(), std::uint64_t{0});
    fill(threads_, other_.view(), std::uint64_t{0});
    fill(threads_, marks_.view(), std::uint64_t{0});
    fill(threads_, found_.view(), std::int64_t{0});
    const host_search<I, O, W> s{.out = out_,
                                 .in = in_,
                                 .seen = reinterpret_cast<bits*>(seen_.data()),
                                 .other = reinterpret_cast<bits*>(other_.data()),
                                 .front = reinterpret_cast<bits*>(front_.data()),
                                 .marks = marks_.data(),
                                 .queue = queue_.data(),
                                 .next_queue = next_queue_.data(),
                                 .buffers = buffers_.data(),
                                 .found = found_.data(),
                                 .levels = to.levels,
                                 .stride = to.stride,
                                 .sums = to.sums,
                                 .rule = to.rule,
                                 .threads = threads_};
    search(s, choice_.direction, sources, counts);
  }

  int threads_;
  multi_bfs::choice choice_;
  csr_pattern_view<I, O, host> out_;
  csr_pattern_view<I, O, host> in_;
  array<std::uint64_t, host> seen_;  // `seen`, `other` and `front`: words() per vertex
  array<std::uint64_t, host> other_;
  array<std::uint64_t, host> front_;
  array<std::uint64_t, host> marks_;
  array<I, host> queue_;
  array<I, host> next_queue_;
  array<I, host> buffers_;
  array<std::int64_t, host> found_;
};

}  // namespace spargo::detail::multi_bfs
