// The persistent kernel that runs all levels of a distributed search.
//
// On its own vertices a rank does what a search on one GPU does (graph/bfs): it pushes a queue and chunks of hubs'
// edges, and pulls words of a bitmap. Every rank has two bitmaps of all vertices. In the current one its own bits mark
// visited vertices. Push: the other bits mark vertices that this rank has sent as (vertex, parent) to the owner's
// inbox. After a barrier of all ranks the owners take what is new; if there was any, a second barrier follows. Pull:
// all bits mark vertices visited before the level. Each rank stores its words, with what it finds, into the other
// bitmap of every rank; after the next barrier that one is current. The barrier also sums what was found, so that all
// ranks take the same direction.
// Cost of a level besides its edges: push, one barrier, two if anything is sent; pull, one, and one more after a push.
// Ranks exchange plain stores and numbers only, no atomics. After several narrow levels in a row the kernels end, and
// one GPU continues (narrow.cuh) until they are launched again.
#pragma once

#include "distributed/bfs/rank_grid.cuh"
#include "graph/bfs/cuda_kernel.cuh"

namespace spargo::detail::distributed {

template <class I>
struct __align__(2 * sizeof(I)) remote_vertex {
  I vertex;
  I parent;
};

// Sums that a barrier of all ranks returns.
struct level_totals {
  bfs::counters found;  // queue and chunks of this rank, vertices and edges of all ranks
  count64 chunks;       // of all ranks
  count64 converted;    // edges of all ranks' frontiers, if converted from bitmaps
  count64 sent;         // by all ranks, in this search so far
  count64 received[most_persistent_ranks];
};

struct rank_progress {
  bfs::search_position at;
  level_totals before;
  std::int64_t now;     // index of the current bitmap
  std::int64_t pulled;  // number of pulled levels
  std::int64_t shared;  // times that words were sent to all
  std::int64_t narrow;  // narrow levels in a row
  std::int64_t alone;   // levels run by one GPU alone
  std::int64_t taken;   // own vertices found in those
};

struct rank_control {
  count64 sent[most_persistent_ranks];
  level_totals totals;
  rank_progress progress;  // kept between kernels
};

enum class search_end : int { none, paused, complete };  // paused: the levels are narrow

// In page-locked memory.
struct rank_report {
  bfs::host_report search;
  std::int64_t pulled;
  std::int64_t shared;
  std::int64_t alone;
  std::int64_t taken;
  std::int64_t sent;  // (vertex, parent) pairs, by this rank
  search_end end;
};

// A rank's arguments to the kernel.
template <class I>
struct rank_search {
  bfs::search<I, std::int64_t> own;  // rows of this rank's vertices; neighbours are global
  rank_links links;
  std::int64_t vertices;  // of all ranks, as are the following
  std::int64_t entries;
  std::int64_t words;  // per bitmap, a multiple of 4
  std::int64_t first;  // first own vertex
  std::int64_t part_offsets[most_persistent_ranks + 1];
  unsigned* bitmaps[most_persistent_ranks][2];
  remote_vertex<I>* outboxes[most_persistent_ranks];  // in the other ranks' memory
  const remote_vertex<I>* inboxes[most_persistent_ranks];
  rank_control* control;
  rank_report* report;

  [[nodiscard]] __device__ bool is_own(std::int64_t v) const { return v >= first && v < first + own.n; }
};

// The ranks of one GPU, [blockIdx.y].
template <class I>
struct persistent_run {
  const rank_search<I>* ranks[most_persistent_ranks];
  std::int64_t source;    // below 0: nothing to do
  std::int64_t previous;  // source of the previous run, or -1
  int absent_rank;        // a rank that stays away, for tests; -1: none
  int narrow_levels;      // narrow levels in a row after which the kernels pause; 0: never
  int narrow_blocks;      // most blocks for one GPU's narrow levels
  bool resumes;
  const bfs::search_position* narrow_position;  // position reached by one GPU alone; null: unchanged
  rank_search<I> only;                          // the rank, if it is the GPU's only one
};

// --- Push ---

// The warp's lanes queue vertices for their owners.
template <int Count, class I>
__device__ void send_remote(const rank_search<I>& r, const I (&vertex)[Count], const I (&parent)[Count],
                            const bool (&wanted)[Count]) {
  bool any = false;
#pragma unroll
  for (int q = 0; q < Count; ++q) any = any || wanted[q];
  if (!__any_sync(full_mask, any)) return;
  const unsigned below = (1U << lane_id()) - 1;
  for (int k = 0; k < r.links.ranks; ++k) {
    unsigned mask[Count];
    int total = 0;
#pragma unroll
    for (int q = 0; q < Count; ++q) {
      mask[q] =
          __ballot_sync(full_mask, wanted[q] && vertex[q] >= r.part_offsets[k] && vertex[q] < r.part_offsets[k + 1]);
      total += __popc(mask[q]);
    }
    if (total == 0) continue;
    count64 at = 0;
    if (lane_id() == 0) at = atomicAdd(r.control->sent + k, static_cast<count64>(total));
    at = __shfl_sync(full_mask, at, 0);
#pragma unroll
    for (int q = 0; q < Count; ++q) {
      if ((mask[q] >> lane_id() & 1U) != 0) r.outboxes[k][at + __popc(mask[q] & below)] = {vertex[q], parent[q]};
      at += __popc(mask[q]);
    }
  }
}

// Like bfs::expand_together; `vertex` is this rank's. Loads all words before the first use.
template <class I>
__device__ void expand_shared(const rank_search<I>& r, const bfs::search<I, std::int64_t>& s, unsigned* seen,
                              bfs::sink<I>& to, I vertex, std::int64_t begin, int degree, bfs::thread_tally& tally) {
  constexpr int unroll = bfs::cuda_tuning::unroll;
  const std::int64_t first = r.first;
  bfs::claim_edges(s, seen, static_cast<I>(first + vertex), begin, degree,
                   [&](const I(&target)[unroll], const I(&parent)[unroll], bool(&won)[unroll], int left) {
                     bool is_local[unroll];
                     int weight[unroll];
#pragma unroll
                     for (int q = 0; q < unroll; ++q) {
                       const std::int64_t v = target[q] - first;
                       is_local[q] = won[q] && v >= 0 && v < s.n;
                       weight[q] = is_local[q] ? __ldg(s.weights + v) : 0;
                       won[q] = won[q] && !is_local[q];
                     }
#pragma unroll
                     for (int q = 0; q < unroll; ++q) {
                       if (q * warp_size >= left) break;  // uniform in the warp
                       const auto v = static_cast<I>(target[q] - first);
                       if (is_local[q]) {
                         s.parents[v] = parent[q];
                         ++tally.vertices;
                         tally.edges += bfs::edges_of_weight(weight[q]);
                       }
                       bfs::append_together(s, to, is_local[q], v, weight[q]);
                     }
                     send_remote(r, target, parent, won);
                   });
}

// Takes the vertices received since the last time that are not visited yet.
template <class I>
__device__ void take_received(const rank_search<I>& r, unsigned* seen, bfs::sink<I>& to, const count64* since,
                              const count64* until, bfs::thread_tally& tally) {
  for (int k = 0; k < r.links.ranks; ++k) {
    const remote_vertex<I>* const pairs = r.inboxes[k] + since[k];
    const auto size = static_cast<std::int64_t>(until[k] - since[k]);
    for (std::int64_t base = grid_warp() * warp_size; base < size; base += grid_warps() * warp_size) {
      const bool any = base + lane_id() < size;
      const remote_vertex<I> pair = any ? pairs[base + lane_id()] : remote_vertex<I>{static_cast<I>(r.first), I{-1}};
      const bool won = any && claim_bit(seen, static_cast<std::int64_t>(pair.vertex));
      const auto v = static_cast<I>(pair.vertex - r.first);
      const int weight = won ? __ldg(r.own.weights + v) : 0;
      if (won) {
        r.own.parents[v] = pair.parent;
        ++tally.vertices;
        tally.edges += bfs::edges_of_weight(weight);
      }
      bfs::append_together(r.own, to, won, v, weight);
    }
  }
  bfs::flush_staged(r.own, to);
}

// --- Pull ---

// Stores word w of this rank to all ranks: lane k writes to rank k. The whole warp holds the words.
template <class I>
__device__ void store_words(const rank_search<I>& r, int set, std::int64_t w, uint4 four) {
  if (lane_id() < r.links.ranks) *reinterpret_cast<uint4*>(r.bitmaps[lane_id()][set] + r.first / 32 + w) = four;
}

// Copies own words of bitmap [now] unchanged into all ranks' other bitmap.
template <class I>
__device__ void share_words(const rank_search<I>& r, int now) {
  const unsigned* const own = r.bitmaps[r.links.rank][now] + r.first / 32;
  for (std::int64_t w = grid_warp() * 4; w < r.own.words; w += grid_warps() * 4) {
    store_words(r, 1 - now, w, *reinterpret_cast<const uint4*>(own + w));
  }
}

// Like bfs::pull, from bitmap [now] into the other one.
template <class I>
__device__ void pull_shared(const rank_search<I>& r, int now, const bfs::search_position& at,
                            bfs::thread_tally& tally) {
  constexpr int words = bfs::pull_tuning::words;
  const auto& s = r.own;
  const unsigned* const seen = r.bitmaps[r.links.rank][now];
  for (std::int64_t w = grid_warp() * words; w < s.words; w += grid_warps() * words) {
    const uint4 four = *reinterpret_cast<const uint4*>(seen + r.first / 32 + w);
    const unsigned mine[words] = {four.x, four.y, four.z, four.w};
    if (at.in_queue != 0) bfs::write_front(s, at.level, s.front, w);
    unsigned mask[words] = {};
    if ((four.x & four.y & four.z & four.w) != ~0U) {
      bfs::pull_lane<I, std::int64_t> lane;
      bfs::pull_likely(s, seen, mine, w * warp_size, lane);
      bfs::pull_lists(s, seen, lane);
#pragma unroll
      for (int k = 0; k < words; ++k) {
        const std::int64_t v = (w + k) * warp_size + lane_id();
        const bool found = lane.parent[k] >= 0;
        mask[k] = __ballot_sync(full_mask, found);
        if (!found) continue;
        bfs::write_found(s, v, static_cast<std::int64_t>(lane.parent[k]), at.level + 1);
        ++tally.vertices;
      }
    }
    __syncwarp();
    if (lane_id() == 0) *reinterpret_cast<uint4*>(s.front + w) = {mask[0], mask[1], mask[2], mask[3]};
    store_words(r, 1 - now, w, {mine[0] | mask[0], mine[1] | mask[1], mine[2] | mask[2], mine[3] | mask[3]});
  }
}

// --- The search ---

// By one warp.
template <class I>
__device__ void start_shared(const rank_search<I>& r, bfs::sink<I>& to, std::int64_t source, std::int64_t previous) {
  bfs::control_block* const control = r.own.control;
  const bool leader = threadIdx.x == 0;
  const std::int64_t v = source - r.first;
  const bool is_local = leader && r.is_own(source);
  if (leader) {
    control->found = {};
    control->converted = {};
    for (count64& c : r.control->sent) c = 0;
    if (r.is_own(previous)) bfs::write_unreached(r.own, previous - r.first);  // its bit may be set from the start
  }
  __syncwarp();
  const int weight = is_local ? r.own.weights[v] : 0;
  if (is_local) {
    r.own.visited[v >> 5] |= 1U << (v & 31);
    r.own.parents[v] = static_cast<I>(source);
    control->found.sets[0].vertices = 1;
    control->found.sets[0].edges = bfs::edges_of_weight(weight);
  }
  bfs::append_together(r.own, to, is_local, static_cast<I>(v), weight);
  bfs::flush_staged(r.own, to);
}

// Marks unreached vertices of bitmap [now], and prepares the first bitmap for the next search.
template <class I>
__device__ void finish_shared(const rank_search<I>& r, int now) {
  bfs::search<I, std::int64_t> own = r.own;
  own.visited = r.bitmaps[r.links.rank][now] + r.first / 32;
  bfs::finish_bitmaps(own);
  unsigned* const bitmap = r.bitmaps[r.links.rank][0];
  const std::int64_t first = r.first / 32;
  for (std::int64_t w = global_thread(); w < r.words; w += grid_threads()) {
    if (w < first || w >= first + r.own.words) {
      bitmap[w] = 0;
    } else if (now != 0) {  // else it is prepared already
      bitmap[w] = r.own.start[w - first];
    }
  }
}

// By one thread. Leaves counters as the next kernel needs them.
template <class I>
__device__ void pause(const rank_search<I>& r, rank_progress& progress, int now) {
  progress.now = now;
  progress.narrow = 0;
  r.control->progress = progress;
  r.own.control->found = {};
  r.own.control->converted = {};
  r.report->search.position = progress.at;
  r.report->end = search_end::paused;
}

// By one thread of each block. After one GPU has continued alone (`narrow_position`), `converted` counts this rank's
// vertices found; its frontier follows the earlier contents of the queue.
template <class I>
__device__ void resume(const rank_search<I>& r, rank_progress& progress, const bfs::search_position* narrow_position) {
  progress = r.control->progress;
  if (narrow_position == nullptr) return;
  const bfs::search_position had = progress.at;
  const bfs::counters found = load_counters(&r.own.control->converted);
  progress.at = *narrow_position;
  progress.at.begin = had.end;
  progress.at.end = had.end + static_cast<std::int64_t>(found.queued);
  progress.at.hub_begin = had.hub_end;
  progress.at.hub_end = had.hub_end + static_cast<std::int64_t>(found.chunks);
  progress.alone += progress.at.level - had.level;
  progress.taken += static_cast<std::int64_t>(found.vertices);
}

// The rank of a block: in constant memory if its GPU has one rank, else copied to shared memory.
template <bool Only, class I>
__device__ const rank_search<I>& rank_of_block(const persistent_run<I>& run) {
  if constexpr (Only) {
    return run.only;
  } else {
    __shared__ __align__(16) unsigned char held[sizeof(rank_search<I>)];
    static_assert(sizeof(rank_search<I>) % sizeof(unsigned) == 0);
    for (unsigned k = threadIdx.x; k < sizeof(rank_search<I>) / sizeof(unsigned); k += blockDim.x) {
      reinterpret_cast<unsigned*>(held)[k] = reinterpret_cast<const unsigned*>(run.ranks[blockIdx.y])[k];
    }
    __syncthreads();
    return *reinterpret_cast<const rank_search<I>*>(held);
  }
}

template <bool Only, class I>
__global__ void __launch_bounds__(bfs::cuda_tuning::block, 1)
    persistent_kernel(const __grid_constant__ persistent_run<I> run) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ __align__(16) unsigned char held_walk[sizeof(rank_progress)];
  __shared__ level_totals totals;
  __shared__ barrier_counters turns;
  if (run.source < 0) return;
  const rank_search<I>& r = rank_of_block<Only>(run);
  auto& progress = *reinterpret_cast<rank_progress*>(held_walk);
  const auto& s = r.own;
  const bool first = global_thread() == 0;
  const bool leader = threadIdx.x == 0;
  if (run.absent_rank == r.links.rank) return;
  bfs::control_block* const control = s.control;
  bfs::search_position& at = progress.at;
  rank_grid grid(r.links, turns);
  if (leader) {
    if (run.resumes) {
      resume(r, progress, run.narrow_position);
    } else {
      progress = {};
      at.level = -1;
      at.unexplored = r.entries;
    }
    grid.enter();
  }
  __syncthreads();
  const auto sink_at = [&](bfs::counters* found) {
    return bfs::sink<I>{found, at.end, at.hub_end, {bfs::staged_of<I>(raw)}};
  };

  // All ranks exchange what they have counted in `found`.
  const auto sync_ranks = [&](bfs::counters* found) {
    level_totals* const shared_totals = &r.control->totals;
    const bool ok = grid.sync_ranks(
        [&](count64(&word)[rank_post::words]) {
          word[0] = __ldcg(&found->vertices);
          word[1] = __ldcg(&found->edges);
          word[2] = lane_id() < r.links.ranks ? __ldcg(r.control->sent + lane_id()) : 0;
          word[3] = warp_sum(word[2]);
          word[4] = __ldcg(&found->chunks);
          word[5] = __ldcg(&control->converted.edges);
        },
        [&](const count64(&word)[rank_post::words]) {
          const bfs::counters own = load_counters(found);
          const count64 vertices = warp_sum(word[0]);
          const count64 edges = warp_sum(word[1]);
          const count64 sent = warp_sum(word[3]);
          const count64 chunks = warp_sum(word[4]);
          const count64 converted = warp_sum(word[5]);
          if (lane_id() < r.links.ranks) shared_totals->received[lane_id()] = word[2];
          if (lane_id() == 0) {
            shared_totals->found = {own.queued, own.chunks, vertices, edges, 0};
            shared_totals->chunks = chunks;
            shared_totals->converted = converted;
            shared_totals->sent = sent;
          }
        });
    if (ok && threadIdx.x < sizeof(level_totals) / sizeof(count64)) {
      reinterpret_cast<count64*>(&totals)[threadIdx.x] =
          __ldcg(reinterpret_cast<const count64*>(shared_totals) + threadIdx.x);
    }
    __syncthreads();
    return ok;
  };

  if (!run.resumes) {
    if (global_thread() < warp_size) {
      bfs::sink<I> to = sink_at(control->found.filled(0));
      start_shared(r, to, run.source, run.previous);
    }
    if (!sync_ranks(control->found.filled(0))) return;
    if (leader) bfs::advance(at, totals.found, bfs_direction::push, -1);
    __syncthreads();
  }

  int now = static_cast<int>(progress.now);
  for (int turn = 0; at.vertices > 0; turn = next_turn(turn)) {
    if (run.narrow_levels != 0 && progress.narrow >= run.narrow_levels) {
      if (blockIdx.x == 0 && leader) {
        pause(r, progress, now);
        grid.leave();
      }
      return;
    }
    if (first && at.level < s.level_slots) s.level_sizes[at.level] = at.vertices;
    bfs_direction direction = s.allowed;
    if (direction == bfs_direction::automatic) {
      direction = bfs::next_direction(at.in_queue != 0 ? bfs_direction::push : bfs_direction::pull,
                                      {r.vertices, at.previous, at.vertices, at.edges, at.unexplored}, s.rule);
    }
    const bool is_converted = direction == bfs_direction::push && at.in_queue == 0;
    bfs::counters* const filling = control->found.begin_step(turn);
    bfs::thread_tally tally;
    if (direction == bfs_direction::pull) {
      if (at.in_queue != 0) {       // the other ranks' last levels are not known here
        if (progress.pulled > 0) {  // otherwise it is clear
          for (std::int64_t w = global_thread(); w < s.words; w += grid_threads()) s.front[w] = 0;
          if (!grid.sync()) return;
        }
        share_words(r, now);
        bfs::queue_to_bitmap(s, at, s.front);
        if (!sync_ranks(filling)) return;
        now = 1 - now;
        if (leader) ++progress.shared;
      }
      if (first) control->converted = {};
      pull_shared(r, now, at, tally);
      __syncwarp();
      bfs::add_tally(filling, tally);
      if (!sync_ranks(filling)) return;
      now = 1 - now;
      if (leader) {
        ++progress.shared;
        ++progress.pulled;
      }
    } else {
      if (is_converted) {
        bfs::sink<I> to = sink_at(&control->converted);
        bfs::bitmap_to_queue(s, to, s.front);
        if (!grid.sync()) return;
        if (leader) {
          const bfs::counters converted = load_counters(&control->converted);
          at.end += static_cast<std::int64_t>(converted.queued);  // from at.begin, set by the last pull
          at.hub_end += static_cast<std::int64_t>(converted.chunks);
          at.in_queue = 1;
        }
        __syncthreads();
      }
      unsigned* const seen = r.bitmaps[r.links.rank][now];
      bfs::sink<I> to = sink_at(filling);
      bfs::push_balanced(s, to, at, [&](I vertex, std::int64_t begin, int degree) {
        expand_shared(r, s, seen, to, vertex, begin, degree, tally);
      });
      __syncwarp();
      bfs::add_tally(filling, tally);
      if (!sync_ranks(filling)) return;
      if (totals.sent != progress.before.sent) {
        tally = {};
        take_received(r, seen, to, progress.before.received, totals.received, tally);
        __syncwarp();
        bfs::add_tally(filling, tally);
        if (!sync_ranks(filling)) return;
      }
    }
    if (leader) {
      if (is_converted) at.edges = static_cast<std::int64_t>(totals.converted);
      bfs::advance(at, totals.found, direction, -1);
      progress.before = totals;
      progress.narrow = totals.chunks == 0 && bfs::is_narrow(at, run.narrow_blocks, 2) ? progress.narrow + 1 : 0;
    }
    __syncthreads();
  }

  finish_shared(r, now);
  if (blockIdx.x != 0) return;
  bfs::report_search(s, at);
  if (!leader) return;
  grid.leave();
  rank_report& report = *r.report;
  report.pulled = progress.pulled;
  report.shared = progress.shared;
  report.alone = progress.alone;
  report.taken = progress.taken;
  report.sent = 0;
  for (int k = 0; k < r.links.ranks; ++k) report.sent += static_cast<std::int64_t>(__ldcg(r.control->sent + k));
  report.end = search_end::complete;
}

}  // namespace spargo::detail::distributed
