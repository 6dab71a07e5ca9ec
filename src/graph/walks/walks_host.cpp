// Walks on the host. First-order walks advance in batches, a step at a time: while one walk waits for memory, the
// others go on, since each prefetches what its next access reads. Source: Sun et al., "ThunderRW", VLDB 2021 (step
// interleaving). Walks of the second order run one after the other.
#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/walks/executor.hpp"
#include "graph/walks/fixed_weights.hpp"

#include <spargo/core/interruption.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace spargo::detail::walks {

namespace {

struct tuning {
  static constexpr int lanes = 64;  // walks of a batch; R-MAT 20, one thread: see decisions.md
};

template <class I, class O>
[[nodiscard]] bool rows_ascend(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows) {
  std::atomic<bool> ascend{true};
  parallel_for(ctx.threads(), rows.rows, grain::rows, [&](std::int64_t v) {
    const I* const first = rows.indices.data() + rows.offsets[v];
    const I* const last = rows.indices.data() + rows.offsets[v + 1];
    if (!std::is_sorted(first, last)) ascend.store(false, std::memory_order_relaxed);
  });
  return ascend;
}

// The walks first, first + 1, ... of a run, at most tuning::lanes.
template <class I, class O>
class batch {
 public:
  batch(const walked_rows<I, O>& g, const walk_rule& rule, std::int64_t first, I* walks)
      : g_(g),
        rule_(rule),
        first_(first),
        size_(static_cast<int>(std::min<std::int64_t>(tuning::lanes, rule.walks - first))),
        walks_(walks) {}

  void run() {
    for (int k = 0; k < size_; ++k) at_[k] = row(k)[0];
    for (std::int64_t step = 0; step < rule_.length; ++step) {
      if (step % 2 == 0) draw(step);
      if (g_.sums == nullptr) {
        choose_uniformly(static_cast<int>(step % 2));
      } else {
        choose_by_weight(static_cast<int>(step % 2));
      }
      move(step);
    }
  }

 private:
  [[nodiscard]] I* row(int k) const { return walks_ + (first_ + k) * (rule_.length + 1); }

  void draw(std::int64_t step) {
    for (int k = 0; k < size_; ++k) {
      const philox_block block = block_of_pair(rule_.seed, first_ + k, step);
      words_[0][k] = block.bits(0);
      words_[1][k] = block.bits(1);
    }
  }

  void choose_uniformly(int half) {
    for (int k = 0; k < size_; ++k) {
      entry_[k] = at_[k] < 0 ? no_edge : first_order_entry(g_, at_[k], words_[half][k]);
      if (entry_[k] >= 0) __builtin_prefetch(g_.indices + entry_[k]);
    }
  }

  // All walks halve their range at once.
  void choose_by_weight(int half) {
    for (int k = 0; k < size_; ++k) {
      first_entry_[k] = last_entry_[k] = 0;
      entry_[k] = no_edge;
      if (at_[k] < 0) continue;
      first_entry_[k] = g_.first(at_[k]);
      last_entry_[k] = g_.last(at_[k]);
      if (first_entry_[k] < last_entry_[k]) __builtin_prefetch(g_.sums + last_entry_[k] - 1);
    }
    std::int64_t widest = 0;
    for (int k = 0; k < size_; ++k) {
      const std::uint64_t total = g_.total(first_entry_[k], last_entry_[k]);
      if (total == 0) {
        last_entry_[k] = first_entry_[k];
        continue;
      }
      entry_[k] = 0;
      place_[k] = below(words_[half][k], total);
      --last_entry_[k];  // the answer is this one unless a sum before it exceeds the place
      widest = std::max(widest, last_entry_[k] - first_entry_[k]);
      prefetch_middle(k);
    }
    for (; widest > 0; widest /= 2) {
      for (int k = 0; k < size_; ++k) {
        if (first_entry_[k] >= last_entry_[k]) continue;
        const std::int64_t middle = first_entry_[k] + (last_entry_[k] - first_entry_[k]) / 2;
        if (g_.sums[middle] > place_[k]) {
          last_entry_[k] = middle;
        } else {
          first_entry_[k] = middle + 1;
        }
        prefetch_middle(k);
      }
    }
    for (int k = 0; k < size_; ++k) {
      if (entry_[k] == no_edge) continue;
      entry_[k] = first_entry_[k];
      __builtin_prefetch(g_.indices + entry_[k]);
    }
  }
  void prefetch_middle(int k) const {
    __builtin_prefetch(g_.sums + first_entry_[k] + (last_entry_[k] - first_entry_[k]) / 2);
  }

  void move(std::int64_t step) {
    for (int k = 0; k < size_; ++k) {
      at_[k] = entry_[k] == no_edge ? I{-1} : g_.indices[entry_[k]];
      row(k)[step + 1] = at_[k];
      if (at_[k] >= 0) __builtin_prefetch(g_.offsets + at_[k]);
    }
  }

  const walked_rows<I, O>& g_;
  const walk_rule& rule_;
  std::int64_t first_;
  int size_;
  I* walks_;
  I at_[tuning::lanes];
  std::uint64_t words_[2][tuning::lanes];
  std::uint64_t place_[tuning::lanes];
  std::int64_t entry_[tuning::lanes];  // chosen, or no_edge
  std::int64_t first_entry_[tuning::lanes];
  std::int64_t last_entry_[tuning::lanes];
};

template <class I, class O>
void walk_second_order(const walked_rows<I, O>& g, const walk_rule& rule, std::int64_t walk, I* vertices) {
  for (std::int64_t step = 0; step < rule.length; ++step) {
    const std::int64_t v = vertices[step];
    std::int64_t e = no_edge;
    if (v >= 0 && step == 0) {
      e = first_order_entry(g, v, block_of_pair(rule.seed, walk, step).bits(0));
    } else if (v >= 0) {
      e = second_order_entry(g, rule.order, std::int64_t{vertices[step - 1]}, v, rule.seed, walk, step);
    }
    vertices[step + 1] = e == no_edge ? I{-1} : g.indices[e];
  }
}

template <class I, class O>
class host_executor final : public executor<I, host> {
 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, span<const I, host> starts,
                array<std::uint64_t, host> sums, const walk_rule& rule)
      : threads_(ctx.threads()),
        sums_(std::move(sums)),
        rule_(rule),
        g_{g.out.offsets.data(), g.out.indices.data(), sums_.empty() ? nullptr : sums_.data(),
           rule.order.is_first_order() || rows_ascend(ctx, g.out)},
        vertices_(ctx, rule.walks * (rule.length + 1)) {
    const std::int64_t n = g.vertices();
    parallel_for(threads_, rule.walks, grain::rows, [&](std::int64_t k) {
      vertices_[k * (rule_.length + 1)] = starts.empty() ? static_cast<I>(k % n) : starts[k];
    });
  }

  void run() override {
    parallel_parts(threads_, div_up(rule_.walks, std::int64_t{tuning::lanes}), [&](std::int64_t part) {
      interruption::look();
      const std::int64_t first = part * tuning::lanes;
      if (rule_.order.is_first_order()) return batch<I, O>(g_, rule_, first, vertices_.data()).run();
      const std::int64_t last = std::min(first + tuning::lanes, rule_.walks);
      for (std::int64_t walk = first; walk < last; ++walk) {
        walk_second_order(g_, rule_, walk, vertices_.data() + walk * (rule_.length + 1));
      }
    });
  }

  [[nodiscard]] array<I, host>& vertices() noexcept override { return vertices_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return bytes_of(sums_, vertices_); }

 private:
  int threads_;
  array<std::uint64_t, host> sums_;
  walk_rule rule_;
  walked_rows<I, O> g_;
  array<I, host> vertices_;
};

}  // namespace

template <class W, class O>
row_sums<host> sum_rows(const context<host>& ctx, span<const O, host> offsets, span<const W, host> weights) {
  row_sums<host> of{{ctx, weights.size()}};
  std::atomic<std::int64_t> offending{weights.size()};
  parallel_for(ctx.threads(), offsets.size() - 1, grain::rows, [&](std::int64_t v) {
    const std::int64_t first = offsets[v];
    const std::int64_t last = offsets[v + 1];
    double largest = 0;
    for (std::int64_t e = first; e < last; ++e) {
      const auto weight = static_cast<double>(weights[e]);
      if (!is_weight(weight)) return lower_to(offending, e);
      largest = std::max(largest, weight);
    }
    const int scale = largest > 0 ? scale_of_row(largest, last - first) : 0;
    std::uint64_t sum = 0;
    for (std::int64_t e = first; e < last; ++e) {
      of.sums[e] = sum += fixed_weight(static_cast<double>(weights[e]), scale);
    }
  });
  if (offending < weights.size()) of.offending = offending;
  return of;
}

template <class I>
std::int64_t first_bad_start(const context<host>& ctx, span<const I, host> starts, std::int64_t vertices) {
  std::atomic<std::int64_t> bad{starts.size()};
  parallel_for(ctx.threads(), starts.size(), grain::elements, [&](std::int64_t k) {
    if (starts[k] < 0 || starts[k] >= vertices) lower_to(bad, k);
  });
  return bad < starts.size() ? bad.load() : -1;
}

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 span<const I, host> starts, array<std::uint64_t, host> sums,
                                                 const walk_rule& rule) {
  return std::make_unique<host_executor<I, O>>(ctx, g, starts, std::move(sums), rule);
}

#define INSTANTIATE_SUMS(W, O) \
  template row_sums<host> sum_rows(const context<host>&, span<const O, host>, span<const W, host>);
SPARGO_FOR_EACH_WEIGHT_INDEX(INSTANTIATE_SUMS)
#define INSTANTIATE_START(I) \
  template std::int64_t first_bad_start(const context<host>&, span<const I, host>, std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_START)
#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            span<const I, host>, array<std::uint64_t, host>,     \
                                                            const walk_rule&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::walks
