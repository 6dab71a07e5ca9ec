// Louvain and Leiden on the device: sums of weights by label, row by row.
//
// A row's entries are held in registers. Their labels and sums go into a hash table in shared memory; the thread whose
// entry first takes a slot hands the slot's sum to a rule afterwards. A row longer than a segment has a table in global
// memory besides: the blocks of its segments add their sums to it; then each of them, in another launch, hands over a
// part of the table, and the last one ends the row. Sums are of integers and ties are decided by labels, so results
// depend neither on the order of entries nor on that of atomics.
//
// A rule: wants(v), or skip(k, v); label(v, u) of a neighbour, -1: none; row begin(k, v, used), with a counter that
// starts at 0 for the row; take<Group>(row, label, sum) for every label; end<Group>(row, sum of row.own, active) by the
// whole group, which is synchronized before, with a row or not. It returns a label or -1; if the rule `marks` and it is
// a label, mark(u, label of u, that label) follows for the row's entries, but for rows of several segments. row.best:
// what a row's parts combine by offer(). finish() by all threads.
#pragma once

#include "core/device/shared_limit.cuh"
#include "graph/communities/cuda_row_groups.cuh"

namespace spargo::detail::communities {

// Numbers of a level: sums of weights, masses, and gains. Narrow ones suffice where gain_rule::narrow holds.
struct narrow_numbers {
  using sum = unsigned;
  using mass = unsigned;
  using gain = std::int64_t;
};
struct wide_numbers {
  using sum = count64;
  using mass = std::int64_t;
  using gain = int128;
};

struct better_of {
  template <class C>
  __device__ C operator()(C a, const C& b) const {
    a.offer(b);
    return a;
  }
};
// Of rules without a best label.
struct no_offer {
  unsigned none = 0;
  __device__ void offer(const no_offer&) {}
};

template <class I, class Sum>
struct sum_table {
  static constexpr unsigned taken = ~0U;

  I* labels;  // -1: free
  Sum* sums;
  int bits;  // 2^bits slots, more than there are labels; at least 1

  [[nodiscard]] __device__ unsigned mask() const { return (1U << bits) - 1; }
  [[nodiscard]] __device__ unsigned first_slot(I label) const {
    auto folded = static_cast<unsigned>(label);
    if constexpr (sizeof(I) > sizeof(unsigned)) folded ^= static_cast<unsigned>(label >> 32);
    return folded * 0x9e3779b1U >> (32 - bits);
  }
  template <class Group>
  __device__ void clear(Group) const {
    for (unsigned s = static_cast<unsigned>(Group::rank()); s <= mask(); s += Group::size) {
      labels[s] = -1;
      sums[s] = 0;
    }
  }
  // Returns the slot if the label is new, else `taken`.
  __device__ unsigned add(I label, Sum weight) const {
    unsigned at = first_slot(label);
    bool fresh = false;
    for (;; at = (at + 1) & mask()) {
      I there = *static_cast<volatile I*>(labels + at);
      if (there == -1) {
        there = compare_swap(labels + at, I{-1}, label);
        fresh = there == -1;
        if (fresh) break;
      }
      if (there == label) break;
    }
    atomicAdd(sums + at, weight);
    return fresh ? at : taken;
  }
};

// Bits of the slots for this number of labels, at least twice as many.
[[nodiscard]] __device__ inline int bits_for(std::int64_t labels) {
  return labels > 1 ? 64 - __clzll(2 * labels - 1) : 1;
}

// The labels of this thread's entries among begin to end, and their slots, which the caller hands over after a sync.
template <class Group, class I, class O, class Rule>
struct held_entries {
  using Sum = typename Rule::sum;
  I labels[Group::items];
  unsigned slots[Group::items];
  int trips;  // entries of a thread, at most

  // size: 0 for groups without a row.
  __device__ void add(const level_graph<I, O>& g, std::int64_t v, std::int64_t begin, int size, const Rule& rule,
                      const sum_table<I, Sum>& table) {
    const I* const neighbours = g.neighbours + begin;
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      if (j >= trips) break;
      const int e = Group::rank() + j * Group::size;
      labels[j] = e < size ? neighbours[e] : static_cast<I>(v);
    }
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      if (j >= trips) break;
      labels[j] = labels[j] != v ? rule.label(v, labels[j]) : I{-1};
    }
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      if (j >= trips) break;
      slots[j] = sum_table<I, Sum>::taken;
      if (labels[j] < 0) continue;
      slots[j] = table.add(labels[j], static_cast<Sum>(g.weight(begin + Group::rank() + j * Group::size)));
    }
  }
  template <class F>
  __device__ void hand_over(const sum_table<I, Sum>& table, F take) const {
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      if (j >= trips) break;
      if (slots[j] != sum_table<I, Sum>::taken) take(labels[j], *static_cast<volatile Sum*>(table.sums + slots[j]));
    }
  }
  __device__ void mark(const level_graph<I, O>& g, std::int64_t begin, const Rule& rule, I target) const {
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      if (j >= trips) break;
      if (labels[j] >= 0) rule.mark(g.neighbours[begin + Group::rank() + j * Group::size], labels[j], target);
    }
  }
};

// Sums a row of at most Group::items entries a thread and ends it.
template <class Group, class I, class O, class Rule>
__device__ __forceinline__ void aggregate_row(std::int64_t k, std::int64_t v, bool active, std::int64_t begin, int size,
                                              int trips, const level_graph<I, O>& g, Rule& rule,
                                              sum_table<I, typename Rule::sum> table, unsigned* used) {
  using Sum = typename Rule::sum;
  typename Rule::row row{};
  if (active) row = rule.begin(k, v, used);
  table.bits = bits_for(size);
  table.clear(Group{});
  if (Group::rank() == 0) *used = 0;
  Group::sync();
  held_entries<Group, I, O, Rule> held;
  held.trips = trips;
  held.add(g, v, begin, size, rule, table);
  Group::sync();
  Sum inside = 0;
  held.hand_over(table, [&](I label, Sum sum) {
    if (label == row.own) inside = sum;
    rule.template take<Group>(row, label, sum);
  });
  inside = Group::reduce(inside, plus{});
  const I target = rule.template end<Group>(row, inside, active);
  if constexpr (Rule::marks) {
    if (target >= 0) held.mark(g, begin, rule, target);
  }
  Group::sync();
}

// Rows of lanes: a warp handles as many as it has groups, all at once.
template <class Group, class I, class O, class Rule>
__global__ void __launch_bounds__(Group::block)
    aggregate_in_warps_kernel(std::int64_t first, std::int64_t count, const I* list, level_graph<I, O> g, Rule rule) {
  using Sum = typename Rule::sum;
  constexpr int tables = Group::block / Group::size;
  constexpr int groups = warp_size / Group::size;
  constexpr int slots = 2 * Group::items * Group::size;
  __shared__ I labels[tables][slots];
  __shared__ Sum sums[tables][slots];
  __shared__ unsigned used[tables];
  const int own = static_cast<int>(threadIdx.x) / Group::size;
  const std::int64_t warps = grid_threads() / warp_size;
  for (std::int64_t base = global_thread() / warp_size * groups; base < count; base += warps * groups) {
    const std::int64_t r = base + lane_id() / Group::size;
    const std::int64_t k = first + r;
    const std::int64_t v = r < count ? std::int64_t{list[k]} : -1;
    const bool active = v >= 0 && rule.wants(v);
    if (v >= 0 && !active && Group::rank() == 0) rule.skip(k, v);
    const std::int64_t begin = active ? std::int64_t{g.offsets[v]} : 0;
    const int size = active ? static_cast<int>(std::int64_t{g.offsets[v + 1]} - begin) : 0;
    const int longest = warp_max(size);
    if (longest == 0) continue;
    aggregate_row<Group>(k, v, active, begin, size, (longest + Group::size - 1) / Group::size, g, rule,
                         sum_table<I, Sum>{labels[own], sums[own], 0}, &used[own]);
  }
  __syncwarp();
  rule.finish();
}

// Rows of blocks.
template <class I, class O, class Rule>
__global__ void __launch_bounds__(block_row_group::block)
    aggregate_in_blocks_kernel(std::int64_t first, std::int64_t count, const I* list, level_graph<I, O> g, Rule rule) {
  using Sum = typename Rule::sum;
  using Group = block_row_group;
  constexpr int slots = 2 * row_tuning::block_row;
  __shared__ I labels[slots];
  __shared__ Sum sums[slots];
  __shared__ unsigned used;
  for (std::int64_t r = blockIdx.x; r < count; r += gridDim.x) {
    const std::int64_t k = first + r;
    const std::int64_t v = list[k];
    if (!rule.wants(v)) {
      if (Group::rank() == 0) rule.skip(k, v);
      continue;
    }
    const std::int64_t begin = g.offsets[v];
    const int size = static_cast<int>(std::int64_t{g.offsets[v + 1]} - begin);
    aggregate_row<Group>(k, v, true, begin, size, (size + Group::size - 1) / Group::size, g, rule,
                         sum_table<I, Sum>{labels, sums, 0}, &used);
  }
  __syncwarp();
  rule.finish();
}

// Rows of at most thread_row entries, one thread each.
template <class I, class O, class Rule>
__global__ void __launch_bounds__(block_threads)
    aggregate_short_kernel(std::int64_t first, std::int64_t count, const I* list, level_graph<I, O> g, Rule rule) {
  using Sum = typename Rule::sum;
  constexpr int most = row_tuning::thread_row;
  for (std::int64_t r = global_thread(); r < count; r += grid_threads()) {
    const std::int64_t k = first + r;
    const std::int64_t v = list[k];
    if (!rule.wants(v)) {
      rule.skip(k, v);
      continue;
    }
    const std::int64_t begin = g.offsets[v];
    const auto size = static_cast<int>(static_cast<std::int64_t>(g.offsets[v + 1]) - begin);
    I labels[most];
    Sum weights[most];
#pragma unroll
    for (int j = 0; j < most; ++j) {
      labels[j] = j < size ? g.neighbours[begin + j] : static_cast<I>(v);
      weights[j] = j < size ? static_cast<Sum>(g.weight(begin + j)) : Sum{0};
    }
#pragma unroll
    for (int j = 0; j < most; ++j) labels[j] = labels[j] != v ? rule.label(v, labels[j]) : I{-1};
    unsigned used = 0;
    typename Rule::row row = rule.begin(k, v, &used);
    Sum inside = 0;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (labels[j] < 0) continue;
      Sum sum = 0;
      bool seen = false;
#pragma unroll
      for (int other = 0; other < most; ++other) {
        const bool same = labels[other] == labels[j];
        sum += same ? weights[other] : 0;
        seen = seen || (same && other < j);
      }
      if (labels[j] == row.own) inside = sum;
      if (!seen) rule.template take<thread_group>(row, labels[j], sum);
    }
    const I target = rule.template end<thread_group>(row, inside, true);
    if constexpr (Rule::marks) {
      if (target < 0) continue;
#pragma unroll
      for (int j = 0; j < most; ++j) {
        if (labels[j] >= 0) rule.mark(g.neighbours[begin + j], labels[j], target);
      }
    }
  }
  __syncwarp();
  rule.finish();
}

// Longer rows: ends those of one segment, and adds the others' sums to their tables in global memory.
// pool: these tables, empty between batches.
template <class I, class O, class Rule>
__global__ void __launch_bounds__(segment_group::block, 2)
    aggregate_segments_kernel(std::int64_t count, division rows, const row_segment* segments, const I* list,
                              level_graph<I, O> g, Rule rule, I* pool_labels, typename Rule::sum* pool_sums) {
  using Sum = typename Rule::sum;
  using Group = segment_group;
  extern __shared__ count64 memory[];
  auto* const sums = reinterpret_cast<Sum*>(memory);
  sum_table<I, Sum> table{reinterpret_cast<I*>(sums + 2 * rows.segment), sums, 0};
  __shared__ unsigned used;
  for (std::int64_t s = blockIdx.x; s < count; s += gridDim.x) {
    const std::int64_t k = segments[s].place;
    const std::int64_t v = list[k];
    const unsigned index = segments[s].index;
    if (!rule.wants(v)) {
      if (Group::rank() == 0 && index == 0) rule.skip(k, v);
      continue;
    }
    const std::int64_t row_size = static_cast<std::int64_t>(g.offsets[v + 1]) - static_cast<std::int64_t>(g.offsets[v]);
    const std::int64_t begin = std::int64_t{g.offsets[v]} + std::int64_t{index} * rows.segment;
    const std::int64_t rest = std::int64_t{g.offsets[v + 1]} - begin;
    const auto size = static_cast<int>(rest < rows.segment ? rest : rows.segment);
    const int trips = (size + Group::size - 1) / Group::size;
    if (row_size <= rows.segment) {
      aggregate_row<Group>(k, v, true, begin, size, trips, g, rule, table, &used);
      continue;
    }
    table.bits = bits_for(size);
    table.clear(Group{});
    __syncthreads();
    held_entries<Group, I, O, Rule> held;
    held.trips = trips;
    held.add(g, v, begin, size, rule, table);
    __syncthreads();
    const sum_table<I, Sum> whole{pool_labels + segments[s].table, pool_sums + segments[s].table,
                                  bits_for(rows.most_labels(row_size))};
    held.hand_over(table, [&](I label, Sum sum) { (void)whole.add(label, sum); });
    __syncthreads();
  }
  __syncwarp();
  rule.finish();
}

// Ends the rows of several segments. parts: [segment] what a part of the table offers.
template <class I, class O, class Rule>
__global__ void __launch_bounds__(segment_group::block)
    end_segments_kernel(std::int64_t count, division rows, row_segment* segments, row_segment* all, const I* list,
                        level_graph<I, O> g, Rule rule, I* pool_labels, typename Rule::sum* pool_sums,
                        typename Rule::offer* parts) {
  using Sum = typename Rule::sum;
  using Group = segment_group;
  __shared__ bool is_last;
  for (std::int64_t s = blockIdx.x; s < count; s += gridDim.x) {
    const std::int64_t k = segments[s].place;
    const std::int64_t v = list[k];
    const std::int64_t row_size = static_cast<std::int64_t>(g.offsets[v + 1]) - static_cast<std::int64_t>(g.offsets[v]);
    if (row_size <= rows.segment || !rule.wants(v)) continue;
    const std::int64_t own = rows.segments(row_size);
    row_segment& front = all[segments[s].first];
    I* const labels = pool_labels + segments[s].table;
    Sum* const sums = pool_sums + segments[s].table;
    typename Rule::row row = rule.begin(k, v, &front.used);
    const std::int64_t slots = rows.slots(row_size);
    const std::int64_t end = slots * (segments[s].index + 1) / own;
    for (std::int64_t slot = slots * segments[s].index / own + threadIdx.x; slot < end; slot += Group::size) {
      const I label = labels[slot];
      if (label < 0) continue;
      const Sum sum = sums[slot];
      if (label == row.own) front.inside = sum;
      rule.template take<Group>(row, label, sum);
      labels[slot] = -1;
      sums[slot] = 0;
    }
    row.best = Group::reduce(row.best, better_of{});
    if (threadIdx.x == 0) parts[segments[s].first - (segments - all) + segments[s].index] = row.best;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(&front.arrived, 1U) == static_cast<unsigned>(own) - 1;
    __syncthreads();
    if (!is_last) continue;
    __threadfence();
    for (std::int64_t part = threadIdx.x; part < own; part += Group::size) {
      row.best.offer(parts[segments[s].first - (segments - all) + part]);
    }
    (void)rule.template end<Group>(row, static_cast<Sum>(*static_cast<volatile count64*>(&front.inside)), true);
    __syncthreads();
    if (threadIdx.x == 0) {
      front.arrived = 0;
      front.used = 0;
      front.inside = 0;
    }
  }
  __syncwarp();
  rule.finish();
}

// Applies a rule to the rows of a batch, with tables in global memory for the longest.
template <class I, class Sum>
class aggregation {
 public:
  explicit aggregation(const context<device>& ctx) : ctx_(ctx) {}

  // Entries of a segment: as many as the shared memory of a block has a table for.
  [[nodiscard]] static std::int64_t segment(const context<device>& ctx) {
    constexpr std::size_t others = 4096;  // what the kernel declares
    std::int64_t size = row_tuning::segment;
    while (size > row_tuning::block_row &&
           table_bytes(size) + others > static_cast<std::size_t>(ctx.properties().shared_memory_per_block))
      size /= 2;
    return size;
  }

  template <class O, class Rule>
  void run(row_lists<I, O>& lists, int batch, const level_graph<I, O>& g, const Rule& rule) {
    const device_guard guard(ctx_);
    if (lists.most_slots() > labels_.size()) {
      labels_ = {ctx_, lists.most_slots()};
      sums_ = {ctx_, lists.most_slots()};
      fill_bytes(ctx_, labels_.data(), 0xff, static_cast<std::size_t>(labels_.size()) * sizeof(I));
      fill_zero<Sum, device>(ctx_, sums_.view());
    }
    if (const auto segments = lists.segments_of_batch(batch); segments.count > 0) {
      const std::size_t bytes = table_bytes(lists.divided().segment);
      const launch_shape shape{std::int64_t{blocks_for(ctx_, segments.count, 1)}, segment_group::block, bytes};
      row_segment* const own = lists.segments() + segments.first;
      allow_shared(aggregate_segments_kernel<I, O, Rule>, bytes);
      launch_kernel(ctx_, shape, aggregate_segments_kernel<I, O, Rule>, segments.count, lists.divided(), own,
                    lists.rows(), g, rule, labels_.data(), sums_.data());
      if (lists.slots_of_batch(batch) > 0) {
        using offer = typename Rule::offer;
        const std::int64_t words = segments.count * std::int64_t{sizeof(offer)} / 8 + 1;
        if (words > parts_.size()) parts_ = {ctx_, words};
        launch_kernel(ctx_, {std::int64_t{shape.blocks.x}, segment_group::block}, end_segments_kernel<I, O, Rule>,
                      segments.count, lists.divided(), own, lists.segments(), lists.rows(), g, rule, labels_.data(),
                      sums_.data(), reinterpret_cast<offer*>(parts_.data()));
      }
    }
    const auto start = [&]<class Group>(Group, int kind, auto kernel) {
      const auto rows = lists.of(kind, batch);
      if (rows.count == 0) return;
      launch_kernel(ctx_, lists.template shape_for<Group>(rows.count), kernel, rows.first, rows.count, lists.rows(), g,
                    rule);
    };
    start(block_row_group{}, 3, aggregate_in_blocks_kernel<I, O, Rule>);
    start(half_warp{}, 2, aggregate_in_warps_kernel<half_warp, I, O, Rule>);
    start(eight_lanes{}, 1, aggregate_in_warps_kernel<eight_lanes, I, O, Rule>);
    start(thread_group{}, 0, aggregate_short_kernel<I, O, Rule>);
  }

 private:
  [[nodiscard]] static std::size_t table_bytes(std::int64_t segment) {
    return static_cast<std::size_t>(2 * segment) * (sizeof(I) + sizeof(Sum));
  }

  context<device> ctx_;
  array<I, device> labels_;
  array<Sum, device> sums_;
  array<count64, device> parts_;  // of rows of several segments
};

}  // namespace spargo::detail::communities
