// Local moving: nodes move to the neighbouring community with the largest gain, until no move gains.
//
// Rounds: the active nodes of a round are split into batches by a hash of (seed, round, node). The nodes of a batch
// decide at once, from the communities as of the batch's start, and then move together. A node that moves makes
// neighbours active for the next round: those in other communities than its new one, and those of its own batch, unless
// a later batch of this round decides about them. Two neighbours that would swap forever soon fall into different
// batches. Decisions depend on the snapshot alone, so any number of threads, and any backend, finds the same bits.
// Gains are exact; ties: the own community, then the smallest number. A node whose gains are all negative leaves for
// the empty community of its own number, if that is empty.
//
// Small levels: one node at a time, from a queue in random order, on one thread. That finds better communities, and
// batches of few nodes are not worth a thread (nor a kernel).
//
// Sources: Blondel et al., J. Stat. Mech. P10008, 2008 (Louvain); Traag, Waltman, van Eck, Sci. Rep. 9, 5233, 2019 (the
// queue of nodes to look at again).
#pragma once

#include "core/parallel.hpp"
#include "graph/communities/modularity.hpp"
#include "graph/communities/weight_table.hpp"

#include <spargo/core/array.hpp>
#include <spargo/core/interruption.hpp>
#include <spargo/graph/weights.hpp>

#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace spargo::detail::communities {

struct moving_tuning {
  static constexpr std::int64_t small_level = std::int64_t{1} << 16;  // nodes plus entries of a level moved in sequence
  static constexpr std::uint64_t batches = 8;  // of a round; 4 to 64 find the same modularity on real graphs
  static constexpr std::int64_t chunk = 256;   // nodes a thread takes at once
  static constexpr std::int64_t most_rounds = 100;
  // A level is done when a round moves less than this share of its nodes. With 64, p2p-Gnutella31 ends at .514 instead
  // of .518 after ten passes of Leiden.
  static constexpr std::int64_t few = 1024;
  // A large level is done when a round gains less than this share of what the pass gained so far: a larger share if
  // more than a quarter of the nodes moved, as groups of them will gain more. R-MAT 22 on an H100: .0671 in 105 ms,
  // with 64 instead of 128 .0662 in 94; uniform 2^22: .0913 in 180 ms with 128 for all, .0886 in 124 with 32.
  static constexpr std::int64_t little = 128;
  static constexpr std::int64_t little_of_many = 32;
  static constexpr std::int64_t many = 4;
  // A pass is done when a large level gains less than this share of what the levels before it gained.
  static constexpr std::int64_t little_of_level = 128;
  static constexpr std::int64_t large_level = std::int64_t{1} << 20;  // entries

  // Contraction leaves equal neighbours of a large level apart while that pays: where there is a group for at most 16
  // nodes, and at most a 16th of the entries is inside groups. R-MAT 22 has 128.3 million entries on its first level
  // and 124.5 million on its second one if they are summed.
  static constexpr std::int64_t few_inside = 16;

  [[nodiscard]] static constexpr bool may_stay_apart(std::int64_t nodes, std::int64_t entries, std::int64_t groups) {
    return entries > large_level && groups > nodes / few_inside;
  }
  [[nodiscard]] static constexpr bool stay_apart(std::int64_t entries, std::int64_t inside) {
    return inside <= entries / few_inside;
  }

  [[nodiscard]] static constexpr bool is_small(std::int64_t nodes, std::int64_t entries) {
    return nodes + entries <= small_level;
  }
};

// A node's turn in a round: the number of its batch, from 1, or 0 if it is not active; turn_marked is added to it when
// the node becomes active for the next round.
inline constexpr std::uint8_t turn_marked = 128;
// Whether a node that moves in `batch` makes a neighbour active. leaves: the neighbour is in another community than the
// node will be.
[[nodiscard]] SPARGO_HD inline bool is_marked_by(std::uint8_t turn, std::uint8_t batch, bool leaves) {
  return turn <= batch && (leaves || turn == batch);
}

// What the levels of a pass have gained, in the units of gain_rule::summed; and whether more pays.
class pass_progress {
 public:
  void begin_level(std::int64_t nodes, std::int64_t entries) {
    nodes_ = nodes;
    is_large_ = entries > moving_tuning::large_level;
    before_ += level_;
    level_ = 0;
  }
  // After a round: whether the level is done.
  [[nodiscard]] bool is_level_done(std::int64_t moved, std::int64_t gained) {
    level_ += gained;
    if (moved * moving_tuning::few <= nodes_) return true;
    const bool many = moved * moving_tuning::many > nodes_;
    return is_large_ && gained <= (before_ + level_) / (many ? moving_tuning::little_of_many : moving_tuning::little);
  }
  // After a level: whether the pass is done.
  [[nodiscard]] bool is_done() const { return is_large_ && level_ <= before_ / moving_tuning::little_of_level; }

 private:
  std::int64_t nodes_ = 0;
  bool is_large_ = false;
  std::int64_t level_ = 0;
  std::int64_t before_ = 0;
};

// What threads share about communities while nodes move.
template <class I, class O>
class moving_state {
 public:
  moving_state(const context<host>& ctx, const level_graph<I, O>& g, span<I, host> community)
      : g_(g),
        community_(community),
        mass_(ctx, g.nodes),
        in_mass_(ctx, g.in_mass != nullptr ? g.nodes : 0),
        size_(ctx, g.nodes) {
    parallel_for(ctx.threads(), g.nodes, grain::elements, [&](std::int64_t c) {
      mass_[c] = 0;
      size_[c] = 0;
      if (!in_mass_.empty()) in_mass_[c] = 0;
    });
    parallel_for(ctx.threads(), g.nodes, grain::rows, [&](std::int64_t v) { add(v, community[v]); });
  }

  [[nodiscard]] const level_graph<I, O>& graph() const { return g_; }
  [[nodiscard]] I community(std::int64_t v) const { return community_[v]; }
  [[nodiscard]] bool is_alone(I c) const { return size_[c] == 1; }
  [[nodiscard]] bool is_empty(std::int64_t c) const { return size_[c] == 0; }
  [[nodiscard]] masses of_node(std::int64_t v) const { return {g_.mass[v], in_mass_.empty() ? 0 : g_.in_mass[v]}; }
  [[nodiscard]] masses of_community(std::int64_t c) const { return {mass_[c], in_mass_.empty() ? 0 : in_mass_[c]}; }

  void prefetch(I c) const { __builtin_prefetch(&mass_[c]); }

  void move(std::int64_t v, I to) {
    const I from = community_[v];
    const masses own = of_node(v);
    atomic_add(mass_[from], -own.out);
    if (!in_mass_.empty()) atomic_add(in_mass_[from], -own.in);
    atomic_add(size_[from], I{-1});
    community_[v] = to;
    add(v, to);
  }

  [[nodiscard]] std::int64_t bytes() const {
    return (mass_.size() + in_mass_.size()) * 8 + size_.size() * std::int64_t{sizeof(I)};
  }

 private:
  template <class T>
  static void atomic_add(T& to, T value) {
    std::atomic_ref<T>(to).fetch_add(value, std::memory_order_relaxed);
  }
  void add(std::int64_t v, I to) {
    const masses own = of_node(v);
    atomic_add(mass_[to], own.out);
    if (!in_mass_.empty()) atomic_add(in_mass_[to], own.in);
    atomic_add(size_[to], I{1});
  }

  level_graph<I, O> g_;
  span<I, host> community_;
  array<std::int64_t, host> mass_;     // [community]
  array<std::int64_t, host> in_mass_;  // [community], directed modularity
  array<I, host> size_;                // [community] nodes
};

// Calls use(neighbour, weight) for the entries of v whose neighbours `keep`. They are listed before they are used, so
// that many cache misses are in flight and no branch depends on them.
template <class I, class O, class Keep, class Use>
void for_kept_entries(const level_graph<I, O>& g, std::int64_t v, Keep&& keep, Use&& use) {
  constexpr std::int64_t block = 256;
  std::int64_t kept[block];
  for (std::int64_t begin = g.offsets[v], last = g.offsets[v + 1]; begin < last; begin += block) {
    const std::int64_t end = std::min(begin + block, last);
    std::int64_t count = 0;
    for (std::int64_t e = begin; e < end; ++e) {
      kept[count] = e;
      count += keep(g.neighbours[e]) ? 1 : 0;
    }
    for (std::int64_t k = 0; k < count; ++k) use(g.neighbours[kept[k]], g.weight(kept[k]));
  }
}

// Sums the weights of v's edges by the communities of their ends; loops do not count.
template <class I, class O, class Label>
void sum_by_community(const level_graph<I, O>& g, std::int64_t v, weight_table<I>& sums, Label&& label_of) {
  const std::int64_t first = g.offsets[v];
  const std::int64_t last = g.offsets[v + 1];
  sums.begin(std::min(last - first, g.nodes), g.nodes);
  // Labels are gathered first, so that many cache misses are in flight.
  constexpr std::int64_t block = 256;
  I labels[block];
  const auto add_all = [&](auto&& add) {
    for (std::int64_t begin = first; begin < last; begin += block) {
      const std::int64_t size = std::min(block, last - begin);
      const I* const ends = g.neighbours + begin;
      for (std::int64_t k = 0; k < size; ++k) labels[k] = label_of(ends[k]);
      if (g.weights == nullptr) {
        for (std::int64_t k = 0; k < size; ++k) {
          if (ends[k] != v) add(labels[k], 1);
        }
      } else {
        for (std::int64_t k = 0; k < size; ++k) {
          if (ends[k] != v) add(labels[k], g.weights[begin + k]);
        }
      }
    }
  };
  if (sums.is_hashed()) {
    add_all([&](I label, std::int64_t weight) { sums.add_hashed(label, weight); });
  } else {
    add_all([&](I label, std::int64_t weight) { sums.add_directly(label, weight); });
  }
}

// Lists the active nodes batch by batch, ascending; returns where the batches begin, and the end.
template <class I, class Active>
[[nodiscard]] std::vector<std::int64_t> list_batches(const context<host>& ctx, std::int64_t nodes, std::uint64_t key,
                                                     Active&& is_active, span<I, host> list) {
  constexpr std::uint64_t batches = moving_tuning::batches;
  const auto batch_of = [&](std::int64_t v) {
    return static_cast<std::size_t>(mixed_bits(key, static_cast<std::uint64_t>(v)) % batches);
  };
  const parts shares = split_loop(ctx.threads(), nodes, grain::rows);
  std::vector<std::array<std::int64_t, batches>> at(static_cast<std::size_t>(shares.count));
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t part) {
    auto& counts = at[static_cast<std::size_t>(part)];
    counts.fill(0);
    for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
      if (is_active(v)) ++counts[batch_of(v)];
    }
  });
  std::vector<std::int64_t> ends{0};
  for (std::size_t batch = 0; batch < batches; ++batch) {
    std::int64_t end = ends.back();
    for (auto& counts : at) end += std::exchange(counts[batch], end);
    ends.push_back(end);
  }
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t part) {
    auto& next = at[static_cast<std::size_t>(part)];
    for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
      if (is_active(v)) list[next[batch_of(v)]++] = static_cast<I>(v);
    }
  });
  return ends;
}

template <class I, class O>
class local_moving {
 public:
  local_moving(const context<host>& ctx, const level_graph<I, O>& g, const gain_rule& rule, std::uint64_t seed,
               weight_tables<I>& sums)
      : ctx_(ctx), g_(g), rule_(rule), seed_(seed), sums_(sums) {}

  // community: [node] the number of a node.
  void run(span<I, host> community, pass_progress& progress) {
    moving_state<I, O> state(ctx_, g_, community);
    progress.begin_level(g_.nodes, g_.entries());
    if (moving_tuning::is_small(g_.nodes, g_.entries())) {
      move_in_sequence(state);
    } else {
      move_in_batches(state, progress);
    }
  }

 private:
  // gained: what the move gains is added to it, in the units of gain_rule::summed.
  [[nodiscard]] I best_community(const moving_state<I, O>& state, std::int64_t v, weight_table<I>& sums,
                                 std::int64_t& gained) const {
    return rule_.narrow ? best_community_in<std::int64_t>(state, v, sums, gained)
                        : best_community_in<int128>(state, v, sums, gained);
  }
  template <class Gain>
  [[nodiscard]] I best_community_in(const moving_state<I, O>& state, std::int64_t v, weight_table<I>& sums,
                                    std::int64_t& gained) const {
    const I own = state.community(v);
    sum_by_community(g_, v, sums, [&](I u) { return state.community(u); });
    const masses mass = state.of_node(v);
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < sums.size(); ++k) {
      state.prefetch(sums[k].community);
      if (sums[k].community == own) inside = sums[k].weight;
    }
    I best = own;
    const Gain now = rule_.template gain_in<Gain>(inside, mass, without(state.of_community(own), mass));
    Gain most = now;
    for (std::int64_t k = 0; k < sums.size(); ++k) {
      const auto [c, weight] = sums[k];
      if (c == own) continue;
      const Gain gain = rule_.template gain_in<Gain>(weight, mass, state.of_community(c));
      if (gain > most || (gain == most && best != own && c < best)) {
        most = gain;
        best = c;
      }
    }
    if (most < 0 && state.is_empty(v)) {
      most = 0;
      best = static_cast<I>(v);
    }
    gained += rule_.summed(most - now);
    return best;
  }

  // --- One node at a time

  void move_in_sequence(moving_state<I, O>& state) {
    const std::int64_t n = g_.nodes;
    std::vector<std::pair<std::uint64_t, I>> order;
    for (std::int64_t v = 0; v < n; ++v)
      order.emplace_back(mixed_bits(seed_, static_cast<std::uint64_t>(v)), static_cast<I>(v));
    std::sort(order.begin(), order.end());
    std::vector<I> queue;
    for (const auto& [key, v] : order) queue.push_back(v);
    std::vector<std::uint8_t> waits(static_cast<std::size_t>(n), 1);
    std::int64_t gained = 0;
    const std::int64_t most = moving_tuning::most_rounds * n;
    std::int64_t head = 0;
    for (std::int64_t waiting = n; waiting > 0 && head < most; --waiting, ++head) {
      if (head % 1024 == 0) interruption::look();
      const I v = queue[static_cast<std::size_t>(head % n)];
      waits[static_cast<std::size_t>(v)] = 0;
      const I to = best_community(state, v, sums_[0], gained);
      if (to == state.community(v)) continue;
      state.move(v, to);
      for (std::int64_t e = g_.offsets[v]; e < g_.offsets[v + 1]; ++e) {
        const I u = g_.neighbours[e];
        auto& waits_u = waits[static_cast<std::size_t>(u)];
        if (u == v || waits_u != 0 || state.community(u) == to) continue;
        waits_u = 1;
        queue[static_cast<std::size_t>((head + waiting) % n)] = u;
        ++waiting;
      }
    }
  }

  // --- In batches

  void move_in_batches(moving_state<I, O>& state, pass_progress& progress) {
    const std::int64_t n = g_.nodes;
    turn_ = {ctx_, n};
    list_ = {ctx_, n};
    to_ = {ctx_, n};
    std::fill(turn_.begin(), turn_.end(), turn_marked);
    for (std::int64_t round = 0; round < moving_tuning::most_rounds; ++round) {
      const std::vector<std::int64_t> ends = list_batches<I>(
          ctx_, n, mixed_bits(seed_, static_cast<std::uint64_t>(round)),
          [&](std::int64_t v) { return turn_[v] >= turn_marked; }, list_.view());
      parallel_for(ctx_.threads(), n, grain::elements, [&](std::int64_t v) { turn_[v] = 0; });
      std::int64_t moved = 0;
      round_gain_ = 0;
      for (std::size_t batch = 1; batch < ends.size(); ++batch) {
        parallel_for(ctx_.threads(), ends[batch] - ends[batch - 1], grain::elements,
                     [&](std::int64_t k) { turn_[list_[ends[batch - 1] + k]] = static_cast<std::uint8_t>(batch); });
      }
      for (std::size_t batch = 1; batch < ends.size(); ++batch)
        moved += move_batch(state, static_cast<std::uint8_t>(batch), ends[batch - 1], ends[batch]);
      if (progress.is_level_done(moved, round_gain_)) break;
    }
  }

  // batch: from 1.
  std::int64_t move_batch(moving_state<I, O>& state, std::uint8_t batch, std::int64_t first, std::int64_t last) {
    const parts chunks = chunks_of(last - first, moving_tuning::chunk);
    const int threads = static_cast<int>(std::min<std::int64_t>(ctx_.threads(), chunks.count));
    std::atomic<std::int64_t> moved{0}, gained{0};
    on_threads(threads, chunks.count, [&](part_taker& mine) {
      weight_table<I>& sums = sums_[static_cast<std::size_t>(mine.slot())];
      std::int64_t own = 0;
      std::int64_t own_gain = 0;
      for (std::int64_t part; mine.take(part);) {
        interruption::look();
        for (std::int64_t k = first + chunks.first(part); k < first + chunks.last(part); ++k) {
          const I v = list_[k];
          const I to = best_community(state, v, sums, own_gain);
          to_[k] = -1;
          if (to == state.community(v)) continue;
          to_[k] = to;
          ++own;
          mark_neighbours(state, v, to, batch);
        }
      }
      moved += own;
      gained += own_gain;
    });
    round_gain_ += gained;
    if (moved == 0) return 0;
    parallel_for(threads, last - first, grain::rows, [&](std::int64_t k) {
      if (to_[first + k] >= 0) state.move(list_[first + k], to_[first + k]);
    });
    return moved;
  }

  void mark_neighbours(const moving_state<I, O>& state, std::int64_t v, I to, std::uint8_t batch) {
    for (std::int64_t e = g_.offsets[v]; e < g_.offsets[v + 1]; ++e) {
      const I u = g_.neighbours[e];
      if (u == v) continue;
      const std::atomic_ref<std::uint8_t> turn(turn_[u]);
      const std::uint8_t now = turn.load(std::memory_order_relaxed);
      if (is_marked_by(now, batch, state.community(u) != to)) turn.store(now | turn_marked, std::memory_order_relaxed);
    }
  }

  context<host> ctx_;
  level_graph<I, O> g_;
  gain_rule rule_;
  std::uint64_t seed_;
  weight_tables<I>& sums_;
  array<std::uint8_t, host> turn_;  // [node] as in is_marked_by
  array<I, host> list_;             // active nodes by batch
  array<I, host> to_;               // [place in list_] -1: stays
  std::int64_t round_gain_ = 0;
};

}  // namespace spargo::detail::communities
