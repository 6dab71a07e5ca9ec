// Local moving and refinement on the device: the decisions of local_moving.hpp and refinement.hpp, batch by batch.
//
// A batch is a launch per class of rows, which decides from the communities as of its start and marks neighbours, and
// one that moves (in refinement, others that update the cuts). Between rounds the host reads how many moved and the
// sizes of the next batches.
#pragma once

#include "graph/communities/cuda_aggregation.cuh"
#include "graph/communities/cuda_label_sums.cuh"
#include "graph/communities/local_moving.hpp"

#include <spargo/core/interruption.hpp>

namespace spargo::detail::communities {

static_assert(moving_tuning::batches == row_tuning::batches);

// A community and what joining it gains; -1: none.
template <class I, class Gain>
struct candidate {
  Gain gain;
  I community;

  __device__ void offer(const candidate& other) {
    if (other.community < 0) return;
    if (community < 0 || other.gain > gain || (other.gain == gain && other.community < community)) *this = other;
  }
};
// The communities of a level, as moving_state on the host.
template <class I, class Numbers>
struct community_state {
  using Mass = typename Numbers::mass;
  I* community;   // [node]
  Mass* mass;     // [community]
  Mass* in_mass;  // null unless directed modularity
  I* size;        // [community]
  const std::int64_t* node_mass;
  const std::int64_t* node_in_mass;

  [[nodiscard]] __device__ masses of_node(std::int64_t v) const {
    return {node_mass[v], in_mass != nullptr ? node_in_mass[v] : 0};
  }
  [[nodiscard]] __device__ masses of_community(std::int64_t c) const {
    return {static_cast<std::int64_t>(mass[c]), in_mass != nullptr ? static_cast<std::int64_t>(in_mass[c]) : 0};
  }
  __device__ void enter(std::int64_t v, I to) const {
    add_to(mass + to, static_cast<Mass>(node_mass[v]));
    if (in_mass != nullptr) add_to(in_mass + to, static_cast<Mass>(node_in_mass[v]));
    add_to(size + to, I{1});
  }
  __device__ void move(std::int64_t v, I to) const {
    const I from = community[v];
    add_to(mass + from, static_cast<Mass>(-node_mass[v]));
    if (in_mass != nullptr) add_to(in_mass + from, static_cast<Mass>(-node_in_mass[v]));
    add_to(size + from, I{-1});
    community[v] = to;
    enter(v, to);
  }
};

template <class I, class Numbers>
class state_arrays {
  using Mass = typename Numbers::mass;

 public:
  template <class O>
  state_arrays(const context<device>& ctx, const level_graph<I, O>& g, I* community)
      : mass_(ctx, g.nodes), in_mass_(ctx, g.in_mass != nullptr ? g.nodes : 0), size_(ctx, g.nodes) {
    fill_zero<Mass, device>(ctx, mass_.view());
    fill_zero<Mass, device>(ctx, in_mass_.view());
    fill_zero<I, device>(ctx, size_.view());
    state_ = {community,    mass_.data(), g.in_mass != nullptr ? in_mass_.data() : nullptr,
              size_.data(), g.mass,       g.in_mass};
    sum_by_label(ctx, g.nodes, community, g.mass, mass_.data());
    if (g.in_mass != nullptr) sum_by_label(ctx, g.nodes, community, g.in_mass, in_mass_.data());
    sum_by_label<I, I>(ctx, g.nodes, community, nullptr, size_.data());
  }
  [[nodiscard]] const community_state<I, Numbers>& view() const { return state_; }

 private:
  array<Mass, device> mass_, in_mass_;
  array<I, device> size_;
  community_state<I, Numbers> state_{};
};

// --- Local moving ---------------------------------------------------------

template <class I, class Numbers>
struct move_rule {
  using sum = typename Numbers::sum;
  using Gain = typename Numbers::gain;
  using offer = candidate<I, Gain>;
  static constexpr bool marks = true;
  struct row {
    std::int64_t k, v;
    I own;
    masses mass, rest;  // of the node, and of its community without it
    offer best{0, I{-1}};
  };

  community_state<I, Numbers> state;
  gain_rule gains;
  std::uint8_t batch;  // from 1
  I* to;               // [place in the list] -1: stays
  std::uint8_t* turn;
  row_counters* counters;
  unsigned moves = 0;
  std::int64_t gained = 0;

  __device__ bool wants(std::int64_t) const { return true; }
  __device__ void skip(std::int64_t, std::int64_t) const {}
  __device__ I label(std::int64_t, I u) const { return state.community[u]; }
  __device__ row begin(std::int64_t k, std::int64_t v, unsigned*) const {
    const I own = state.community[v];
    const masses mass = state.of_node(v);
    return {k, v, own, mass, without(state.of_community(own), mass)};
  }
  template <class Group>
  __device__ void take(row& of, I c, sum weight) const {
    if (c == of.own) return;
    of.best.offer({gains.gain_in<Gain>(static_cast<std::int64_t>(weight), of.mass, state.of_community(c)), c});
  }
  template <class Group>
  __device__ I end(row& of, sum inside, bool active) {
    const offer best = Group::reduce(of.best, better_of{});
    if (!active) return -1;
    const Gain now = gains.gain_in<Gain>(static_cast<std::int64_t>(inside), of.mass, of.rest);
    I target = -1;
    Gain most = now;
    if (best.community >= 0 && best.gain > most) {
      most = best.gain;
      target = best.community;
    }
    if (most < 0 && state.size[of.v] == 0) {
      most = 0;
      target = static_cast<I>(of.v);
    }
    if (Group::rank() == 0) {
      to[of.k] = target;
      moves += target >= 0 ? 1 : 0;
      gained += gains.summed(most - now);
    }
    return target;
  }
  __device__ void mark(I u, I label, I target) const {
    const std::uint8_t now = turn[u];
    if (is_marked_by(now, batch, label != target)) turn[u] = now | turn_marked;
  }
  __device__ void finish() {
    moves = warp_sum(moves);
    gained = warp_sum(gained);
    if (lane_id() != 0 || moves == 0) return;
    atomicAdd(&counters->now.moved, static_cast<count64>(moves));
    atomicAdd(&counters->now.gained, static_cast<count64>(gained));
  }
};

// Marks for rows of several segments.
template <class I, class O, class Numbers>
struct mark_neighbours {
  level_graph<I, O> g;
  move_rule<I, Numbers> rule;
  std::int64_t segment;

  template <class Group>
  __device__ void operator()(Group, std::int64_t k, std::int64_t v, std::int64_t begin, std::int64_t end) const {
    const I target = rule.to[k];
    if (target < 0 || std::int64_t{g.offsets[v + 1]} - std::int64_t{g.offsets[v]} <= segment) return;
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I u = g.neighbours[e];
      if (u != v) rule.mark(u, rule.state.community[u], target);
    }
  }
  __device__ void finish() const {}
};

// community: [node] the number of a node.
template <class Numbers, class I, class O>
void move_nodes(const context<device>& ctx, const level_graph<I, O>& g, const gain_rule& gains, std::uint64_t seed,
                I* community, pass_progress& progress) {
  const std::int64_t n = g.nodes;
  const state_arrays<I, Numbers> arrays(ctx, g, community);
  const community_state<I, Numbers> state = arrays.view();
  using sums_of = aggregation<I, typename Numbers::sum>;
  row_lists<I, O> lists(ctx, n, sums_of::segment(ctx));
  sums_of sums(ctx);
  array<std::uint8_t, device> turn(ctx, n);
  array<I, device> to(ctx, n);
  fill_bytes(ctx, turn.data(), turn_marked, static_cast<std::size_t>(n));
  const auto rule_of = [&](std::int64_t round) {
    return bucket_rule<O>{g.offsets, turn.data(), mixed_bits(seed, static_cast<std::uint64_t>(round))};
  };
  (void)lists.count(n, rule_of(0));
  progress.begin_level(g.nodes, g.entries_on_device);
  for (std::int64_t round = 0; round < moving_tuning::most_rounds; ++round) {
    interruption::look();
    lists.list(n, rule_of(round));
    for (int batch = 0; batch < row_tuning::batches; ++batch) {
      const auto rows = lists.of_batch(batch);
      if (rows.count == 0) continue;
      const move_rule<I, Numbers> rule{state,     gains,       static_cast<std::uint8_t>(batch + 1),
                                       to.data(), turn.data(), lists.counters()};
      sums.run(lists, batch, g, rule);
      if (lists.slots_of_batch(batch) > 0) {
        lists.for_segments(batch, g.offsets, mark_neighbours<I, O, Numbers>{g, rule, lists.divided().segment});
      }
      for_each(ctx, rows.count, [state, rows, to = to.data(), list = lists.rows()] __device__(std::int64_t r) {
        const std::int64_t k = rows.first + r;
        if (to[k] >= 0) state.move(list[k], to[k]);
      });
    }
    const auto [moved, gained] = lists.count(n, rule_of(round + 1));
    if (progress.is_level_done(moved, gained)) break;
  }
}

// --- Refinement -----------------------------------------------------------

// The parts of refinement.hpp's rule. Nodes of batch `now` decide.
template <class I, class Numbers>
struct join_rule {
  using sum = typename Numbers::sum;
  using Gain = typename Numbers::gain;
  using offer = candidate<I, Gain>;
  static constexpr bool marks = false;
  struct row {
    std::int64_t v;
    I own;
    masses mass;
    masses community;
    offer best{0, I{-1}};
  };

  community_state<I, Numbers> communities;
  community_state<I, Numbers> groups;
  gain_rule gains;
  const std::int64_t* cut;  // [group]
  std::uint64_t seed;
  int now;
  I* to;  // [node] its group

  [[nodiscard]] __device__ bool decides_now(std::int64_t v) const {
    return static_cast<int>(mixed_bits(seed, static_cast<std::uint64_t>(v)) % row_tuning::batches) == now;
  }
  [[nodiscard]] __device__ bool is_well_connected(I group, const masses& community) const {
    const masses own = groups.of_community(group);
    return gains.gain_in<Gain>(cut[group], own, without(community, own)) >= 0;
  }
  [[nodiscard]] __device__ masses community_of(std::int64_t v) const {
    return communities.of_community(communities.community[v]);
  }

  __device__ bool wants(std::int64_t v) const {
    return groups.community[v] == v && groups.size[v] == 1 && is_well_connected(static_cast<I>(v), community_of(v));
  }
  __device__ void skip(std::int64_t, std::int64_t v) const { to[v] = static_cast<I>(v); }
  __device__ I label(std::int64_t v, I u) const {
    return communities.community[u] == communities.community[v] ? groups.community[u] : I{-1};
  }
  __device__ row begin(std::int64_t, std::int64_t v, unsigned*) const {
    return {v, static_cast<I>(v), groups.of_node(v), community_of(v)};
  }
  template <class Group>
  __device__ void take(row& of, I c, sum weight) const {
    if (c == of.own) return;
    const Gain gain = gains.gain_in<Gain>(static_cast<std::int64_t>(weight), of.mass, groups.of_community(c));
    const candidate<I, Gain> offered{blurred_gain(gain, blur_key(seed, of.v), c), c};
    if (offered.gain <= 0 || (groups.size[c] == 1 && decides_now(c)) || !is_well_connected(c, of.community)) return;
    of.best.offer(offered);
  }
  template <class Group>
  __device__ I end(row& of, sum, bool active) const {
    const offer best = Group::reduce(of.best, better_of{});
    if (active && Group::rank() == 0) to[of.v] = best.community >= 0 ? best.community : of.own;
    return -1;
  }
  __device__ void finish() const {}
};

// The weight between a node and the rest of its community.
template <class I, class O>
struct measure_cut {
  level_graph<I, O> g;
  const I* community;
  std::int64_t* cut;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) const {
    const I own = community[v];
    std::int64_t sum = 0;
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I u = g.neighbours[e];
      if (u != v && community[u] == own) sum += g.weight(e);
    }
    sum = Group::reduce(sum, plus{});
    if (Group::rank() == 0 && sum != 0) add_to(cut + v, sum);
  }
  __device__ void finish() const {}
};

// Nodes of the batch have joined groups: adds what that changes to the groups' cuts.
template <class I, class O, class Numbers>
struct update_cut {
  level_graph<I, O> g;
  join_rule<I, Numbers> rule;
  std::int64_t* cut;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) const {
    const I target = rule.to[v];
    if (target == v) return;
    const I own = rule.communities.community[v];
    std::int64_t change = 0;
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I u = g.neighbours[e];
      if (u == v || rule.communities.community[u] != own) continue;
      if (rule.groups.community[u] != target) {
        change += g.weight(e);
      } else if (!(rule.decides_now(u) && rule.to[u] != u)) {
        change -= g.weight(e);
      }
    }
    change = Group::reduce(change, plus{});
    if (Group::rank() == 0) add_to(cut + target, change);
  }
  __device__ void finish() const {}
};

// On return group: [node] the number of a node of its group.
template <class Numbers, class I, class O>
void refine_groups(const context<device>& ctx, const level_graph<I, O>& g, const gain_rule& gains, std::uint64_t seed,
                   I* community, I* group) {
  const std::int64_t n = g.nodes;
  for_each(ctx, n, [group] __device__(std::int64_t v) { group[v] = static_cast<I>(v); });
  const state_arrays<I, Numbers> communities(ctx, g, community);
  const state_arrays<I, Numbers> groups(ctx, g, group);
  using sums_of = aggregation<I, typename Numbers::sum>;
  row_lists<I, O> lists(ctx, n, sums_of::segment(ctx));
  lists.list_all(n, {g.offsets, nullptr, seed});
  sums_of sums(ctx);
  array<std::int64_t, device> cut(ctx, n);
  array<I, device> to(ctx, n);
  fill_zero<std::int64_t, device>(ctx, cut.view());
  lists.for_all(g.offsets, measure_cut<I, O>{g, community, cut.data()});
  for (int batch = 0; batch < row_tuning::batches; ++batch) {
    interruption::look();
    const join_rule<I, Numbers> rule{communities.view(), groups.view(), gains, cut.data(), seed, batch, to.data()};
    sums.run(lists, batch, g, rule);
    const auto rows = lists.of_batch(batch);
    for_each(ctx, rows.count,
             [state = groups.view(), rows, to = to.data(), list = lists.rows()] __device__(std::int64_t r) {
               const I v = list[rows.first + r];
               if (to[v] != v) state.move(v, to[v]);
             });
    lists.for_batch(batch, g.offsets, update_cut<I, O, Numbers>{g, rule, cut.data()});
  }
}

}  // namespace spargo::detail::communities
