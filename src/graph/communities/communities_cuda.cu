// Label propagation on the device.
//
// A round reads the labels of the round before and writes others. A warp does a row of up to 128 neighbours: up to 32
// labels are compared by one match instruction, more are counted in a table in shared memory, unless more than half of
// them are the vertex's own. A block does a longer row. Its table holds a share of the labels at a time, by their
// hashes: all of them at first, half as many whenever the table fills up, so that rows with few labels, as they are
// after a round or two, are read once. In the first round, when each label is a vertex, a long row whose neighbours
// ascend needs no table: its label is the smallest neighbour that is one both ways, else the smallest.
//
// Invariant: which label is found depends on counts alone, so the result is the same on every run. The host reads after
// each round how many labels have changed, since the rounds may be over. Memory, I = int32: 12 bytes per vertex, and 4
// for each 128 edges.
#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "graph/communities/executor.hpp"

#include <spargo/primitives/reduce.hpp>

#include <limits>
#include <utility>

namespace spargo::detail::communities {

namespace {

// By choice; not measured yet.
struct tuning {
  static constexpr int warp_row = 128;    // neighbours of the longest row of a warp: four labels per lane
  static constexpr int warp_slots = 256;  // of its table, at most half full
  static constexpr int block_slots = 2048;
};

constexpr int warps_per_block = block_threads / warp_size;

// What a round leaves behind, and what plans and runs are told once.
struct tallies {
  count64 changed;  // vertices with another label than before
  count64 unlike;   // vertices with another label than two rounds before
  count64 listed;   // long rows
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

// Of all threads of the warp.
__device__ void add_to_tallies(tallies* all, unsigned changed, unsigned unlike) {
  changed = warp_sum(changed);
  unlike = warp_sum(unlike);
  if (lane_id() != 0) return;
  if (changed > 0) atomicAdd(&all->changed, count64{changed});
  if (unlike > 0) atomicAdd(&all->unlike, count64{unlike});
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

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    short_rows_kernel(std::int64_t n, neighbour_lists<I, O> lists, label_arrays<I> arrays, tallies* all) {
  __shared__ word<I> labels[warps_per_block][tuning::warp_slots];
  __shared__ unsigned counts[warps_per_block][tuning::warp_slots];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t v = global_thread() / warp_size; v < n; v += grid_threads() / warp_size) {
    const neighbour_list<I> row = lists.of(v);
    if (row.size > tuning::warp_row) continue;
    I label = arrays.now[v];
    if (row.size > warp_size) {
      label = count_in_warp(row, arrays.now, label, labels[warp], counts[warp]);
    } else if (row.size > 0) {
      label = match_labels(row, arrays.now);
    }
    if (lane_id() == 0) arrays.settle(v, label, changed, unlike);
  }
  add_to_tallies(all, changed, unlike);
}

// --- Rows of a block ------------------------------------------------------

template <class I>
struct block_table {
  word<I> labels[tuning::block_slots];
  unsigned counts[tuning::block_slots];
  unsigned used;
  vote<I> of_warps[warps_per_block];
  count64 sums[warps_per_block];
};

// All functions below are called by all threads of the block, and begin and end with it in step.
template <class I>
__device__ vote<I> best_of_block(vote<I> mine, block_table<I>& table) {
  mine = best_of_warp(mine);
  if (lane_id() == 0) table.of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  for (const vote<I>& other : table.of_warps) mine.offer(other);
  __syncthreads();
  return mine;
}

template <class I>
__device__ bool most_are(const neighbour_list<I>& row, const I* now, I own, block_table<I>& table) {
  count64 equal = 0;
  for (std::int64_t k = threadIdx.x; k < row.size; k += block_threads) equal += now[row[k]] == own ? 1 : 0;
  equal = warp_sum(equal);
  if (lane_id() == 0) table.sums[threadIdx.x / warp_size] = equal;
  __syncthreads();
  equal = 0;
  for (const count64 sum : table.sums) equal += sum;
  __syncthreads();
  return 2 * equal > static_cast<count64>(row.size);
}

// Counts the labels of share `share` of `shares`, a power of two; false when they fill half of the table.
template <class I>
__device__ bool count_share(const neighbour_list<I>& row, const I* now, count64 share, count64 shares, vote<I>& mine,
                            block_table<I>& table) {
  for (int s = static_cast<int>(threadIdx.x); s < tuning::block_slots; s += block_threads) {
    table.labels[s] = no_label<I>;
    table.counts[s] = 0;
  }
  if (threadIdx.x == 0) table.used = 0;
  __syncthreads();
  constexpr unsigned most = tuning::block_slots / 2;
  static_assert(most + block_threads < tuning::block_slots, "each thread may be about to take a slot");
  for (std::int64_t k = threadIdx.x; k < row.size; k += block_threads) {
    if (*static_cast<volatile unsigned*>(&table.used) > most) break;
    const I label = now[row[k]];
    if (((hash_of(label) >> 16) & (shares - 1)) != share) continue;
    bool fresh = false;
    mine.offer({count_label<tuning::block_slots>(table.labels, table.counts, label, fresh), label});
    if (fresh) atomicAdd(&table.used, 1U);
  }
  __syncthreads();
  const bool fits = table.used <= most;
  __syncthreads();
  return fits;
}

template <class I>
__device__ I count_in_block(const neighbour_list<I>& row, const I* now, block_table<I>& table) {
  for (count64 shares = 1;; shares *= 2) {
    vote<I> mine = no_vote<I>;
    bool fits = true;
    for (count64 share = 0; share < shares && fits; ++share) fits = count_share(row, now, share, shares, mine, table);
    if (fits) return best_of_block(mine, table).label;
  }
}

// The label of a row in the first round where neighbours ascend on both sides; else -1.
template <class I>
__device__ I look_at_row(const neighbour_list<I>& row, block_table<I>& table) {
  const std::int64_t in_size = row.size - row.out_size;
  bool ascends = true;
  for (std::int64_t k = threadIdx.x; k < row.size; k += block_threads) {
    ascends = ascends && (k == 0 || k == row.out_size || row[k - 1] < row[k]);
  }
  if (__syncthreads_and(ascends ? 1 : 0) == 0) return I{-1};
  vote<I> mine = no_vote<I>;
  for (std::int64_t k = threadIdx.x; k < row.size; k += block_threads) {
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
    long_rows_kernel(std::int64_t rows, const I* order, neighbour_lists<I, O> lists, label_arrays<I> arrays,
                     labels_are kind, tallies* all) {
  __shared__ block_table<I> table;
  unsigned changed = 0;
  unsigned unlike = 0;
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const std::int64_t v = order[r];
    const neighbour_list<I> row = lists.of(v);
    I label = kind == labels_are::vertices ? look_at_row(row, table) : I{-1};
    if (label < 0) {
      const I own = arrays.now[v];
      label = most_are(row, arrays.now, own, table) ? own : count_in_block(row, arrays.now, table);
    }
    if (threadIdx.x == 0) arrays.settle(v, label, changed, unlike);
  }
  add_to_tallies(all, changed, unlike);
}

// --- Before and after the rounds ------------------------------------------

template <class I, class O>
void list_rows(const context<device>& ctx, std::int64_t n, const neighbour_lists<I, O>& lists, I* to, tallies* all) {
  for_each(ctx, n, [lists, to, all] __device__(std::int64_t v) {
    if (lists.of(v).size > tuning::warp_row) to[atomicAdd(&all->listed, count64{1})] = static_cast<I>(v);
  });
}

template <class I>
void set_labels(const context<device>& ctx, span<const I, device> initial, span<I, device> now, span<I, device> next,
                tallies* all) {
  for_each(ctx, now.size(), [initial, now, next, all] __device__(std::int64_t v) {
    const I label = initial.empty() ? static_cast<I>(v) : initial[v];
    if (label < 0 || label >= now.size()) atomicMax(&all->bad, static_cast<count64>(now.size() - v));
    now[v] = label;
    next[v] = -1;
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
    list_long_rows(entries);
  }

  run_outcome run(span<const I, device> initial) override {
    run_outcome outcome;
    start(initial);
    labels_are kind = initial.empty() ? labels_are::vertices : labels_are::any;
    while (outcome.rounds < iterations_) {
      const tallies round = take_round(std::exchange(kind, labels_are::any));
      now_.swap(next_);
      ++outcome.rounds;
      if (round.changed == 0) break;
      if (round.unlike == 0) {  // two labellings alternate from now on
        if ((iterations_ - outcome.rounds) % 2 != 0) now_.swap(next_);
        break;
      }
    }
    outcome.count = count_labels();
    return outcome;
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return now_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return (now_.size() + next_.size() + marks_.size() + long_rows_.size()) * std::int64_t{sizeof(I)} +
           std::int64_t{sizeof(tallies)};
  }

 private:
  // Waits for the device.
  [[nodiscard]] tallies read_tallies() {
    copy_to_host(ctx_, tallies_.data(), told_.data(), sizeof(tallies));
    ctx_.synchronize();
    return told_[0];
  }

  void list_long_rows(std::int64_t entries) {
    long_rows_ = {ctx_, entries / tuning::warp_row + 1};
    fill_zero<tallies, device>(ctx_, tallies_.view());
    list_rows<I, O>(ctx_, n_, lists_, long_rows_.data(), tallies_.data());
    long_count_ = static_cast<std::int64_t>(read_tallies().listed);
  }

  void start(span<const I, device> initial) {
    fill_zero<tallies, device>(ctx_, tallies_.view());
    set_labels<I>(ctx_, initial, now_.view(), next_.view(), tallies_.data());
    if (initial.empty()) return;
    const auto bad = static_cast<std::int64_t>(read_tallies().bad);
    if (bad > 0) throw_bad_label(n_ - bad, label_of(initial, n_ - bad), n_);
  }

  [[nodiscard]] std::int64_t label_of(span<const I, device> labels, std::int64_t v) const {
    return to_host(ctx_, labels.subspan(v, 1))[0];
  }

  [[nodiscard]] tallies take_round(labels_are kind) {
    const device_guard guard(ctx_);
    fill_zero<tallies, device>(ctx_, tallies_.view());
    const label_arrays<I> arrays{now_.data(), next_.data()};
    if (long_count_ > 0) {
      long_rows_kernel<<<blocks_for(ctx_, long_count_, 1), block_threads, 0, ctx_.stream()>>>(
          long_count_, long_rows_.data(), lists_, arrays, kind, tallies_.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    if (n_ > 0) {
      short_rows_kernel<<<blocks_for(ctx_, n_, warps_per_block), block_threads, 0, ctx_.stream()>>>(n_, lists_, arrays,
                                                                                                    tallies_.data());
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
  neighbour_lists<I, O> lists_;
  array<I, device> now_;    // labels
  array<I, device> next_;   // those of the round under way; before it writes them, of two rounds before
  array<I, device> marks_;  // [label] 1: a vertex has it
  array<tallies, device> tallies_;
  array<tallies, host> told_;
  array<I, device> long_rows_;  // in no fixed order
  std::int64_t long_count_ = 0;
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
