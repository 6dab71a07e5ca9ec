// Narrow levels of a distributed search, run by one GPU.
//
// A narrow level is a short chain of dependent steps, and a barrier across GPUs takes longer than all of them: a grid
// of 2048 x 2048 takes two ranks of one H200 24.2 ms with all levels distributed, 7.4 this way (bfs_plan 7.4). The
// first time a search reaches narrow levels, the first rank's GPU gathers all rows, if they take at most a quarter of
// its free memory. To continue alone it receives the other ranks' frontiers and visited bits; afterwards each rank
// takes the results for its own vertices. A hand-over costs about as much as eight distributed levels and happens after
// eight, so a search takes at most about twice as long as the better of the two ways. Memory on that GPU, I = int32:
// 20.1 bytes per vertex and 4 per edge.
#pragma once

#include "core/device/launch.cuh"
#include "distributed/bfs/persistent.cuh"
#include "distributed/exchange/peer_memory.cuh"
#include "graph/bfs/cuda_narrow_launch.cuh"

namespace spargo::detail::distributed {

// All ranks' rows on the first rank's device.
template <class I>
class whole_graph {
 public:
  static constexpr std::int64_t level_slots = 4096;  // sizes of later levels are not recorded

  explicit whole_graph(const context<device>& on) : ctx(on), memory(on) {}

  // False, with nothing allocated, beyond `most` bytes (-1: a quarter of free memory). `chunks`: of hubs.
  [[nodiscard]] bool allocate(std::int64_t vertices, std::int64_t entries, std::int64_t chunks, std::int64_t most) {
    const std::int64_t words = 4 * div_up(vertices, std::int64_t{4 * warp_size});
    const std::int64_t bytes = (8 + 4 + 2 * std::int64_t{sizeof(I)}) * vertices + std::int64_t{sizeof(I)} * entries +
                               4 * words + std::int64_t{sizeof(edge_chunk<I>)} * chunks;
    if (bytes > (most < 0 ? ctx.memory().free_bytes / 4 : most)) return false;
    offsets = memory.take<std::int64_t>(vertices + 1);
    indices = memory.take<I>(entries);
    search.out_offsets = offsets;
    search.out_indices = indices;
    search.n = vertices;
    search.words = words;
    search.levels = memory.take<std::int32_t>(vertices);
    search.parents = memory.take<I>(vertices);
    search.visited = memory.take<unsigned>(words);
    search.queue = memory.take<I>(vertices);
    search.hubs = memory.take<edge_chunk<I>>(chunks);
    search.level_sizes = memory.take<std::int64_t>(level_slots);
    search.level_slots = level_slots;
    search.control = memory.take<bfs::control_block>(1);
    search.target = -1;
    search.max_depth = -1;
    search.allowed = bfs_direction::automatic;
    fill_zero(ctx, span<bfs::control_block, device>(search.control, 1));
    launch = bfs::narrow_launch<I, std::int64_t>(ctx);
    ctx.synchronize();
    return true;
  }

  // Continues from the position of all ranks, whose frontiers are in the queue. Synchronises.
  void run_levels(bfs::search_position at, std::int64_t queued) {
    at.begin = at.hub_begin = at.hub_end = 0;
    at.end = queued;
    copy<bfs::search_position>(ctx, span<const bfs::search_position, host>(&at, 1),
                               span<bfs::search_position, device>(&search.control->position, 1));
    launch(ctx, search, {.first = false, .last = false});
    ctx.synchronize();
  }

  context<device> ctx;
  peer_memory memory;
  bfs::narrow_launch<I, std::int64_t> launch;
  bfs::search<I, std::int64_t> search{};
  std::int64_t* offsets = nullptr;
  I* indices = nullptr;
};

// Copies this rank's state into the whole search: visited bits, and its frontier, with its level, to queue[at] on.
template <class I>
__global__ void __launch_bounds__(block_threads)
    send_frontier_kernel(const rank_search<I>* rank, bfs::search<I, std::int64_t> whole, std::int64_t at) {
  const rank_search<I>& r = *rank;
  const rank_progress& progress = r.control->progress;
  const unsigned* const visited = r.bitmaps[r.links.rank][progress.now];
  const std::int64_t first = r.first / warp_size;
  for (std::int64_t w = first + global_thread(); w < first + r.own.words; w += grid_threads()) {
    whole.visited[w] = visited[w];
  }
  for (std::int64_t k = global_thread(); k < progress.at.end - progress.at.begin; k += grid_threads()) {
    const I v = r.own.queue[progress.at.begin + k];
    whole.queue[at + k] = static_cast<I>(r.first + v);
    whole.parents[r.first + v] = r.own.parents[v];
    bfs::write_level(r.own, static_cast<std::int64_t>(v), progress.at.level);
  }
}

// Takes the results for this rank's vertices. Its part of the last frontier becomes the rank's frontier, counted in
// `converted`. All bits are set, so nothing of this is sent again.
template <class I>
__global__ void __launch_bounds__(bfs::cuda_tuning::block)
    receive_results_kernel(const rank_search<I>* rank, bfs::search<I, std::int64_t> whole) {
  extern __shared__ __align__(16) unsigned char raw[];
  const rank_search<I>& r = *rank;
  const rank_progress& progress = r.control->progress;
  const bfs::search_position& until = whole.control->position;
  const std::int64_t frontier = until.level;
  unsigned* const visited = r.bitmaps[r.links.rank][progress.now];
  const std::int64_t first = r.first / warp_size;
  bfs::sink<I> to{&r.own.control->converted, progress.at.end, progress.at.hub_end, {bfs::staged_of<I>(raw)}};
  const auto found_of = [&](std::int64_t w) {
    const unsigned word = whole.visited[first + w];
    const unsigned found = word & ~visited[first + w];
    visited[first + w] = word;
    return found;
  };
  bfs::thread_tally tally;
  bfs::for_each_word(r.own.words, found_of, [&](std::int64_t v, bool is_found) {
    tally.vertices += is_found ? 1 : 0;
    const std::int64_t level = is_found ? whole.levels[r.first + v] : 0;
    if (is_found) bfs::write_found(r.own, v, static_cast<std::int64_t>(whole.parents[r.first + v]), level);
    const bool next = is_found && level == frontier;
    bfs::append_together(r.own, to, next, static_cast<I>(v), next ? r.own.weights[v] : 0);
  });
  bfs::flush_staged(r.own, to);
  bfs::add_tally(to.found, tally);
  for (std::int64_t w = global_thread(); w < r.words; w += grid_threads()) {
    if (w < first || w >= first + r.own.words) visited[w] = whole.visited[w];
  }
  const std::int64_t recorded = frontier < r.own.level_slots ? frontier : r.own.level_slots;
  for (std::int64_t k = progress.at.level + global_thread(); k < recorded; k += grid_threads()) {
    r.own.level_sizes[k] = whole.level_sizes[k];
  }
}

}  // namespace spargo::detail::distributed
