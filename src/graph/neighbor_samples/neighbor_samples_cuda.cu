// Neighbour sampling on the device, one thread per expanded vertex. marks[v] is the number of v among the nodes or, of
// a new vertex, the smallest edge that leads to it: so new vertices are numbered in edge order, whichever thread is
// first.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/neighbor_samples/backend.hpp"
#include "primitives/element.hpp"

#include <spargo/primitives/scan.hpp>

#include <limits>
#include <utility>
#include <vector>

namespace spargo::detail::neighbor_samples {

namespace {

using mark = long long;                                          // a type that atomicMin takes
constexpr mark no_mark = std::numeric_limits<mark>::max();       // not seen
SPARGO_HD constexpr mark of_node(std::int64_t k) { return ~k; }  // below every edge's
SPARGO_HD constexpr std::int64_t node_of(mark m) { return ~m; }

// Replaces counts, and one element after them, by their exclusive prefix sums; returns the total. Synchronizes.
[[nodiscard]] std::int64_t sum_up(const context<device>& ctx, array<std::int64_t, device>& values) {
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(values).view(), values.view());
  return element<std::int64_t>(ctx, std::as_const(values).view(), values.size() - 1);
}

// Marks the seeds. Synchronizes.
template <class I>
void mark_seeds(const context<device>& ctx, span<const I, device> seeds, std::int64_t vertices, mark* marks) {
  array<count64, device> faults(ctx, 2);  // first seed that is not a vertex; first repeated seed
  for_each(ctx, 2, [size = seeds.size(), to = faults.data()] __device__(std::int64_t k) {
    to[k] = static_cast<count64>(size);
  });
  for_each(ctx, seeds.size(), [=, seeds = seeds.data(), to = faults.data()] __device__(std::int64_t k) {
    if (seeds[k] < 0 || static_cast<std::int64_t>(seeds[k]) >= vertices) {
      atomicMin(to, static_cast<count64>(k));
    } else {
      atomicMin(marks + seeds[k], k);
    }
  });
  for_each(ctx, seeds.size(), [=, seeds = seeds.data(), to = faults.data()] __device__(std::int64_t k) {
    const bool is_vertex = seeds[k] >= 0 && static_cast<std::int64_t>(seeds[k]) < vertices;
    if (is_vertex && marks[seeds[k]] != k) atomicMin(to + 1, static_cast<count64>(k));
  });
  const auto found = to_host(ctx, std::as_const(faults).view());
  const auto refuse = [&](count64 k, auto refusal, auto... more) {
    if (k < static_cast<count64>(seeds.size())) {
      const auto place = static_cast<std::int64_t>(k);
      refusal(place, std::int64_t{element<I>(ctx, seeds, place)}, more...);
    }
  };
  if (found[0] <= found[1]) refuse(found[0], refuse_vertex, vertices);
  refuse(found[1], refuse_duplicate);
  for_each(ctx, seeds.size(),
           [marks, seeds = seeds.data()] __device__(std::int64_t k) { marks[seeds[k]] = of_node(k); });
}

template <class I, class O>
struct hop_edges {
  array<I, device> rows;
  array<I, device> cols;
  array<O, device> edges;
};

// The edges of a hop that expands `nodes`, numbered from `first`; their `rows` follow later. Synchronizes.
template <class I, class O>
[[nodiscard]] hop_edges<I, O> draw_hop(const context<device>& ctx, const O* offsets, const hop_rule& rule,
                                       const array<I, device>& nodes, std::int64_t first) {
  array<std::int64_t, device> places(ctx, nodes.size() + 1);
  for_each(ctx, places.size(),
           [=, nodes = nodes.data(), size = nodes.size(), to = places.data()] __device__(std::int64_t i) {
             const auto begin = i < size ? static_cast<std::int64_t>(offsets[nodes[i]]) : 0;
             to[i] = i < size ? rule.count(static_cast<std::int64_t>(offsets[nodes[i] + 1]) - begin) : 0;
           });
  const std::int64_t total = sum_up(ctx, places);
  hop_edges<I, O> of{{ctx, total}, {ctx, total}, {ctx, total}};
  for_each(ctx, nodes.size(),
           [=, nodes = nodes.data(), places = places.data(), cols = of.cols.data(),
            edges = of.edges.data()] __device__(std::int64_t i) {
             const auto begin = static_cast<std::int64_t>(offsets[nodes[i]]);
             draw_entries(rule, static_cast<std::int64_t>(nodes[i]), begin,
                          static_cast<std::int64_t>(offsets[nodes[i] + 1]) - begin, edges + places[i]);
             for (std::int64_t k = places[i]; k < places[i + 1]; ++k) cols[k] = static_cast<I>(first + i);
           });
  return of;
}

// Numbers new vertices from `next` on and fills in the edges' rows. Returns the new vertices. Synchronizes.
template <class I, class O>
[[nodiscard]] array<I, device> number_nodes(const context<device>& ctx, const I* indices, hop_edges<I, O>& of,
                                            std::int64_t next, mark* marks) {
  const std::int64_t size = of.edges.size();
  const O* const edges = of.edges.data();
  for_each(ctx, size, [=] __device__(std::int64_t k) { atomicMin(marks + indices[edges[k]], k); });
  array<std::int64_t, device> places(ctx, size + 1);
  for_each(ctx, places.size(), [=, to = places.data()] __device__(std::int64_t k) {
    to[k] = k < size && marks[indices[edges[k]]] == k ? 1 : 0;
  });
  array<I, device> found(ctx, sum_up(ctx, places));
  for_each(ctx, size, [=, places = places.data(), to = found.data()] __device__(std::int64_t k) {
    if (places[k + 1] == places[k]) return;
    const I vertex = indices[edges[k]];
    to[places[k]] = vertex;
    marks[vertex] = of_node(next + places[k]);
  });
  for_each(ctx, size, [=, rows = of.rows.data()] __device__(std::int64_t k) {
    rows[k] = static_cast<I>(node_of(marks[indices[edges[k]]]));
  });
  return found;
}

template <class T, class Hops, class Part>
[[nodiscard]] array<T, device> joined(const context<device>& ctx, const Hops& hops, Part part) {
  std::int64_t size = 0;
  for (const auto& hop : hops) size += part(hop).size();
  array<T, device> all(ctx, size);
  std::int64_t first = 0;
  for (const auto& hop : hops) {
    const array<T, device>& from = part(hop);
    if (!from.empty()) copy<T>(ctx, from.view(), all.view().subspan(first, from.size()));
    first += from.size();
  }
  return all;
}

}  // namespace

template <class I, class O>
neighbor_sample<I, O, device> sample(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                     span<const I, device> seeds, const neighbor_sample_options& options) {
  array<mark, device> marks(ctx, rows.rows);
  for_each(ctx, marks.size(), [to = marks.data()] __device__(std::int64_t v) { to[v] = no_mark; });
  mark_seeds(ctx, seeds, rows.rows, marks.data());
  std::vector<array<I, device>> nodes;
  nodes.push_back(clone(ctx, seeds));
  std::vector<hop_edges<I, O>> hops;
  neighbor_sample<I, O, device> of;
  of.nodes_of_hop.push_back(seeds.size());
  std::int64_t next = 0;
  for (std::size_t hop = 0; hop < options.fan_outs.size(); ++hop) {
    hops.push_back(draw_hop<I, O>(ctx, rows.offsets.data(), rule_of(options, hop), nodes.back(), next));
    next += nodes.back().size();
    nodes.push_back(number_nodes(ctx, rows.indices.data(), hops.back(), next, marks.data()));
    of.nodes_of_hop.push_back(nodes.back().size());
    of.edges_of_hop.push_back(hops.back().edges.size());
  }
  of.nodes = joined<I>(
      ctx, nodes, [](const auto& each) -> const auto& { return each; });
  of.rows = joined<I>(
      ctx, hops, [](const auto& each) -> const auto& { return each.rows; });
  of.cols = joined<I>(
      ctx, hops, [](const auto& each) -> const auto& { return each.cols; });
  of.edges = joined<O>(
      ctx, hops, [](const auto& each) -> const auto& { return each.edges; });
  return of;
}

#define INSTANTIATE(I, O)                                                                                      \
  template neighbor_sample<I, O, device> sample(const context<device>&, const csr_pattern_view<I, O, device>&, \
                                                span<const I, device>, const neighbor_sample_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::neighbor_samples
