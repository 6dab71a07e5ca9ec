// Narrow levels pushed by a few threads that stay together from level to level.
//
// A long and thin graph (roads, meshes) has thousands of levels of a few thousand edges. Each is a brief region of a
// few shares (core/parallel.hpp): one thread per share where the others look for work, the leader alone where they are
// off their cores. Nobody writes what others read within a level, except bits of the visited set, which are claimed by
// an atomic or.
//
// The frontier is what the shares of the level before found, one after the other, and each share is an even part of
// that sequence. So most of what a thread takes it has found itself: where the frontier moves slowly, rows, bits and
// results are still in its own cache, and threads meet only where their shares meet.
//
// Cost: O(edges of a level / threads), and two messages between cores a level.
#pragma once

#include "core/parallel.hpp"
#include "graph/bfs/host_steps.hpp"

#include <array>

namespace spargo::detail::bfs {

struct host_narrow_tuning {
  static constexpr std::int64_t most_edges = host_tuning::sequential_edges;  // of a level: what buffers hold
  static constexpr std::int64_t most_threads = 16;
};

// When threads share a level, and when they part.
struct host_narrow_rule {
  // A thread for so many edges. 2000 x 2000 grid on 8 / 16 threads of a Xeon: 512 21.8 / 21.3 ms, 256 20.3 / 16.0.
  std::int64_t share_edges = 256;
  // Threads meet at a level of so many edges, after so many in such levels in turn: one thread takes about as long for
  // those as sleeping threads to wake up. Small searches stay alone: 4elt on 2 threads of a Xeon 0.21 ms, and 0.32 when
  // threads met at the second such level.
  std::int64_t enter_edges = 2048;
  std::int64_t enter_after = 32768;
  std::int64_t leave_edges = 512;  // fewer: one thread goes on alone
};

// Entries of host_search::narrow: of every thread two levels, the one it reads and the one it finds.
[[nodiscard]] constexpr std::int64_t narrow_entries(std::int64_t threads) {
  return 2 * host_narrow_tuning::most_edges * std::min(threads, host_narrow_tuning::most_threads);
}

// One thread's share of a level that others expand as well. Listing edges as host_lister does is slower here: 2000
// x 2000 grid on 2 / 4 / 8 / 16 threads of a Xeon 48 / 31 / 20 / 16 ms, with lists 56 / 38 / 27 / 21.
template <class I, class O>
class host_sharer {
 public:
  // found: room for the new vertices.
  host_sharer(const host_search<I, O>& s, I* found, std::int32_t level) : s_(s), found_(found), level_(level) {}

  void expand(const I* frontier, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) {
      prefetch_rows(s_.out, frontier, k, size);
      const I u = frontier[k];
      const O last = s_.out.offsets[u + 1];
      for (O e = s_.out.offsets[u]; e < last; ++e) {
        const I v = s_.out.indices[e];
        if (claim_bit(s_.visited, v)) take(v, u);
      }
    }
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t edges() const { return edges_; }

 private:
  void take(I v, I u) {
    s_.found(v, u, level_);
    found_[size_++] = v;
    edges_ += s_.degree(v);
    __builtin_prefetch(s_.out.indices.data() + s_.out.offsets[v]);
  }

  const host_search<I, O>& s_;
  I* found_;
  std::int32_t level_;
  std::int64_t size_ = 0;
  std::int64_t edges_ = 0;
};

template <class I, class O>
class host_team {
 public:
  using tuning = host_narrow_tuning;
  host_team(const host_search<I, O>& s, const host_frontier& now, const host_narrow_rule& rule)
      : s_(s), rule_(rule), now_(now) {
    shares_[0] = {s.queue + now.begin, now.size(), now.size(), now.edges};
  }

  template <class GoOn>
  void run(std::int32_t next_level, GoOn&& go_on) {
    host_frontier next = now_;
    const std::int64_t most = std::min<std::int64_t>(team_size(s_.threads), tuning::most_threads);
    for (bool more = true; more; ++next_level) {
      const std::int64_t count = std::clamp<std::int64_t>(next.edges / rule_.share_edges, 1, most);
      odd_ = !odd_;
      parallel_parts(
          s_.threads, count, [&](std::int64_t k) { expand_share(k, count, next_level); }, waking::unless_busy);
      next = gather(count);
      more = go_on(next) && next.edges >= rule_.leave_edges && next.edges < tuning::most_edges;
    }
    now_ = {now_.end, now_.end + next.size(), next.edges};
    I* to = s_.queue + now_.begin;
    for (std::int64_t k = 0; k < count_; ++k) to = std::copy_n(share(k).vertices, share(k).size, to);
  }

  [[nodiscard]] const host_frontier& frontier() const { return now_; }

 private:
  // What one share of a level found.
  struct alignas(64) found_share {
    const I* vertices = nullptr;
    std::int64_t size = 0;
    std::int64_t end = 0;    // in the frontier
    std::int64_t edges = 0;  // out of them
  };
  using found_shares = std::array<found_share, static_cast<std::size_t>(tuning::most_threads)>;

  [[nodiscard]] const found_share& share(std::int64_t k) const { return shares_[static_cast<std::size_t>(k)]; }

  void expand_share(std::int64_t number, std::int64_t count, std::int32_t next_level) {
    const std::int64_t size = share(count_ - 1).end;
    std::int64_t k = size * number / count;
    const std::int64_t end = size * (number + 1) / count;
    I* const buffer = s_.narrow + (2 * number + std::int64_t{odd_}) * tuning::most_edges;
    host_sharer<I, O> sharer(s_, buffer, next_level);
    std::int64_t begin = 0;
    for (std::int64_t p = 0; k < end; ++p) {
      const std::int64_t stop = std::min(end, share(p).end);
      if (k < stop) {
        sharer.expand(share(p).vertices + (k - begin), stop - k);
        k = stop;
      }
      begin = share(p).end;
    }
    next_shares_[static_cast<std::size_t>(number)] = {buffer, sharer.size(), 0, sharer.edges()};
  }

  // What was found becomes the frontier.
  host_frontier gather(std::int64_t count) {
    host_frontier next;
    count_ = count;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      shares_[k] = next_shares_[k];
      next.end += shares_[k].size;
      next.edges += shares_[k].edges;
      shares_[k].end = next.end;
    }
    return next;
  }

  const host_search<I, O>& s_;
  host_narrow_rule rule_;
  host_frontier now_;
  std::int64_t count_ = 1;  // of shares_
  bool odd_ = false;        // which half of the buffers the level found goes to
  found_shares shares_;
  found_shares next_shares_;
};

// Level after level until one is found that is not narrow, or `go_on` says so: it is called with the size (as
// [0, size)) and the out-edges of each level found, and tells whether to expand it here. `now`: narrow, with its
// out-edges. Returns the last level found.
template <class I, class O, class GoOn>
[[nodiscard]] host_frontier push_narrow(const host_search<I, O>& s, const host_frontier& now, std::int32_t next_level,
                                        GoOn&& go_on, const host_narrow_rule& rule = {}) {
  host_team<I, O> team(s, now, rule);
  team.run(next_level, go_on);
  return team.frontier();
}

}  // namespace spargo::detail::bfs
