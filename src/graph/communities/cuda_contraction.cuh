// Contraction on the device: pairs of groups in one hash table.
//
// Every edge between two groups adds its weight to the pair's slot, from the smaller group's side only, as levels are
// symmetric; the first to take a slot counts an entry for both groups' rows. Then the slots go to the rows. The order
// of a row depends on atomics; that of levels moved in sequence, which it matters for, is sorted by the host. Memory:
// 16 to 32 bytes per entry of the level, besides the result.
#pragma once

#include "graph/communities/cuda_row_groups.cuh"
#include "primitives/element.hpp"

#include <spargo/primitives/scan.hpp>

#include <bit>

namespace spargo::detail::communities {

template <class I, class O>
struct device_level {
  array<O, device> offsets;
  array<I, device> neighbours;
  array<std::int64_t, device> weights;
  array<std::int64_t, device> mass;
  array<std::int64_t, device> in_mass;

  [[nodiscard]] level_graph<I, O> view() const {
    level_graph<I, O> g{mass.size(),    offsets.data(), neighbours.data(),
                        weights.data(), mass.data(),    in_mass.empty() ? nullptr : in_mass.data()};
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

// number[v]: the position of v's group among the groups, which are named by their smallest members. Returns how many.
// Waits for the device.
template <class I>
std::int64_t number_groups(const context<device>& ctx, std::int64_t n, const I* group, array<I, device>& number) {
  if (n == 0) return 0;
  array<I, device> first(ctx, n), before(ctx, n);
  for_each(ctx, n, [to = first.data(), group] __device__(std::int64_t v) { to[v] = group[v] == v ? 1 : 0; });
  exclusive_scan<I, device>(ctx, first.view(), before.view());
  for_each(ctx, n,
           [to = number.data(), from = before.data(), group] __device__(std::int64_t v) { to[v] = from[group[v]]; });
  return std::int64_t{element<I>(ctx, std::as_const(before).view(), n - 1)} +
         std::int64_t{element<I>(ctx, std::as_const(first).view(), n - 1)};
}

constexpr count64 no_pair = ~count64{0};

template <class O>
struct pair_table {
  count64* pairs;
  count64* sums;
  std::int64_t slots;
  O* row_sizes;  // [group]

  __device__ void add(count64 low, count64 high, std::int64_t weight) const {
    const count64 pair = low << 32 | high;
    const auto mask = static_cast<count64>(slots - 1);
    count64 at = mixed_bits(1, pair) & mask;
    for (;;) {
      const count64 there = *static_cast<volatile count64*>(pairs + at);
      if (there == pair) break;
      if (there == no_pair) {
        const count64 before = atomicCAS(pairs + at, no_pair, pair);
        if (before == pair) break;
        if (before == no_pair) {
          add_to(row_sizes + low, O{1});
          add_to(row_sizes + high, O{1});
          break;
        }
      }
      at = (at + 1) & mask;
    }
    atomicAdd(sums + at, static_cast<count64>(weight));
  }
};

template <class I, class O>
struct add_pairs {
  level_graph<I, O> g;
  const I* number;
  pair_table<O> table;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v) const {
    const I own = number[v];
    const std::int64_t end = g.offsets[v + 1];
    for (std::int64_t e = g.offsets[v] + Group::rank(); e < end; e += Group::size) {
      const I other = number[g.neighbours[e]];
      if (own < other) table.add(static_cast<count64>(own), static_cast<count64>(other), g.weight(e));
    }
  }
  __device__ void finish() const {}
};

// number: [node] its group, 0 to count - 1.
template <class I, class O>
[[nodiscard]] device_level<I, O> contract_level(const context<device>& ctx, const level_graph<I, O>& g, const I* number,
                                                std::int64_t count) {
  if (count > std::int64_t{1} << 32) throw error(error_code::unsupported, "communities: over 2^32 communities");
  device_level<I, O> next;
  next.mass = {ctx, count};
  fill_zero<std::int64_t, device>(ctx, next.mass.view());
  if (g.in_mass != nullptr) {
    next.in_mass = {ctx, count};
    fill_zero<std::int64_t, device>(ctx, next.in_mass.view());
  }
  for_each(ctx, g.nodes, [g, number, mass = next.mass.data(), in = next.in_mass.data()] __device__(std::int64_t v) {
    add_to(mass + number[v], g.mass[v]);
    if (g.in_mass != nullptr) add_to(in + number[v], g.in_mass[v]);
  });
  const auto slots = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(g.entries_on_device, 64))));
  array<count64, device> pairs(ctx, slots), sums(ctx, slots);
  fill_bytes(ctx, pairs.data(), 0xff, static_cast<std::size_t>(slots) * sizeof(count64));
  fill_zero<count64, device>(ctx, sums.view());
  array<O, device> sizes(ctx, count + 1);
  fill_zero<O, device>(ctx, sizes.view());
  const pair_table<O> table{pairs.data(), sums.data(), slots, sizes.data()};
  row_lists<I, O> lists(ctx, g.nodes);
  lists.list_all(g.nodes, g.offsets, 0);
  lists.for_all(add_pairs<I, O>{g, number, table});
  next.offsets = {ctx, count + 1};
  exclusive_scan<O, device>(ctx, sizes.view(), next.offsets.view());
  const auto entries = std::int64_t{element<O>(ctx, std::as_const(next.offsets).view(), count)};
  next.neighbours = {ctx, entries};
  next.weights = {ctx, entries};
  copy<O>(ctx, std::as_const(next.offsets).view(), sizes.view());
  for_each(ctx, slots,
           [table, at = sizes.data(), to = next.neighbours.data(),
            weights = next.weights.data()] __device__(std::int64_t s) {
             const count64 pair = table.pairs[s];
             if (pair == no_pair) return;
             const auto low = static_cast<std::int64_t>(pair >> 32);
             const auto high = static_cast<std::int64_t>(pair & 0xffffffffU);
             const auto weight = static_cast<std::int64_t>(table.sums[s]);
             const auto first = static_cast<std::int64_t>(fetch_add(at + low, O{1}));
             const auto second = static_cast<std::int64_t>(fetch_add(at + high, O{1}));
             to[first] = static_cast<I>(high);
             weights[first] = weight;
             to[second] = static_cast<I>(low);
             weights[second] = weight;
           });
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
  __device__ void operator()(Group, std::int64_t, std::int64_t v) const {
    const std::int64_t end = g.offsets[v + 1];
    for (std::int64_t e = g.offsets[v] + Group::rank(); e < end; e += Group::size) {
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
  lists.list_all(g.nodes, g.offsets, 0);
  const unite_inside<I, O> unite{g, community, root.data()};
  lists.for_all(unite);
  for_each(ctx, g.nodes,
           [unite, community] __device__(std::int64_t v) { community[v] = unite.find(static_cast<I>(v)); });
}

}  // namespace spargo::detail::communities
