// Louvain and Leiden on the device: sums of weights by label, row by row.
//
// A row's entries are held in registers. Their labels and sums go into a hash table in shared memory; the thread whose
// entry first takes a slot hands the slot's sum to a rule afterwards. A row longer than a segment has a table in global
// memory besides: the block of a segment adds its sums to it, and the last block hands them over. Sums are of integers
// and ties are decided by labels, so results depend neither on the order of entries nor on that of atomics.
//
// A rule: wants(v), or skip(k, v); label(v, u) of a neighbour, -1: none; row begin(k, v, used), with a counter that
// starts at 0 for the row; take<Group>(row, label, sum) for every label; end<Group>(row, sum of row.own) by the whole
// group, which is synchronized before; finish() by all threads.
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

template <class I, class Sum>
struct sum_table {
  static constexpr unsigned taken = ~0U;

  I* labels;  // -1: free
  Sum* sums;
  unsigned mask;  // slots - 1; a power of two of slots, more than there are labels

  __device__ unsigned first_slot(I label) const {
    return static_cast<unsigned>((static_cast<count64>(label) * 0x9e3779b97f4a7c15ULL) >> 32) & mask;
  }
  template <class Group>
  __device__ void clear(Group) const {
    for (unsigned s = static_cast<unsigned>(Group::rank()); s <= mask; s += Group::size) {
      labels[s] = -1;
      sums[s] = 0;
    }
  }
  // Returns the slot if the label is new, else `taken`.
  __device__ unsigned add(I label, Sum weight) const {
    unsigned at = first_slot(label);
    bool fresh = false;
    for (;; at = (at + 1) & mask) {
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
  // 0 if the label is not there.
  [[nodiscard]] __device__ Sum find(I label) const {
    for (unsigned at = first_slot(label);; at = (at + 1) & mask) {
      const I there = *static_cast<volatile I*>(labels + at);
      if (there == label) return *static_cast<volatile Sum*>(sums + at);
      if (there == -1) return 0;
    }
  }
};

[[nodiscard]] __device__ inline unsigned mask_for(int labels) {
  return labels > 1 ? (1U << (32 - __clz(2 * labels - 1))) - 1 : 1U;
}

// The labels of this thread's entries among begin to end, and their slots, which the caller hands over after a sync.
template <class Group, class I, class O, class Rule>
struct held_entries {
  using Sum = typename Rule::sum;
  I labels[Group::items];
  unsigned slots[Group::items];

  __device__ void add(const level_graph<I, O>& g, std::int64_t v, std::int64_t begin, int size, const Rule& rule,
                      const sum_table<I, Sum>& table) {
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      const int e = Group::rank() + j * Group::size;
      labels[j] = e < size ? g.neighbours[begin + e] : static_cast<I>(v);
    }
#pragma unroll
    for (int j = 0; j < Group::items; ++j) labels[j] = labels[j] != v ? rule.label(v, labels[j]) : I{-1};
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      slots[j] = sum_table<I, Sum>::taken;
      if (labels[j] < 0) continue;
      slots[j] = table.add(labels[j], static_cast<Sum>(g.weight(begin + Group::rank() + j * Group::size)));
    }
  }
  template <class F>
  __device__ void hand_over(const sum_table<I, Sum>& table, F take) const {
#pragma unroll
    for (int j = 0; j < Group::items; ++j) {
      if (slots[j] != sum_table<I, Sum>::taken) take(labels[j], *static_cast<volatile Sum*>(table.sums + slots[j]));
    }
  }
};

// Rows of at most a segment.
template <class Group, class I, class O, class Rule>
__global__ void __launch_bounds__(Group::block)
    aggregate_kernel(std::int64_t first, std::int64_t count, const I* list, level_graph<I, O> g, Rule rule) {
  using Sum = typename Rule::sum;
  constexpr int tables = Group::block / Group::size;
  constexpr int slots = 2 * Group::items * Group::size;
  __shared__ I labels[tables][slots];
  __shared__ Sum sums[tables][slots];
  __shared__ unsigned used[tables];
  const int own = static_cast<int>(threadIdx.x) / Group::size % tables;
  sum_table<I, Sum> table{labels[own], sums[own], 0};
  for (std::int64_t r = Group::first(); r < count; r += Group::count()) {
    const std::int64_t k = first + r;
    const std::int64_t v = list[k];
    if (!rule.wants(v)) {
      if (Group::rank() == 0) rule.skip(k, v);
      continue;
    }
    const std::int64_t begin = g.offsets[v];
    const auto size = static_cast<int>(static_cast<std::int64_t>(g.offsets[v + 1]) - begin);
    table.mask = mask_for(size);
    table.clear(Group{});
    if (Group::rank() == 0) used[own] = 0;
    Group::sync();
    held_entries<Group, I, O, Rule> held;
    held.add(g, v, begin, size, rule, table);
    Group::sync();
    typename Rule::row row = rule.begin(k, v, &used[own]);
    held.hand_over(table, [&](I label, Sum sum) { rule.template take<Group>(row, label, sum); });
    rule.template end<Group>(row, table.find(row.own));
    Group::sync();
  }
  __syncwarp();
  rule.finish();
}

// The same for rows of at most thread_row entries, one thread each.
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
    rule.template end<thread_group>(row, inside);
  }
  __syncwarp();
  rule.finish();
}

// Longer rows. pool: tables of those of several segments, empty between launches.
template <class I, class O, class Rule>
__global__ void __launch_bounds__(segment_group::block)
    aggregate_segments_kernel(std::int64_t count, division rows, row_segment* segments, row_segment* all, const I* list,
                              level_graph<I, O> g, Rule rule, I* pool_labels, typename Rule::sum* pool_sums) {
  using Sum = typename Rule::sum;
  using Group = segment_group;
  extern __shared__ count64 memory[];
  auto* const sums = reinterpret_cast<Sum*>(memory);
  sum_table<I, Sum> table{reinterpret_cast<I*>(sums + 2 * rows.segment), sums, 0};
  __shared__ bool is_last;
  __shared__ unsigned used;
  for (std::int64_t s = blockIdx.x; s < count; s += gridDim.x) {
    const std::int64_t k = segments[s].place;
    const unsigned index = segments[s].index;
    const std::int64_t v = list[k];
    if (!rule.wants(v)) {
      if (Group::rank() == 0 && index == 0) rule.skip(k, v);
      continue;
    }
    const std::int64_t row_size = static_cast<std::int64_t>(g.offsets[v + 1]) - static_cast<std::int64_t>(g.offsets[v]);
    const std::int64_t begin = std::int64_t{g.offsets[v]} + std::int64_t{index} * rows.segment;
    const std::int64_t rest = std::int64_t{g.offsets[v + 1]} - begin;
    const auto size = static_cast<int>(rest < rows.segment ? rest : rows.segment);
    table.mask = mask_for(size);
    table.clear(Group{});
    if (threadIdx.x == 0) used = 0;
    __syncthreads();
    held_entries<Group, I, O, Rule> held;
    held.add(g, v, begin, size, rule, table);
    __syncthreads();
    if (row_size <= rows.segment) {
      typename Rule::row row = rule.begin(k, v, &used);
      held.hand_over(table, [&](I label, Sum sum) { rule.template take<Group>(row, label, sum); });
      rule.template end<Group>(row, table.find(row.own));
      __syncthreads();
      continue;
    }
    const sum_table<I, Sum> whole{pool_labels + segments[s].table, pool_sums + segments[s].table,
                                  static_cast<unsigned>(rows.slots(row_size) - 1)};
    held.hand_over(table, [&](I label, Sum sum) { (void)whole.add(label, sum); });
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned* const arrived = &all[segments[s].first].arrived;
      is_last = atomicAdd(arrived, 1U) == static_cast<unsigned>(rows.segments(row_size)) - 1;
      if (is_last) *arrived = 0;
    }
    __syncthreads();
    if (!is_last) continue;
    __threadfence();
    typename Rule::row row = rule.begin(k, v, &used);
    const Sum inside = whole.find(row.own);
    __syncthreads();
    for (unsigned slot = threadIdx.x; slot <= whole.mask; slot += Group::size) {
      const I label = *static_cast<volatile I*>(whole.labels + slot);
      if (label < 0) continue;
      rule.template take<Group>(row, label, *static_cast<volatile Sum*>(whole.sums + slot));
      whole.labels[slot] = -1;
      whole.sums[slot] = 0;
    }
    rule.template end<Group>(row, inside);
    __syncthreads();
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
      allow_shared(aggregate_segments_kernel<I, O, Rule>, bytes);
      launch_kernel(ctx_, {std::int64_t{blocks_for(ctx_, segments.count, 1)}, segment_group::block, bytes},
                    aggregate_segments_kernel<I, O, Rule>, segments.count, lists.divided(),
                    lists.segments() + segments.first, lists.segments(), lists.rows(), g, rule, labels_.data(),
                    sums_.data());
    }
    const auto start = [&](int kind, const launch_shape& shape, auto kernel) {
      const auto rows = lists.of(kind, batch);
      if (rows.count > 0) launch_kernel(ctx_, shape, kernel, rows.first, rows.count, lists.rows(), g, rule);
    };
    start(2, grid_stride(ctx_, lists.of(2, batch).count, 1), aggregate_kernel<block_row_group, I, O, Rule>);
    start(1, lists.tile_shape(lists.of(1, batch).count), aggregate_kernel<tile_group, I, O, Rule>);
    start(0, grid_stride(ctx_, lists.of(0, batch).count), aggregate_short_kernel<I, O, Rule>);
  }

 private:
  [[nodiscard]] static std::size_t table_bytes(std::int64_t segment) {
    return static_cast<std::size_t>(2 * segment) * (sizeof(I) + sizeof(Sum));
  }

  context<device> ctx_;
  array<I, device> labels_;
  array<Sum, device> sums_;
};

}  // namespace spargo::detail::communities
