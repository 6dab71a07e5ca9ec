// Core numbers on the host: peeling, one level k after the other.
//
// Level k removes every vertex of degree k, and every vertex whose degree falls to k as its neighbours go; all of them
// have core number k. Within a level the order does not matter, so a thread chases chains through a stack of its own,
// without a barrier, until it has done its share; the rest of its stack is distributed in the next round. A degree is
// not lowered below k: a neighbour of degree k or less is removed, or about to be.
//
// Vertices wait in two lists: `active` those of degree `end_` and more, looked at once in a window of levels; `near`
// those of lower degree, looked at in every level. A vertex enters `near` when its degree falls below `end_`, which
// exactly one decrement does, and a stack when its degree falls to k, likewise. Levels without vertices are skipped.
//
// A round of few edges runs on the calling thread alone, with plain decrements instead of atomic ones. So do two to
// four threads in a round of many: each reads all rows of the round and lowers the degrees in its share of the
// vertices. More threads divide the rows. Cost: each row is read once, in such a round by each thread. Workspace: six
// indices per vertex.
#include "core/parallel.hpp"
#include "graph/cores/executor.hpp"
#include "graph/frontier/row_parts.hpp"

#include "core/instantiate.hpp"

#include <spargo/core/interruption.hpp>

#include <atomic>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace spargo::detail::cores {

namespace {

struct tuning {
  static constexpr int window = most_levels_ahead;  // 4 to 32 take as long on R-MAT 20
  static constexpr int batch = 64;  // vertices removed together, so that their rows can be prefetched; 16, 256: as long
  static constexpr int readers = 4;   // threads that each read all rows of a round; more lower degrees by atomics
  static constexpr int owned = 512;   // neighbours in a thread's share of the vertices, lowered together
  static constexpr int block = 1024;  // entries of a thread's stack
  static constexpr std::int64_t share = std::int64_t{1} << 13;   // edges that are worth a thread: some 40 us
  static constexpr std::int64_t budget = std::int64_t{1} << 14;  // edges of a chain before its rest is distributed
  static constexpr std::int64_t alone = std::int64_t{1} << 22;   // the same of a single thread: for interruptions
  static constexpr std::int64_t chains = 16;                     // vertices left of chains that are worth a thread
};

// A list that threads append to.
template <class I>
class shared_list {
 public:
  shared_list(const context<host>& ctx, std::int64_t capacity) : items_(ctx, capacity) {}

  void append(const I* items, std::int64_t count) {
    std::copy_n(items, count, items_.data() + size_.fetch_add(count, std::memory_order_relaxed));
  }
  void clear() { size_ = 0; }
  void swap(shared_list& other) {
    items_.swap(other.items_);
    size_ = other.size_.exchange(size_);
  }
  [[nodiscard]] const I* data() const { return items_.data(); }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  array<I, host> items_;
  std::atomic<std::int64_t> size_{0};
};

// A thread's entries of a shared list: the newest ones, which it may take back.
template <class I>
class block {
 public:
  void push(I item, shared_list<I>& to) {
    if (size_ == tuning::block) flush(to);
    items_[size_++] = item;
  }
  void flush(shared_list<I>& to) {
    to.append(items_, size_);
    size_ = 0;
  }
  // Moves at most a batch of entries; returns how many.
  [[nodiscard]] int pop(I* batch) {
    const int count = std::min(size_, tuning::batch);
    size_ -= count;
    std::copy_n(items_ + size_, count, batch);
    return count;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  int size_ = 0;
  I items_[tuning::block];
};

template <class I, class O>
class host_executor final : public executor<I, host> {
  using rows = csr_pattern_view<I, O, host>;

 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        sides_{g.out},
        segments_(split_loop(threads_, n_, grain::elements)),
        segment_sizes_(static_cast<std::size_t>(segments_.count)),
        degree_(ctx, n_),
        core_(ctx, n_),
        active_(ctx, n_),
        near_(ctx, n_),
        next_near_(ctx, n_),
        frontier_(ctx, n_),
        scratch_(static_cast<std::size_t>(threads_)) {
    if (g.direction == direction_kind::directed) sides_.push_back(g.in);
    expect_narrow_degrees();
    for (const rows& side : sides_) has_loops_ = has_loops_ || g.loops > 0 || find_loop(side);
  }

  void run() override {
    start();
    for (;;) {
      end_ = k_ + tuning::window;
      const I least = split_active();
      if (near_.size() == 0) {
        if (active_count_ == 0) break;
        k_ = least;
        continue;
      }
      for (; k_ < end_ && near_.size() > 0; ++k_) peel_level();
      k_ = end_;
    }
  }

  [[nodiscard]] span<const I, host> cores() const noexcept override { return core_.view(); }
  [[nodiscard]] I max_core() const override { return max_core_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return 6 * n_ * std::int64_t{sizeof(I)} + static_cast<std::int64_t>(scratch_.size() * sizeof(scratch));
  }

 private:
  struct alignas(64) scratch {
    block<I> stack;
    block<I> near;
    I batch[tuning::batch];
    I owned[tuning::owned + 1];
  };
  enum class updates { plain, atomic };

  [[nodiscard]] static std::int64_t length(const rows& side, std::int64_t v) {
    return std::int64_t{side.offsets[v + 1]} - side.offsets[v];
  }

  void expect_narrow_degrees() const {
    if (n_ == 0) return;
    const auto degree = [&](std::int64_t v) {
      std::int64_t sum = 0;
      for (const rows& side : sides_) sum += length(side, v);
      return sum;
    };
    const std::int64_t most = parallel_reduce(
        threads_, n_, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t own = 0;
          for (std::int64_t v = first; v < last; ++v) own = std::max(own, degree(v));
          return own;
        },
        [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    expect_narrow_degree<I>(most);
  }

  [[nodiscard]] bool find_loop(const rows& side) const {
    std::atomic<bool> found{false};
    const row_parts<I, O> parts(side, std::int64_t{1} << 15);
    parallel_parts(useful_threads(threads_, n_ + side.nnz(), grain::elements), parts.count(), [&](std::int64_t part) {
      interruption::look();
      I loops = 0;
      parts.for_each(part, [&](I v, std::int64_t first, std::int64_t last) {
        for (std::int64_t e = first; e < last; ++e) loops |= side.indices[e] == v ? 1 : 0;
      });
      if (loops != 0) found.store(true, std::memory_order_relaxed);
    });
    return found;
  }

  void start() {
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t v) {
      std::int64_t degree = 0;
      for (const rows& side : sides_) {
        degree += length(side, v);
        if (!has_loops_) continue;
        for (O e = side.offsets[v]; e < side.offsets[v + 1]; ++e) degree -= side.indices[e] == v ? 1 : 0;
      }
      degree_[v] = static_cast<I>(degree);
      active_[v] = static_cast<I>(v);
    });
    for (std::int64_t s = 0; s < segments_.count; ++s) {
      segment_sizes_[static_cast<std::size_t>(s)] = segments_.last(s) - segments_.first(s);
    }
    active_count_ = n_;
    near_.clear();
    frontier_.clear();
    for (scratch& own : scratch_) own = {};
    k_ = 0;
    max_core_ = 0;
  }

  // Moves the active vertices of degree below `end_` to `near`, and drops those that have been there already. Returns
  // the least degree that is left.
  [[nodiscard]] I split_active() {
    std::atomic<std::int64_t> least{std::numeric_limits<I>::max()};
    std::atomic<std::int64_t> count{0};
    on_threads(useful_threads(threads_, active_count_, grain::elements), segments_.count, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t s; mine.take(s);) {
        std::int64_t& size = segment_sizes_[static_cast<std::size_t>(s)];
        I* const segment = active_.data() + segments_.first(s);
        std::int64_t kept = 0;
        I lowest = std::numeric_limits<I>::max();
        for (std::int64_t j = 0; j < size; ++j) {
          const I v = segment[j];
          const I degree = degree_[v];
          if (degree >= end_) {
            segment[kept++] = v;
            lowest = std::min(lowest, degree);
          } else if (degree >= k_) {
            own.near.push(v, near_);
          }
        }
        size = kept;
        count.fetch_add(kept, std::memory_order_relaxed);
        lower_to(least, lowest);
      }
      own.near.flush(near_);
    });
    active_count_ = count;
    return static_cast<I>(least.load());
  }

  void peel_level() {
    collect_frontier();
    if (frontier_.size() > 0) max_core_ = k_;
    bool chains = false;  // the round before was stopped while it chased chains
    for (std::int64_t head = 0; head < frontier_.size();) {
      interruption::look();
      const std::int64_t tail = frontier_.size();
      chains = remove_round(head, tail, chains);
      head = tail;
    }
    frontier_.clear();
  }

  // The vertices of `near` of degree k are the frontier, those of higher degree stay.
  void collect_frontier() {
    next_near_.clear();
    const parts shares = chunks_of(near_.size(), grain::rows);
    on_threads(useful_threads(threads_, near_.size(), grain::elements), shares.count, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        for (std::int64_t j = shares.first(part); j < shares.last(part); ++j) {
          const I v = near_.data()[j];
          if (degree_[v] > k_) own.near.push(v, next_near_);
          if (degree_[v] == k_) own.stack.push(v, frontier_);
        }
      }
      own.near.flush(next_near_);
      own.stack.flush(frontier_);
    });
    near_.swap(next_near_);
  }

  // Removes frontier [head, tail) and what follows from it. Returns whether chains were left at the end of the
  // frontier.
  [[nodiscard]] bool remove_round(std::int64_t head, std::int64_t tail, bool chains) {
    const I* const first = frontier_.data() + head;
    const std::int64_t size = tail - head;
    const int team = chains ? useful_threads(threads_, size, tuning::chains)
                            : useful_threads(threads_, size * (std::int64_t{k_} + 1), tuning::share);
    if (team == 1) {
      return chase<updates::plain>(first, first + size, threads_ == 1 ? tuning::alone : tuning::budget, scratch_[0]);
    }
    if (!chains && team <= tuning::readers) {
      remove_by_owner(first, size, team);
      return false;
    }
    std::atomic<bool> left{false};
    const parts shares{size, std::min<std::int64_t>(size, std::int64_t{8} * team)};
    on_threads(team, shares.count, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        if (chase<updates::atomic>(first + shares.first(part), first + shares.last(part), tuning::budget, own)) {
          left.store(true, std::memory_order_relaxed);
        }
      }
    });
    return left;
  }

  // Removes [first, first + size) and appends to the frontier what falls to k. Every part reads all rows and lowers the
  // degrees of its share of the vertices, without atomics.
  void remove_by_owner(const I* first, std::int64_t size, int team) {
    // Vertex where a share begins: shares have as many edges each.
    const auto begin_of = [&](std::int64_t part) -> std::int64_t {
      if (part == team) return n_;
      const auto& offsets = sides_[0].offsets;
      const auto edge = static_cast<O>(sides_[0].nnz() / team * part);
      return std::lower_bound(offsets.begin(), offsets.begin() + n_, edge) - offsets.begin();
    };
    on_threads(team, team, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        const std::int64_t begin = begin_of(part);
        const std::int64_t end = begin_of(part + 1);
        for (std::int64_t j = 0; j < size; j += tuning::batch) {
          const int batch = static_cast<int>(std::min<std::int64_t>(size - j, tuning::batch));
          if (part == 0) set_cores(first + j, batch);
          remove_within(first + j, batch, begin, end, own);
        }
      }
      own.stack.flush(frontier_);
      own.near.flush(near_);
    });
  }
  void remove_within(const I* batch, int size, std::int64_t begin, std::int64_t end, scratch& own) {
    const I k = k_;
    const auto base = static_cast<I>(begin);
    const auto range = static_cast<std::make_unsigned_t<I>>(end - begin);
    int count = 0;
    for (const rows& side : sides_) {
      if (side.nnz() == 0) continue;
      prefetch(side, batch, size);
      for (int j = 0; j < size; ++j) {
        const I* row = side.indices.data() + side.offsets[batch[j]];
        for (std::int64_t left = length(side, batch[j]); left > 0;) {
          const auto now = static_cast<int>(std::min<std::int64_t>(left, tuning::owned - count));
          for (int e = 0; e < now; ++e) {
            own.owned[count] = row[e];
            count += static_cast<std::make_unsigned_t<I>>(row[e] - base) < range ? 1 : 0;
          }
          row += now;
          left -= now;
          if (count > tuning::owned / 2) lower_owned(k, std::exchange(count, 0), own);
        }
      }
    }
    lower_owned(k, count, own);
  }
  void lower_owned(I k, int count, scratch& own) {
    I* const degree = degree_.data();
    const I end = end_;
    for (int e = 0; e < count; ++e) {
      const I before = lower<updates::plain>(degree[own.owned[e]], k);
      if (before == k + 1) {
        own.stack.push(own.owned[e], frontier_);
      } else if (before == end) {
        own.near.push(own.owned[e], near_);
      }
    }
  }
  void set_cores(const I* batch, int size) {
    for (int j = 0; j < size; ++j) core_[batch[j]] = k_;
  }

  // Removes [first, last) and, until it has read `budget` edges, the vertices whose degree falls to k meanwhile; then
  // appends those that are left to the frontier, and returns whether there were any.
  template <updates How>
  [[nodiscard]] bool chase(const I* first, const I* last, std::int64_t budget, scratch& own) {
    std::int64_t edges = 0;
    while (first < last) {
      const int size = static_cast<int>(std::min<std::int64_t>(last - first, tuning::batch));
      edges += remove<How>(first, size, own);
      first += size;
      while (!own.stack.empty() && edges < budget) {
        const int popped = own.stack.pop(own.batch);
        edges += remove<How>(own.batch, popped, own);
      }
    }
    const bool left = !own.stack.empty();
    own.stack.flush(frontier_);
    own.near.flush(near_);
    return left;
  }

  // Returns how many edges were read. What the loop needs is local, since a degree written may be of the same type.
  template <updates How>
  [[nodiscard]] std::int64_t remove(const I* batch, int size, scratch& own) {
    const I k = k_;
    const I end = end_;
    I* const degree = degree_.data();
    std::int64_t edges = 0;
    set_cores(batch, size);
    for (const rows& side : sides_) {
      if (side.nnz() == 0) continue;
      prefetch(side, batch, size);
      for (int j = 0; j < size; ++j) {
        const I* const row = side.indices.data() + side.offsets[batch[j]];
        const std::int64_t entries = length(side, batch[j]);
        for (std::int64_t e = 0; e < entries; ++e) {
          const I before = lower<How>(degree[row[e]], k);
          if (before == k + 1) {
            own.stack.push(row[e], frontier_);
          } else if (before == end) {
            own.near.push(row[e], near_);
          }
        }
        edges += entries + 1;
      }
    }
    return edges;
  }

  // The first two cache lines of each row. Inlined always, as in frontier/prefetch.hpp.
  [[gnu::always_inline]] static void prefetch(const rows& side, const I* batch, int size) {
    constexpr std::int64_t line = 64 / sizeof(I);
    for (int j = 0; j < size; ++j) __builtin_prefetch(side.offsets.data() + batch[j]);
    for (int j = 0; j < size; ++j) {
      const I* const row = side.indices.data() + side.offsets[batch[j]];
      __builtin_prefetch(row);
      __builtin_prefetch(row + line);
    }
  }

  // Returns the degree before, k or less where it was not lowered to k or more. The plain one has no branch: half of
  // the neighbours are removed, in no order.
  template <updates How>
  [[nodiscard]] static I lower(I& degree, I k) {
    if constexpr (How == updates::plain) {
      const I before = degree;
      degree = static_cast<I>(before - (before > k ? 1 : 0));
      return before;
    } else {
      const std::atomic_ref<I> shared(degree);
      if (shared.load(std::memory_order_relaxed) <= k) return k;
      return shared.fetch_sub(1, std::memory_order_relaxed);  // below k if others lowered it, too: it is removed
    }
  }

  int threads_;
  std::int64_t n_;
  std::vector<rows> sides_;  // out-edges, and in-edges of a directed graph
  bool has_loops_ = false;
  parts segments_;  // of `active_`, each shortened independently
  std::vector<std::int64_t> segment_sizes_;
  std::int64_t active_count_ = 0;
  array<I, host> degree_;  // towards vertices that are left; of a removed vertex its core number or less
  array<I, host> core_;
  array<I, host> active_;
  shared_list<I> near_;
  shared_list<I> next_near_;
  shared_list<I> frontier_;       // of the level: what was or is to be removed, but for what a thread kept in its stack
  std::vector<scratch> scratch_;  // [slot]
  I k_ = 0;
  I end_ = 0;
  I max_core_ = 0;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g) {
  return std::make_unique<host_executor<I, O>>(ctx, g);
}

#define INSTANTIATE(I, O) \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::cores
