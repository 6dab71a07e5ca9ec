// The loop over the levels of a host search, and the choice of the step for each level.
#pragma once

#include "graph/bfs/common.hpp"
#include "graph/bfs/direction.hpp"
#include "graph/bfs/host_narrow.hpp"
#include "graph/bfs/host_pull.hpp"
#include "graph/bfs/host_push.hpp"
#include "graph/bfs/host_steps.hpp"

#include <spargo/core/error.hpp>
#include <spargo/core/interruption.hpp>

#include <cmath>
#include <limits>

namespace spargo::detail::bfs {

// When a host search pulls: the rule of direction.hpp with an alpha that depends on the graph. If the frontier has a
// share f of the unexplored edges, an unvisited vertex finds a frontier neighbour after about 1 / f entries of its row,
// if the row is that long. So a pull reads vertices / f entries, while a push follows f * edges, each `gain` times as
// expensive. Pulling pays off from f = 1 / sqrt(gain * degree): early for long rows, hardly ever on roads and meshes.
struct host_pull_rule {
  // Slashdot, directed, one thread, ms: alpha 15 0.91, gain 4 0.69, 2 0.50, 1 0.56 (results/graph_tuning.txt).
  static constexpr double gain = 2;

  [[nodiscard]] static direction_rule of(std::int64_t vertices, std::int64_t edges) {
    const double degree = static_cast<double>(edges) / static_cast<double>(std::max<std::int64_t>(1, vertices));
    return {.alpha = std::max(std::int64_t{2}, static_cast<std::int64_t>(std::sqrt(gain * degree)))};
  }
};

// sizes[d]: vertices at depth d. A slot per vertex: a search never allocates; untouched pages cost only addresses.
struct level_size_list {
  array<std::int64_t, host> sizes;
  std::int64_t levels = 0;
};

// Level sizes of a search in progress, and the depth of its next level.
class level_log {
 public:
  explicit level_log(level_size_list& log) : log_(log) { log_.levels = 0; }

  void add(std::int64_t size) {
    log_.sizes[log_.levels++] = size;
    reached_ += size;
  }
  [[nodiscard]] std::int32_t next_level() const {
    if (log_.levels > std::numeric_limits<std::int32_t>::max()) {
      throw error(error_code::unsupported, "bfs: more than 2^31 - 1 levels");
    }
    return static_cast<std::int32_t>(log_.levels);
  }
  // Depth of the level just added.
  [[nodiscard]] std::int64_t depth() const { return log_.levels - 1; }
  [[nodiscard]] std::int64_t reached() const { return reached_; }

 private:
  level_size_list& log_;
  std::int64_t reached_ = 0;
};

// The parallel searches: one thread, a few threads (narrow levels) or all threads push a level, or all pull it. On
// entry `visited` holds the vertices to exclude, on return the reached ones as well.
template <class I, class O>
class host_levels {
 public:
  host_levels(host_search<I, O>& s, bfs_direction allowed, const search_limits& limits, level_size_list& sizes,
              const host_narrow_rule& rule = {})
      : s_(s),
        allowed_(allowed),
        limits_(limits),
        rule_(rule),
        pull_rule_(host_pull_rule::of(s.out.rows, s.out.nnz())),
        log_(sizes),
        unexplored_(s.out.nnz()) {}

  // Returns the number of vertices reached.
  std::int64_t run(I source) {
    never_ = limits_.target >= 0 && limits_.target != source && test_bit(s_.visited, limits_.target);
    s_.found(source, source, 0);
    s_.queue[0] = source;
    s_.visited[source >> 6] |= std::uint64_t{1} << (source & 63);
    now_ = {0, 1, s_.degree(source)};
    bool more = begin(now_);
    while (more) {
      interruption::look();
      more = pulls_ ? pull() : push();
    }
    return log_.reached();
  }

 private:
  using narrow = host_narrow_tuning;

  // Called once for every level found, before it is expanded. Returns whether to expand it.
  bool begin(const host_frontier& now) {
    if (now.size() == 0) return false;
    log_.add(now.size());
    if (limits_.end_at(log_.depth(), [&](std::int64_t v) { return !never_ && test_bit(s_.visited, v); })) return false;
    bfs_direction direction = allowed_;
    if (allowed_ == bfs_direction::automatic) {
      direction = next_direction(pulls_ ? bfs_direction::pull : bfs_direction::push,
                                 {s_.out.rows, previous_, now.size(), now.edges, unexplored_}, pull_rule_);
    }
    pulls_ = direction == bfs_direction::pull;
    previous_ = now.size();
    unexplored_ -= now.edges;
    return true;
  }

  bool pull() {
    now_ = pull_together(s_, log_.next_level());
    in_queue_ = false;
    narrow_edges_ = 0;
    return begin(now_);
  }

  bool push() {
    const std::int32_t level = log_.next_level();
    if (!in_queue_) now_ = queue_pulled(s_, now_.edges);
    in_queue_ = true;
    if (!s_.counts_edges) now_.edges = count_edges();
    const bool wide = s_.threads > 1 && now_.edges >= narrow::most_edges;
    narrow_edges_ = !wide && now_.edges >= rule_.enter_edges ? narrow_edges_ + now_.edges : 0;
    if (s_.narrow != nullptr && narrow_edges_ > rule_.enter_after) return share_narrow(level);
    now_ = wide ? push_together(s_, now_, level) : push_alone(s_, now_, level);
    return begin(now_);
  }

  bool share_narrow(std::int32_t level) {
    bool more = false;
    now_ = push_narrow(
        s_, now_, level,
        [&](const host_frontier& found) {
          more = begin(found);
          return more && !pulls_;
        },
        rule_);
    narrow_edges_ = 0;
    return more;
  }

  // Out-edges of the queued frontier; stops counting at `most_edges`.
  [[nodiscard]] std::int64_t count_edges() const {
    if (s_.threads == 1 || now_.size() >= narrow::most_edges) return now_.size();
    std::int64_t edges = 0;
    for (std::int64_t k = now_.begin; k < now_.end && edges < narrow::most_edges; ++k) edges += s_.degree(s_.queue[k]);
    return edges;
  }

  host_search<I, O>& s_;
  bfs_direction allowed_;
  search_limits limits_;
  host_narrow_rule rule_;
  direction_rule pull_rule_;
  level_log log_;
  host_frontier now_;
  std::int64_t unexplored_;  // out-edges of the vertices not reached before `now_`
  std::int64_t previous_ = 0;
  std::int64_t narrow_edges_ = 0;  // in the latest consecutive levels that could have been shared
  bool never_ = false;             // the target is isolated: visited, yet not reached
  bool pulls_ = false;
  bool in_queue_ = true;  // the frontier is in the queue; otherwise in the bitmaps, after a pull
};

}  // namespace spargo::detail::bfs
