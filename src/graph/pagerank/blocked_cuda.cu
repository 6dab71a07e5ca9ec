// PageRank steps from a copy of the graph that keeps nearly all shares in shared memory.
//
// Vertices are sorted by descending out-degree, so that most edges come from a few adjacent vertices. Their shares are
// partitioned into blocks that fit an SM's shared memory. Edges of a vertex with several sources in one block are
// stored together as 16-bit positions: the cells of the blocked SpMV (sparse/spmv/copies/blocked), without values. The
// remaining edges are gathered. Two launches: one sums strips of cells and of other edges, one lane per strip; the
// other adds each vertex's strips and computes its new share.
//
// A chunk of cell strips is read 16 bytes per lane at a time, mostly while the previous chunk is summed; padding names
// an element that is 0, so no lane tests for the end of its strip. Some warps of each block gather from the start, the
// others after their cells. Strips are sorted by length only among neighbouring vertices, so that the sums of a vertex
// are close together. Cost of a step: 2 bytes per edge in cells, 4 and an L2 sector for the others (R-MAT 22, fp32: 11
// percent), about 20 per strip and 16 per vertex. Sources: those of the blocked SpMV.
#include "core/bytes_of.hpp"
#include "core/device/async_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "graph/pagerank/blocked_build.cuh"
#include "sparse/spmv/copies/blocked/add.cuh"

#include <algorithm>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  static constexpr int threads = 1024;
  // Gathering warps. 3, 4, 6: R-MAT 22 fp32 0.213, 0.209, 0.230 ms, fp64 0.352, 0.343, 0.315.
  template <class V>
  static constexpr int gatherers() {
    return sizeof(V) == 4 ? 4 : 6;
  }
  static constexpr int ticket_chunks = 4;
  // Maximum block of shares; the rest of the SM's memory is L1 cache: 176, 192, 208 KiB 0.382, 0.383, 0.420 ms.
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  static constexpr std::int64_t cache_bytes = std::int64_t{8} * 1024;
  static constexpr std::int64_t most_blocks = 512;
  // Edges per vertex and block that form a cell; 3, 4, 5, 6, 8: R-MAT 22 fp32 0.230, 0.228, 0.232, 0.239, 0.266 ms.
  static constexpr std::uint32_t least_cell = 4;
  // Window within which strips are sorted; 0: all. All, 1024: R-MAT 22 fp32 0.219, 0.236 ms, fp64 0.372, 0.350.
  template <class V>
  static constexpr std::int64_t window() {
    return sizeof(V) == 4 ? 0 : 1024;
  }
  // A copy pays off if least_popular of the edges come from the first block and at most most_gathered are gathered.
  static constexpr double least_popular = 0.2;
  static constexpr double most_gathered = 0.4;
};

// --- Sums of strips -------------------------------------------------------

template <class V>
struct strip_sums {
  const run_state* state;
  const std::uint32_t* group_chunks;
  const std::uint32_t* shares;  // first chunk of cells of each thread block
  const std::uint32_t* quads;   // quads before each chunk of cells
  const std::uint16_t* cells;
  const std::uint32_t* starts;  // in warp widths, of chunks of other edges
  const std::uint32_t* others;
  std::int64_t cell_slots;
  std::int64_t used;
  std::uint32_t block;  // vertices per block
  std::uint32_t groups;
  std::uint32_t cell_chunks;
  std::uint32_t chunks;
  unsigned* tickets;
  V* sums;  // by chunk and lane
};

// The first entries of a lane's strip, prefetched while the previous chunk is summed.
struct cell_batch {
  static constexpr int size = 3;
  uint4 pairs[size];
  uint2 rest;  // the last quad, if their number is odd

  __device__ void load(const std::uint16_t* cells, std::uint32_t quads, std::uint32_t lane) {
    const int count = static_cast<int>(quads / 2);
    const uint4* const from = reinterpret_cast<const uint4*>(cells) + lane;
#pragma unroll
    for (int j = 0; j < size; ++j) {
      if (j < count) pairs[j] = __ldcs(from + j * warp_size);
    }
    if ((quads & 1U) != 0) rest = __ldcs(reinterpret_cast<const uint2*>(cells + (quads - 1) * quad_slots) + lane);
  }
};

// Sums chunks first .. end - 1, whose sources are in `part`. Boustrophedon order of warps balances long ones.
template <class V>
__device__ void sum_cell_chunks(const strip_sums<V>& a, std::uint32_t first, std::uint32_t end, std::uint32_t warps,
                                const V* part) {
  const std::uint32_t warp = threadIdx.x / warp_size;
  const std::uint32_t lane = threadIdx.x % warp_size;
  const auto chunk_of = [&](std::uint32_t round) {
    return first + round * warps + ((round & 1U) != 0 ? warps - 1 - warp : warp);
  };
  const auto two = [&](unsigned word) { return part[word & 0xffffU] + part[word >> 16]; };
  const auto four = [&](const uint4& raw) { return (two(raw.x) + two(raw.y)) + (two(raw.z) + two(raw.w)); };
  const auto start_of = [&](std::uint32_t chunk) { return a.quads[min(chunk, end)]; };
  std::uint32_t chunk = chunk_of(0);
  if (chunk >= end) return;
  std::uint32_t start = start_of(chunk);
  std::uint32_t quads = start_of(chunk + 1) - start;
  std::uint32_t next = chunk_of(1);
  std::uint32_t next_start = start_of(next);
  std::uint32_t next_quads = start_of(next + 1) - next_start;
  cell_batch now;
  now.load(a.cells + start * quad_slots, quads, lane);
  for (std::uint32_t round = 2;; ++round) {
    cell_batch ahead;
    ahead.load(a.cells + next_start * quad_slots, next_quads, lane);  // none after the end
    const std::uint32_t later = chunk_of(round);
    const std::uint32_t later_start = start_of(later);
    const std::uint32_t later_quads = start_of(later + 1) - later_start;
    const int count = static_cast<int>(quads / 2);
    V sum = 0;
#pragma unroll
    for (int j = 0; j < cell_batch::size; ++j) {
      if (j < count) sum += four(now.pairs[j]);
    }
    const uint4* const pairs = reinterpret_cast<const uint4*>(a.cells + start * quad_slots) + lane;
    for (int k = cell_batch::size; k < count; k += 2) {
      const uint4 first_pair = __ldcs(pairs + k * warp_size);
      const uint4 second_pair = k + 1 < count ? __ldcs(pairs + (k + 1) * warp_size) : uint4{};
      sum += four(first_pair);
      if (k + 1 < count) sum += four(second_pair);
    }
    if ((quads & 1U) != 0) sum += two(now.rest.x) + two(now.rest.y);
    a.sums[std::int64_t{chunk} * warp_size + lane] = sum;
    if (next >= end) return;
    chunk = next;
    start = next_start;
    quads = next_quads;
    next = later;
    next_start = later_start;
    next_quads = later_quads;
    now = ahead;
  }
}

// Sums chunks of other edges. A ticket covers adjacent chunks of similar lengths, so that their gathers are in flight
// together; the next ticket is fetched meanwhile. A strip's sum does not depend on the warp that computes it.
template <class V>
__device__ void sum_other_chunks(const strip_sums<V>& a, const V* shares) {
  constexpr int width = tuning::ticket_chunks;
  constexpr int batch = 4;
  const std::uint32_t lane = threadIdx.x % warp_size;
  unsigned ticket = 0;
  if (lane == 0) ticket = atomicAdd(a.tickets, 1U);
  for (;;) {
    const std::uint32_t first = a.cell_chunks + __shfl_sync(full_mask, ticket, 0) * width;
    if (first >= a.chunks) return;
    if (lane == 0) ticket = atomicAdd(a.tickets, 1U);
    const std::uint32_t low = lane <= width ? a.starts[min(first + lane, a.chunks)] : 0;
    std::uint32_t size[width];
    const std::uint32_t* from[width];
    std::uint32_t longest = 0;
    V sum[width];
#pragma unroll
    for (int c = 0; c < width; ++c) {
      const std::uint32_t start = __shfl_sync(full_mask, low, c);
      size[c] = __shfl_sync(full_mask, low, c + 1) - start;
      longest = max(longest, size[c]);
      from[c] = a.others + (std::int64_t{start} * warp_size - a.cell_slots) + lane;
      sum[c] = 0;
    }
    for (std::uint32_t k = 0; k < longest; k += batch) {
      std::uint32_t place[width][batch];
#pragma unroll
      for (int c = 0; c < width; ++c) {
#pragma unroll
        for (int j = 0; j < batch; ++j)
          place[c][j] = k + j < size[c] ? __ldcs(from[c] + (k + j) * warp_size) : no_entry;
      }
#pragma unroll
      for (int c = 0; c < width; ++c) {
#pragma unroll
        for (int j = 0; j < batch; ++j) sum[c] += place[c][j] != no_entry ? __ldg(shares + place[c][j]) : V{0};
      }
    }
#pragma unroll
    for (int c = 0; c < width; ++c) {
      if (first + c < a.chunks) a.sums[std::int64_t{first + c} * warp_size + lane] = sum[c];
    }
  }
}

extern __shared__ int4 pagerank_bytes[];

template <class V>
constexpr int cell_warps = tuning::threads / warp_size - tuning::gatherers<V>();

// Barrier of the warps that sum cells.
template <class V>
__device__ __forceinline__ void cell_barrier() {
  asm volatile("bar.sync 1, %0;" ::"n"(cell_warps<V> * warp_size) : "memory");
}

// Loads a block of shares into shared memory; called by all cell warps.
template <class V>
__device__ void load_part(const V* shares, std::int64_t size, V* part) {
  constexpr int line = 16 / static_cast<int>(sizeof(V));
  cell_barrier<V>();  // all warps have finished with the previous block
  for (std::int64_t c = std::int64_t{line} * threadIdx.x; c < size; c += line * cell_warps<V> * warp_size) {
    copy_line_async(part + c, shares + c);
  }
  wait_for_copies();
  cell_barrier<V>();
}

template <class V>
__device__ void sum_cells(const strip_sums<V>& a, const V* shares, V* part) {
  std::uint32_t first = a.shares[blockIdx.x];
  const std::uint32_t last = a.shares[blockIdx.x + 1];
  if (threadIdx.x == 0) part[a.block] = 0;  // value of padding slots
  for (std::uint32_t group = 0; first < last; ++group) {
    const std::uint32_t end = min(a.group_chunks[group + 1], last);
    if (end <= first) continue;
    const std::int64_t begin = std::int64_t{group} * a.block;
    load_part(shares + begin, min(std::int64_t{a.block}, a.used - begin), part);
    sum_cell_chunks<V>(a, first, end, cell_warps<V>, part);
    first = end;
  }
}

// Some warps gather other edges from the start, the rest after their cells: L2 cache and shared memory both work.
template <class V>
__global__ void __launch_bounds__(tuning::threads, 1) sum_strips_kernel(strip_sums<V> a, const V* __restrict__ shares) {
  if (a.state->done != 0) return;
  if (threadIdx.x < cell_warps<V> * warp_size) sum_cells(a, shares, reinterpret_cast<V*>(pagerank_bytes));
  sum_other_chunks(a, shares);
}

template <class V>
__global__ void __launch_bounds__(block_threads)
    finish_vertices_kernel(step_arguments<V> a, spmv::strip_arguments<V> strips, unsigned* tickets,
                           const V* __restrict__ now, V* __restrict__ next) {
  if (a.state->done != 0) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *tickets = 0;  // for the next step
  const step_terms terms = a.state->terms;
  step_outcome mine;
  const std::int64_t blocks = strips.blocks();
  for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    spmv::add_strips(strips, block, [&](std::int64_t place, V sum) {
      mine.add(finish_place(a, terms, place, __ldg(a.degrees + place), sum, __ldg(now + place), next), a.norm);
    });
    if (block < strips.parts) __syncthreads();  // the parts' sums in shared memory are no longer needed
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) mine.add(finish_isolated(a, terms, now, next), a.norm);
  close_step(mine, a.outcomes, a.rule, a.end, a.norm, true, a.state);
}

static_assert(spmv::threads_per_block == block_threads);

template <class V>
class blocked_copy final : public step_copy<V> {
 public:
  blocked_copy(const context<device>& ctx, array<std::uint32_t, device> order, blocked_pattern pattern,
               const std::uint32_t* places, std::int64_t block, std::int64_t linked)
      : ctx_(ctx),
        linked_(linked),
        order_(std::move(order)),
        pattern_(std::move(pattern)),
        sums_(ctx, pattern_.chunks * warp_size),
        part_sums_(ctx, pattern_.part_hubs.size()),
        arrived_(ctx, pattern_.hub_rows),
        tickets_(ctx, 1) {
    const auto width = static_cast<std::uint32_t>(block);
    auto starts = count_quads(ctx, pattern_);
    cells_ = place_cells(ctx, pattern_, starts, places, width);
    quads_ = std::move(starts.quads);
    others_ = place_others(ctx, pattern_, places, no_entry);
    pattern_.sources = {};
    pattern_.cell_columns = {};
    pattern_.other_ranks = {};
    pattern_.strip_sizes = {};
    thread_blocks_ = std::min<std::int64_t>(ctx.properties().multiprocessors, pattern_.chunks);
    shares_ = share_chunks(ctx, pattern_, thread_blocks_);
    fill_zero(ctx, arrived_.view());
    fill_zero(ctx, tickets_.view());
    strips_ = {.rows = pattern_.rows,
               .row_strips = pattern_.row_strips.data(),
               .places = pattern_.places.data(),
               .sums = sums_.data(),
               .long_rows = pattern_.long_rows.data(),
               .hub_rows = pattern_.hub_rows,
               .warp_rows = pattern_.warp_rows,
               .group_rows = pattern_.group_rows,
               .parts = pattern_.part_hubs.size(),
               .hub_parts = pattern_.hub_parts.data(),
               .part_hubs = pattern_.part_hubs.data(),
               .part_sums = part_sums_.data(),
               .arrived = arrived_.data()};
    finish_blocks_ = resident_grid(ctx, finish_vertices_kernel<V>, block_threads);
    shared_bytes_ = static_cast<std::size_t>(block) * sizeof(V) + 16;
    allow_shared(sum_strips_kernel<V>, shared_bytes_);
    sums_arguments_ = {.state = nullptr,
                       .group_chunks = pattern_.group_chunks.data(),
                       .shares = shares_.data(),
                       .quads = quads_.data(),
                       .cells = cells_.data(),
                       .starts = pattern_.chunk_starts.data(),
                       .others = others_.data(),
                       .cell_slots = pattern_.cell_slots,
                       .used = pattern_.used,
                       .block = width,
                       .groups = static_cast<std::uint32_t>(pattern_.groups),
                       .cell_chunks = static_cast<std::uint32_t>(pattern_.cell_chunks),
                       .chunks = static_cast<std::uint32_t>(pattern_.chunks),
                       .tickets = tickets_.data(),
                       .sums = sums_.data()};
  }

  void step(const step_arguments<V>& a, const V* now, V* next) const override {
    strip_sums<V> sums = sums_arguments_;
    sums.state = a.state;
    launch_kernel(ctx_, {thread_blocks_, tuning::threads, shared_bytes_}, sum_strips_kernel<V>, sums, now);
    spmv::strip_arguments<V> strips = strips_;
    strips.rows = a.kept;
    launch_kernel(ctx_, {std::min(strips.blocks(), blocks()), block_threads}, finish_vertices_kernel<V>, a, strips,
                  sums.tickets, now, next);
  }
  [[nodiscard]] std::int64_t blocks() const noexcept override { return finish_blocks_; }
  [[nodiscard]] const std::uint32_t* order() const noexcept override { return order_.data(); }
  [[nodiscard]] std::int64_t with_edges() const noexcept override { return linked_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(order_, quads_, cells_, others_, shares_, sums_, part_sums_, arrived_, pattern_.group_chunks,
                    pattern_.chunk_starts, pattern_.row_strips, pattern_.long_rows, pattern_.hub_parts,
                    pattern_.part_hubs);
  }

 private:
  context<device> ctx_;
  std::int64_t linked_;  // vertices with edges
  array<std::uint32_t, device> order_;
  blocked_pattern pattern_;
  array<std::uint32_t, device> quads_;
  array<std::uint16_t, device> cells_;   // positions within blocks
  array<std::uint32_t, device> others_;  // positions
  array<std::uint32_t, device> shares_;
  array<V, device> sums_;  // of the current step, by strip
  array<V, device> part_sums_;
  array<unsigned, device> arrived_;
  array<unsigned, device> tickets_;
  spmv::strip_arguments<V> strips_{};
  strip_sums<V> sums_arguments_{};
  std::int64_t thread_blocks_ = 0;
  std::int64_t finish_blocks_ = 0;
  std::size_t shared_bytes_ = 0;
};

}  // namespace

template <class V, class I, class O>
step_copy_attempt<V> copy_blocked(const context<device>& ctx, const graph_view<I, O, device>& g, copy_demand demand) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - (std::int64_t{1} << 16);
  const bool by_choice = demand == copy_demand::if_it_pays;
  const std::int64_t n = g.vertices();
  const std::int64_t edges = g.in.nnz();
  if (n > most || edges > most) return {nullptr, "the graph exceeds 32-bit indices"};
  const std::int64_t bytes =
      std::min(tuning::block_bytes, ctx.properties().shared_memory_per_block - tuning::cache_bytes);
  const std::int64_t block = std::min<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(V)), 0xfff0) / 4 * 4;

  ranked_graph ranked;
  const degree_totals totals = order_vertices(ctx, g, block, ranked.order);
  const auto percent_of = [&](std::int64_t part) { return std::to_string(100 * part / edges) + " percent"; };
  const auto popular = static_cast<std::int64_t>(totals.popular);
  if (by_choice && static_cast<double>(popular) < tuning::least_popular * static_cast<double>(edges)) {
    return {nullptr, percent_of(popular) + " of the edges come from the vertices with most out-edges"};
  }
  place_edges(ctx, g.in, ranked);
  const spmv::blocked_shape shape{block, tuning::most_blocks, tuning::least_cell, tuning::window<V>()};
  spmv::column_order order;
  order.ranks = std::move(ranked.places);
  order.used = static_cast<std::int64_t>(totals.used);
  order.blocks = std::clamp<std::int64_t>(div_up(static_cast<std::int64_t>(totals.dense), block), 1, shape.most_blocks);
  const auto cut = spmv::cut_rows<std::int64_t>(ctx, std::as_const(ranked.offsets).view(), order, shape);
  if (by_choice && static_cast<double>(cut.gathered) > tuning::most_gathered * static_cast<double>(edges)) {
    return {nullptr, percent_of(cut.gathered) + " of the edges would have to be gathered"};
  }
  const array<std::uint32_t, device> places = clone(ctx, std::as_const(order.ranks).view());
  auto pattern = spmv::arrange_entries(ctx, std::move(order), cut, shape, spmv::blocked_row_tuning::limits);
  auto reason = "shares from shared memory for " + percent_of(edges - cut.gathered) + " of the edges, in " +
                std::to_string(cut.strips) + " strips";
  return {std::make_unique<blocked_copy<V>>(ctx, std::move(ranked.order), std::move(pattern), places.data(), block,
                                            static_cast<std::int64_t>(totals.linked)),
          std::move(reason)};
}

#define INSTANTIATE_V(V, I, O)                                                                                 \
  template step_copy_attempt<V> copy_blocked<V, I, O>(const context<device>&, const graph_view<I, O, device>&, \
                                                      copy_demand);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank
