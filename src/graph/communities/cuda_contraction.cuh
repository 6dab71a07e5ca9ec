// Contraction on the device: the rows of a group are gathered, then summed by group as in local moving.
//
// The order of a row depends on atomics; that of levels moved in sequence, which it matters for, is sorted by the host.
// Memory: an index and 8 bytes per entry of the level, besides the result.
#pragma once

#include "graph/communities/cuda_aggregation.cuh"
#include "graph/communities/cuda_label_sums.cuh"
#include "graph/communities/levels.hpp"
#include "primitives/element.hpp"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::communities {

template <class I, class O>
struct device_level {
  array<O, device> offsets;
  array<I, device> neighbours;
  array<std::int64_t, device> weights;  // empty: each is 1
  array<std::int64_t, device> mass;
  array<std::int64_t, device> in_mass;

  [[nodiscard]] level_graph<I, O> view() const {
    level_graph<I, O> g{mass.size(),       offsets.data(),
                        neighbours.data(), weights.empty() ? nullptr : weights.data(),
                        mass.data(),       in_mass.empty() ? nullptr : in_mass.data()};
    g.entries_on_device = neighbours.size();
    return g;
  }
};

// Renames every group to its smallest member.
template <class I>
void name_by_smallest(const context<device>& ctx, std::int64_t n, I* group) {
  array<I, device> smallest(ctx, n);
  for_each(ctx, n, [to = smallest.data(), n] __device__(std::int64_t v) { to[v] = static_cast<I>(n); });
  for_each(ctx, n, [to = smallest.data(), group] __device__(std::int64_t v) {
    I* const least = to + group[v];
    if (*static_cast<volatile I*>(least) > v) lower_to(least, static_cast<I>(v));
  });
  for_each(ctx, n, [from = smallest.data(), group] __device__(std::int64_t v) { group[v] = from[group[v]]; });
}

// As on the host. Waits for the device.
template <class I, class O>
group_count number_groups(const context<device>& ctx, const level_graph<I, O>& g, const I* community, const I* group,
                          array<I, device>& number) {
  const std::int64_t n = g.nodes;
  if (n == 0) return {};
  array<I, device> first(ctx, n), before(ctx, n);
  array<count64, device> finished(ctx, 1);
  fill_zero<count64, device>(ctx, finished.view());
  fill_bytes(ctx, number.data(), 0xff, static_cast<std::size_t>(n) * sizeof(I));
  // The nodes that others are named by get 0.
  for_each(ctx, n, [g, community, group, number = number.data()] __device__(std::int64_t v) {
    const bool has_entries = g.offsets[v] < g.offsets[v + 1];
    if (group[v] != v || has_entries) number[group[v]] = 0;
    if (community[v] != v || has_entries) number[community[v]] = 0;
  });
  for_each(ctx, n,
           [to = first.data(), group, number = number.data(), finished = finished.data()] __device__(std::int64_t v) {
             const bool names = group[v] == v;
             to[v] = names && number[v] >= 0 ? 1 : 0;
             if (names && number[v] < 0) atomicAdd(finished, count64{1});
           });
  exclusive_scan<I, device>(ctx, first.view(), before.view());
  for_each(ctx, n, [to = number.data(), first = first.data(), from = before.data(), group] __device__(std::int64_t v) {
    const I name = group[v];
    to[v] = first[name] != 0 ? from[name] : I{-1};
  });
  return {std::int64_t{element<I>(ctx, std::as_const(before).view(), n - 1)} +
              std::int64_t{element<I>(ctx, std::as_const(first).view(), n - 1)},
          static_cast<std::int64_t>(element<count64>(ctx, std::as_const(finished).view(), 0))};
}

// Copies every row to its group's rows, with neighbours renamed to groups.
template <class I, class O>
struct gather_group_rows {
  level_graph<I, O> g;
  const I* number;
  O* next;  // [group] where its next entries go
  I* neighbours;
  std::int64_t* weights;  // null: all are 1
  count64* inside;        // entries inside groups
  unsigned mine = 0;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    const I group = number[v];
    const O own = Group::rank() == 0 ? fetch_add(next + group, static_cast<O>(end - begin)) : O{0};
    const std::int64_t shift = std::int64_t{Group::reduce(own, plus{})} - begin;
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I other = number[g.neighbours[e]];
      mine += other == group ? 1 : 0;
      neighbours[e + shift] = other;
      if (weights != nullptr) weights[e + shift] = g.weights[e];
    }
  }
  __device__ void finish() const {
    const unsigned all = warp_sum(mine);
    if (lane_id() == 0 && all != 0) atomicAdd(inside, static_cast<count64>(all));
  }
};

// Replaces the entries of a group by their sums, in place.
template <class I, class O, class Numbers>
struct contraction_rule {
  using sum = typename Numbers::sum;
  using offer = no_offer;
  static constexpr bool marks = false;
  struct row {
    std::int64_t begin;
    I own;
    unsigned* used;
    offer best;
  };

  const O* offsets;
  I* neighbours;
  std::int64_t* weights;
  O* sizes;  // [group] entries that are left

  __device__ bool wants(std::int64_t) const { return true; }
  __device__ void skip(std::int64_t, std::int64_t) const {}
  __device__ I label(std::int64_t, I u) const { return u; }
  __device__ row begin(std::int64_t, std::int64_t v, unsigned* used) const {
    return {static_cast<std::int64_t>(offsets[v]), static_cast<I>(v), used, {}};
  }
  template <class Group>
  __device__ void take(row& of, I label, sum weight) const {
    unsigned place = 0;
    if constexpr (Group::size == 1) {
      place = (*of.used)++;
    } else {
      place = atomicAdd(of.used, 1U);
    }
    const std::int64_t at = of.begin + place;
    neighbours[at] = label;
    weights[at] = static_cast<std::int64_t>(weight);
  }
  template <class Group>
  __device__ I end(row& of, sum, bool active) const {
    Group::sync();
    if (active && Group::rank() == 0) sizes[of.own] = static_cast<O>(*static_cast<volatile unsigned*>(of.used));
    return -1;
  }
  __device__ void finish() const {}
};

template <class I, class O>
struct compact_rows {
  level_graph<I, O> from;
  const O* offsets;
  I* neighbours;
  std::int64_t* weights;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) const {
    const std::int64_t shift = static_cast<std::int64_t>(offsets[v]) - static_cast<std::int64_t>(from.offsets[v]);
    const std::int64_t last = static_cast<std::int64_t>(offsets[v + 1]) - shift;
    for (std::int64_t e = begin + Group::rank(); e < end && e < last; e += Group::size) {
      neighbours[e + shift] = from.neighbours[e];
      weights[e + shift] = from.weights[e];
    }
  }
  __device__ void finish() const {}
};

// number: [node] its group, 0 to count - 1, or -1 for nodes without entries.
template <class Numbers, class I, class O>
[[nodiscard]] device_level<I, O> contract_level(const context<device>& ctx, const level_graph<I, O>& g, const I* number,
                                                std::int64_t count) {
  device_level<I, O> next;
  next.mass = {ctx, count};
  fill_zero<std::int64_t, device>(ctx, next.mass.view());
  if (g.in_mass != nullptr) {
    next.in_mass = {ctx, count};
    fill_zero<std::int64_t, device>(ctx, next.in_mass.view());
  }
  array<O, device> sizes(ctx, count + 1), offsets(ctx, count + 1), at(ctx, count + 1);
  fill_zero<O, device>(ctx, sizes.view());
  sum_by_label(ctx, g.nodes, number, g.mass, next.mass.data());
  if (g.in_mass != nullptr) sum_by_label(ctx, g.nodes, number, g.in_mass, next.in_mass.data());
  for_each(ctx, g.nodes, [g, number, sizes = sizes.data()] __device__(std::int64_t v) {
    const O size = g.offsets[v + 1] - g.offsets[v];
    if (number[v] >= 0 && size > 0) add_to(sizes + number[v], size);
  });
  exclusive_scan<O, device>(ctx, sizes.view(), offsets.view());
  copy<O>(ctx, std::as_const(offsets).view(), at.view());
  array<I, device> neighbours(ctx, g.entries_on_device);
  array<std::int64_t, device> weights(ctx, g.weights != nullptr ? g.entries_on_device : 0);
  array<count64, device> inside(ctx, 1);
  fill_zero<count64, device>(ctx, inside.view());
  {
    row_lists<I, O> lists(ctx, g.nodes);
    lists.list_all(g.nodes, g.offsets);
    lists.for_all(g.offsets, gather_group_rows<I, O>{g, number, at.data(), neighbours.data(),
                                                     g.weights != nullptr ? weights.data() : nullptr, inside.data()});
  }
  if (moving_tuning::may_stay_apart(g.nodes, g.entries_on_device, count) &&
      moving_tuning::stay_apart(g.entries_on_device,
                                static_cast<std::int64_t>(element<count64>(ctx, std::as_const(inside).view(), 0)))) {
    next.offsets = std::move(offsets);
    next.neighbours = std::move(neighbours);
    next.weights = std::move(weights);
    return next;
  }
  level_graph<I, O> gathered{count, offsets.data(), neighbours.data(), g.weights != nullptr ? weights.data() : nullptr};
  if (g.weights == nullptr) weights = {ctx, g.entries_on_device};
  using sums_of = aggregation<I, typename Numbers::sum>;
  row_lists<I, O> lists(ctx, count, sums_of::segment(ctx));
  lists.list_all(count, {offsets.data(), nullptr, 0});  // in batches, for less memory
  sums_of sums(ctx);
  fill_zero<O, device>(ctx, sizes.view());
  const contraction_rule<I, O, Numbers> rule{offsets.data(), neighbours.data(), weights.data(), sizes.data()};
  for (int batch = 0; batch < row_tuning::batches; ++batch) sums.run(lists, batch, gathered, rule);
  gathered.weights = weights.data();
  next.offsets = {ctx, count + 1};
  exclusive_scan<O, device>(ctx, sizes.view(), next.offsets.view());
  const auto entries = std::int64_t{element<O>(ctx, std::as_const(next.offsets).view(), count)};
  next.neighbours = {ctx, entries};
  next.weights = {ctx, entries};
  lists.for_all(offsets.data(),
                compact_rows<I, O>{gathered, next.offsets.data(), next.neighbours.data(), next.weights.data()});
  return next;
}

// --- Connectedness --------------------------------------------------------

// Union-find over edges of positive weight inside communities; a tree's root is its smallest node.
template <class I, class O>
struct unite_inside {
  level_graph<I, O> g;
  const I* community;
  I* root;

  __device__ I find(I v) const {
    for (I up = load(v); up != v;) {
      const I above = load(up);
      if (above != up) *static_cast<volatile I*>(root + v) = above;
      v = up;
      up = above;
    }
    return v;
  }
  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I u = g.neighbours[e];
      if (u >= v || g.weight(e) == 0 || community[u] != community[v]) continue;
      for (;;) {
        I high = find(static_cast<I>(v));
        I low = find(u);
        if (high == low) break;
        if (high < low) {
          const I other = high;
          high = low;
          low = other;
        }
        if (compare_swap(root + high, high, low) == high) break;
      }
    }
  }
  __device__ void finish() const {}

 private:
  __device__ I load(I v) const { return *static_cast<volatile I*>(root + v); }
};

// Names every node by the smallest node that it reaches over edges of positive weight inside its community.
template <class I, class O>
void split_disconnected(const context<device>& ctx, const level_graph<I, O>& g, I* community) {
  array<I, device> root(ctx, g.nodes);
  for_each(ctx, g.nodes, [to = root.data()] __device__(std::int64_t v) { to[v] = static_cast<I>(v); });
  row_lists<I, O> lists(ctx, g.nodes);
  lists.list_all(g.nodes, g.offsets);
  const unite_inside<I, O> unite{g, community, root.data()};
  lists.for_all(g.offsets, unite);
  for_each(ctx, g.nodes,
           [unite, community] __device__(std::int64_t v) { community[v] = unite.find(static_cast<I>(v)); });
}

}  // namespace spargo::detail::communities
