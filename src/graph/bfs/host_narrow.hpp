// Narrow levels, pushed by a few threads that stay together across levels.
//
// Road networks and meshes have thousands of levels of a few thousand edges. Each level is a brief parallel region of a
// few shares (core/parallel.hpp): one thread per share where workers are running, the leader alone where they are
// descheduled. Within a level no thread writes what others read, except bits of the visited set, claimed by atomic or.
//
// The frontier is the concatenation of the shares found by the previous level; each new share is an equal part of it.
// So a thread mostly expands vertices it found itself: where the frontier moves slowly, rows, bits and results are
// still in its own cache, and threads only contend at the boundaries of shares.
//
// Cost: O(edges of a level / threads), and two messages between cores per level.
#pragma once

#include "core/parallel.hpp"
#include "graph/bfs/host_steps.hpp"

#include <array>

namespace spargo::detail::bfs {

struct host_narrow_tuning {
  static constexpr std::int64_t most_edges = host_tuning::sequential_edges;  // per level; capacity of the buffers
  static constexpr std::int64_t most_threads = 16;
};

// When threads start and stop sharing levels.
struct host_narrow_rule {
  // Edges per thread. 2000 x 2000 grid on 8 / 16 threads of a Xeon: 512 21.8 / 21.3 ms, 256 20.3 / 16.0.
  std::int64_t share_edges = 256;
  // Sharing starts at a level of `enter_edges` or more, after `enter_after` edges in consecutive such levels: one
  // thread needs about as long for those as sleeping threads need to wake up. Small searches stay on one thread: 4elt
  // on 2 threads of a Xeon takes 0.21 ms, and 0.32 ms if sharing starts at the second such level.
  std::int64_t enter_edges = 2048;
  std::int64_t enter_after = 32768;
  std::int64_t leave_edges = 512;  // fewer: one thread continues alone
};

// Size of host_search::narrow: two levels per thread, the one it reads and the one it finds.
[[nodiscard]] constexpr std::int64_t narrow_entries(std::int64_t threads) {
  return 2 * host_narrow_tuning::most_edges * std::min(threads, host_narrow_tuning::most_threads);
}

// One thread's share of a level expanded by several threads. Listing edges as host_lister does is slower here: 2000 x
// 2000 grid on 2 / 4 / 8 / 16 threads of a Xeon 48 / 31 / 20 / 16 ms, with lists 56 / 38 / 27 / 21.
template <class I, class O>
class host_sharer {
 public:
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
  // Vertices found by one share of a level.
  struct alignas(64) found_share {
    const I* vertices = nullptr;
    std::int64_t size = 0;
    std::int64_t end = 0;    // position in the frontier
    std::int64_t edges = 0;  // their out-edges
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
  bool odd_ = false;        // which half of the buffers the next level is written to
  found_shares shares_;
  found_shares next_shares_;
};

// Expands levels until one is not narrow or `go_on`, given the size (as [0, size)) and out-edges of each level found,
// returns false. `now`: narrow, with its out-edges. Returns the last level found.
template <class I, class O, class GoOn>
[[nodiscard]] host_frontier push_narrow(const host_search<I, O>& s, const host_frontier& now, std::int32_t next_level,
                                        GoOn&& go_on, const host_narrow_rule& rule = {}) {
  host_team<I, O> team(s, now, rule);
  team.run(next_level, go_on);
  return team.frontier();
}

}  // namespace spargo::detail::bfs
