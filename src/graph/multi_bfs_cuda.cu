// Multi-source breadth-first search on the device: one cooperative kernel walks all levels of a batch, so the host
// waits once, at its end.
//
// Idea: a persistent grid with a barrier after each step, as in bfs_cuda.cu; what a step does and keeps is told in
// multi_bfs_cuda_steps.cuh. Invariant: between steps every block holds the same `position`. Counters: a step counts
// into level[turn + 1] while it clears level[turn + 2], which the step before has read. Cost: one barrier for a level
// that is pulled, two for one that is pushed, three for one that is split; a level that is pulled reads at most the
// in-edges of unfinished vertices and a sector for each, mostly from the second-level cache. Workspace: 24 W + 2
// sizeof(I) + 1/8 bytes a vertex, 32 W more with levels (besides these), sizeof(I) / 56 bytes an edge. Source: Then et
// al., VLDB 2015; pushing and pulling after Beamer, Asanovic, Patterson, SC 2012.
#include "core/cuda.cuh"
#include "core/instantiate.hpp"
#include "graph/multi_bfs_cuda_steps.cuh"

#include <cooperative_groups.h>

#include <algorithm>

namespace spargo {

namespace {

namespace cg = cooperative_groups;

using detail::count64;
using detail::edge_piece;
using detail::multi_bfs_block_tally;
using detail::multi_bfs_control;
using detail::multi_bfs_counters;
using detail::multi_bfs_cuda_tuning;
using detail::multi_bfs_search;
using detail::multi_bfs_tally;
using detail::push_kind;
using detail::search_words;

// Everything that the next level depends on; a block's copy.
struct position {
  std::int64_t vertices;  // in the frontier
  std::int64_t edges;
  std::int64_t unfinished;
  std::int64_t queued;  // of the frontier, when it is in the queue
  std::int64_t pieces;
  std::int32_t level;
  std::int32_t base;  // levels up to this one have been written
  bool in_queue;      // else it is in seen & ~other
};

enum class step_kind {
  pull,
  split,  // some searches are pulled, the others pushed afterwards
  sparse_push,
  dense_push,
};

template <int W>
__device__ void read_found(position& at, const multi_bfs_counters<W>& found, step_kind step) {
  at.vertices = static_cast<std::int64_t>(__ldcg(&found.vertices));
  at.edges = static_cast<std::int64_t>(__ldcg(&found.edges));
  if (step == step_kind::sparse_push) {
    at.unfinished -= static_cast<std::int64_t>(__ldcg(&found.finished));
  } else {
    at.unfinished = static_cast<std::int64_t>(__ldcg(&found.open));
  }
  at.in_queue = step == step_kind::sparse_push;
  at.queued = static_cast<std::int64_t>(__ldcg(&found.queued));
  at.pieces = static_cast<std::int64_t>(__ldcg(&found.pieces));
}

// Level 0, by one block with a thread a source: each source has its own bit, and is queued once if given twice.
template <class I, class O, int W>
__device__ void start(const multi_bfs_search<I, O, W>& s, multi_bfs_counters<W>* to) {
  const int k = static_cast<int>(threadIdx.x);
  const bool any = k < s.source_count;
  const std::int64_t v = any ? static_cast<std::int64_t>(s.sources[k]) : 0;
  const unsigned mark = 1U << (v & 31);
  if (any) {
    atomicOr(&s.seen[v].w[k / 64], count64{1} << (k % 64));
    to->found[k] = 1;
  }
  __syncthreads();
  std::int64_t degree = 0;
  if (any && (atomicOr(s.marks + (v >> 5), mark) & mark) == 0) {
    const search_words<W> bits = detail::latest(s.seen[v]);
    degree = detail::out_degree(s, v);
    s.front[v] = bits;
    s.queue[atomicAdd(&to->queued, count64{1})] = static_cast<I>(v);
    atomicAdd(&to->vertices, count64{1});
    atomicAdd(&to->edges, static_cast<count64>(degree));
    if (s.in_offsets != nullptr && detail::same(bits, s.full)) {
      atomicAdd(&to->finished, static_cast<count64>(s.in_offsets[v + 1] - s.in_offsets[v]));
    }
  }
  __syncthreads();
  detail::append_pieces(s.push_pieces, &to->pieces, static_cast<I>(v), degree, multi_bfs_cuda_tuning::push_piece);
  if (any) atomicAnd(s.marks + (v >> 5), ~mark);
}

template <class I, class O, int W>
__device__ step_kind next_step(const multi_bfs_search<I, O, W>& s, const position& at) {
  bool pull = s.allowed == bfs_direction::pull;
  if (s.allowed == bfs_direction::automatic) {
    pull = detail::multi_bfs_pulls({s.n, at.edges, max(at.unfinished, std::int64_t{0})}, multi_bfs_cuda_tuning::alpha);
  }
  if (pull) return step_kind::pull;
  return at.edges > s.n / multi_bfs_cuda_tuning::dense_share ? step_kind::dense_push : step_kind::sparse_push;
}

// How much each search has just found, and which have found something. A block's copy.
template <int W>
struct last_found {
  count64 vertices[64 * W];
  search_words<W> active;
  search_words<W> lagging;
};

// Puts this thread's bit into its place among the block's first 64 W threads'.
template <int W>
__device__ void gather_bits(search_words<W>& to, bool bit) {
  const unsigned bits = __ballot_sync(detail::full_mask, bit);
  if (threadIdx.x % detail::warp_size != 0) return;
  reinterpret_cast<unsigned*>(&to)[threadIdx.x / detail::warp_size] = bits;  // low half first
}

template <int W>
__device__ void note_found(last_found<W>& last, const multi_bfs_counters<W>& found) {
  if (threadIdx.x >= 64 * W) return;
  last.vertices[threadIdx.x] = __ldcg(&found.found[threadIdx.x]);
  gather_bits(last.active, last.vertices[threadIdx.x] != 0);
}

// The searches that have found least, `most` vertices together.
template <int W>
__device__ void note_lagging(last_found<W>& last, count64 most) {
  if (threadIdx.x < 64 * W) {
    const count64 mine = last.vertices[threadIdx.x];
    count64 sum = 0;
    for (unsigned k = 0; k < 64 * W; ++k) {
      const count64 theirs = last.vertices[k];
      if (theirs < mine || (theirs == mine && k <= threadIdx.x)) sum += theirs;
    }
    gather_bits(last.lagging, mine != 0 && sum <= most);
  }
  __syncthreads();
}

template <class T>
__device__ void exchange(T*& a, T*& b) {
  T* const c = a;
  a = b;
  b = c;
}

// Where this thread stands in the grid, and the arrays that change places.
template <class I, int W>
struct walker {
  std::int64_t thread;
  std::int64_t threads;
  std::int64_t warp;
  std::int64_t warps;
  search_words<W>* seen;
  search_words<W>* other;
  I* queue;
  I* next_queue;
};

template <class I, class O, int W>
__device__ void pull_level(const multi_bfs_search<I, O, W>& s, walker<I, W>& my, const search_words<W>& wanted,
                           int depth, multi_bfs_tally<W>& tally) {
  detail::pull_pieces(s, my.seen, my.other, wanted, depth, my.warp, my.warps, tally);
  detail::pull_vertices(s, my.seen, my.other, wanted, depth, my.warp, my.warps, tally);
  exchange(my.seen, my.other);
}

template <class I, class O, int W>
__device__ void forget_conversion(const multi_bfs_search<I, O, W>& s, const walker<I, W>& my) {
  if (my.thread == 0) s.control->converted_queued = s.control->converted_pieces = 0;
}

// The frontier of some searches as a queue, with a barrier at its end.
template <detail::queueing Queueing, class I, class O, int W>
__device__ void convert(const multi_bfs_search<I, O, W>& s, const walker<I, W>& my, position& at,
                        const search_words<W>& searches, const cg::grid_group& grid) {
  detail::queue_found<Queueing>(s, my.seen, my.other, searches, my.queue, my.warp, my.warps);
  grid.sync();
  if (threadIdx.x == 0) {
    at.queued = static_cast<std::int64_t>(__ldcg(&s.control->converted_queued));
    at.pieces = static_cast<std::int64_t>(__ldcg(&s.control->converted_pieces));
  }
  __syncthreads();
}

// Pulls `wanted` and pushes the rest, which lags: with the barriers between its parts, but for the last.
template <class I, class O, int W>
__device__ void split_level(const multi_bfs_search<I, O, W>& s, walker<I, W>& my, position& at,
                            const search_words<W>& wanted, const search_words<W>& lagging, int depth,
                            const cg::grid_group& grid, multi_bfs_tally<W>& tally) {
  if (!at.in_queue) convert<detail::queueing::before_pull>(s, my, at, lagging, grid);
  pull_level(s, my, wanted, depth, tally);
  grid.sync();
  forget_conversion(s, my);
  const detail::push_arrays<I, W> to{my.other, my.seen, nullptr, nullptr, lagging, depth};
  detail::push_pieces<push_kind::late>(s, to, at.pieces, my.warp, my.warps, tally);
  detail::push_queue<push_kind::late>(s, to, my.queue, at.queued, my.warp, my.warps, tally);
}

// With the barriers between its parts, but for the last.
template <class I, class O, int W>
__device__ void push_level(const multi_bfs_search<I, O, W>& s, walker<I, W>& my, position& at, step_kind step,
                           const search_words<W>& wanted, multi_bfs_counters<W>* filling, int depth,
                           const cg::grid_group& grid, multi_bfs_tally<W>& tally) {
  if (!at.in_queue) convert<detail::queueing::before_push>(s, my, at, s.full, grid);
  const detail::push_arrays<I, W> to{my.seen, my.other, my.next_queue, &filling->queued, s.full, depth};
  if (step == step_kind::sparse_push) {
    detail::push_pieces<push_kind::sparse>(s, to, at.pieces, my.warp, my.warps, tally);
    detail::push_queue<push_kind::sparse>(s, to, my.queue, at.queued, my.warp, my.warps, tally);
    grid.sync();
    exchange(my.queue, my.next_queue);
    const auto queued = static_cast<std::int64_t>(__ldcg(&filling->queued));
    detail::take(s, my.seen, my.other, my.queue, queued, depth, &filling->pieces, my.thread, my.threads, tally);
  } else {
    detail::push_pieces<push_kind::dense>(s, to, at.pieces, my.warp, my.warps, tally);
    detail::push_queue<push_kind::dense>(s, to, my.queue, at.queued, my.warp, my.warps, tally);
    grid.sync();
    forget_conversion(s, my);
    detail::take_all(s, my.seen, my.other, wanted, depth, my.thread, my.threads, tally);
  }
}

template <int W>
__device__ void clear(multi_bfs_counters<W>* counters) {
  auto* const words = reinterpret_cast<count64*>(counters);
  for (unsigned k = threadIdx.x; k < sizeof(multi_bfs_counters<W>) / sizeof(count64); k += blockDim.x) words[k] = 0;
}

template <class I, class O, int W>
__global__ void __launch_bounds__(multi_bfs_cuda_tuning::block, multi_bfs_cuda_tuning::min_blocks)
    multi_bfs_kernel(multi_bfs_search<I, O, W> s) {
  __shared__ position at;
  __shared__ multi_bfs_block_tally<W> of_block;
  __shared__ last_found<W> last;
  constexpr int searches = 64 * W;
  const cg::grid_group grid = cg::this_grid();
  const bool leader = threadIdx.x == 0;
  const bool counts = blockIdx.x == 0 && threadIdx.x < searches;  // this thread adds up the search of its number
  multi_bfs_control<W>* const control = s.control;
  multi_bfs_counts total{.reached = 1};
  walker<I, W> my{.thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x,
                  .threads = std::int64_t{gridDim.x} * blockDim.x,
                  .warp = std::int64_t{threadIdx.x / detail::warp_size} * gridDim.x + blockIdx.x,
                  .warps = std::int64_t{gridDim.x} * blockDim.x / detail::warp_size,
                  .seen = s.seen,
                  .other = s.other,
                  .queue = s.queue,
                  .next_queue = s.next_queue};

  for (unsigned k = threadIdx.x; k < searches; k += blockDim.x) of_block.found[k] = 0;
  if (leader) {
    of_block.vertices = of_block.edges = of_block.finished = of_block.open = 0;
    at = {.unfinished = s.edges, .in_queue = true};
  }
  if (blockIdx.x == 0) start(s, &control->level[0]);
  grid.sync();
  if (leader) read_found(at, control->level[0], step_kind::sparse_push);
  note_found(last, control->level[0]);
  __syncthreads();

  for (int turn = 0; at.vertices > 0; turn = (turn + 1) % 3) {
    multi_bfs_counters<W>* const filling = &control->level[(turn + 1) % 3];
    if (blockIdx.x == 0) clear(&control->level[(turn + 2) % 3]);
    const int depth = at.level + 1 - at.base;
    step_kind step = next_step(s, at);
    search_words<W> wanted = last.active;
    if (step == step_kind::pull && s.allowed == bfs_direction::automatic && at.edges > s.edges / 4) {
      note_lagging(last, static_cast<count64>(s.n / multi_bfs_cuda_tuning::lag_share));
      if (!detail::is_zero(last.lagging) && !detail::same(last.lagging, last.active)) {
        step = step_kind::split;
        wanted = detail::without(last.active, last.lagging);
      }
    }
    multi_bfs_tally<W> tally;
    if (step == step_kind::pull) {
      forget_conversion(s, my);
      pull_level(s, my, wanted, depth, tally);
    } else if (step == step_kind::split) {
      split_level(s, my, at, wanted, last.lagging, depth, grid, tally);
    } else {
      push_level(s, my, at, step, wanted, filling, depth, grid, tally);
    }
    detail::add_tally(filling, of_block, tally);
    grid.sync();
    if (leader) {
      read_found(at, *filling, step);
      ++at.level;
    }
    note_found(last, *filling);
    __syncthreads();
    if (counts) detail::add_level(total, static_cast<std::int64_t>(__ldcg(&filling->found[threadIdx.x])), at.level);
    if (depth == multi_bfs_cuda_tuning::window) {
      if (s.planes != nullptr) detail::write_levels(s, my.seen, at.base, depth, my.warp, my.warps);
      grid.sync();
      if (leader) at.base = at.level;
      __syncthreads();
    }
  }
  if (s.planes != nullptr) detail::write_levels(s, my.seen, at.base, at.level - at.base, my.warp, my.warps);
  if (counts) control->counts[threadIdx.x] = total;
}

// The pieces of the vertices that are pulled by several warps.
template <class I, class O>
__global__ void cut_pieces_kernel(const O* offsets, std::int64_t n, edge_piece<I>* pieces, count64* count) {
  const std::int64_t v = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t degree = v < n ? static_cast<std::int64_t>(offsets[v + 1] - offsets[v]) : 0;
  detail::append_pieces(pieces, count, static_cast<I>(v), degree, multi_bfs_cuda_tuning::pull_piece);
}

template <class T>
std::int64_t bytes_of(const array<T, device>& a) {
  return a.size() * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <index_type I, index_type O, class Space>
struct multi_bfs_plan<I, O, Space>::state {
  context<device> ctx;
  std::int64_t vertices;
  std::int64_t max_sources;
  detail::multi_bfs_choice choice;
  csr_pattern_view<I, O, device> out;
  csr_pattern_view<I, O, device> in;
  int blocks = 0;
  array<std::int32_t, device> levels;
  array<count64, device> seen;  // of these three, words() a vertex
  array<count64, device> other;
  array<count64, device> front;
  array<count64, device> planes;
  array<unsigned, device> marks;
  array<I, device> queue;
  array<I, device> next_queue;
  array<edge_piece<I>, device> push_pieces;
  array<edge_piece<I>, device> pull_pieces;
  array<count64, device> pull_piece_count;
  array<unsigned char, device> control;
  array<I, device> there;                 // the sources of a batch
  array<I, host> here;                    // pinned, on their way
  array<multi_bfs_counts, host> arrived;  // pinned
  std::vector<multi_bfs_counts> counts;
  std::int64_t sources = 0;  // of the last run

  state(const context<device>& c, const graph_view<I, O, device>& g, std::int64_t most,
        const multi_bfs_options& options)
      : ctx(c),
        vertices(g.vertices()),
        max_sources(most),
        choice((detail::check_bfs_graph(g), detail::choose_multi_bfs(detail::facts_of(g).can_pull, most, options))),
        out(g.out) {
    const detail::device_guard guard(ctx);
    if (choice.direction != bfs_direction::push) in = detail::pull_edges(g);
    const std::int64_t words = vertices * choice.words();
    if (options.output == multi_bfs_output::counts_and_levels) {
      levels = {ctx, static_cast<std::int64_t>(detail::checked_bytes(vertices, static_cast<std::size_t>(most)))};
      planes = {ctx, multi_bfs_cuda_tuning::planes * words};
      fill_zero(ctx, planes.view());
    }
    seen = {ctx, words};
    other = {ctx, words};
    front = {ctx, words};
    marks = {ctx, div_up(vertices, detail::warp_size)};
    queue = {ctx, vertices};
    next_queue = {ctx, vertices};
    push_pieces = {ctx, 2 * (out.nnz() / multi_bfs_cuda_tuning::push_piece)};
    there = {ctx, choice.batch()};
    const context<host> pinned({.threads = 1, .resource = &pinned_host_resource()});
    here = {pinned, choice.batch()};
    arrived = {pinned, choice.batch()};
    counts.reserve(static_cast<std::size_t>(most));
    cut_pieces();
    if (choice.words() == 1) {
      prepare_launch<1>();
    } else {
      prepare_launch<4>();
    }
  }

  void cut_pieces() {
    pull_pieces = {ctx, 2 * (in.nnz() / multi_bfs_cuda_tuning::pull_piece)};
    pull_piece_count = {ctx, 1};
    fill_zero(ctx, pull_piece_count.view());
    if (pull_pieces.empty()) return;
    cut_pieces_kernel<<<static_cast<unsigned>(div_up(vertices, 256)), 256, 0, ctx.stream()>>>(
        in.offsets.data(), vertices, pull_pieces.data(), pull_piece_count.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  // As many blocks as can be resident together, which the grid's barrier needs.
  template <int W>
  void prepare_launch() {
    control = {ctx, static_cast<std::int64_t>(sizeof(multi_bfs_control<W>))};
    int cooperative = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
    if (cooperative == 0) {
      throw error(error_code::unsupported, "multi_bfs: the device cannot launch cooperative kernels");
    }
    int a_multiprocessor = 0;
    SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, multi_bfs_kernel<I, O, W>,
                                                                  multi_bfs_cuda_tuning::block, 0));
    blocks = a_multiprocessor * ctx.properties().multiprocessors;
    if (blocks == 0) throw error(error_code::unsupported, "multi_bfs: no block of the search fits a multiprocessor");
  }

  template <int W>
  [[nodiscard]] multi_bfs_search<I, O, W> search_of(std::int64_t batch, std::int64_t first) {
    using words = search_words<W>;
    multi_bfs_search<I, O, W> s{};
    s.out_offsets = out.offsets.data();
    s.out_indices = out.indices.data();
    s.in_offsets = in.offsets.data();
    s.in_indices = in.indices.data();
    s.n = vertices;
    s.edges = out.nnz();
    s.seen = reinterpret_cast<words*>(seen.data());
    s.other = reinterpret_cast<words*>(other.data());
    s.front = reinterpret_cast<words*>(front.data());
    s.marks = marks.data();
    s.queue = queue.data();
    s.next_queue = next_queue.data();
    s.push_pieces = push_pieces.data();
    s.pull_pieces = pull_pieces.data();
    s.pull_piece_count = pull_piece_count.data();
    s.control = reinterpret_cast<multi_bfs_control<W>*>(control.data());
    s.planes = planes.data();
    s.levels = levels.empty() ? nullptr : levels.data() + first;
    s.stride = sources;
    s.sources = there.data();
    s.source_count = static_cast<int>(batch);
    for (std::int64_t k = 0; k < batch; ++k) s.full.w[k / 64] |= count64{1} << (k % 64);
    s.allowed = choice.direction;
    return s;
  }

  template <int W>
  void run_batch(span<const I, host> batch, std::int64_t first) {
    std::copy(batch.begin(), batch.end(), here.begin());
    copy<I>(ctx, std::as_const(here).view(), there.view());
    fill_zero(ctx, seen.view());
    fill_zero(ctx, other.view());
    fill_zero(ctx, marks.view());
    fill_zero(ctx, control.view());
    multi_bfs_search<I, O, W> s = search_of<W>(batch.size(), first);
    void* arguments[] = {&s};
    SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(multi_bfs_kernel<I, O, W>, dim3(static_cast<unsigned>(blocks)),
                                                dim3(multi_bfs_cuda_tuning::block), arguments, 0, ctx.stream()));
    detail::copy_to_host(ctx, s.control->counts, arrived.data(), sizeof(s.control->counts));
    ctx.synchronize();
    std::copy_n(arrived.begin(), batch.size(), counts.begin() + first);
  }

  void run(span<const I, host> all) {
    detail::check_multi_bfs_sources(all.size(), max_sources);
    for (const I source : all) detail::check_bfs_source(source, vertices);
    const detail::device_guard guard(ctx);
    sources = all.size();
    counts.assign(static_cast<std::size_t>(sources), {});
    for (std::int64_t first = 0; first < sources; first += choice.batch()) {
      const auto batch = all.subspan(first, std::min(choice.batch(), sources - first));
      if (choice.words() == 1) {
        run_batch<1>(batch, first);
      } else {
        run_batch<4>(batch, first);
      }
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const {
    return bytes_of(levels) + bytes_of(seen) + bytes_of(other) + bytes_of(front) + bytes_of(planes) + bytes_of(marks) +
           bytes_of(queue) + bytes_of(next_queue) + bytes_of(push_pieces) + bytes_of(pull_pieces) + bytes_of(control) +
           bytes_of(there);
  }
};

template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::multi_bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                            std::int64_t max_sources, const multi_bfs_options& options)
    : state_(std::make_unique<state>(ctx, g, max_sources, options)) {}
template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::multi_bfs_plan(multi_bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>& multi_bfs_plan<I, O, Space>::operator=(multi_bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::~multi_bfs_plan() = default;

template <index_type I, index_type O, class Space>
void multi_bfs_plan<I, O, Space>::run(span<const I, host> sources) {
  state_->run(sources);
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> multi_bfs_plan<I, O, Space>::levels() const noexcept {
  if (state_->levels.empty()) return {};
  return std::as_const(state_->levels).view().subspan(0, state_->vertices * state_->sources);
}
template <index_type I, index_type O, class Space>
const std::vector<multi_bfs_counts>& multi_bfs_plan<I, O, Space>::counts() const noexcept {
  return state_->counts;
}
template <index_type I, index_type O, class Space>
multi_bfs_algorithm multi_bfs_plan<I, O, Space>::algorithm() const noexcept {
  return state_->choice.algorithm;
}
template <index_type I, index_type O, class Space>
std::int64_t multi_bfs_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->workspace_bytes();
}

template <index_type I, index_type O, class Space>
multi_bfs_result<I, Space> multi_bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                     span<const I, host> sources, const multi_bfs_options& options) {
  return detail::multi_bfs_once(ctx, g, sources, options);
}

#define INSTANTIATE(I, O)                                       \
  template class multi_bfs_plan<I, O, device>;                  \
  template multi_bfs_result<I, device> multi_bfs<I, O, device>( \
      const context<device>&, const graph_view<I, O, device>&, span<const I, host>, const multi_bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
