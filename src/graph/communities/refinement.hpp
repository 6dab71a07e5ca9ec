// Refinement of communities, the step that Leiden adds to Louvain: nodes start alone and join others of their
// community, so that badly connected parts are separated.
//
// A node that is still alone joins the group of its community with the largest positive gain, if both it and the group
// are well connected to the rest of the community: if the weight between them and the rest is at least the penalty of
// both. Nodes are visited once, in batches by a hash; a batch decides from the groups as of its start. A node alone in
// the same batch is no target, because it may leave: so no node joins a group that is being vacated, and every group is
// connected. Groups with several nodes lose none. Small levels: one node at a time.
//
// Gains are reduced by up to 1/32 at random when they are compared, so that another pass finds other groups: after 60
// passes p2p-Gnutella31 has modularity .522 instead of .520.
//
// Source: Traag, Waltman, van Eck, Sci. Rep. 9, 5233, 2019, where groups are taken with a probability exponential in
// the gain.
#pragma once

#include "graph/communities/local_moving.hpp"

namespace spargo::detail::communities {

template <class I, class O>
class refinement {
 public:
  refinement(const context<host>& ctx, const level_graph<I, O>& g, const gain_rule& rule, std::uint64_t seed,
             weight_tables<I>& sums)
      : ctx_(ctx), g_(g), rule_(rule), seed_(seed), cut_(ctx, g.nodes), sums_(sums) {}

  // community: [node]. On return group: [node] the number of a node of its group.
  void run(span<I, host> community, span<I, host> group) {
    const std::int64_t n = g_.nodes;
    const moving_state<I, O> communities(ctx_, g_, community);
    parallel_for(ctx_.threads(), n, grain::elements, [&](std::int64_t v) { group[v] = static_cast<I>(v); });
    moving_state<I, O> groups(ctx_, g_, group);
    measure_cuts(community);
    if (moving_tuning::is_small(n, g_.entries())) {
      join_in_sequence(communities, groups);
    } else {
      join_in_batches(communities, groups);
    }
  }

 private:
  void measure_cuts(span<const I, host> community) {
    parallel_for(ctx_.threads(), g_.nodes, grain::rows / 8, [&](std::int64_t v) {
      std::int64_t cut = 0;
      const I own = community[v];
      for (std::int64_t e = g_.offsets[v]; e < g_.offsets[v + 1]; ++e) {
        const I u = g_.neighbours[e];
        const bool counts = (u != v) & (community[u] == own);
        cut += counts ? g_.weight(e) : 0;
      }
      cut_[v] = cut;
    });
  }

  [[nodiscard]] bool is_well_connected(const moving_state<I, O>& groups, I group, const masses& community) const {
    const masses own = groups.of_community(group);
    return rule_.gain(cut_[group], own, without(community, own)) >= 0;
  }

  // The group that v joins, or v. `may_leave(u)`: whether node u, if it is alone, may join another group now.
  template <class MayLeave>
  [[nodiscard]] I best_group(const moving_state<I, O>& communities, const moving_state<I, O>& groups, std::int64_t v,
                             weight_table<I>& sums, MayLeave&& may_leave) const {
    return rule_.narrow ? best_group_in<std::int64_t>(communities, groups, v, sums, may_leave)
                        : best_group_in<int128>(communities, groups, v, sums, may_leave);
  }
  template <class Gain, class MayLeave>
  [[nodiscard]] I best_group_in(const moving_state<I, O>& communities, const moving_state<I, O>& groups, std::int64_t v,
                                weight_table<I>& sums, MayLeave&& may_leave) const {
    const I self = static_cast<I>(v);
    const I community = communities.community(v);
    const masses all = communities.of_community(community);
    if (groups.community(v) != self || !groups.is_alone(self) || !is_well_connected(groups, self, all)) return self;
    sums.begin(std::min<std::int64_t>(g_.offsets[v + 1] - g_.offsets[v], g_.nodes), g_.nodes);
    for_kept_entries(
        g_, v, [&](I u) { return (u != v) & (communities.community(u) == community); },
        [&](I u, std::int64_t weight) { sums.add(groups.community(u), weight); });
    const masses mass = groups.of_node(v);
    const std::uint64_t key = blur_key(seed_, v);
    I best = self;
    Gain most = 0;
    for (std::int64_t k = 0; k < sums.size(); ++k) {
      const auto [c, weight] = sums[k];
      const Gain gain = blurred_gain(rule_.template gain_in<Gain>(weight, mass, groups.of_community(c)), key, c);
      if (gain < most || gain <= 0 || (gain == most && c > best)) continue;
      if ((groups.is_alone(c) && may_leave(c)) || !is_well_connected(groups, c, all)) continue;
      most = gain;
      best = c;
    }
    return best;
  }

  // v has joined a group: the weight between it and the rest. `together(u)`: u joined at the same time.
  template <class Together>
  [[nodiscard]] std::int64_t change_of_cut(const moving_state<I, O>& communities, const moving_state<I, O>& groups,
                                           std::int64_t v, Together&& together) const {
    std::int64_t change = 0;
    const I community = communities.community(v);
    const I group = groups.community(v);
    for_kept_entries(
        g_, v, [&](I u) { return (u != v) & (communities.community(u) == community); },
        [&](I u, std::int64_t weight) {
          change += groups.community(u) != group ? weight : (together(u) ? 0 : -weight);
        });
    return change;
  }

  void join_in_sequence(const moving_state<I, O>& communities, moving_state<I, O>& groups) {
    std::vector<std::pair<std::uint64_t, I>> order;
    for (std::int64_t v = 0; v < g_.nodes; ++v) {
      order.emplace_back(mixed_bits(seed_, static_cast<std::uint64_t>(v)), static_cast<I>(v));
    }
    std::sort(order.begin(), order.end());
    for (const auto& [key, v] : order) {
      const I to = best_group(communities, groups, v, sums_[0], [](I) { return false; });
      if (to == v) continue;
      groups.move(v, to);
      cut_[to] += change_of_cut(communities, groups, v, [](I) { return false; });
    }
  }

  void join_in_batches(const moving_state<I, O>& communities, moving_state<I, O>& groups) {
    array<I, host> to(ctx_, g_.nodes), list(ctx_, g_.nodes);
    const std::vector<std::int64_t> ends = list_batches<I>(
        ctx_, g_.nodes, seed_, [](std::int64_t) { return true; }, list.view());
    const auto batch = [&](std::int64_t v) {
      return mixed_bits(seed_, static_cast<std::uint64_t>(v)) % moving_tuning::batches;
    };
    for (std::uint64_t now = 0; now < moving_tuning::batches; ++now) {
      const I* const nodes = list.data() + ends[now];
      const std::int64_t count = ends[now + 1] - ends[now];
      const parts chunks = chunks_of(count, moving_tuning::chunk);
      const int threads = static_cast<int>(std::min<std::int64_t>(ctx_.threads(), chunks.count));
      on_threads(threads, chunks.count, [&](part_taker& mine) {
        weight_table<I>& sums = sums_[static_cast<std::size_t>(mine.slot())];
        for (std::int64_t part; mine.take(part);) {
          interruption::look();
          for (std::int64_t k = chunks.first(part); k < chunks.last(part); ++k) {
            to[nodes[k]] = best_group(communities, groups, nodes[k], sums, [&](I u) { return batch(u) == now; });
          }
        }
      });
      parallel_for(threads, count, grain::rows, [&](std::int64_t k) {
        if (const I v = nodes[k]; to[v] != v) groups.move(v, to[v]);
      });
      parallel_parts(threads, chunks.count, [&](std::int64_t part) {
        for (std::int64_t k = chunks.first(part); k < chunks.last(part); ++k) {
          const I v = nodes[k];
          if (to[v] == v) continue;
          const std::int64_t change =
              change_of_cut(communities, groups, v, [&](I u) { return batch(u) == now && to[u] != u; });
          std::atomic_ref<std::int64_t>(cut_[to[v]]).fetch_add(change, std::memory_order_relaxed);
        }
      });
    }
  }

  context<host> ctx_;
  level_graph<I, O> g_;
  gain_rule rule_;
  std::uint64_t seed_;
  array<std::int64_t, host> cut_;  // [group] weight between it and the rest of its community
  weight_tables<I>& sums_;
};

}  // namespace spargo::detail::communities
