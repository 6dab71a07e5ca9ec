// Reverse Cuthill-McKee on a device: the host's order.
//
// All components are searched at once, from their vertices of least degree, then from the farthest vertices found
// (George and Liu): a component drops out when its depth no longer grows. A stable sort by component turns the
// list of levels into the components' orders. Last, both orders of each component compete by bandwidth, in one pass
// over the edges. So the number of launches follows the depth of the search, not the number of components.
//
// Synchronizes for each wide level and a few times per search. Memory: some 70 bytes per vertex (100 if isolated) and
// 16 per 1024 entries.
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/device/words.cuh"
#include "core/instantiate.hpp"
#include "graph/frontier/edge_shares.cuh"
#include "graph/structure/ordered_search.cuh"
#include "graph/structure/reorder_device.hpp"
#include "primitives/select/select.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/graph/components.hpp>

#include <bit>
#include <utility>

namespace spargo::detail::reorder {

namespace {

constexpr std::int64_t edge_share = 1024;  // of a warp that looks at all edges

// Of each component, numbered by the rank of its vertex of least degree.
struct component_table {
  number* source;     // of its next search
  number* offset;     // its place in the order
  number* begin;      // of its vertices among those of the last search
  number* depth;      // of that search
  number* levels;     // the largest depth so far
  number* farthest;   // least rank in the last level
  number* bandwidth;  // of the first order
  number* other;      // of the last one
};

component_table take_table(plan_memory& memory, std::int64_t count) {
  component_table t{};
  for (number** const column :
       {&t.source, &t.offset, &t.begin, &t.depth, &t.levels, &t.farthest, &t.bandwidth, &t.other}) {
    *column = memory.take<number>(count);
  }
  return t;
}

void fill(const context<device>& ctx, number* values, std::int64_t count, int byte) {
  fill_bytes(ctx, values, byte, static_cast<std::size_t>(count) * sizeof(number));
}

__device__ inline void lower(number* to, number value) {
  if (value < __ldcg(to)) atomicMin(to, value);
}
__device__ inline void raise(number* to, number value) {
  if (value > __ldcg(to)) atomicMax(to, value);
}

// The component of each vertex, and the sources of the first search. labels[v]: any vertex of v's component, the same
// for all of it.
template <class I>
void number_components(const context<device>& ctx, const I* labels, const array<number, device>& rank,
                       const array<number, device>& by_rank, number* component, component_table& t,
                       plan_memory& memory) {
  const std::int64_t n = rank.size();
  const number* const ranks = rank.data();
  const number* const vertices = by_rank.data();
  array<number, device> by_label(ctx, n);  // the least rank, then the component's number
  number* const of_label = by_label.data();
  fill(ctx, of_label, n, 0xff);
  for_each(ctx, n, [=] __device__(std::int64_t v) { lower(of_label + labels[v], ranks[v]); });
  array<std::uint8_t, device> flags(ctx, n);
  std::uint8_t* const is_least = flags.data();
  for_each(ctx, n, [=] __device__(std::int64_t r) { is_least[r] = of_label[labels[vertices[r]]] == r ? 1 : 0; });
  const array<std::int64_t, device> least = positions_of(ctx, std::as_const(flags).view());
  t = take_table(memory, least.size());
  number* const source = t.source;
  const std::int64_t* const from = least.data();
  for_each(ctx, least.size(), [=] __device__(std::int64_t c) {
    const number v = vertices[from[c]];
    source[c] = v;
    of_label[labels[v]] = static_cast<number>(c);
  });
  for_each(ctx, n, [=] __device__(std::int64_t v) { component[v] = of_label[labels[v]]; });
}

// 1. The starts of a search of the active components.
template <class I, class O>
void start(const context<device>& ctx, const searched_rows<I, O>& s, std::int64_t n,
           const array<number, device>& active, const component_table& t) {
  fill(ctx, s.parent, n, 0xff);
  const number* const components = active.data();
  for_each(ctx, active.size(), [=] __device__(std::int64_t k) {
    const number c = components[k];
    const number v = t.source[c];
    s.list[k] = v;
    s.level[k] = 0;
    s.parent[v] = 0;
    t.farthest[c] = none;
  });
}

// The visited vertices by component: place k has list[item[k]], of component[k].
struct grouped_vertices {
  grouped_vertices(const context<device>& ctx, std::int64_t n)
      : component(ctx, n), item(ctx, n), spare_component(ctx, n), spare_item(ctx, n) {}

  array<number, device> component;
  array<number, device> item;
  array<number, device> spare_component;
  array<number, device> spare_item;
};

// 2. Sorts them.
template <class I, class O>
void group(const context<device>& ctx, const searched_rows<I, O>& s, std::int64_t visited, const number* component,
           std::int64_t components, std::int64_t active, grouped_vertices& g) {
  number* const keys = g.component.data();
  number* const items = g.item.data();
  for_each(ctx, visited, [=] __device__(std::int64_t i) {
    keys[i] = component[s.list[i]];
    items[i] = static_cast<number>(i);
  });
  if (active == 1) return;
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(components - 1)));
  sort_pairs(ctx, visited, g.component, g.item, g.spare_component, g.spare_item, 0, bits);
}

// 3. Where each component begins, and its depth.
template <class I, class O>
void find_depths(const context<device>& ctx, const searched_rows<I, O>& s, std::int64_t visited,
                 const grouped_vertices& g, const component_table& t) {
  const number* const component = g.component.data();
  const number* const item = g.item.data();
  for_each(ctx, visited, [=] __device__(std::int64_t k) {
    const number c = component[k];
    if (k == 0 || component[k - 1] != c) t.begin[c] = static_cast<number>(k);
    if (k == visited - 1 || component[k + 1] != c) t.depth[c] = s.level[item[k]];
  });
}

// 4. The vertices' positions in the order, and the far ends.
template <class I, class O>
void find_positions(const context<device>& ctx, const searched_rows<I, O>& s, std::int64_t visited,
                    const grouped_vertices& g, const component_table& t, number* position) {
  const number* const component = g.component.data();
  const number* const item = g.item.data();
  for_each(ctx, visited, [=] __device__(std::int64_t k) {
    const number c = component[k];
    const number v = s.list[item[k]];
    position[v] = t.offset[c] + (static_cast<number>(k) - t.begin[c]);
    if (s.level[item[k]] == t.depth[c]) lower(t.farthest + c, s.rank[v]);
  });
}

// 5. The components that are searched again: after the first search those whose far end is not its start, later those
// that have become deeper.
array<number, device> deeper(const context<device>& ctx, const array<number, device>& active, const number* by_rank,
                             const component_table& t, bool is_first) {
  array<std::uint8_t, device> flags(ctx, active.size());
  std::uint8_t* const goes_on = flags.data();
  const number* const components = active.data();
  for_each(ctx, active.size(), [=] __device__(std::int64_t k) {
    const number c = components[k];
    const number next = by_rank[t.farthest[c]];
    const bool again = is_first ? next != t.source[c] : t.depth[c] > t.levels[c];
    goes_on[k] = again ? 1 : 0;
    if (!is_first && !again) return;
    t.levels[c] = t.depth[c];
    t.source[c] = next;
  });
  const array<std::int64_t, device> places = positions_of(ctx, std::as_const(flags).view());
  return gathered(ctx, active.view(), places.view());
}

// The bandwidth of each component under both orders.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    bandwidths_kernel(const O* offsets, const I* indices, edge_range edges, const number* component,
                      const number* first, const number* last, component_table t) {
  number c = none, at_first = 0, at_last = 0, width = 0, other = 0;
  const auto report = [&] {
    if (c == none) return;
    raise(t.bandwidth + c, width);
    raise(t.other + c, other);
  };
  const auto distance = [](number a, number b) { return a < b ? b - a : a - b; };
  for_each_edge_in_share(
      offsets, edges, edge_share,
      [&](std::int64_t v) {
        if (component[v] != c) {
          report();
          c = component[v];
          width = other = 0;
        }
        at_first = first[v];
        at_last = last[v];
      },
      [&](std::int64_t e, std::int64_t) {
        const I u = indices[e];
        width = max(width, distance(at_first, first[u]));
        other = max(other, distance(at_last, last[u]));
      });
  report();
}

template <class I, class O>
void find_bandwidths(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, const number* component,
                     const number* first, const number* last, const component_table& t, std::int64_t components) {
  fill(ctx, t.bandwidth, components, 0);
  fill(ctx, t.other, components, 0);
  if (rows.nnz() == 0) return;
  launch_kernel(ctx, one_thread_each(div_up(rows.nnz(), edge_share) * warp_size, block_threads),
                bandwidths_kernel<I, O>, rows.offsets.data(), rows.indices.data(),
                edge_range{0, rows.rows, 0, rows.nnz()}, component, first, last, t);
}

// The better order of each component, reversed.
template <class I>
array<I, device> chosen(const context<device>& ctx, std::int64_t n, const number* component, const number* first,
                        const number* last, const component_table& t) {
  array<I, device> order(ctx, n);
  I* const to = order.data();
  for_each(ctx, n, [=] __device__(std::int64_t v) {
    const number c = component[v];
    const number at = t.other[c] < t.bandwidth[c] ? last[v] : first[v];
    to[n - 1 - at] = static_cast<I>(v);
  });
  return order;
}

}  // namespace

template <class I, class O>
array<I, device> reverse_cuthill_mckee(const context<device>& ctx, const graph_view<I, O, device>& g) {
  const std::int64_t n = g.vertices();
  if (n == 0) return {ctx, 0};
  const device_guard guard(ctx);
  const array<number, device> by_rank = by_length(ctx, g.out, length_order::ascending);
  array<number, device> rank(ctx, n);
  invert_permutation(ctx, by_rank.view(), rank.data());
  plan_memory memory(ctx);
  number* const component = memory.take<number>(n);
  number* const first = memory.take<number>(n);
  number* const last = memory.take<number>(n);
  component_table t{};
  array<number, device> active;
  {
    const auto labels = components(ctx, g);
    number_components(ctx, labels.labels.data(), rank, by_rank, component, t, memory);
    active = iota(ctx, labels.count);
  }
  const std::int64_t count = active.size();
  ordered_search<I, O> search(ctx, g.out, rank, by_rank);
  grouped_vertices by_component(ctx, n);
  for (bool is_first = true; !active.empty(); is_first = false) {
    start(ctx, search.rows(), n, active, t);
    const std::int64_t visited = search.run(active.size());
    group(ctx, search.rows(), visited, component, count, active.size(), by_component);
    find_depths(ctx, search.rows(), visited, by_component, t);
    if (is_first) copy_on_device(ctx, t.begin, t.offset, static_cast<std::size_t>(count) * sizeof(number));
    find_positions(ctx, search.rows(), visited, by_component, t, is_first ? first : last);
    if (is_first) copy_on_device(ctx, first, last, static_cast<std::size_t>(n) * sizeof(number));
    active = deeper(ctx, active, by_rank.data(), t, is_first);
  }
  find_bandwidths(ctx, g.out, component, first, last, t, count);
  return chosen<I>(ctx, n, component, first, last, t);
}

#define INSTANTIATE(I, O) \
  template array<I, device> reverse_cuthill_mckee(const context<device>&, const graph_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::reorder
