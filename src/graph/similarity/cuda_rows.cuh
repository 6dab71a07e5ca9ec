// Similarities of given pairs and of edges on the device.
//
// Given pairs, and edges of directed graphs: pairs with the same longer row are grouped by the plan. A block puts that
// row into a hash table in shared memory, in parts if it is long, and its warps look up the shorter rows. Where the
// longer row is short, or much longer than all that is looked up, eight lanes search the entries of the shorter row in
// it; a pair with two long rows gets a block.
//
// Edges of undirected graphs: the row of u enters a set in shared memory, and the rows of its neighbours of lower
// degree (of equal degree: of larger id) are looked up there, each by a group of lanes. So every edge is intersected
// once, by its shorter row, and its value is written once, without atomics. The set is a hash table of a warp or of a
// block, or for long rows a bitmap of a range of ids, one range after the other. Tiny rows are merged by a thread.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/similarity/measure.hpp"
#include "graph/triangles/cuda_orient.cuh"

#include <cstdint>
#include <type_traits>

namespace spargo::detail::similarity {

// Untuned.
struct cuda_tuning {
  static constexpr int pair_lanes = 8;
  static constexpr std::int64_t pair_row = 1024;  // shorter rows beyond it get a block
  // Pairs with a row in a table. H100, 2^20 edges of R-MAT 22, tables of 8192 slots, rows beyond 2048, ms; 512 threads,
  // four blocks per SM: 7.9; 1024 threads, 32768 slots, one block: 11.9.
  static constexpr int group_block = 512;
  static constexpr int group_bytes = 32768;       // of a table
  static constexpr std::int64_t group_row = 128;  // longest row that is searched instead
  static constexpr int group_gain = 8;            // steps of a search
  static constexpr int group_pairs = 256;         // of an item; with 1024 those rows take 13.6 ms
  static constexpr int warps = block_threads / warp_size;
  static constexpr std::int64_t thread_row = 8;
  static constexpr std::int64_t warp_row = 64;
  static constexpr unsigned warp_slots = 128;
  static constexpr int warp_lanes = 4;  // per neighbour
  static constexpr std::int64_t block_row = 2048;
  static constexpr unsigned block_slots = 4096;
  static constexpr int block_lanes = 8;
  static constexpr int range_block = 1024;             // threads
  static constexpr std::int64_t range_segment = 2048;  // neighbours of an item
};

// Ascending rows without loops and duplicates, and the measure.
template <class I, class O>
struct measured_rows {
  std::int64_t vertices;
  const O* offsets;
  const I* indices;
  const std::int64_t* terms;  // [vertex], of measures that have some
  similarity_measure measure;
  double unit;

  [[nodiscard]] __device__ __forceinline__ const I* row(std::int64_t v) const { return indices + offsets[v]; }
  [[nodiscard]] __device__ __forceinline__ std::int64_t degree(std::int64_t v) const {
    return static_cast<std::int64_t>(offsets[v + 1]) - static_cast<std::int64_t>(offsets[v]);
  }
  template <bool Terms>
  [[nodiscard]] __device__ __forceinline__ count64 term(I w) const {
    return Terms ? static_cast<count64>(terms[w]) : 1;
  }
  [[nodiscard]] __device__ __forceinline__ double value(count64 sum, std::int64_t a, std::int64_t b) const {
    return value_of(measure, unit, static_cast<std::int64_t>(sum), a, b);
  }
};

// The terms of a thread's share of `shorter` that are in `longer`.
template <bool Terms, class I, class O>
[[nodiscard]] __device__ __forceinline__ count64 search_share(const measured_rows<I, O>& g, const I* shorter,
                                                              std::int64_t size, const I* longer,
                                                              std::int64_t longer_size, int first, int step) {
  count64 sum = 0;
  for (std::int64_t k = first; k < size; k += step) {
    const I w = shorter[k];
    const std::int64_t at = lower_bound(longer, longer_size, static_cast<std::int64_t>(w));
    if (at < longer_size && longer[at] == w) sum += g.template term<Terms>(w);
  }
  return sum;
}

// The pairs order[begin] to order[end) have this vertex.
struct pair_group {
  std::int64_t owner;
  std::int64_t begin;
  std::int64_t end;
};
struct pair_counts {
  count64 groups;
  count64 searched;  // pairs outside of groups
};

// owners: of the pairs by order, ascending, the end with the longer row.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_groups_kernel(measured_rows<I, O> g, std::int64_t pairs, const I* sources, const I* targets,
                       const std::uint64_t* owners, const std::uint32_t* order, pair_group* groups,
                       std::uint32_t* searched, pair_counts* counts) {
  using tuning = cuda_tuning;
  constexpr std::int64_t most_looks = 4096;
  for (std::int64_t first = global_thread(); first < pairs; first += grid_threads()) {
    const std::uint64_t owner = owners[first];
    if (first > 0 && owners[first - 1] == owner) continue;
    const std::int64_t end = lower_bound(owners, pairs, static_cast<std::int64_t>(owner) + 1);
    const std::int64_t size = g.degree(static_cast<std::int64_t>(owner));
    bool pays = false;
    std::int64_t looked_up = 0;
    for (std::int64_t k = first; size > tuning::group_row && k < end && !pays; ++k) {
      const std::int64_t a = g.degree(sources[order[k]]);
      const std::int64_t b = g.degree(targets[order[k]]);
      looked_up += a < b ? a : b;
      pays = tuning::group_gain * looked_up >= size || k - first >= most_looks;
    }
    for (std::int64_t k = first; k < end; k += pays ? tuning::group_pairs : 1) {
      if (pays) {
        const std::int64_t until = k + tuning::group_pairs < end ? k + tuning::group_pairs : end;
        groups[atomicAdd(&counts->groups, count64{1})] = {static_cast<std::int64_t>(owner), k, until};
      } else {
        searched[atomicAdd(&counts->searched, count64{1})] = order[k];
      }
    }
  }
}

// Pairs whose shorter row is long are appended to `big`, by number.
template <bool Terms, class I, class O>
__global__ void __launch_bounds__(block_threads)
    pairs_kernel(measured_rows<I, O> g, const I* sources, const I* targets, double* values,
                 const std::uint32_t* searched, const pair_counts* counts, std::int64_t* big, count64* big_count) {
  constexpr int lanes = cuda_tuning::pair_lanes;
  constexpr int groups = warp_size / lanes;
  const auto pairs = static_cast<std::int64_t>(counts->searched);
  for (std::int64_t base = triangles::global_warp() * warp_size; base < pairs;
       base += triangles::grid_warps() * warp_size) {
    const bool exists = base + lane_id() < pairs;
    const std::int64_t mine = exists ? searched[base + lane_id()] : 0;
    std::int64_t short_first = 0;
    std::int64_t short_size = 0;
    std::int64_t long_first = 0;
    std::int64_t long_size = 0;
    if (exists) {
      const I u = sources[mine];
      const I v = targets[mine];
      const bool swapped = g.degree(u) > g.degree(v);
      short_first = g.offsets[swapped ? v : u];
      long_first = g.offsets[swapped ? u : v];
      short_size = g.degree(swapped ? v : u);
      long_size = g.degree(swapped ? u : v);
      if (short_size > cuda_tuning::pair_row) big[atomicAdd(big_count, count64{1})] = mine;
    }
    __syncwarp();
    for (int j = 0; j < lanes; ++j) {
      const int owner = j * groups + lane_id() / lanes;
      const std::int64_t size = shuffle(short_size, owner);
      const std::int64_t other_size = shuffle(long_size, owner);
      const std::int64_t first = shuffle(short_first, owner);
      const std::int64_t other_first = shuffle(long_first, owner);
      const std::int64_t pair = shuffle(mine, owner);
      const bool wanted = base + owner < pairs && size <= cuda_tuning::pair_row;
      count64 sum = 0;
      if (wanted) {
        sum = search_share<Terms>(g, g.indices + first, size, g.indices + other_first, other_size, lane_id() % lanes,
                                  lanes);
      }
      __syncwarp();
      sum = group_sum(sum, lanes);
      if (wanted && lane_id() % lanes == 0) values[pair] = g.value(sum, size, other_size);
    }
  }
}

template <bool Terms, class I, class O>
__global__ void __launch_bounds__(block_threads)
    big_pairs_kernel(measured_rows<I, O> g, const I* sources, const I* targets, double* values, const std::int64_t* big,
                     const count64* big_count) {
  __shared__ count64 of_warps[cuda_tuning::warps];
  for (count64 item = blockIdx.x; item < *big_count; item += gridDim.x) {
    const std::int64_t k = big[item];
    const I u = sources[k];
    const I v = targets[k];
    const bool swapped = g.degree(u) > g.degree(v);
    const I shorter = swapped ? v : u;
    const I longer = swapped ? u : v;
    const count64 mine = search_share<Terms>(g, g.row(shorter), g.degree(shorter), g.row(longer), g.degree(longer),
                                             static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    const count64 sum = block_sum(mine, of_warps);
    if (threadIdx.x == 0) values[k] = g.value(sum, g.degree(u), g.degree(v));
    __syncthreads();
  }
}

// --- Edges of undirected graphs -------------------------------------------------------------------------------------

// The results: edges by their smaller end.
template <class I, class O>
struct edge_values {
  const std::int64_t* firsts;  // [vertex], plus one: its first edge
  double* values;

  // u's entry e is v.
  [[nodiscard]] __device__ __forceinline__ std::int64_t place(const measured_rows<I, O>& g, std::int64_t u, I v,
                                                              std::int64_t e) const {
    if (u < static_cast<std::int64_t>(v)) return firsts[u + 1] - (static_cast<std::int64_t>(g.offsets[u + 1]) - e);
    const std::int64_t size = g.degree(v);
    return firsts[v + 1] - (size - lower_bound(g.row(v), size, u));
  }
};

// Whether the row of v is looked up in the set of u.
[[nodiscard]] __device__ __forceinline__ bool is_followed(std::int64_t u, std::int64_t u_size, std::int64_t v,
                                                          std::int64_t v_size) {
  return v_size < u_size || (v_size == u_size && u < v);
}

// A hash table of vertices in shared memory: slots hold a vertex plus 1, all 0 when empty; at most half of them used.
template <class I>
struct hashed_row {
  using key = std::conditional_t<sizeof(I) == 4, unsigned, count64>;
  key* slots;
  unsigned mask;  // their number minus 1, a power of two minus 1

  [[nodiscard]] __device__ __forceinline__ unsigned first_slot(I w) const {
    return (static_cast<unsigned>(w) * 2654435769U >> 16) & mask;
  }
  // Returns the slot.
  __device__ __forceinline__ unsigned insert(I w) const {
    const key wanted = static_cast<key>(w) + 1;
    unsigned slot = first_slot(w);
    for (;; slot = (slot + 1) & mask) {
      const key held = atomicCAS(slots + slot, key{0}, wanted);
      if (held == 0 || held == wanted) return slot;
    }
  }
  [[nodiscard]] __device__ __forceinline__ bool has(I w) const {
    const key wanted = static_cast<key>(w) + 1;
    for (unsigned slot = first_slot(w);; slot = (slot + 1) & mask) {
      const key held = slots[slot];
      if (held == 0 || held == wanted) return held == wanted;
    }
  }
};

// The pairs of groups. A long row is taken in parts; the sum of earlier parts waits in the place of the value.
template <bool Terms, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::group_block)
    groups_kernel(measured_rows<I, O> g, const I* sources, const I* targets, double* values, const std::uint32_t* order,
                  const pair_group* groups, const pair_counts* counts, count64* next) {
  using tuning = cuda_tuning;
  using key = typename hashed_row<I>::key;
  constexpr int block = tuning::group_block;
  constexpr int warps = block / warp_size;
  constexpr int slots = tuning::group_bytes / static_cast<int>(sizeof(key));
  __shared__ key table[slots];
  __shared__ count64 taken;
  const auto thread = static_cast<int>(threadIdx.x);
  for (;;) {
    __syncthreads();
    if (thread == 0) taken = atomicAdd(next, count64{1});
    __syncthreads();
    if (taken >= counts->groups) return;
    const pair_group group = groups[taken];
    const std::int64_t u = group.owner;
    const std::int64_t u_size = g.degree(u);
    const I* const mine = g.row(u);
    for (std::int64_t part = 0; part < u_size; part += slots / 2) {
      const int size = u_size - part < slots / 2 ? static_cast<int>(u_size - part) : slots / 2;
      const bool is_last = part + size == u_size;
      int used = 64;
      while (used < 2 * size) used *= 2;
      const hashed_row<I> set{table, static_cast<unsigned>(used) - 1};
      for (int k = thread; k < used; k += block) table[k] = 0;
      __syncthreads();
      for (int k = thread; k < size; k += block) (void)set.insert(mine[part + k]);
      __syncthreads();
      const std::int64_t low = mine[part];
      const std::int64_t high = static_cast<std::int64_t>(mine[part + size - 1]) + 1;
      for (std::int64_t k = group.begin + thread / warp_size; k < group.end; k += warps) {
        const std::int64_t pair = order[k];
        const I v = static_cast<std::int64_t>(sources[pair]) == u ? targets[pair] : sources[pair];
        const std::int64_t v_size = g.degree(v);
        const I* const theirs = g.row(v);
        const std::int64_t first = part == 0 ? 0 : lower_bound(theirs, v_size, low);
        const std::int64_t end = is_last ? v_size : lower_bound(theirs, v_size, high);
        count64 sum = 0;
        for (std::int64_t e = first + lane_id(); e < end; e += warp_size) {
          const I w = theirs[e];
          if (set.has(w)) sum += g.template term<Terms>(w);
        }
        __syncwarp();
        sum = warp_sum(sum);
        if (lane_id() == 0) {
          if (part > 0) sum += static_cast<count64>(__double_as_longlong(values[pair]));
          values[pair] = is_last ? g.value(sum, u_size, v_size) : __longlong_as_double(static_cast<long long>(sum));
        }
      }
      __syncthreads();
    }
  }
}

// Values of u's edges that a set holding its row decides. All lanes of the warp call it, with the same arguments but
// `list`, the warp's shared memory. Each lane reads a neighbour; `lanes` lanes look up a row that is followed.
template <bool Terms, int Lanes, class I, class O>
__device__ __forceinline__ void look_up_rows(const measured_rows<I, O>& g, const edge_values<I, O>& results,
                                             std::int64_t u, std::int64_t from, std::int64_t until,
                                             const hashed_row<I>& set, unsigned char* list) {
  constexpr int groups = warp_size / Lanes;
  const std::int64_t u_first = g.offsets[u];
  const std::int64_t u_size = g.degree(u);
  for (std::int64_t base = from; base < until; base += warp_size) {
    const std::int64_t k = base + lane_id();
    std::int64_t v_first = 0;
    std::int64_t v_size = 0;
    std::int64_t place = 0;
    bool followed = false;
    if (k < until) {
      const I v = g.indices[u_first + k];
      v_first = g.offsets[v];
      v_size = g.degree(v);
      followed = is_followed(u, u_size, v, v_size);
      if (followed) place = results.place(g, u, v, u_first + k);
    }
    const unsigned wanted = __ballot_sync(full_mask, followed);
    if (followed) list[__popc(wanted & triangles::lanes_below())] = static_cast<unsigned char>(lane_id());
    __syncwarp();
    const int count = __popc(wanted);
    for (int t = 0; t < count; t += groups) {
      const int mine = t + lane_id() / Lanes;
      const int owner = mine < count ? list[mine] : 0;
      const std::int64_t first = shuffle(v_first, owner);
      const std::int64_t size = shuffle(v_size, owner);
      const std::int64_t to = shuffle(place, owner);
      count64 sum = 0;
      if (mine < count) {
        for (std::int64_t e = lane_id() % Lanes; e < size; e += Lanes) {
          const I w = g.indices[first + e];
          if (set.has(w)) sum += g.template term<Terms>(w);
        }
      }
      __syncwarp();
      sum = group_sum(sum, Lanes);
      if (mine < count && lane_id() % Lanes == 0) results.values[to] = g.value(sum, u_size, size);
    }
    __syncwarp();
  }
}

// A vertex with a tiny row: merges it with those of its neighbours.
template <bool Terms, class I, class O>
__device__ __forceinline__ void merge_rows(const measured_rows<I, O>& g, const edge_values<I, O>& results,
                                           std::int64_t u, std::int64_t u_size) {
  const I* const mine = g.row(u);
  for (std::int64_t k = 0; k < u_size; ++k) {
    const I v = mine[k];
    const std::int64_t v_size = g.degree(v);
    if (!is_followed(u, u_size, v, v_size)) continue;
    const I* const theirs = g.row(v);
    count64 sum = 0;
    for (std::int64_t a = 0, b = 0; a < u_size && b < v_size;) {
      const I x = mine[a];
      const I y = theirs[b];
      if (x == y) sum += g.template term<Terms>(x);
      a += x <= y ? 1 : 0;
      b += y <= x ? 1 : 0;
    }
    results.values[results.place(g, u, v, static_cast<std::int64_t>(g.offsets[u]) + k)] = g.value(sum, u_size, v_size);
  }
}

template <bool Terms, class I, class O>
__global__ void __launch_bounds__(block_threads) short_rows_kernel(measured_rows<I, O> g, edge_values<I, O> results) {
  using tuning = cuda_tuning;
  using key = typename hashed_row<I>::key;
  __shared__ key tables[tuning::warps][tuning::warp_slots];
  __shared__ unsigned char lists[tuning::warps][warp_size];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  const hashed_row<I> set{tables[warp], tuning::warp_slots - 1};
  for (unsigned k = static_cast<unsigned>(lane_id()); k < tuning::warp_slots; k += warp_size) set.slots[k] = 0;
  __syncwarp();
  for (std::int64_t base = triangles::global_warp() * warp_size; base < g.vertices;
       base += triangles::grid_warps() * warp_size) {
    const std::int64_t mine = base + lane_id();
    const std::int64_t my_size = mine < g.vertices ? g.degree(mine) : 0;
    if (my_size > 0 && my_size <= tuning::thread_row) merge_rows<Terms>(g, results, mine, my_size);
    __syncwarp();
    unsigned waiting = __ballot_sync(full_mask, my_size > tuning::thread_row && my_size <= tuning::warp_row);
    for (; waiting != 0; waiting &= waiting - 1) {
      const int owner = __ffs(static_cast<int>(waiting)) - 1;
      const std::int64_t u = base + owner;
      const std::int64_t size = shuffle(my_size, owner);
      for (std::int64_t k = lane_id(); k < size; k += warp_size) (void)set.insert(g.row(u)[k]);
      __syncwarp();
      look_up_rows<Terms, tuning::warp_lanes>(g, results, u, 0, size, set, lists[warp]);
      for (unsigned k = static_cast<unsigned>(lane_id()); k < tuning::warp_slots; k += warp_size) set.slots[k] = 0;
      __syncwarp();
    }
  }
}

struct row_item {
  std::int64_t vertex;
  std::int64_t first;  // of its neighbours
};
struct item_counts {
  count64 middle;
  count64 longest;
};

// Lists the vertices that blocks take: one item for rows up to block_row, beyond it a segment each.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_items_kernel(measured_rows<I, O> g, row_item* middle, row_item* longest, item_counts* counts) {
  using tuning = cuda_tuning;
  for (std::int64_t u = global_thread(); u < g.vertices; u += grid_threads()) {
    const std::int64_t size = g.degree(u);
    if (size <= tuning::warp_row) continue;
    if (size <= tuning::block_row) {
      middle[atomicAdd(&counts->middle, count64{1})] = {u, 0};
      continue;
    }
    for (std::int64_t first = 0; first < size; first += tuning::range_segment) {
      longest[atomicAdd(&counts->longest, count64{1})] = {u, first};
    }
  }
}

template <bool Terms, class I, class O>
__global__ void __launch_bounds__(block_threads) middle_rows_kernel(measured_rows<I, O> g, edge_values<I, O> results,
                                                                    const row_item* items, const item_counts* counts) {
  using tuning = cuda_tuning;
  using key = typename hashed_row<I>::key;
  __shared__ key table[tuning::block_slots];
  __shared__ unsigned char lists[tuning::warps][warp_size];
  const auto warp = static_cast<std::int64_t>(threadIdx.x) / warp_size;
  for (count64 item = blockIdx.x; item < counts->middle; item += gridDim.x) {
    const std::int64_t u = items[item].vertex;
    const std::int64_t size = g.degree(u);
    unsigned slots = 2 * tuning::warp_slots;
    while (slots < 2 * size) slots *= 2;
    const hashed_row<I> set{table, slots - 1};
    for (unsigned k = threadIdx.x; k < slots; k += blockDim.x) table[k] = 0;
    __syncthreads();
    for (std::int64_t k = threadIdx.x; k < size; k += blockDim.x) (void)set.insert(g.row(u)[k]);
    __syncthreads();
    const std::int64_t share = div_up(size, std::int64_t{tuning::warps});
    const std::int64_t from = warp * share;
    const std::int64_t until = from + share < size ? from + share : size;
    look_up_rows<Terms, tuning::block_lanes>(g, results, u, from, until, set, lists[warp]);
    __syncthreads();
  }
}

// bits: of the bitmap, a multiple of 32. Sums of earlier ranges wait in the place of the value, in its group's thread.
template <bool Terms, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::range_block)
    long_rows_kernel(measured_rows<I, O> g, edge_values<I, O> results, std::int64_t bits, const row_item* items,
                     const item_counts* counts, count64* next) {
  using tuning = cuda_tuning;
  extern __shared__ unsigned marks[];
  __shared__ count64 taken;
  constexpr int lanes = tuning::block_lanes;
  const std::int64_t group = static_cast<std::int64_t>(threadIdx.x) / lanes;
  constexpr std::int64_t groups = tuning::range_block / lanes;
  for (std::int64_t k = threadIdx.x; k < bits / 32; k += blockDim.x) marks[k] = 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(next, count64{1});
    __syncthreads();
    if (taken >= counts->longest) return;
    const row_item item = items[taken];
    const std::int64_t u = item.vertex;
    const std::int64_t u_size = g.degree(u);
    const I* const mine = g.row(u);
    const std::int64_t last = u_size < item.first + tuning::range_segment ? u_size : item.first + tuning::range_segment;
    for (std::int64_t low = 0; low < g.vertices; low += bits) {
      const std::int64_t high = low + bits;
      const std::int64_t begin = low == 0 ? 0 : lower_bound(mine, u_size, low);
      const std::int64_t end = high >= g.vertices ? u_size : lower_bound(mine, u_size, high);
      for (std::int64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
        const auto bit = static_cast<std::int64_t>(mine[k]) - low;
        atomicOr(marks + bit / 32, 1U << bit % 32);
      }
      __syncthreads();
      for (std::int64_t k = item.first; k < last; k += groups) {  // the same for all threads
        const std::int64_t at = k + group;
        bool followed = false;
        count64 sum = 0;
        I v = 0;
        std::int64_t v_size = 0;
        if (at < last) {
          v = mine[at];
          v_size = g.degree(v);
          followed = is_followed(u, u_size, v, v_size);
        }
        if (followed) {
          const I* const theirs = g.row(v);
          for (std::int64_t e = (low == 0 ? 0 : lower_bound(theirs, v_size, low)) + lane_id() % lanes; e < v_size;
               e += lanes) {
            const I w = theirs[e];
            const auto bit = static_cast<std::int64_t>(w) - low;
            if (bit >= bits) break;
            if ((marks[bit / 32] >> bit % 32 & 1) != 0) sum += g.template term<Terms>(w);
          }
        }
        __syncwarp();
        sum = group_sum(sum, lanes);
        if (followed && lane_id() % lanes == 0) {
          double* const to = results.values + results.place(g, u, v, static_cast<std::int64_t>(g.offsets[u]) + at);
          if (low > 0) sum += static_cast<count64>(__double_as_longlong(*to));
          *to = high >= g.vertices ? g.value(sum, u_size, v_size) : __longlong_as_double(static_cast<long long>(sum));
        }
      }
      __syncthreads();
      for (std::int64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
        marks[(static_cast<std::int64_t>(mine[k]) - low) / 32] = 0;
      }
      __syncthreads();
    }
  }
}

// The pairs: u's neighbours beyond it, or all of a directed graph, from firsts[u].
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_edges_kernel(measured_rows<I, O> g, std::int64_t parts, const std::int64_t* firsts, I* sources, I* targets) {
  for (std::int64_t part = triangles::global_warp(); part < parts; part += triangles::grid_warps()) {
    triangles::for_each_entry(
        g.vertices, g.offsets, part, [&](const triangles::row_entry(&entries)[triangles::traversal_tuning::steps]) {
#pragma unroll
          for (const auto& [u, e, valid] : entries) {
            if (!valid) continue;
            const std::int64_t to = firsts[u + 1] - (static_cast<std::int64_t>(g.offsets[u + 1]) - e);
            if (to < firsts[u]) continue;
            sources[to] = static_cast<I>(u);
            targets[to] = g.indices[e];
          }
        });
  }
}

}  // namespace spargo::detail::similarity
