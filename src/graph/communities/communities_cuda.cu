// Label propagation on the device.
//
// A round reads the labels of the round before and writes others. Rows are listed by length when the plan is made. A
// thread does one of up to 8 neighbours, and compares all labels with each other. A warp does a row of up to 128: up to
// 32 labels are compared by one match instruction, more are counted in a table in shared memory, unless more than half
// of them are the vertex's own. A block does a longer row. Its table holds a share of the labels at a time, by their
// hashes: all of them at first, half as many whenever the table fills up, so that rows with few labels, as they are
// after a round or two, are read once. Of rows beyond 4096 only those labels are counted that counters of hashes leave
// in the running. In the first round, when each label is a vertex, a long row whose neighbours ascend needs no table:
// its label is the smallest neighbour that is one both ways, else the smallest. When a round has changed few labels,
// those vertices and their neighbours are marked, and the next looks at no others: the frontier.
//
// Invariant: which label is found depends on counts alone, so the result is the same on every run. The host reads after
// each round how many labels have changed, since the rounds may be over. Vertices without neighbours keep their labels
// and are in no list. Memory, I = int32: 16 bytes per vertex, 4 more for the frontier, and 4 for each 128 edges. H200,
// ten rounds: R-MAT 22 of degree 16 12.1 ms, a grid of 2048^2 1.00, uniform 2^22 of degree 16 30.4 (all
// its rows are done by warps).
#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "graph/communities/executor.hpp"

#include <spargo/primitives/reduce.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace spargo::detail::communities {

namespace {

// By choice; no others have been tried.
struct tuning {
  static constexpr int thread_row = 8;    // neighbours of the longest row of a thread
  static constexpr int warp_row = 128;    // neighbours of the longest row of a warp: four labels per lane
  static constexpr int warp_slots = 256;  // of its table, at most half full
  static constexpr int block_slots = 2048;
  static constexpr int block_row = 4096;  // of the longest row of a block that counts all labels at once
  static constexpr int huge_block = 1024;
  static constexpr int bounds = 4096;
  static constexpr int unroll = 4;              // labels in flight of a block's thread
  static constexpr count64 changed_share = 16;  // due are marked when fewer than one in so many vertices have changed
};

constexpr int warps_per_block = block_threads / warp_size;

// What a round leaves behind, and what plans and runs are told once.
struct tallies {
  count64 changed;  // vertices with another label than before
  count64 unlike;   // vertices with another label than two rounds before
  count64 tiny;     // rows of threads,
  count64 small;    // of warps,
  count64 large;    // of blocks,
  count64 huge;     // and of large blocks
  count64 bad;      // vertices from the first one on whose initial label is none
};

template <class I>
using word = std::conditional_t<sizeof(I) == 4, unsigned, count64>;
template <class I>
constexpr word<I> no_label = ~word<I>{0};

// Neighbours by out-edges, then by in-edges.
template <class I>
struct neighbour_list {
  const I* out;
  const I* in;
  std::int64_t out_size;
  std::int64_t size;
  __device__ I operator[](std::int64_t k) const { return k < out_size ? out[k] : in[k - out_size]; }
};

template <class I, class O>
struct neighbour_lists {
  const O* out_offsets;
  const I* out;
  const O* in_offsets;  // null for an undirected graph
  const I* in;

  __device__ neighbour_list<I> of(std::int64_t v) const {
    const std::int64_t first = out_offsets[v];
    const std::int64_t size = out_offsets[v + 1] - first;
    if (in_offsets == nullptr) return {out + first, nullptr, size, size};
    const std::int64_t in_first = in_offsets[v];
    return {out + first, in + in_first, size, size + in_offsets[v + 1] - in_first};
  }
};

template <class I>
struct vote {
  unsigned count;
  I label;

  // Keeps the more frequent label, of equals the smaller.
  __device__ void offer(const vote& other) {
    if (other.count > count || (other.count == count && other.label < label)) *this = other;
  }
};

template <class I>
constexpr vote<I> no_vote{0, std::numeric_limits<I>::max()};

template <class I>
__device__ vote<I> best_of_warp(vote<I> mine) {
  for (int step = warp_size / 2; step > 0; step /= 2) {
    mine.offer({shuffle_xor(mine.count, step), shuffle_xor(mine.label, step)});
  }
  return mine;
}

template <class I>
__device__ count64 hash_of(I label) {
  return (static_cast<count64>(label) * 0x9e3779b97f4a7c15ULL) >> 16;
}

// Adds one to the label's count in a table that has a free slot; tells the count, and whether the slot was free.
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

template <class I>
struct label_arrays {
  const I* now;
  I* next;  // still the labels of two rounds before

  // Of one thread for the vertex.
  __device__ void settle(std::int64_t v, I label, unsigned& changed, unsigned& unlike) const {
    changed += label != now[v] ? 1 : 0;
    unlike += label != next[v] ? 1 : 0;
    next[v] = label;
  }
};

// The vertices whose labels a round finds: all of them, or those marked for it.
struct due_vertices {
  const unsigned* marks = nullptr;
  unsigned round = 0;
  __device__ bool has(std::int64_t v) const { return marks == nullptr || marks[v] == round; }
};

// Of all threads of the warp.
__device__ void add_to_tallies(tallies* all, unsigned changed, unsigned unlike) {
  changed = warp_sum(changed);
  unlike = warp_sum(unlike);
  if (lane_id() != 0) return;
  if (changed > 0) atomicAdd(&all->changed, count64{changed});
  if (unlike > 0) atomicAdd(&all->unlike, count64{unlike});
}

// --- Rows of a thread -----------------------------------------------------

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    tiny_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                     due_vertices due, tallies* all) {
  constexpr int most = tuning::thread_row;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t r = global_thread(); r < rows; r += grid_threads()) {
    const std::int64_t v = order[r];
    if (!due.has(v)) continue;
    const neighbour_list<I> row = lists.of(v);
    I heard[most];
#pragma unroll
    for (int k = 0; k < most; ++k) heard[k] = k < row.size ? row[k] : I{-1};
#pragma unroll
    for (int k = 0; k < most; ++k) heard[k] = heard[k] >= 0 ? arrays.now[heard[k]] : I{-1};
    vote<I> mine = no_vote<I>;
#pragma unroll
    for (int k = 0; k < most; ++k) {
      unsigned count = 0;
#pragma unroll
      for (int other = 0; other < most; ++other) count += heard[other] == heard[k] ? 1 : 0;
      if (heard[k] >= 0) mine.offer({count, heard[k]});
    }
    arrays.settle(v, mine.label, changed, unlike);
  }
  __syncwarp();
  add_to_tallies(all, changed, unlike);
}

// --- Rows of a warp -------------------------------------------------------

template <class I>
__device__ I match_labels(const neighbour_list<I>& row, const I* now) {
  const bool any = lane_id() < row.size;
  const I heard = any ? now[row[lane_id()]] : I{-1};
  const unsigned same = __match_any_sync(full_mask, heard);
  vote<I> mine = no_vote<I>;
  if (any) mine = {static_cast<unsigned>(__popc(same)), heard};
  return best_of_warp(mine).label;
}

template <class I>
__device__ I count_in_warp(const neighbour_list<I>& row, const I* now, I own, word<I>* labels, unsigned* counts) {
  constexpr int per_lane = tuning::warp_row / warp_size;
  I heard[per_lane];
  int equal = 0;
#pragma unroll
  for (int k = 0; k < per_lane; ++k) {
    const int at = lane_id() + k * warp_size;
    heard[k] = at < row.size ? now[row[at]] : I{-1};
    equal += __popc(__ballot_sync(full_mask, heard[k] == own));
  }
  if (2 * equal > row.size) return own;
  for (int s = lane_id(); s < tuning::warp_slots; s += warp_size) {
    labels[s] = no_label<I>;
    counts[s] = 0;
  }
  __syncwarp();
  vote<I> mine = no_vote<I>;
  bool fresh = false;
#pragma unroll
  for (int k = 0; k < per_lane; ++k) {
    if (heard[k] >= 0) mine.offer({count_label<tuning::warp_slots>(labels, counts, heard[k], fresh), heard[k]});
  }
  __syncwarp();
  return best_of_warp(mine).label;
}

// That of one of the lanes.
template <class I>
__device__ neighbour_list<I> shuffle_row(const neighbour_list<I>& row, int lane) {
  const auto pointer = [lane](const I* p) {
    return reinterpret_cast<const I*>(shuffle(reinterpret_cast<std::uintptr_t>(p), lane));
  };
  const auto length = [lane](std::int64_t size) { return std::int64_t{shuffle(static_cast<int>(size), lane)}; };
  return {pointer(row.out), pointer(row.in), length(row.out_size), length(row.size)};
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    small_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                      due_vertices due, tallies* all) {
  __shared__ word<I> labels[warps_per_block][tuning::warp_slots];
  __shared__ unsigned counts[warps_per_block][tuning::warp_slots];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t warps = grid_threads() / warp_size;
  std::int64_t tile = (rows + warps - 1) / warps;  // of rows whose places the lanes read together
  tile = tile > warp_size ? warp_size : tile;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t base = global_thread() / warp_size * tile; base < rows; base += warps * tile) {
    const std::int64_t r = base + lane_id();
    const I v = lane_id() < tile && r < rows ? order[r] : I{-1};
    const bool wanted = v >= 0 && due.has(v);
    neighbour_list<I> own{};
    if (wanted) own = lists.of(v);
    for (unsigned left = __ballot_sync(full_mask, wanted); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const neighbour_list<I> row = shuffle_row(own, owner);
      const I vertex = shuffle(v, owner);
      const I label = row.size > warp_size
                          ? count_in_warp(row, arrays.now, arrays.now[vertex], labels[warp], counts[warp])
                          : match_labels(row, arrays.now);
      if (lane_id() == owner) arrays.settle(v, label, changed, unlike);
    }
  }
  add_to_tallies(all, changed, unlike);
}

// --- Rows of a block ------------------------------------------------------

template <class I, int Threads>
struct block_table {
  static constexpr int warps = Threads / warp_size;
  word<I> labels[tuning::block_slots];
  unsigned counts[tuning::block_slots];
  unsigned used;
  vote<I> of_warps[warps];
  count64 sums[warps];
};

// All functions below are called by all threads of the block, and begin and end with it in step.
template <class I, int Threads>
__device__ vote<I> best_of_block(vote<I> mine, block_table<I, Threads>& table) {
  mine = best_of_warp(mine);
  if (lane_id() == 0) table.of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  for (const vote<I>& other : table.of_warps) mine.offer(other);
  __syncthreads();
  return mine;
}

template <class I, int Threads>
__device__ count64 sum_of_block(count64 mine, block_table<I, Threads>& table) {
  mine = warp_sum(mine);
  if (lane_id() == 0) table.sums[threadIdx.x / warp_size] = mine;
  __syncthreads();
  mine = 0;
  for (const count64 sum : table.sums) mine += sum;
  __syncthreads();
  return mine;
}

// visit(label) of this thread's neighbours until it returns false, with several loads in flight.
template <int Threads, class I, class Visit>
__device__ void for_each_label(const neighbour_list<I>& row, const I* now, Visit visit) {
  constexpr int unroll = tuning::unroll;
  for (std::int64_t base = threadIdx.x; base < row.size; base += Threads * unroll) {
    I heard[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) heard[q] = base + q * Threads < row.size ? row[base + q * Threads] : I{-1};
#pragma unroll
    for (int q = 0; q < unroll; ++q) heard[q] = heard[q] >= 0 ? now[heard[q]] : I{-1};
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      if (heard[q] >= 0 && !visit(heard[q])) return;
    }
  }
}

template <class I, int Threads>
__device__ bool most_are(const neighbour_list<I>& row, const I* now, I own, block_table<I, Threads>& table) {
  count64 equal = 0;
  for_each_label<Threads>(row, now, [&](I label) {
    equal += label == own ? 1 : 0;
    return true;
  });
  return 2 * sum_of_block(equal, table) > static_cast<count64>(row.size);
}

// Counts the labels for which counted(label); false when they fill half of the table.
template <class I, int Threads, class Counted>
__device__ bool count_some(const neighbour_list<I>& row, const I* now, Counted counted, vote<I>& mine,
                           block_table<I, Threads>& table) {
  for (int s = static_cast<int>(threadIdx.x); s < tuning::block_slots; s += Threads) {
    table.labels[s] = no_label<I>;
    table.counts[s] = 0;
  }
  if (threadIdx.x == 0) table.used = 0;
  __syncthreads();
  constexpr int most_used = std::min(tuning::block_slots / 2, tuning::block_slots - Threads - 1);
  static_assert(most_used >= tuning::block_slots / 4, "each thread may be about to take a slot");
  constexpr auto most = static_cast<unsigned>(most_used);
  for_each_label<Threads>(row, now, [&](I label) {
    if (!counted(label)) return true;
    if (*static_cast<volatile unsigned*>(&table.used) > most) return false;
    bool fresh = false;
    mine.offer({count_label<tuning::block_slots>(table.labels, table.counts, label, fresh), label});
    if (fresh) atomicAdd(&table.used, 1U);
    return true;
  });
  __syncthreads();
  const bool fits = table.used <= most;
  __syncthreads();
  return fits;
}

// The best of those for which counted(label): of all together, or of half as many at a time whenever they fill the
// table.
template <class I, int Threads, class Counted>
__device__ vote<I> count_in_block(const neighbour_list<I>& row, const I* now, Counted counted,
                                  block_table<I, Threads>& table) {
  for (count64 shares = 1;; shares *= 2) {
    vote<I> mine = no_vote<I>;
    bool fits = true;
    for (count64 share = 0; share < shares && fits; ++share) {
      const auto in_share = [&](I label) { return ((hash_of(label) >> 16) & (shares - 1)) == share && counted(label); };
      fits = count_some(row, now, in_share, mine, table);
    }
    if (fits) return best_of_block(mine, table);
  }
}

// Rows with so many labels that the table would go through them often. Counters of hashes, of all labels, bound each
// label's count from above; only labels are counted whose bound is at least what one of them has.
template <class I, int Threads>
struct huge_table {
  unsigned bounds[tuning::bounds];
  unsigned most[Threads / warp_size];
  block_table<I, Threads> exact;
};

template <class I, int Threads>
__device__ I count_huge(const neighbour_list<I>& row, const I* now, I own, huge_table<I, Threads>& table) {
  const auto bound_of = [&](I label) { return &table.bounds[(hash_of(label) >> 20) % tuning::bounds]; };
  for (int b = static_cast<int>(threadIdx.x); b < tuning::bounds; b += Threads) table.bounds[b] = 0;
  __syncthreads();
  count64 equal = 0;
  for_each_label<Threads>(row, now, [&](I label) {
    equal += label == own ? 1 : 0;
    atomicAdd(bound_of(label), 1U);
    return true;
  });
  if (2 * sum_of_block(equal, table.exact) > static_cast<count64>(row.size)) return own;
  unsigned most = 0;
  for (int b = static_cast<int>(threadIdx.x); b < tuning::bounds; b += Threads) {
    most = table.bounds[b] > most ? table.bounds[b] : most;
  }
  most = warp_max(most);
  if (lane_id() == 0) table.most[threadIdx.x / warp_size] = most;
  __syncthreads();
  for (const unsigned other : table.most) most = other > most ? other : most;
  for (unsigned least = most / 2 + 1;;) {
    const vote<I> best = count_in_block(
        row, now, [&](I label) { return *bound_of(label) >= least; }, table.exact);
    if (best.count >= least) return best.label;  // the others are fewer than `least`
    least = best.count;
  }
}

// The label of a row in the first round where neighbours ascend on both sides; else -1.
template <class I, int Threads>
__device__ I look_at_row(const neighbour_list<I>& row, block_table<I, Threads>& table) {
  const std::int64_t in_size = row.size - row.out_size;
  bool ascends = true;
  for (std::int64_t k = threadIdx.x; k < row.size; k += Threads) {
    ascends = ascends && (k == 0 || k == row.out_size || row[k - 1] < row[k]);
  }
  if (__syncthreads_and(ascends ? 1 : 0) == 0) return I{-1};
  vote<I> mine = no_vote<I>;
  for (std::int64_t k = threadIdx.x; k < row.size; k += Threads) {
    const I label = row[k];
    bool mutual = false;
    if (in_size > 0 && k < row.out_size) {
      const std::int64_t at = lower_bound(row.in, in_size, label);
      mutual = at < in_size && row.in[at] == label;
    }
    mine.offer({mutual ? 2U : 1U, label});
  }
  return best_of_block(mine, table).label;
}

enum class labels_are { vertices, any };

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    large_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                      labels_are kind, due_vertices due, tallies* all) {
  __shared__ block_table<I, block_threads> table;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const std::int64_t v = order[r];
    if (!due.has(v)) continue;
    const neighbour_list<I> row = lists.of(v);
    I label = kind == labels_are::vertices ? look_at_row(row, table) : I{-1};
    if (label < 0) {
      const I own = arrays.now[v];
      const auto all_labels = [](I) { return true; };
      label = most_are(row, arrays.now, own, table) ? own : count_in_block(row, arrays.now, all_labels, table).label;
    }
    if (threadIdx.x == 0) arrays.settle(v, label, changed, unlike);
  }
  add_to_tallies(all, changed, unlike);
}

template <class I, class O>
__global__ void __launch_bounds__(tuning::huge_block)
    huge_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                     labels_are kind, due_vertices due, tallies* all) {
  __shared__ huge_table<I, tuning::huge_block> table;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const std::int64_t v = order[r];
    if (!due.has(v)) continue;
    const neighbour_list<I> row = lists.of(v);
    I label = kind == labels_are::vertices ? look_at_row(row, table.exact) : I{-1};
    if (label < 0) label = count_huge(row, arrays.now, arrays.now[v], table);
    if (threadIdx.x == 0) arrays.settle(v, label, changed, unlike);
  }
  add_to_tallies(all, changed, unlike);
}

// --- Between rounds -------------------------------------------------------

// Marks the vertices whose labels have changed, and their neighbours, for the next round.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    mark_due_kernel(std::int64_t n, neighbour_lists<I, O> lists, const I* now, const I* before, unsigned* marks,
                    unsigned round) {
  __shared__ I changed[block_threads];
  __shared__ unsigned count;
  const auto mark_from = [&](const neighbour_list<I>& row, std::int64_t first, std::int64_t step) {
#pragma unroll 4
    for (std::int64_t k = first; k < row.size; k += step) marks[row[k]] = round;
  };
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads; base < n; base += grid_threads()) {
    if (threadIdx.x == 0) count = 0;
    const std::int64_t v = base + threadIdx.x;
    const bool here = v < n && now[v] != before[v];
    if (__syncthreads_or(here ? 1 : 0) == 0) continue;
    if (here) {
      marks[v] = round;
      changed[atomicAdd(&count, 1U)] = static_cast<I>(v);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x / warp_size; k < count; k += warps_per_block) {
      const neighbour_list<I> row = lists.of(changed[k]);
      if (row.size <= tuning::block_row) mark_from(row, lane_id(), warp_size);
    }
    for (unsigned k = 0; k < count; ++k) {
      const neighbour_list<I> row = lists.of(changed[k]);
      if (row.size > tuning::block_row) mark_from(row, threadIdx.x, block_threads);
    }
    __syncthreads();
  }
}

// --- Before and after the rounds ------------------------------------------

// A list of rows that fills up from `begin` in steps of 1, or of -1.
template <class I>
struct row_list {
  I* begin;
  int step;
  count64* size;

  // All lanes of the warp call it: one atomic.
  __device__ void append(bool here, I v) const {
    const unsigned mask = __ballot_sync(full_mask, here);
    if (mask == 0) return;
    count64 first = 0;
    if (lane_id() == 0) first = atomicAdd(size, static_cast<count64>(__popc(mask)));
    first = shuffle(first, 0) + static_cast<count64>(__popc(mask & ((1U << lane_id()) - 1)));
    if (here) begin[static_cast<std::int64_t>(first) * step] = v;
  }
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_rows_kernel(std::int64_t n, neighbour_lists<I, O> lists, row_list<I> tiny, row_list<I> small,
                     row_list<I> large, row_list<I> huge) {
  const std::int64_t v = global_thread();
  const std::int64_t size = v < n ? lists.of(v).size : 0;
  tiny.append(size > 0 && size <= tuning::thread_row, static_cast<I>(v));
  small.append(size > tuning::thread_row && size <= tuning::warp_row, static_cast<I>(v));
  large.append(size > tuning::warp_row && size <= tuning::block_row, static_cast<I>(v));
  huge.append(size > tuning::block_row, static_cast<I>(v));
}

template <class I, class O>
void set_labels(const context<device>& ctx, const neighbour_lists<I, O>& lists, span<const I, device> initial,
                span<I, device> now, span<I, device> next, tallies* all) {
  for_each(ctx, now.size(), [lists, initial, now, next, all] __device__(std::int64_t v) {
    const I label = initial.empty() ? static_cast<I>(v) : initial[v];
    if (label < 0 || label >= now.size()) atomicMax(&all->bad, static_cast<count64>(now.size() - v));
    now[v] = label;
    next[v] = lists.of(v).size > 0 ? I{-1} : label;
  });
}

template <class I>
void mark_labels(const context<device>& ctx, span<const I, device> labels, span<I, device> marks) {
  for_each(ctx, labels.size(), [labels, marks] __device__(std::int64_t v) { marks[labels[v]] = 1; });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const communities_options& options)
      : ctx_(ctx),
        n_(g.vertices()),
        iterations_(options.iterations),
        due_(ctx, options.algorithm == communities_algorithm::frontier ? n_ : 0),
        lists_{g.out.offsets.data(), g.out.indices.data(), nullptr, nullptr},
        now_(ctx, n_),
        next_(ctx, n_),
        marks_(ctx, n_),
        tallies_(ctx, 1),
        told_(context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1) {
    std::int64_t entries = g.out.nnz();
    if (g.direction == direction_kind::directed && g.has_in_edges()) {
      lists_.in_offsets = g.in.offsets.data();
      lists_.in = g.in.indices.data();
      entries += g.in.nnz();
    }
    list_rows(entries);
  }

  run_outcome run(span<const I, device> initial) override {
    run_outcome outcome;
    start(initial);
    labels_are kind = initial.empty() ? labels_are::vertices : labels_are::any;
    due_vertices due;
    while (outcome.rounds < iterations_) {
      const tallies round = take_round(std::exchange(kind, labels_are::any), due);
      now_.swap(next_);
      ++outcome.rounds;
      if (round.changed == 0) break;
      if (round.unlike == 0) {  // two labellings alternate from now on
        if ((iterations_ - outcome.rounds) % 2 != 0) now_.swap(next_);
        break;
      }
      due = {};
      if (!due_.empty() && round.changed * tuning::changed_share < static_cast<count64>(n_) &&
          outcome.rounds < iterations_) {
        mark_due(outcome.rounds + 1);
        due = {due_.data(), static_cast<unsigned>(outcome.rounds + 1)};
      }
    }
    outcome.count = count_labels();
    return outcome;
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return now_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return (now_.size() + next_.size() + marks_.size() + rows_.size() + large_rows_.size()) * std::int64_t{sizeof(I)} +
           due_.size() * std::int64_t{sizeof(unsigned)} + std::int64_t{sizeof(tallies)};
  }

 private:
  // Waits for the device.
  [[nodiscard]] tallies read_tallies() {
    copy_to_host(ctx_, tallies_.data(), told_.data(), sizeof(tallies));
    ctx_.synchronize();
    return told_[0];
  }

  void list_rows(std::int64_t entries) {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    rows_ = {ctx_, n_};
    large_rows_ = {ctx_, entries / tuning::warp_row + 1};
    fill_zero<tallies, device>(ctx_, tallies_.view());
    tallies* const all = tallies_.data();
    list_rows_kernel<<<static_cast<unsigned>(div_up(n_, std::int64_t{block_threads})), block_threads, 0,
                       ctx_.stream()>>>(n_, lists_, row_list<I>{rows_.data(), 1, &all->tiny},
                                        row_list<I>{rows_.data() + n_ - 1, -1, &all->small},
                                        row_list<I>{large_rows_.data(), 1, &all->large},
                                        row_list<I>{large_rows_.data() + large_rows_.size() - 1, -1, &all->huge});
    SPARGO_CUDA_TRY(cudaGetLastError());
    counts_ = read_tallies();
  }

  void start(span<const I, device> initial) {
    fill_zero<tallies, device>(ctx_, tallies_.view());
    if (!due_.empty()) fill_zero<unsigned, device>(ctx_, due_.view());
    set_labels<I, O>(ctx_, lists_, initial, now_.view(), next_.view(), tallies_.data());
    if (initial.empty()) return;
    const auto bad = static_cast<std::int64_t>(read_tallies().bad);
    if (bad > 0) throw_bad_label(n_ - bad, label_of(initial, n_ - bad), n_);
  }

  [[nodiscard]] std::int64_t label_of(span<const I, device> labels, std::int64_t v) const {
    return to_host(ctx_, labels.subspan(v, 1))[0];
  }

  void mark_due(std::int64_t round) {
    const device_guard guard(ctx_);
    mark_due_kernel<<<blocks_for(ctx_, n_, block_threads), block_threads, 0, ctx_.stream()>>>(
        n_, lists_, now_.data(), next_.data(), due_.data(), static_cast<unsigned>(round));
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  [[nodiscard]] tallies take_round(labels_are kind, const due_vertices& due) {
    const device_guard guard(ctx_);
    fill_zero<tallies, device>(ctx_, tallies_.view());
    const label_arrays<I> arrays{now_.data(), next_.data()};
    if (counts_.huge > 0) {
      const auto rows = static_cast<std::int64_t>(counts_.huge);
      huge_rows_kernel<<<blocks_for(ctx_, rows, 1), tuning::huge_block, 0, ctx_.stream()>>>(
          rows, large_rows_.data() + large_rows_.size() - rows, lists_, arrays, kind, due, tallies_.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    if (counts_.large > 0) {
      const auto rows = static_cast<std::int64_t>(counts_.large);
      large_rows_kernel<<<blocks_for(ctx_, rows, 1), block_threads, 0, ctx_.stream()>>>(
          rows, large_rows_.data(), lists_, arrays, kind, due, tallies_.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    if (counts_.small > 0) {
      const auto rows = static_cast<std::int64_t>(counts_.small);
      small_rows_kernel<<<blocks_for(ctx_, rows, warps_per_block), block_threads, 0, ctx_.stream()>>>(
          rows, rows_.data() + n_ - rows, lists_, arrays, due, tallies_.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    if (counts_.tiny > 0) {
      const auto rows = static_cast<std::int64_t>(counts_.tiny);
      tiny_rows_kernel<<<blocks_for(ctx_, rows, block_threads), block_threads, 0, ctx_.stream()>>>(
          rows, rows_.data(), lists_, arrays, due, tallies_.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    return read_tallies();
  }

  [[nodiscard]] std::int64_t count_labels() {
    fill_zero<I, device>(ctx_, marks_.view());
    mark_labels<I>(ctx_, now_.view(), marks_.view());
    return reduce_sum<I, device>(ctx_, marks_.view());
  }

  context<device> ctx_;
  std::int64_t n_;
  std::int64_t iterations_;
  array<unsigned, device> due_;  // [vertex] the last round for which it was marked; empty: all are due in each
  neighbour_lists<I, O> lists_;
  array<I, device> now_;    // labels
  array<I, device> next_;   // those of the round under way; before it writes them, of two rounds before
  array<I, device> marks_;  // [label] 1: a vertex has it
  array<tallies, device> tallies_;
  array<tallies, host> told_;
  array<I, device> rows_;        // of threads from the front, of warps from the back
  array<I, device> large_rows_;  // of blocks; all about in the order of the vertices
  tallies counts_{};             // of rows
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const communities_options& options) {
  return std::make_unique<device_executor<I, O>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              const communities_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::communities
