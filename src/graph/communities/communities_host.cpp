// Label propagation on the host.
//
// A round reads the labels of the previous round and writes new ones, so the result does not depend on the schedule.
// Vertices are partitioned into chunks of about equal work. A chunk is processed in blocks: a branch-free loop gathers
// the labels of all neighbours of the block's vertices, with many cache misses in flight; then they are counted per
// vertex in the L1 cache (host_count.hpp). Rows longer than a segment (hubs) are processed by all threads, one after
// the other: each segment's labels are counted separately and added to global counters.
//
// In the first round every label is a vertex, so ascending rows need no counting. When a round changed few labels, the
// neighbours of the changed vertices are marked, and the next round processes only those: the frontier. A round
// overwrites the labels of two rounds before. If it writes the same values, two labellings alternate from then on (the
// ends of a lone edge do), and the remaining rounds are skipped.
//
// Workspace in bytes, I = int32: 9 per vertex, 4 more with hubs; up to 0.75 MB per thread.
#include "core/parallel.hpp"
#include "graph/communities/executor.hpp"
#include "graph/communities/host_count.hpp"
#include "graph/frontier/row_parts.hpp"

#include "core/instantiate.hpp"

#include <spargo/core/interruption.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo::detail::communities {

namespace {

// Measured on two busy cores, ten rounds on an R-MAT graph of scale 20 and degree 16, and on a grid of 2048^2.
struct tuning {
  static constexpr std::int64_t chunk = std::int64_t{1} << 14;  // vertices plus edges; 2^17 takes as long
  static constexpr std::int64_t block = std::int64_t{1}
                                        << 11;  // labels gathered at once: 8 KB; 2^9 and 2^13 take as long
  // The frontier is marked when the changed vertices have at most 1 / changed_share of the edges. 4 and 64 take as
  // long; without a frontier R-MAT takes 1.4 times as long.
  static constexpr std::int64_t changed_share = 16;
};

// Neighbours of a vertex: out-neighbours, then (directed graphs) in-neighbours.
template <class I, class O>
class neighbourhoods {
 public:
  explicit neighbourhoods(const graph_view<I, O, host>& g) : out_(g.out), in_(g.in) {
    if (g.direction == direction_kind::undirected) in_ = {};
  }

  [[nodiscard]] const csr_pattern_view<I, O, host>& out() const { return out_; }
  [[nodiscard]] const csr_pattern_view<I, O, host>& in() const { return in_; }
  [[nodiscard]] bool has_in() const { return !in_.offsets.empty(); }
  [[nodiscard]] std::int64_t edges() const { return out_.nnz() + in_.nnz(); }

  [[nodiscard]] std::int64_t degree(std::int64_t v) const {
    return degree_in(out_, v) + (has_in() ? degree_in(in_, v) : 0);
  }

  template <class L>
  void gather(const L* labels, std::int64_t v, std::int64_t first, std::int64_t last, L* to) const {
    const std::int64_t out_degree = degree_in(out_, v);
    const I* const out = out_.indices.data() + out_.offsets[v];
    for (; first < std::min(last, out_degree); ++first) *to++ = labels[out[first]];
    if (first >= last) return;
    const I* const in = in_.indices.data() + in_.offsets[v] - out_degree;
    for (; first < last; ++first) *to++ = labels[in[first]];
  }

  // v's most frequent neighbour (ties: the smallest) if both sides ascend; v if it has none; -1 if they do not ascend.
  [[nodiscard]] I most_frequent(std::int64_t v) const {
    const span<const I, host> out = neighbours(out_, v);
    const span<const I, host> in = has_in() ? neighbours(in_, v) : span<const I, host>();
    if (!ascends(out) || !ascends(in)) return -1;
    if (out.empty() && in.empty()) return static_cast<I>(v);
    if (out.empty()) return in[0];
    if (in.empty()) return out[0];
    for (std::int64_t a = 0, b = 0; a < out.size() && b < in.size();) {
      if (out[a] == in[b]) return out[a];
      ++(out[a] < in[b] ? a : b);
    }
    return std::min(out[0], in[0]);
  }

 private:
  [[nodiscard]] static std::int64_t degree_in(const csr_pattern_view<I, O, host>& part, std::int64_t v) {
    return std::int64_t{part.offsets[v + 1]} - part.offsets[v];
  }
  [[nodiscard]] static span<const I, host> neighbours(const csr_pattern_view<I, O, host>& part, std::int64_t v) {
    return {part.indices.data() + part.offsets[v], degree_in(part, v)};
  }
  [[nodiscard]] static bool ascends(const span<const I, host>& row) {
    I descents = 0;
    for (std::int64_t k = 1; k < row.size(); ++k) descents |= row[k] <= row[k - 1] ? 1 : 0;
    return descents == 0;
  }

  csr_pattern_view<I, O, host> out_;
  csr_pattern_view<I, O, host> in_;
};

// L: of labels, I where they are vertices.
template <class L, class I, class O>
class host_executor final : public executor<L, host> {
 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const communities_options& options,
                shared_part<L, host> part)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        part_(std::move(part)),
        options_(options),
        neighbours_(g),
        chunks_(first_rows(g.out, part_.rows), tuning::chunk),
        now_(ctx, n_),
        next_(ctx, n_),
        marks_(ctx, n_) {
    std::int64_t longest = parallel_reduce(
        threads_, part_.rows, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t most = 0;
          for (std::int64_t v = first; v < last; ++v) most = std::max(most, neighbours_.degree(v));
          return most;
        },
        [](std::int64_t x, std::int64_t y) { return std::max(x, y); });
    if (longest > count_tuning::segment) {
      for (std::int64_t v = 0; v < part_.rows; ++v) {
        if (is_hub(v)) hubs_.push_back(v);
      }
      counts_ = {ctx, part_.labels};
      std::fill(counts_.begin(), counts_.end(), 0);
    }
    longest = std::min(longest, count_tuning::segment);
    for (int t = 0; t < threads_; ++t) scratch_.push_back({{ctx, longest + tuning::block}, {ctx, longest}});
  }

  run_outcome run(span<const L, host> initial) override {
    start(initial);
    run_outcome outcome;
    bool counts = !initial.empty();  // the round has to count labels
    all_active_ = true;
    while (outcome.rounds < options_.iterations) {
      round_outcome round = take_round(counts);
      counts = true;
      now_.swap(next_);
      if (part_.exchange) part_.exchange(now_.view(), round);
      ++outcome.rounds;
      if (round.changed == 0) break;
      if (round.unlike == 0) {
        if ((options_.iterations - outcome.rounds) % 2 != 0) now_.swap(next_);
        break;
      }
      if (options_.algorithm == communities_algorithm::frontier && outcome.rounds < options_.iterations) {
        all_active_ = round.changed_edges > neighbours_.edges() / tuning::changed_share;
        if (!all_active_) mark_frontier();
      }
    }
    outcome.count = count_labels();
    return outcome;
  }

  [[nodiscard]] span<const L, host> labels() const noexcept override { return now_.view().subspan(0, part_.rows); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = (now_.size() + next_.size() + counts_.size()) * std::int64_t{sizeof(L)} + marks_.size();
    for (const scratch& own : scratch_) bytes += own.gathered.size() * std::int64_t{sizeof(L)} + own.counter.bytes();
    return bytes + static_cast<std::int64_t>(hubs_.size() * sizeof(std::int64_t));
  }

 private:
  struct scratch {
    array<L, host> gathered;
    row_counter<L> counter;
  };

  [[nodiscard]] static csr_pattern_view<I, O, host> first_rows(const csr_pattern_view<I, O, host>& all,
                                                               std::int64_t rows) {
    if (rows == all.rows) return all;
    return {static_cast<I>(rows), all.cols, all.offsets.subspan(0, rows + 1),
            all.indices.subspan(0, all.offsets[rows])};
  }

  [[nodiscard]] bool is_hub(std::int64_t v) const { return neighbours_.degree(v) > count_tuning::segment; }
  [[nodiscard]] bool is_active(std::int64_t v) const { return all_active_ || marks_[v] != 0; }

  void start(span<const L, host> initial) {
    std::atomic<std::int64_t> bad{n_};
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) {
      const L label = initial.empty() ? static_cast<L>(v) : initial[v];
      if (label < 0 || label >= part_.labels) lower_to(bad, v);
      now_[v] = label;
      next_[v] = -1;
    });
    if (bad < n_) throw_bad_label(bad, initial[bad], part_.labels);
  }

  [[nodiscard]] int useful(std::int64_t part_units) const {
    return useful_threads(threads_, n_ + neighbours_.edges(), part_units);
  }

  [[nodiscard]] round_outcome take_round(bool counts) {
    round_outcome all;
    std::mutex mutex;
    on_threads(useful(tuning::chunk), chunks_.count(), [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      round_outcome outcome;
      for (std::int64_t part; mine.take(part);) {
        interruption::look();  // a round of a large graph takes seconds
        const auto [first, last] = chunks_.vertices(part);
        counts ? count_rows(first, last, own, outcome) : first_round_rows(first, last, own, outcome);
      }
      const std::lock_guard lock(mutex);
      all.add(outcome);
    });
    for (const std::int64_t v : hubs_) {
      if (!is_active(v)) {
        settle(v, now_[v], all);
        continue;
      }
      const L label = counts ? L{-1} : neighbours_.most_frequent(v);
      settle(v, label >= 0 ? label : count_hub(v), all);
    }
    return all;
  }

  void settle(std::int64_t v, L label, round_outcome& outcome) {
    if (label != now_[v]) {
      ++outcome.changed;
      outcome.changed_edges += neighbours_.degree(v);
    }
    outcome.unlike += label != next_[v] ? 1 : 0;
    next_[v] = label;
  }

  // First round, in which labels are the vertices themselves.
  void first_round_rows(std::int64_t first, std::int64_t last, scratch& own, round_outcome& outcome) {
    for (std::int64_t v = first; v < last; ++v) {
      if (is_hub(v)) continue;
      const L label = neighbours_.most_frequent(v);
      if (label >= 0) {
        settle(v, label, outcome);
      } else {
        count_rows(v, v + 1, own, outcome);
      }
    }
  }

  void count_rows(std::int64_t first, std::int64_t last, scratch& own, round_outcome& outcome) {
    while (first < last) {
      const std::int64_t end = gather_block(first, last, own.gathered.data());
      const L* labels = own.gathered.data();
      for (; first < end; ++first) {
        if (is_hub(first)) continue;
        if (!is_active(first)) {
          settle(first, now_[first], outcome);
          continue;
        }
        const std::int64_t degree = neighbours_.degree(first);
        settle(first, most_frequent(labels, degree, now_[first], own.counter), outcome);
        labels += degree;
      }
    }
  }

  // Gathers the labels of neighbours of vertices from `first` on, until a block is full; returns the next vertex.
  [[nodiscard]] std::int64_t gather_block(std::int64_t first, std::int64_t last, L* to) const {
    const L* const end = to + tuning::block;
    for (; first < last && to < end; ++first) {
      if (is_hub(first) || !is_active(first)) continue;
      const std::int64_t degree = neighbours_.degree(first);
      neighbours_.gather(now_.data(), first, 0, degree, to);
      to += degree;
    }
    return first;
  }

  [[nodiscard]] static L most_frequent(const L* labels, std::int64_t size, L own, row_counter<L>& counter) {
    if (size == 0 || 2 * count_equal(labels, size, own) > size) return own;
    return counter.most_frequent(labels, size);
  }

  // Calls body(labels, size, scratch) for every segment of the row, by all threads.
  template <class Body>
  void for_each_segment(std::int64_t v, Body&& body) {
    const parts segments = chunks_of(neighbours_.degree(v), count_tuning::segment);
    on_threads(threads_, segments.count, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t s; mine.take(s);) {
        neighbours_.gather(now_.data(), v, segments.first(s), segments.last(s), own.gathered.data());
        body(own.gathered.data(), segments.last(s) - segments.first(s), own);
      }
    });
  }

  // Whoever adds a label's last share sees its total; partial counts seen earlier are smaller and harmless.
  [[nodiscard]] L count_hub(std::int64_t v) {
    std::atomic<std::int64_t> equal{0};
    for_each_segment(v, [&](const L* labels, std::int64_t size, scratch&) {
      equal.fetch_add(count_equal(labels, size, now_[v]), std::memory_order_relaxed);
    });
    if (2 * equal > neighbours_.degree(v)) return now_[v];
    frequent_label<L> best;
    std::mutex mutex;
    for_each_segment(v, [&](const L* labels, std::int64_t size, scratch& own) {
      frequent_label<L> mine;
      (void)own.counter.table().count(labels, size);
      own.counter.table().for_each([&](L label, count_type count) {
        mine.offer(counter(label).fetch_add(count, std::memory_order_relaxed) + count, label);
      });
      const std::lock_guard lock(mutex);
      best.offer(mine.count, mine.label);
    });
    for_each_segment(v, [&](const L* labels, std::int64_t size, scratch&) {
      for (std::int64_t k = 0; k < size; ++k) counter(labels[k]).store(0, std::memory_order_relaxed);
    });
    return best.label;
  }

  using count_type = std::make_unsigned_t<L>;
  [[nodiscard]] std::atomic_ref<count_type> counter(L label) { return std::atomic_ref<count_type>(counts_[label]); }

  void mark(std::int64_t v) { std::atomic_ref<std::uint8_t>(marks_[v]).store(1, std::memory_order_relaxed); }

  // Marks the neighbours of vertices whose label changed.
  void mark_frontier() {
    clear_marks();
    const auto mark_ends = [&](const csr_pattern_view<I, O, host>& edges) {
      const row_parts<I, O> shares(edges, tuning::chunk);
      parallel_parts(useful(tuning::chunk), shares.count(), [&](std::int64_t part) {
        shares.for_each(part, [&](I v, std::int64_t first, std::int64_t last) {
          if (now_[v] == next_[v]) return;
          for (std::int64_t e = first; e < last; ++e) mark(edges.indices[e]);
        });
      });
    };
    mark_ends(neighbours_.out());
    if (neighbours_.has_in()) mark_ends(neighbours_.in());
  }

  void clear_marks() {
    parallel_ranges(threads_, n_, grain::elements, [&](std::int64_t first, std::int64_t last) {
      std::fill(marks_.data() + first, marks_.data() + last, std::uint8_t{0});
    });
  }

  [[nodiscard]] std::int64_t count_labels() {
    if (part_.count) return part_.count(used_labels());
    clear_marks();
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) { mark(now_[v]); });
    return parallel_reduce(
        threads_, n_, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          return std::accumulate(marks_.data() + first, marks_.data() + last, std::int64_t{0});
        },
        std::plus<>());
  }

  // A bit per label.
  [[nodiscard]] std::vector<std::uint64_t> used_labels() {
    std::vector<std::uint64_t> used(static_cast<std::size_t>(div_up(part_.labels, 64)));
    parallel_for(threads_, part_.rows, grain::elements, [&](std::int64_t v) {
      const std::atomic_ref<std::uint64_t> word(used[static_cast<std::size_t>(now_[v] / 64)]);
      const std::uint64_t bit = std::uint64_t{1} << (now_[v] % 64);
      if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
    });
    return used;
  }

  int threads_;
  std::int64_t n_;  // vertices, those of other parts included
  shared_part<L, host> part_;
  communities_options options_;
  neighbourhoods<I, O> neighbours_;
  row_parts<I, O> chunks_;
  array<L, host> now_;               // labels
  array<L, host> next_;              // labels of the current round; until written, of two rounds before
  array<std::uint8_t, host> marks_;  // [vertex] in the frontier; at the end: [label] in use
  bool all_active_ = true;           // process all vertices, ignoring the marks
  std::vector<std::int64_t> hubs_;   // ascending
  array<count_type, host> counts_;   // [label] counts of a hub's neighbours; 0 between hubs; empty without hubs
  std::vector<scratch> scratch_;     // [slot]
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const communities_options& options) {
  return std::make_unique<host_executor<I, I, O>>(ctx, g, options, shared_part<I, host>{g.vertices(), g.vertices()});
}

template <class L>
std::unique_ptr<executor<L, host>> make_part_executor(const context<host>& ctx,
                                                      const graph_view<std::int32_t, std::int64_t, host>& g,
                                                      const communities_options& options, shared_part<L, host> part) {
  return std::make_unique<host_executor<L, std::int32_t, std::int64_t>>(ctx, g, options, std::move(part));
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const communities_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

#define INSTANTIATE_PART(L)                                                                                           \
  template std::unique_ptr<executor<L, host>> make_part_executor(const context<host>&,                                \
                                                                 const graph_view<std::int32_t, std::int64_t, host>&, \
                                                                 const communities_options&, shared_part<L, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_PART)

}  // namespace spargo::detail::communities
