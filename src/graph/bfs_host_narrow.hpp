// Narrow levels pushed by a few threads that stay together from level to level.
//
// A long and thin graph (roads, meshes) has thousands of levels of a few thousand edges; a parallel region for each
// would cost as much as the level. Here one region serves as many levels as come. A leader publishes an order: the
// parts of the frontier and how many threads share it. All wait for it on one word; a thread that has done its share
// reports on a cache line of its own. Between an order and the last report nobody writes what others read, except
// bits of the visited set, which are claimed by an atomic or.
//
// The frontier is what the threads found, one after the other, and a thread takes an even share of that sequence. So
// most of what it takes it has found itself: where the frontier moves slowly, rows, bits and results are still in its
// own cache, and threads meet only where their shares meet.
//
// Who waits long gives the core away. Where that takes a fair part of the time (a core is shared with someone else) the
// threads part and the search goes on alone.
//
// Cost: O(edges of a level / threads), and two messages between cores: 0.24 us on 2 threads of a Xeon, 0.52 us on 16.
// The 2000 x 2000 grid, about 3600 levels of 4000 edges, takes 68, 47, 32, 20 and 18 ms on 1, 2, 4, 8 and 16 threads
// there (alone, on any number, 75 to 100).
#pragma once

#include "graph/bfs_host_steps.hpp"

#include <omp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace spargo::detail {

struct bfs_host_narrow_tuning {
  static constexpr std::int64_t most_edges = bfs_host_tuning::sequential_edges;  // of a level: what buffers hold
  static constexpr std::int64_t most_threads = 16;
  // Looks at a word, 10 to 25 us of them, before the core is given away.
  static constexpr int looks = 500;
  // Searches without meeting after one in which threads stalled: 1, and twice as many each time in turn, up to this.
  static constexpr int most_rest = 64;
  // Time lost by waiting, meeting and parting that counts as such, where it is a quarter of all.
  static constexpr std::chrono::nanoseconds least_loss = std::chrono::microseconds(200);
};

// When threads share a level, and when they part.
struct bfs_host_narrow_rule {
  // A thread for so many edges. 2000 x 2000 grid on 8 / 16 threads of a Xeon: 512 21.8 / 21.3 ms, 256 20.3 / 16.0.
  std::int64_t share_edges = 256;
  // Threads meet at a level of so many edges, after so many in such levels in turn: one thread takes about as long for
  // those as sleeping threads to wake up. Small searches stay alone: 4elt on 2 threads of a Xeon 0.21 ms, and 0.32 when
  // threads met at the second such level.
  std::int64_t enter_edges = 2048;
  std::int64_t enter_after = 32768;
  std::int64_t leave_edges = 512;  // fewer: the threads part
  // Where the leader waited so long, and this part of the time since they met, the threads part. A scheduler needs a
  // few ms to find out that one core has two of them and another has none.
  std::chrono::nanoseconds stall = std::chrono::milliseconds(4);
  int stall_part = 4;
};

// Tells the processor that this thread only waits.
void pause_thread() noexcept;

// Until the word is no less than `least`. Returns how long it took beyond a number of looks.
inline std::chrono::nanoseconds wait_for(const std::atomic<std::int64_t>& word, std::int64_t least) {
  for (int looks = 0; looks < bfs_host_narrow_tuning::looks; ++looks) {
    if (word.load(std::memory_order_acquire) >= least) return std::chrono::nanoseconds(0);
    pause_thread();
  }
  const auto start = std::chrono::steady_clock::now();
  while (word.load(std::memory_order_acquire) < least) std::this_thread::yield();
  return std::chrono::steady_clock::now() - start;
}

// The name of an order: its number in sequence, and for how many threads it is (none: the end). Whom it does not
// concern looks at nothing else of it, because the rest may change meanwhile.
class bfs_host_order_name {
 public:
  constexpr explicit bfs_host_order_name(std::int64_t bits) : bits_(bits) {}
  constexpr bfs_host_order_name(std::int64_t number, std::int64_t threads) : bits_(number * base + threads) {}
  [[nodiscard]] constexpr std::int64_t bits() const { return bits_; }
  [[nodiscard]] constexpr std::int64_t number() const { return bits_ / base; }
  [[nodiscard]] constexpr std::int64_t threads() const { return bits_ % base; }

 private:
  static constexpr std::int64_t base = 2 * bfs_host_narrow_tuning::most_threads;
  std::int64_t bits_;
};

template <class I>
struct bfs_host_part {
  const I* vertices = nullptr;
  std::int64_t end = 0;  // of this part in the frontier
};

// A level to expand.
template <class I>
struct alignas(64) bfs_host_order {
  std::atomic<std::int64_t> name{0};
  std::int32_t next_level = 0;
  std::int64_t parts = 0;
  std::array<bfs_host_part<I>, static_cast<std::size_t>(bfs_host_narrow_tuning::most_threads)> part;
  [[nodiscard]] std::int64_t size() const { return part[static_cast<std::size_t>(parts - 1)].end; }
};

// What a thread has to say of its share.
struct alignas(64) bfs_host_report {
  std::atomic<std::int64_t> done{0};  // the name of the last order carried out
  std::int64_t size = 0;              // vertices found
  std::int64_t edges = 0;             // their out-edges
};

// Entries of bfs_host_search::narrow: of every thread two levels, the one it reads and the one it finds.
[[nodiscard]] constexpr std::int64_t narrow_entries(std::int64_t threads) {
  return 2 * bfs_host_narrow_tuning::most_edges * std::min(threads, bfs_host_narrow_tuning::most_threads);
}

// One thread's share of a level that others expand as well. Listing edges as bfs_host_lister does is slower here: 2000
// x 2000 grid on 2 / 4 / 8 / 16 threads of a Xeon 48 / 31 / 20 / 16 ms, with lists 56 / 38 / 27 / 21.
template <class I, class O>
class bfs_host_sharer {
 public:
  // found: room for the new vertices.
  bfs_host_sharer(const bfs_host_search<I, O>& s, I* found, std::int32_t level) : s_(s), found_(found), level_(level) {}

  void expand(const I* frontier, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) {
      s_.prefetch_ahead(frontier, k, size);
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

  const bfs_host_search<I, O>& s_;
  I* found_;
  std::int32_t level_;
  std::int64_t size_ = 0;
  std::int64_t edges_ = 0;
};

template <class I, class O>
class bfs_host_team {
 public:
  using tuning = bfs_host_narrow_tuning;
  using clock = std::chrono::steady_clock;
  bfs_host_team(const bfs_host_search<I, O>& s, const bfs_host_frontier& now, const bfs_host_narrow_rule& rule)
      : s_(s), rule_(rule), now_(now) {
    order_.parts = 1;
    order_.part[0] = {s.queue + now.begin, now.size()};
  }

  // For the first of `threads` threads.
  template <class GoOn>
  void lead(std::int64_t threads, std::int32_t next_level, GoOn&& go_on) {
    bfs_host_frontier next = now_;
    std::int64_t number = 1;
    const auto start = clock::now();
    bool stalled = false;
    for (bool more = true; more; ++number, ++next_level) {
      const std::int64_t useful = std::max<std::int64_t>(1, next.edges / rule_.share_edges);
      const bfs_host_order_name name(number, std::min({useful, threads, tuning::most_threads}));
      order_.next_level = next_level;
      order_.name.store(name.bits(), std::memory_order_release);
      carry_out(0, name);
      for (std::int64_t t = 1; t < name.threads(); ++t) waited_ += wait_for(report(t).done, name.bits());
      stalled = waited_ >= rule_.stall && waited_ >= (clock::now() - start) / rule_.stall_part;
      next = gather(name);
      more = go_on(next) && next.edges >= rule_.leave_edges && next.edges < tuning::most_edges && !stalled;
    }
    order_.name.store(bfs_host_order_name(number, 0).bits(), std::memory_order_release);
    now_ = {now_.end, now_.end + next.size(), next.edges};
    queue_parts();
    led_ = clock::now() - start;
  }

  // For the others.
  void follow(std::int64_t thread) {
    bfs_host_order_name name(0);
    while (true) {
      wait_for(order_.name, name.bits() + 1);
      name = bfs_host_order_name(order_.name.load(std::memory_order_acquire));
      if (name.threads() == 0) return;
      if (thread < name.threads()) carry_out(thread, name);
    }
  }

  // After the threads have parted.
  [[nodiscard]] const bfs_host_frontier& frontier() const { return now_; }
  // Of the time since `start`, which is before they met.
  [[nodiscard]] bool lost_much_since(clock::time_point start) const {
    const std::chrono::nanoseconds all = clock::now() - start;
    const std::chrono::nanoseconds lost = waited_ + (all - led_);
    return lost > tuning::least_loss && lost > all / 4;
  }

 private:
  I* buffer(std::int64_t thread, const bfs_host_order_name& name) const {
    return s_.narrow + (2 * thread + name.number() % 2) * tuning::most_edges;
  }
  bfs_host_report& report(std::int64_t thread) { return reports_[static_cast<std::size_t>(thread)]; }

  void carry_out(std::int64_t thread, const bfs_host_order_name& name) {
    std::int64_t k = order_.size() * thread / name.threads();
    const std::int64_t end = order_.size() * (thread + 1) / name.threads();
    bfs_host_sharer<I, O> sharer(s_, buffer(thread, name), order_.next_level);
    std::int64_t begin = 0;
    for (std::size_t p = 0; k < end; ++p) {
      const std::int64_t stop = std::min(end, order_.part[p].end);
      if (k < stop) {
        sharer.expand(order_.part[p].vertices + (k - begin), stop - k);
        k = stop;
      }
      begin = order_.part[p].end;
    }
    report(thread).size = sharer.size();
    report(thread).edges = sharer.edges();
    report(thread).done.store(name.bits(), std::memory_order_release);
  }

  // What was found becomes the parts of the next order.
  bfs_host_frontier gather(const bfs_host_order_name& name) {
    bfs_host_frontier next;
    order_.parts = name.threads();
    for (std::int64_t t = 0; t < order_.parts; ++t) {
      next.end += report(t).size;
      next.edges += report(t).edges;
      order_.part[static_cast<std::size_t>(t)] = {buffer(t, name), next.end};
    }
    return next;
  }

  // The parts, back in the queue.
  void queue_parts() const {
    I* to = s_.queue + now_.begin;
    for (std::size_t p = 0; p < static_cast<std::size_t>(order_.parts); ++p) {
      const std::int64_t begin = p == 0 ? 0 : order_.part[p - 1].end;
      to = std::copy_n(order_.part[p].vertices, order_.part[p].end - begin, to);
    }
  }

  const bfs_host_search<I, O>& s_;
  bfs_host_narrow_rule rule_;
  bfs_host_frontier now_;
  std::chrono::nanoseconds waited_{0};  // by the leader, for long
  std::chrono::nanoseconds led_{0};
  bfs_host_order<I> order_;
  std::array<bfs_host_report, static_cast<std::size_t>(bfs_host_narrow_tuning::most_threads)> reports_;
};

// Of a plan: whether its searches share narrow levels. Where threads have waited long for each other, the next
// searches do without, so that a busy machine costs them little.
class bfs_host_patience {
 public:
  // Called once a search.
  [[nodiscard]] bool has_any() {
    if (rest_ == 0) return true;
    --rest_;
    return false;
  }
  // What became of it.
  void learn(bool stalled) {
    last_rest_ = stalled ? std::clamp(2 * last_rest_, 1, bfs_host_narrow_tuning::most_rest) : 0;
    rest_ = last_rest_;
  }

 private:
  int rest_ = 0;  // searches still to do without
  int last_rest_ = 0;
};

struct bfs_host_narrow_result {
  bfs_host_frontier frontier;  // of the last level found
  bool stalled = false;        // much of the time was lost
};

// By all threads, level after level until one is found that is not narrow, or `go_on` says so: it is called by one
// thread with the size (as [0, size)) and the out-edges of each level found, and tells whether to expand it here.
// `now`: narrow, with its out-edges.
template <class I, class O, class GoOn>
[[nodiscard]] bfs_host_narrow_result push_narrow(const bfs_host_search<I, O>& s, const bfs_host_frontier& now,
                                                 std::int32_t next_level, GoOn&& go_on,
                                                 const bfs_host_narrow_rule& rule = {}) {
  const auto start = std::chrono::steady_clock::now();
  bfs_host_team<I, O> team(s, now, rule);
#pragma omp parallel num_threads(s.threads)
  {
    if (omp_get_thread_num() == 0) {
      team.lead(omp_get_num_threads(), next_level, go_on);
    } else {
      team.follow(omp_get_thread_num());
    }
  }
  return {team.frontier(), team.lost_much_since(start)};
}

}  // namespace spargo::detail
