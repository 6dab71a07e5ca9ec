// Label propagation on the device: rows processed by a block.
//
// A shared-memory hash table counts the labels. If it fills up, the labels are split by hash into two shares counted
// one after the other, then four, and so on; rows with few distinct labels, the usual case after a round or two, are
// read once. For the longest rows, counters of hashes first bound each label's count, and only labels that can still
// win are counted. In the first round all labels of a row differ and often ascend with its neighbours: equal ones are
// then adjacent on each side of the row, and need no table.
#pragma once

#include "core/device/block.cuh"
#include "core/search.hpp"
#include "graph/communities/cuda_labels.cuh"

#include <algorithm>

namespace spargo::detail::communities {

template <class I>
using word = std::conditional_t<sizeof(I) == 4, unsigned, count64>;
template <class I>
constexpr word<I> no_label = ~word<I>{0};

template <class I>
__device__ count64 hash_of(I label) {
  return (static_cast<count64>(label) * 0x9e3779b97f4a7c15ULL) >> 16;
}

// Increments the label's count in a table that has a free slot; returns the count, and whether the slot was free.
template <int Slots, class I>
__device__ unsigned count_label(word<I>* labels, unsigned* counts, I label, bool& fresh) {
  const auto wanted = static_cast<word<I>>(label);
  for (unsigned at = static_cast<unsigned>(hash_of(label)) % Slots;; at = (at + 1) % Slots) {
    const word<I> held = atomicCAS(labels + at, no_label<I>, wanted);
    if (held != no_label<I> && held != wanted) continue;
    fresh = held == no_label<I>;
    return atomicAdd(counts + at, 1U) + 1;
  }
}

template <class I, int Threads>
struct block_table {
  static constexpr int warps = Threads / warp_size;
  word<I> labels[cuda_tuning::block_slots];
  unsigned counts[cuda_tuning::block_slots];
  unsigned used;
  vote<I> of_warps[warps];
  count64 sums[warps];
};

// All threads of the block call the functions below, which start and end synchronized.
template <class I, int Threads>
__device__ vote<I> best_of_block(vote<I> mine, block_table<I, Threads>& table) {
  mine = fold_warps_to_all(best_of_warp(mine), table.of_warps, [](vote<I> a, const vote<I>& b) {
    a.offer(b);
    return a;
  });
  __syncthreads();
  return mine;
}

template <class I, int Threads>
__device__ count64 sum_of_block(count64 mine, block_table<I, Threads>& table) {
  mine = fold_warps_to_all(warp_sum(mine), table.sums, plus{});
  __syncthreads();
  return mine;
}

// Calls visit(label) for this thread's neighbours until it returns false, with several loads in flight.
template <int Threads, class I, class Visit>
__device__ void for_each_label(const neighbour_list<I>& row, const label_arrays<I>& arrays, Visit visit) {
  constexpr int unroll = cuda_tuning::unroll;
  for (std::int64_t base = threadIdx.x; base < row.size; base += Threads * unroll) {
    I labels[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) labels[q] = base + q * Threads < row.size ? row[base + q * Threads] : I{-1};
#pragma unroll
    for (int q = 0; q < unroll; ++q) labels[q] = labels[q] >= 0 ? arrays.label_of(labels[q]) : I{-1};
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      if (labels[q] >= 0 && !visit(labels[q])) return;
    }
  }
}

template <class I, int Threads>
__device__ bool most_are(const neighbour_list<I>& row, const label_arrays<I>& arrays, I own,
                         block_table<I, Threads>& table) {
  count64 equal = 0;
  for_each_label<Threads>(row, arrays, [&](I label) {
    equal += label == own ? 1 : 0;
    return true;
  });
  return 2 * sum_of_block(equal, table) > static_cast<count64>(row.size);
}

// Counts the labels with counted(label); false once they fill half of the table.
template <class I, int Threads, class Counted>
__device__ bool count_some(const neighbour_list<I>& row, const label_arrays<I>& arrays, Counted counted, vote<I>& mine,
                           block_table<I, Threads>& table) {
  for (int s = static_cast<int>(threadIdx.x); s < cuda_tuning::block_slots; s += Threads) {
    table.labels[s] = no_label<I>;
    table.counts[s] = 0;
  }
  if (threadIdx.x == 0) table.used = 0;
  __syncthreads();
  constexpr int most_used = std::min(cuda_tuning::block_slots / 2, cuda_tuning::block_slots - Threads - 1);
  static_assert(most_used >= cuda_tuning::block_slots / 4, "each thread may be about to take a slot");
  constexpr auto most = static_cast<unsigned>(most_used);
  for_each_label<Threads>(row, arrays, [&](I label) {
    if (!counted(label)) return true;
    if (*static_cast<volatile unsigned*>(&table.used) > most) return false;
    bool fresh = false;
    mine.offer({count_label<cuda_tuning::block_slots>(table.labels, table.counts, label, fresh), label});
    if (fresh) atomicAdd(&table.used, 1U);
    return true;
  });
  __syncthreads();
  const bool fits = table.used <= most;
  __syncthreads();
  return fits;
}

// The best label with counted(label), in as many shares as the table requires.
template <class I, int Threads, class Counted>
__device__ vote<I> count_in_block(const neighbour_list<I>& row, const label_arrays<I>& arrays, Counted counted,
                                  block_table<I, Threads>& table) {
  for (count64 shares = 1;; shares *= 2) {
    vote<I> mine = no_vote<I>;
    bool fits = true;
    for (count64 share = 0; share < shares && fits; ++share) {
      const auto in_share = [&](I label) { return ((hash_of(label) >> 16) & (shares - 1)) == share && counted(label); };
      fits = count_some(row, arrays, in_share, mine, table);
    }
    if (fits) return best_of_block(mine, table);
  }
}

// For rows with so many labels that the table would need many shares. Counters of hashes bound each label's count from
// above; only labels whose bound reaches the best count so far are counted.
template <class I, int Threads>
struct huge_table {
  unsigned bounds[cuda_tuning::bounds];
  unsigned most[Threads / warp_size];
  block_table<I, Threads> exact;
};

template <class I, int Threads>
__device__ I count_huge(const neighbour_list<I>& row, const label_arrays<I>& arrays, I own,
                        huge_table<I, Threads>& table) {
  const auto bound_of = [&](I label) { return &table.bounds[(hash_of(label) >> 20) % cuda_tuning::bounds]; };
  for (int b = static_cast<int>(threadIdx.x); b < cuda_tuning::bounds; b += Threads) table.bounds[b] = 0;
  __syncthreads();
  count64 equal = 0;
  for_each_label<Threads>(row, arrays, [&](I label) {
    equal += label == own ? 1 : 0;
    atomicAdd(bound_of(label), 1U);
    return true;
  });
  if (2 * sum_of_block(equal, table.exact) > static_cast<count64>(row.size)) return own;
  unsigned most = 0;
  for (int b = static_cast<int>(threadIdx.x); b < cuda_tuning::bounds; b += Threads) {
    most = table.bounds[b] > most ? table.bounds[b] : most;
  }
  most = fold_warps_to_all(warp_max(most), table.most, maximum{});
  for (unsigned least = most / 2 + 1;;) {
    const vote<I> best = count_in_block(
        row, arrays, [&](I label) { return *bound_of(label) >= least; }, table.exact);
    if (best.count >= least) return best.label;  // all other labels have fewer than `least`
    least = best.count;
  }
}

// The label of a row whose labels ascend on both sides, equal ones allowed; else -1.
template <class I, int Threads>
__device__ I label_of_ascending(const neighbour_list<I>& row, const label_arrays<I>& arrays,
                                block_table<I, Threads>& table) {
  const auto label_at = [&](std::int64_t k) { return arrays.label_of(row[k]); };
  const auto starts = [&](std::int64_t k) { return k == 0 || k == row.out_size; };
  bool ascends = true;
  for (std::int64_t k = threadIdx.x; k < row.size; k += Threads) {
    ascends = ascends && (starts(k) || label_at(k - 1) <= label_at(k));
  }
  if (__syncthreads_and(ascends ? 1 : 0) == 0) return I{-1};
  vote<I> mine = no_vote<I>;
  for (std::int64_t k = threadIdx.x; k < row.size; k += Threads) {
    const I label = label_at(k);
    if (!starts(k) && label_at(k - 1) == label) continue;  // the first of equal ones counts them
    const bool is_out = k < row.out_size;
    const std::int64_t last = is_out ? row.out_size : row.size;
    std::int64_t count = 1;
    if (k + 1 < last && label_at(k + 1) == label) {
      count = first_where(k + 2, last, [&](std::int64_t at) { return label_at(at) != label; }) - k;
    }
    if (is_out && row.out_size < row.size) {  // also on the other side
      const auto first = first_where(row.out_size, row.size, [&](std::int64_t at) { return label_at(at) >= label; });
      if (first < row.size && label_at(first) == label) {
        count += first_where(first + 1, row.size, [&](std::int64_t at) { return label_at(at) != label; }) - first;
      }
    }
    mine.offer({static_cast<unsigned>(count), label});
  }
  return best_of_block(mine, table).label;
}

// Processes rows in a grid-stride loop, one block each. find(row, own): the label where the above cannot tell.
template <int Threads, class I, class O, class Find>
__device__ __forceinline__ void take_rows(std::int64_t rows, const I* order, const neighbour_lists<I, O>& lists,
                                          const label_arrays<I>& arrays, const active_vertices& active, tallies* all,
                                          block_table<I, Threads>& table, Find find) {
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const std::int64_t v = order[r];
    if (!active.has(v)) continue;
    const neighbour_list<I> row = lists.of(v);
    I label = arrays.kind == labels_are::any ? I{-1} : label_of_ascending(row, arrays, table);
    if (label < 0) label = find(row, arrays.now[v]);
    if (threadIdx.x == 0) arrays.settle(v, label, changed, unlike);
  }
  add_to_tallies(all, changed, unlike);
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    large_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                      active_vertices active, tallies* all) {
  __shared__ block_table<I, block_threads> table;
  take_rows(rows, order, lists, arrays, active, all, table, [&](const neighbour_list<I>& row, I own) {
    const auto all_labels = [](I) { return true; };
    return most_are(row, arrays, own, table) ? own : count_in_block(row, arrays, all_labels, table).label;
  });
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::huge_block)
    huge_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                     active_vertices active, tallies* all) {
  __shared__ huge_table<I, cuda_tuning::huge_block> table;
  take_rows(rows, order, lists, arrays, active, all, table.exact,
            [&](const neighbour_list<I>& row, I own) { return count_huge(row, arrays, own, table); });
}

}  // namespace spargo::detail::communities
