// Narrow levels, run by a kernel of one cluster of blocks. Road networks and meshes have thousands of them.
//
// Idea: latency of dependent loads bounds a narrow level, not their number. So the frontier stays in the shared memory
// of the cluster's blocks, each entry with the position and number of its edges. The dependent steps of a level are:
// exchange counters between blocks; read an entry; read its neighbours; read their `visited` bits and, speculatively,
// their offsets. A level ends without a fence: each block stores its 16 bytes of counters into every other block's
// shared memory, where they complete a barrier (st.async). So no block waits for stores of levels and parents, and the
// L1 cache keeps its lines. That is sound because blocks exchange nothing else except the atomics on `visited`. Where
// entries are redistributed, since one block found most of them, a barrier with a fence comes first. Invariant: the
// entries of a level are in one half of the slots, those it finds go to the other half. A vertex with many edges has
// several entries. Entries that find the block's slots full go to the queue in global memory; the whole frontier goes
// there once it is too wide. Before Hopper the cluster is one block. Cost: searching a 2048 x 2048 grid, 2,048 to 4,094
// levels, takes 8.3 ms (H200; 16.3 ms with cluster barriers instead of st.async).
#pragma once

#include "core/device/barrier.cuh"
#include "core/device/cluster.cuh"
#include "core/device/warp.cuh"
#include "graph/bfs/cuda_search.cuh"

namespace spargo::detail::bfs {

struct narrow_tuning {
  // Blocks per cluster; fewer where the device cannot place 16. H200, grid 2048 x 2048: 8.8 ms with 16, 12.5 with 8.
  static constexpr int blocks = 16;
  static constexpr int block = 512;
  static constexpr int warps = block / warp_size;
  // The following are untuned.
  static constexpr int slots = 1024;  // entries per block and half
  static constexpr int entry_edges = 128;
  static constexpr unsigned local_edges = 2 * block;  // up to this many are not redistributed
  static constexpr int most_edges = 8192;             // per vertex; the grid expands larger ones as hubs
  // Levels with more vertices or edges per block go to the grid, which takes 6.2 microseconds for a level of 2,000
  // vertices and returns at half of these limits.
  static constexpr int vertices = 512;
  static constexpr int edges = 2048;
};

// Counters of one block for one level.
struct __align__(16) local_found {
  static constexpr unsigned target = 1;  // flag: the target was found
  static constexpr unsigned full = 2;    // flag: some vertices went to the queue in global memory
  unsigned entries;
  unsigned vertices;
  unsigned edges;  // exact below 2^20
  unsigned flags;
};

// One half of a block's slots: vertex, parent, and a range of the vertex's edges.
template <class I, class O>
struct local_queue {
  static constexpr int slots = narrow_tuning::slots;
  O* begin;
  I* vertex;
  I* parent;
  int* size;

  __device__ local_queue(unsigned char* raw, int half)
      : begin(reinterpret_cast<O*>(raw) + half * slots),
        vertex(reinterpret_cast<I*>(raw + 2 * slots * sizeof(O)) + half * slots),
        parent(vertex + 2 * slots),
        size(reinterpret_cast<int*>(raw + 2 * slots * (sizeof(O) + 2 * sizeof(I))) + half * slots) {}
};

template <class I, class O>
constexpr std::size_t narrow_bytes() {
  return 2 * std::size_t{narrow_tuning::slots} * (sizeof(O) + 2 * sizeof(I) + sizeof(int));
}

// Whether the frontier is at most 1 / share of what `blocks` blocks may run.
__device__ inline bool is_narrow(const search_position& at, int blocks, int share) {
  return at.in_queue != 0 && at.vertices * share <= blocks * narrow_tuning::vertices &&
         at.edges * share <= blocks * narrow_tuning::edges && at.hub_begin == at.hub_end;
}

template <class I, class O>
struct narrow_entry {
  I vertex = 0;
  I parent = 0;
  O begin = 0;
  int size = -1;  // -1: no entry
};

// Constants of the current level and the destination of its discoveries.
template <class I, class O>
struct narrow_sink {
  const search<I, O>& s;
  std::int64_t queue_base;
  std::int64_t hub_base;
  std::int64_t level;  // level of the discoveries
  local_queue<I, O> to;
  local_found* found;
};

// Appends vertices that found no free slot to the queue in global memory or to the hubs. All lanes call it.
template <class I, class O>
__device__ void spill(const narrow_sink<I, O>& w, bool active, I v, I parent, O degree) {
  if (!__any_sync(full_mask, active)) return;
  const unsigned lane = threadIdx.x % warp_size;
  counters* const spilled = &w.s.control->flushed;
  const bool hub = active && degree >= cuda_tuning::hub_degree;
  const unsigned queued = __ballot_sync(full_mask, active && !hub);
  const count64 edges = warp_reduce_to_first(active ? static_cast<count64>(degree) : 0, plus{});
  count64 at = 0;
  if (lane == 0) {
    atomicOr(&w.found->flags, local_found::full);
    atomicAdd(&spilled->edges, edges);
    if (queued != 0) at = atomicAdd(&spilled->queued, static_cast<count64>(__popc(queued)));
  }
  at = __shfl_sync(full_mask, at, 0) + static_cast<count64>(__popc(queued & ((1U << lane) - 1)));
  if (active) write_found(w.s, v, parent, w.level);
  if (active && !hub) w.s.queue[w.queue_base + static_cast<std::int64_t>(at)] = v;
  append_hubs(w.s, hub, static_cast<std::int64_t>(v), w.hub_base, &spilled->chunks);
}

// Appends vertices with more edges than an entry holds, one at a time, each by the whole warp. All lanes call it.
template <class I, class O>
__device__ void append_long(const narrow_sink<I, O>& w, bool active, I v, I parent, O begin, O degree) {
  constexpr unsigned most = narrow_tuning::entry_edges;
  constexpr unsigned slots = narrow_tuning::slots;
  const unsigned lane = threadIdx.x % warp_size;
  bool lost = active && degree > static_cast<O>(narrow_tuning::most_edges);
  for (unsigned left = __ballot_sync(full_mask, active && !lost); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const auto edges = static_cast<unsigned>(__shfl_sync(full_mask, degree, owner));
    const I vertex = __shfl_sync(full_mask, v, owner);
    const I from = __shfl_sync(full_mask, parent, owner);
    const O first = __shfl_sync(full_mask, begin, owner);
    const unsigned wanted = (edges + most - 1) / most;
    unsigned at = 0;
    if (lane == 0) at = atomicAdd(&w.found->entries, wanted);
    at = __shfl_sync(full_mask, at, 0);
    const bool fits = at + wanted <= slots;
    if (!fits && static_cast<int>(lane) == owner) lost = true;
    for (unsigned k = lane; k < wanted && at + k < slots; k += warp_size) {
      w.to.vertex[at + k] = vertex;
      w.to.parent[at + k] = from;
      w.to.begin[at + k] = first + static_cast<O>(k * most);
      w.to.size[at + k] = fits ? static_cast<int>(edges - k * most < most ? edges - k * most : most) : -1;
    }
  }
  spill(w, lost, v, parent, degree);
}

// Appends the warp's new vertices. All lanes call it.
template <class I, class O>
__device__ void append_entries(const narrow_sink<I, O>& w, bool won, I v, I parent, O begin, O degree) {
  const int lane = lane_id();
  const bool one =
      won && degree <= narrow_tuning::entry_edges;  // also without edges: the vertex still needs its level written
  const unsigned ones = __ballot_sync(full_mask, one);
  const unsigned at = place_by_warp(&w.found->entries, ones, lane);
  const bool fits = at < narrow_tuning::slots;
  if (one && fits) {
    w.to.vertex[at] = v;
    w.to.parent[at] = parent;
    w.to.begin[at] = begin;
    w.to.size[at] = static_cast<int>(degree);
  }
  spill(w, one && !fits, v, parent, degree);
  if (__any_sync(full_mask, won && !one)) append_long(w, won && !one, v, parent, begin, degree);
}

// Reads the cluster's entry `index` from the block that holds it. Lane r has in `before` the entries of blocks 0 to r.
template <class I, class O>
__device__ narrow_entry<I, O> read_entry(const block_cluster& cluster, const local_queue<I, O>& from, unsigned before,
                                         bool active, unsigned index) {
  const int owner = owner_of(before, index);  // the block
  const unsigned shift = __shfl_sync(full_mask, before, owner > 0 ? owner - 1 : 0);
  if (!active) return {};
  const unsigned slot = owner > 0 ? index - shift : index;
  return {*cluster.at(from.vertex + slot, owner), *cluster.at(from.parent + slot, owner),
          *cluster.at(from.begin + slot, owner), *cluster.at(from.size + slot, owner)};
}

struct narrow_tally {
  unsigned vertices = 0;
  unsigned edges = 0;
};

// A warp expands one entry per lane, like expand_together. It writes level and parent of the entries themselves.
template <class I, class O>
__device__ void expand_narrow(const narrow_sink<I, O>& w, const narrow_entry<I, O>& entry, narrow_tally& tally) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int size = entry.size > 0 ? entry.size : 0;
  if (entry.size >= 0) write_found(w.s, entry.vertex, entry.parent, w.level - 1);
  const packed_edges<O> packed(entry.begin, size, warp_inclusive_sum(size));
  for (int base = 0; base < packed.total; base += warp_size) {
    const int k = base + lane;
    const int owner = packed.owner(k);
    const O from = packed.first(owner);
    const I parent = __shfl_sync(full_mask, entry.vertex, owner);
    bool won = false;
    I v = 0;
    O begin = 0;
    O degree = 0;
    if (k < packed.total) {
      v = __ldg(w.s.out_indices + (from + k));
      const unsigned bit = 1U << (v & 31);
      begin = __ldg(w.s.out_offsets + v);
      degree = __ldg(w.s.out_offsets + v + 1) - begin;
      won = (atomicOr(w.s.visited + (v >> 5), bit) & bit) == 0;
    }
    const unsigned mask = __ballot_sync(full_mask, won);
    if (mask == 0) continue;
    append_entries(w, won, v, parent, begin, degree);
    if (won && v == w.s.target) atomicOr(&w.found->flags, local_found::target);
    constexpr O most = O{1} << 20;
    tally.vertices += static_cast<unsigned>(__popc(mask));
    tally.edges += warp_sum(won ? static_cast<unsigned>(degree < most ? degree : most) : 0U);
    tally.edges = tally.edges < (1U << 24) ? tally.edges : 1U << 24;
  }
}

// Moves the block's `entries` to the queue in global memory.
template <class I, class O>
__device__ void flush_entries(const narrow_sink<I, O>& w, unsigned entries) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  counters* const flushed = &w.s.control->flushed;
  const unsigned past = entries < narrow_tuning::slots ? entries : narrow_tuning::slots;
  count64 edges = 0;
  for (unsigned first = threadIdx.x - lane; first < past; first += narrow_tuning::block) {
    const unsigned k = first + static_cast<unsigned>(lane);
    const bool filled = k < past && w.to.size[k] >= 0;
    const I v = filled ? w.to.vertex[k] : I{0};
    if (filled) write_found(w.s, v, w.to.parent[k], w.level);
    const bool active = filled && w.s.out_offsets[v] == w.to.begin[k];  // only the first entry of a vertex counts
    const std::int64_t degree = active ? out_degree_of(w.s, static_cast<std::int64_t>(v)) : 0;
    const bool hub = active && degree >= cuda_tuning::hub_degree;
    append_by_warp(w.s.queue + w.queue_base, &flushed->queued, v, active && !hub, lane);
    append_hubs(w.s, hub, static_cast<std::int64_t>(v), w.hub_base, &flushed->chunks);
    edges += static_cast<count64>(degree);
  }
  __syncwarp();
  edges = warp_reduce_to_first(edges, plus{});
  if (lane == 0 && edges != 0) atomicAdd(&flushed->edges, edges);
}

// Loads this block's share of the queued frontier as entries.
template <class I, class O>
__device__ void load_entries(const narrow_sink<I, O>& w, const search_position& at, int rank, int blocks) {
  const std::int64_t size = at.end - at.begin;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t first = std::int64_t{threadIdx.x} - lane; first * blocks < size; first += narrow_tuning::block) {
    const std::int64_t i = (first + lane) * blocks + rank;
    const bool active = i < size;
    const I v = active ? w.s.queue[at.begin + i] : I{0};
    const I parent = active && w.s.parents != nullptr ? w.s.parents[v] : I{0};
    const O begin = active ? w.s.out_offsets[v] : O{0};
    append_entries(w, active, v, parent, begin, active ? w.s.out_offsets[std::int64_t{v} + 1] - begin : O{0});
  }
}

// Expands a level. Lane b holds the counters of block b. Entries are redistributed over all warps of the cluster,
// unless they are already balanced or the fullest block has little work: then each block expands its own.
template <class I, class O>
__device__ void expand_level(const block_cluster& cluster, const narrow_sink<I, O>& w, const local_queue<I, O>& from,
                             const local_found& found, int rank, int blocks, narrow_tally& tally) {
  const unsigned counts = found.entries;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int most = static_cast<int>(warp_max(counts));
  const int total = static_cast<int>(warp_sum(counts));
  const bool little = warp_max(found.edges) <= narrow_tuning::local_edges;
  if (little || most * blocks <= 2 * total) {
    const int entries = static_cast<int>(__shfl_sync(full_mask, counts, rank));
    int tile = (entries + narrow_tuning::warps - 1) / narrow_tuning::warps;
    tile = tile < 1 ? 1 : (tile > warp_size ? warp_size : tile);
    for (int t = warp * tile; t < entries; t += narrow_tuning::warps * tile) {
      const int k = t + lane;
      narrow_entry<I, O> entry;
      if (lane < tile && k < entries) entry = {from.vertex[k], from.parent[k], from.begin[k], from.size[k]};
      expand_narrow(w, entry, tally);
    }
    return;
  }
  cluster.sync();  // before reading other blocks' entries
  const unsigned before = warp_inclusive_sum(counts);
  const int warps = narrow_tuning::warps * blocks;
  int tile = (total + warps - 1) / warps;
  tile = tile > warp_size ? warp_size : tile;
  for (int t = (warp * blocks + rank) * tile; t < total; t += warps * tile) {
    const int k = t + lane;
    const bool active = lane < tile && k < total;
    expand_narrow(w, read_entry(cluster, from, before, active, static_cast<unsigned>(k)), tally);
  }
}

// Receives the counters of all blocks at the end of a level. Double-buffered: a block sends for level k + 2 only after
// all blocks have sent for level k + 1, and so have read level k.
struct mailbox {
  local_found from[2][narrow_tuning::blocks];
  shared_barrier arrived[2];
};

// Sends `found` to from[turn][rank] of block `to`.
__device__ inline void send_found(mailbox* box, int turn, int rank, int to, const local_found& found) {
  if constexpr (has_hopper_blocks) {
    unsigned slot = shared_address(&box->from[turn][rank]);
    unsigned barrier = box->arrived[turn].address();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(slot) : "r"(slot), "r"(to));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(barrier), "r"(to));
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(slot),
        "r"(found.entries), "r"(found.vertices), "r"(found.edges), "r"(found.flags), "r"(barrier)
        : "memory");
  } else {
    box->from[turn][rank] = found;  // to itself
  }
}

// Waits until the counters of all blocks have arrived. All threads of the block call it.
__device__ inline void wait_for_found(mailbox* box, int turn, unsigned phase) {
  if constexpr (has_hopper_blocks) {
    box->arrived[turn].wait(phase);
  } else {
    __syncthreads();
  }
}

// Runs levels while they are narrow; `at` is the same in all blocks. Leaves the frontier in the queue, `at` in control.
template <class I, class O>
__device__ void run_narrow_levels(const search<I, O>& s, search_position& at, unsigned char* raw) {
  __shared__ local_found found[2];
  __shared__ mailbox box;
  const block_cluster cluster;
  const int blocks = cluster.blocks();
  const int rank = cluster.rank();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warp_size;
  const bool keeps = thread == warp_size;  // owns `at`; no other thread reads it in the loop
  const unsigned bytes = static_cast<unsigned>(blocks) * sizeof(local_found);
  if (thread < 2) {
    found[thread] = {};
    box.arrived[thread].init(1);
    mbarrier_init_fence();
    box.arrived[thread].expect_tx(bytes);
  }
  __syncthreads();
  narrow_sink<I, O> w{s, at.end, at.hub_end, at.level, local_queue<I, O>(raw, 0), &found[0]};
  std::int64_t frontier = at.vertices;
  load_entries(w, at, rank, blocks);
  cluster.sync();
  int turn = 0;
  unsigned entries = 0;
  for (unsigned levels = 0;; ++levels) {
    __syncthreads();
    if (thread < blocks) send_found(&box, turn, rank, thread, found[turn]);
    __syncwarp();  // all threads have read `found` before it is cleared below
    wait_for_found(&box, turn, levels / 2 % 2);
    local_found mine{};
    if (lane < blocks) mine = box.from[turn][lane];
    if (thread == 0) {
      found[turn] = {};
      box.arrived[turn].expect_tx(bytes);
    }
    const unsigned flags = warp_or(mine.flags);
    const unsigned vertices = warp_sum(mine.vertices);
    const unsigned edges = warp_sum(mine.edges < (1U << 26) ? mine.edges : 1U << 26);
    bool go_on = (flags & local_found::full) == 0;
    if (levels > 0) {
      const bool ended = (flags & local_found::target) != 0 || w.level == s.max_depth;
      go_on = go_on && !ended && vertices > 0 && vertices <= static_cast<unsigned>(blocks * narrow_tuning::vertices) &&
              edges <= static_cast<unsigned>(blocks * narrow_tuning::edges);
      frontier = vertices;
      if (keeps) {
        at.previous = at.vertices;
        at.unexplored = at.unexplored > at.edges ? at.unexplored - at.edges : 0;
        at.vertices = vertices;
        at.edges = edges;
        at.reached += vertices;
        at.level = w.level;
        at.ended = ended ? 1 : 0;
      }
    }
    if (!go_on) {
      entries = __shfl_sync(full_mask, mine.entries, rank);
      break;
    }
    if (keeps && rank == 0 && w.level < s.level_slots) s.level_sizes[w.level] = frontier;
    const local_queue<I, O> from(raw, turn);
    turn = 1 - turn;
    ++w.level;
    w.to = local_queue<I, O>(raw, turn);
    w.found = &found[turn];
    narrow_tally tally;
    expand_level(cluster, w, from, mine, rank, blocks, tally);
    if (lane == 0 && tally.vertices != 0) {
      atomicAdd(&w.found->vertices, tally.vertices);
      atomicAdd(&w.found->edges, tally.edges);
    }
  }
  flush_entries(w, entries);
  cluster.sync();
  if (rank != 0 || !keeps) return;
  const counters flushed = load_counters(&s.control->flushed);
  s.control->flushed = {};
  at.edges = static_cast<std::int64_t>(flushed.edges);
  at.in_queue = 1;
  at.begin = w.queue_base;
  at.end = w.queue_base + static_cast<std::int64_t>(flushed.queued);
  at.hub_begin = w.hub_base;
  at.hub_end = w.hub_base + static_cast<std::int64_t>(flushed.chunks);
  s.control->position = at;
}

}  // namespace spargo::detail::bfs
