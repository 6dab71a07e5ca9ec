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
  refinement(const context<host>& ctx, const level_graph<I, O>& g, const gain_rule& rule, std::uint64_t seed)
      : ctx_(ctx),
        g_(g),
        rule_(rule),
        seed_(seed),
        cut_(ctx, g.nodes),
        sums_(static_cast<std::size_t>(ctx.threads())) {}

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
      for (std::int64_t e = g_.offsets[v]; e < g_.offsets[v + 1]; ++e) {
        const I u = g_.neighbours[e];
        if (u != v && community[u] == community[v]) cut += g_.weight(e);
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
    const I self = static_cast<I>(v);
    const I community = communities.community(v);
    const masses all = communities.of_community(community);
    if (groups.community(v) != self || !groups.is_alone(self) || !is_well_connected(groups, self, all)) return self;
    const std::int64_t first = g_.offsets[v];
    const std::int64_t last = g_.offsets[v + 1];
    sums.begin(std::min(last - first, g_.nodes));
    for (std::int64_t e = first; e < last; ++e) {
      const I u = g_.neighbours[e];
      if (u != v && communities.community(u) == community) sums.add(groups.community(u), g_.weight(e));
    }
    const masses mass = groups.of_node(v);
    const std::uint64_t key = blur_key(seed_, v);
    I best = self;
    int128 most = 0;
    for (std::int64_t k = 0; k < sums.size(); ++k) {
      const auto& [c, weight] = sums[k];
      const int128 gain = blurred_gain(rule_.gain(weight, mass, groups.of_community(c)), key, c);
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
    for (std::int64_t e = g_.offsets[v]; e < g_.offsets[v + 1]; ++e) {
      const I u = g_.neighbours[e];
      if (u == v || communities.community(u) != communities.community(v)) continue;
      if (groups.community(u) != groups.community(v)) {
        change += g_.weight(e);
      } else if (!together(u)) {
        change -= g_.weight(e);
      }
    }
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
    constexpr int batches = 8;
    array<I, host> to(ctx_, g_.nodes);
    const auto batch = [&](std::int64_t v) {
      return static_cast<int>(mixed_bits(seed_, static_cast<std::uint64_t>(v)) % batches);
    };
    const parts chunks = chunks_of(g_.nodes, moving_tuning::chunk * batches);
    for (int now = 0; now < batches; ++now) {
      on_threads(ctx_.threads(), chunks.count, [&](part_taker& mine) {
        weight_table<I>& sums = sums_[static_cast<std::size_t>(mine.slot())];
        for (std::int64_t part; mine.take(part);) {
          interruption::look();
          for (std::int64_t v = chunks.first(part); v < chunks.last(part); ++v) {
            if (batch(v) != now) continue;
            to[v] = best_group(communities, groups, v, sums, [&](I u) { return batch(u) == now; });
          }
        }
      });
      parallel_for(ctx_.threads(), g_.nodes, grain::rows, [&](std::int64_t v) {
        if (batch(v) == now && to[v] != v) groups.move(v, to[v]);
      });
      parallel_parts(ctx_.threads(), chunks.count, [&](std::int64_t part) {
        for (std::int64_t v = chunks.first(part); v < chunks.last(part); ++v) {
          if (batch(v) != now || to[v] == v) continue;
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
  array<std::int64_t, host> cut_;      // [group] weight between it and the rest of its community
  std::vector<weight_table<I>> sums_;  // [slot]
};

}  // namespace spargo::detail::communities
