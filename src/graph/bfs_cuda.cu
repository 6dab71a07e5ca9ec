// Breadth-first search on the device: one cooperative kernel walks all levels, so the host waits once, at the end.
//
// Idea: a persistent grid, with a barrier among all blocks after each step. A level is pushed from a queue or pulled
// from a bitmap, as `next_direction` says. Small levels, of which road networks and meshes have thousands, are walked
// by one block alone with nothing but block barriers while the others wait at the grid's barrier. Invariant: between
// steps every block holds the same `bfs_position`; see bfs_cuda_steps.cuh for a step's. Counters: a step counts into
// found[turn + 1] while it clears found[turn + 2], which the step before has read; so a counter is cleared, filled and
// read with a barrier between each. Cost: O(vertices + edges) work and one or two barriers (1 to 2 microseconds each) a
// level, block barriers in small ones. Workspace: sizeof(I) + 8 + 1/2 bytes a vertex and at most 1/32 byte an edge (I =
// int32), besides the results. Direction-optimizing search: Beamer, Asanovic, Patterson, SC 2012. Queues and load
// balance: Merrill, Garland, Grimshaw, PPoPP 2012.
#include "core/cuda.cuh"
#include "core/instantiate.hpp"
#include "graph/bfs_common.hpp"
#include "graph/bfs_cuda_steps.cuh"

#include <cooperative_groups.h>

#include <algorithm>

namespace spargo {

namespace {

namespace cg = cooperative_groups;

using detail::bfs_control;
using detail::bfs_counters;
using detail::bfs_cuda_tuning;
using detail::bfs_position;
using detail::bfs_search;
using detail::bfs_sink;
using detail::bfs_tally;

enum class push_kind { global, block, balanced };

__device__ bfs_counters read(const bfs_counters* found) {
  return {__ldcg(&found->queued), __ldcg(&found->chunks), __ldcg(&found->vertices), __ldcg(&found->edges)};
}

__device__ bool is_small(const bfs_position& at) {
  return at.vertices <= bfs_cuda_tuning::alone_vertices && at.edges <= bfs_cuda_tuning::alone_edges &&
         at.hub_begin == at.hub_end;
}

// The frontier that a step has found becomes the one to expand.
__device__ void advance(bfs_position& at, const bfs_counters& found, bool pushed) {
  at.previous = at.vertices;
  at.unexplored -= at.edges;
  at.vertices = static_cast<std::int64_t>(found.vertices);
  at.edges = static_cast<std::int64_t>(found.edges);
  at.reached += at.vertices;
  ++at.level;
  at.in_queue = pushed ? 1 : 0;
  at.begin = at.end;
  at.end += pushed ? static_cast<std::int64_t>(found.queued) : 0;
  at.hub_begin = at.hub_end;
  at.hub_end += pushed ? static_cast<std::int64_t>(found.chunks) : 0;
}

// The source is its own parent, at level 0, in the queue or as hub chunks.
template <class I, class O>
__device__ void start(const bfs_search<I, O>& s, bool hubs, bfs_position& at) {
  detail::write_found(s, s.source, s.source, 0);
  const std::int64_t degree = detail::out_degree_of(s, s.source);
  s.visited[s.source >> 5] |= 1U << (s.source & 31);
  if (hubs && degree > bfs_cuda_tuning::hub_degree) {
    detail::count64 chunks = 0;
    for (std::int64_t first = 0; first < degree; first += bfs_cuda_tuning::hub_degree) {
      s.hubs[chunks] = {static_cast<I>(s.source), static_cast<I>(chunks)};
      ++chunks;
    }
    at.hub_end = static_cast<std::int64_t>(chunks);
  } else {
    s.queue[0] = static_cast<I>(s.source);
    at.end = 1;
  }
  at.vertices = 1;
  at.edges = degree;
  at.unexplored = s.edges;
  at.reached = 1;
}

// One block walks levels while they are small. `at` is shared by the block.
template <class I, class O>
__device__ void walk_alone(const bfs_search<I, O>& s, bfs_position& at, I* queues) {
  __shared__ bfs_counters found[3];
  constexpr int slots = bfs_cuda_tuning::alone_vertices;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < 3) found[thread] = {};
  for (std::int64_t i = thread; i < at.end - at.begin; i += bfs_cuda_tuning::block) queues[i] = s.queue[at.begin + i];
  __syncthreads();
  for (int turn = 0, half = 0; at.vertices > 0 && is_small(at); turn = (turn + 1) % 3, half = 1 - half) {
    bfs_counters* const filling = &found[(turn + 1) % 3];
    if (thread == 0) {
      s.level_sizes[at.level] = at.vertices;
      found[(turn + 2) % 3] = {};
    }
    bfs_tally tally;
    detail::push_balanced(s, bfs_sink<I>{filling, at.end, at.hub_end, queues + (1 - half) * slots, slots}, at,
                          queues + half * slots, thread / detail::warp_size, bfs_cuda_tuning::warps, tally);
    detail::add_tally(filling, tally);
    __syncthreads();  // all has been found and `at` has been read
    if (thread == 0) advance(at, *filling, true);
    __syncthreads();
  }
}

template <push_kind Kind, class I, class O>
__global__ void __launch_bounds__(bfs_cuda_tuning::block, 1) bfs_search_kernel(bfs_search<I, O> s) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ bfs_position at;
  const cg::grid_group grid = cg::this_grid();
  const std::int64_t threads = std::int64_t{gridDim.x} * bfs_cuda_tuning::block;
  const std::int64_t thread = std::int64_t{blockIdx.x} * bfs_cuda_tuning::block + threadIdx.x;
  const std::int64_t warps = std::int64_t{gridDim.x} * bfs_cuda_tuning::warps;
  const std::int64_t warp = std::int64_t{threadIdx.x / detail::warp_size} * gridDim.x + blockIdx.x;
  const bool first = thread == 0;
  const bool leader = threadIdx.x == 0;
  bfs_control* const control = s.control;
  unsigned* front = s.front;
  unsigned* next = s.next;

  if (first) {
    bfs_position begin;
    start(s, Kind == push_kind::balanced, begin);
    control->start = begin;
  }
  grid.sync();
  if (leader) at = control->start;
  __syncthreads();

  for (int turn = 0; at.vertices > 0;) {
    if (first) s.level_sizes[at.level] = at.vertices;
    bfs_direction direction = s.allowed;
    if (direction == bfs_direction::automatic) {
      direction = detail::next_direction(at.in_queue != 0 ? bfs_direction::push : bfs_direction::pull,
                                         {s.n, at.previous, at.vertices, at.edges, at.unexplored});
    }

    if (direction == bfs_direction::push && at.in_queue == 0) {
      detail::bitmap_to_queue(s, bfs_sink<I>{&control->converted, at.end, at.hub_end, nullptr, 0}, front, warp, warps);
      grid.sync();
      if (leader) {
        const bfs_counters converted = read(&control->converted);
        at.begin = at.end;
        at.end += static_cast<std::int64_t>(converted.queued);
        at.hub_begin = at.hub_end;
        at.hub_end += static_cast<std::int64_t>(converted.chunks);
        at.in_queue = 1;
      }
      __syncthreads();
    }

    if (Kind == push_kind::balanced && direction == bfs_direction::push && is_small(at)) {
      if (blockIdx.x == 0) {
        walk_alone(s, at, reinterpret_cast<I*>(raw));
        if (leader) control->position = at;
      }
      grid.sync();
      if (leader) at = control->position;
      __syncthreads();
      continue;
    }

    bfs_counters* const filling = &control->found[(turn + 1) % 3];
    if (first) control->found[(turn + 2) % 3] = {};
    const bfs_sink<I> to{filling, at.end, at.hub_end, nullptr, 0};
    bfs_tally tally;
    if (direction == bfs_direction::pull) {
      if (at.in_queue != 0) {
        for (std::int64_t w = thread; w < s.words; w += threads) front[w] = 0;
        grid.sync();
        detail::queue_to_bitmap(s, at, front, thread, threads);
        grid.sync();
      }
      if (first) control->converted = {};
      detail::pull(s, at.level, front, next, warp, warps, tally);
      unsigned* const old = front;
      front = next;
      next = old;
    } else if constexpr (Kind == push_kind::balanced) {
      detail::push_balanced(s, to, at, s.queue + at.begin, warp, warps, tally);
    } else if constexpr (Kind == push_kind::block) {
      detail::push_block(s, to, at, tally);
    } else {
      detail::push_global(s, to, at, thread, threads, tally);
    }
    __syncwarp();
    detail::add_tally(filling, tally);
    grid.sync();
    if (leader) advance(at, read(filling), direction == bfs_direction::push);
    __syncthreads();
    turn = (turn + 1) % 3;
  }
  if (first) control->position = at;
}

// Vertices without any edge, and the bits past the last vertex, count as visited from the start: a pull need not look
// at them, and no edge leads to them.
template <class I, class O>
__global__ void mark_isolated_kernel(bfs_search<I, O> s, unsigned* words) {
  const std::int64_t v = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  bool isolated = true;
  if (v < s.n) {
    isolated =
        s.in_offsets != nullptr && s.out_offsets[v] == s.out_offsets[v + 1] && s.in_offsets[v] == s.in_offsets[v + 1];
  }
  const unsigned mask = __ballot_sync(detail::full_mask, isolated);
  if (threadIdx.x % detail::warp_size == 0 && v / detail::warp_size < s.words) words[v / detail::warp_size] = mask;
}

// What comes back from a run in one copy: most searches have fewer levels than `sizes` holds.
struct bfs_report {
  static constexpr int size_slots = 1024;
  bfs_position position;
  std::int64_t sizes[size_slots];
};

template <class T>
std::int64_t bytes_of(const array<T, device>& a) {
  return a.size() * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <index_type I, index_type O, class Space>
struct bfs_plan<I, O, Space>::state {
  context<device> ctx;
  std::int64_t vertices;
  detail::bfs_choice choice;
  int blocks = 0;
  bfs_search<I, O> search{};
  array<std::int32_t, device> levels;
  array<I, device> parents;
  array<unsigned, device> start;
  array<unsigned, device> visited;
  array<unsigned, device> front;
  array<unsigned, device> next;
  array<I, device> queue;
  array<detail::bfs_hub_chunk<I>, device> hubs;
  array<std::int64_t, device> sizes;
  array<bfs_control, device> control;
  array<bfs_report, host> report;
  std::vector<std::int64_t> level_sizes;
  std::int64_t reached = 0;

  state(const context<device>& c, const graph_view<I, O, device>& g, const bfs_options& options)
      : ctx(c),
        vertices(g.vertices()),
        choice((detail::check_bfs_graph(g),
                detail::choose_bfs(detail::bfs_backend::device, detail::facts_of(g), options))) {
    const detail::device_guard guard(ctx);
    const std::int64_t n = vertices;
    const bool pulls = choice.direction != bfs_direction::push;
    if (detail::wants_levels(options.output)) levels = {ctx, n};
    if (detail::wants_parents(options.output)) parents = {ctx, n};
    const std::int64_t words = div_up(n, detail::warp_size);
    start = {ctx, words};
    visited = {ctx, words};
    if (pulls) {
      front = {ctx, words};
      next = {ctx, words};
    }
    queue = {ctx, n};
    hubs = {ctx, 2 * (g.out.nnz() / bfs_cuda_tuning::hub_degree)};
    sizes = {ctx, n};
    control = {ctx, 1};
    report = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    const auto in = detail::pull_edges(g);
    search = {.out_offsets = g.out.offsets.data(),
              .out_indices = g.out.indices.data(),
              .in_offsets = pulls ? in.offsets.data() : nullptr,
              .in_indices = pulls ? in.indices.data() : nullptr,
              .n = n,
              .words = words,
              .edges = g.out.nnz(),
              .levels = levels.data(),
              .parents = parents.data(),
              .visited = visited.data(),
              .front = front.data(),
              .next = next.data(),
              .queue = queue.data(),
              .hubs = hubs.data(),
              .level_sizes = sizes.data(),
              .control = control.data(),
              .source = 0,
              .allowed = choice.direction};
    if (n > 0) {
      mark_isolated_kernel<<<static_cast<unsigned>(div_up(n, 256)), 256, 0, ctx.stream()>>>(search, start.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    level_sizes.reserve(static_cast<std::size_t>(n));
    fill_zero(ctx, sizes.view());  // collect() copies more of it than a run may have written
    prepare_launch();
    forget();
  }

  [[nodiscard]] const void* kernel() const {
    switch (choice.algorithm) {
      case bfs_algorithm::global_queue:
        return reinterpret_cast<const void*>(&bfs_search_kernel<push_kind::global, I, O>);
      case bfs_algorithm::block_queue:
        return reinterpret_cast<const void*>(&bfs_search_kernel<push_kind::block, I, O>);
      default:
        return reinterpret_cast<const void*>(&bfs_search_kernel<push_kind::balanced, I, O>);
    }
  }
  [[nodiscard]] std::size_t shared_bytes() const {
    const bool balanced =
        choice.algorithm != bfs_algorithm::global_queue && choice.algorithm != bfs_algorithm::block_queue;
    return balanced ? 2 * bfs_cuda_tuning::alone_vertices * sizeof(I) : 0;
  }

  // As many blocks as can be resident together, which the grid's barrier needs.
  void prepare_launch() {
    int cooperative = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
    if (cooperative == 0) throw error(error_code::unsupported, "bfs: the device cannot launch cooperative kernels");
    SPARGO_CUDA_TRY(
        cudaFuncSetAttribute(kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes())));
    int a_multiprocessor = 0;
    SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, kernel(), bfs_cuda_tuning::block,
                                                                  shared_bytes()));
    blocks = a_multiprocessor * ctx.properties().multiprocessors;
    if (blocks == 0) throw error(error_code::unsupported, "bfs: no block of the search fits a multiprocessor");
  }

  void forget() {
    detail::fill_bytes(ctx, levels.data(), 0xff, static_cast<std::size_t>(bytes_of(levels)));
    detail::fill_bytes(ctx, parents.data(), 0xff, static_cast<std::size_t>(bytes_of(parents)));
    level_sizes.clear();
    reached = 0;
  }

  void run(I source) {
    detail::check_bfs_source(source, vertices);
    const detail::device_guard guard(ctx);
    forget();
    copy<unsigned>(ctx, start.view(), visited.view());
    fill_zero(ctx, control.view());
    search.source = source;
    void* arguments[] = {&search};
    SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(kernel(), dim3(static_cast<unsigned>(blocks)),
                                                dim3(bfs_cuda_tuning::block), arguments, shared_bytes(), ctx.stream()));
    collect();
  }

  void collect() {
    const std::int64_t slots = std::min<std::int64_t>(vertices, bfs_report::size_slots);
    bfs_report& got = report[0];
    detail::copy_to_host(ctx, &control.data()->position, &got.position, sizeof(bfs_position));
    detail::copy_to_host(ctx, sizes.data(), got.sizes, static_cast<std::size_t>(slots) * sizeof(std::int64_t));
    ctx.synchronize();
    reached = got.position.reached;
    const std::int64_t depth = got.position.level;  // levels walked
    level_sizes.assign(got.sizes, got.sizes + std::min(depth, slots));
    if (depth > slots) {
      level_sizes.resize(static_cast<std::size_t>(depth));
      detail::copy_to_host(ctx, sizes.data() + slots, level_sizes.data() + slots,
                           static_cast<std::size_t>(depth - slots) * sizeof(std::int64_t));
      ctx.synchronize();
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const {
    return bytes_of(levels) + bytes_of(parents) + bytes_of(start) + bytes_of(visited) + bytes_of(front) +
           bytes_of(next) + bytes_of(queue) + bytes_of(hubs) + bytes_of(sizes) + bytes_of(control);
  }
};

template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const bfs_options& options)
    : state_(std::make_unique<state>(ctx, g, options)) {}
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>& bfs_plan<I, O, Space>::operator=(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::~bfs_plan() = default;

template <index_type I, index_type O, class Space>
void bfs_plan<I, O, Space>::run(I source) {
  state_->run(source);
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> bfs_plan<I, O, Space>::levels() const noexcept {
  return std::as_const(state_->levels).view();
}
template <index_type I, index_type O, class Space>
span<const I, Space> bfs_plan<I, O, Space>::parents() const noexcept {
  return std::as_const(state_->parents).view();
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::reached() const noexcept {
  return state_->reached;
}
template <index_type I, index_type O, class Space>
const std::vector<std::int64_t>& bfs_plan<I, O, Space>::level_sizes() const noexcept {
  return state_->level_sizes;
}
template <index_type I, index_type O, class Space>
bfs_algorithm bfs_plan<I, O, Space>::algorithm() const noexcept {
  return state_->choice.algorithm;
}
template <index_type I, index_type O, class Space>
const std::string& bfs_plan<I, O, Space>::reason() const noexcept {
  return state_->choice.reason;
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->workspace_bytes();
}

template <index_type I, index_type O, class Space>
bfs_result<I, Space> bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g, I source,
                         const bfs_options& options) {
  return detail::bfs_once(ctx, g, source, options);
}

#define INSTANTIATE(I, O)                                                                                      \
  template class bfs_plan<I, O, device>;                                                                       \
  template bfs_result<I, device> bfs<I, O, device>(const context<device>&, const graph_view<I, O, device>&, I, \
                                                   const bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
