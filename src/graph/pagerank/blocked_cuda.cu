// A step from a copy of the graph that finds nearly all shares in shared memory.
//
// Vertices are numbered by falling out-degree, so that few of them, side by side, are what most edges come from. Their
// shares are cut into blocks that fit an SM's shared memory, and an edge whose vertex has others in the same block is
// stored with these, as 16 bits: the cells of the blocked SpMV (sparse/spmv/copies/blocked), without values. What is
// left is gathered. Two launches: strips of cells and of other edges are summed, one lane a strip, and each vertex adds
// its strips and gets its new share.
//
// A chunk of cells' strips is read 16 bytes per lane at a time, four of them in flight; slots without an edge name an
// element that is 0, so that no lane looks for the end of its strip. Some warps of each thread block gather from the
// start, the others after their cells. Sums go to where their vertices read them side by side.
// Cost of a step: 2 bytes per edge in cells, 4 and a sector of the L2 cache for the others (R-MAT 22, fp32: 14
// percent), about 20 per strip and 16 per vertex. Sources: those of the blocked SpMV.
#include "core/device/async_copy.cuh"
#include "core/instantiate.hpp"
#include "graph/pagerank/device.cuh"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/spmv/copies/blocked/add.cuh"
#include "sparse/spmv/copies/blocked/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

using spmv::blocked_pattern;
using spmv::no_entry;

struct tuning {
  static constexpr int threads = 1024;
  static constexpr int gatherers = 4;  // warps; 0, 4, 8: R-MAT 22 fp32, cells of 3, 0.400, 0.383, 0.420 ms
  static constexpr int ticket_chunks = 4;
  // Of shares, at most; what an SM has beyond is left to the L1 cache: 176, 192, 208 KiB 0.382, 0.383, 0.420 ms.
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  static constexpr std::int64_t cache_bytes = std::int64_t{8} * 1024;
  static constexpr std::int64_t most_blocks = 512;
  // Edges of a vertex and a block that make a cell; 2, 3, 4, 6: R-MAT 22 fp32 0.466, 0.383, 0.364, 0.318 ms; 2, 3, 4:
  // fp64 0.807, 0.626, 0.550.
  static constexpr std::uint32_t narrow_cell = 6;
  static constexpr std::uint32_t wide_cell = 4;
  // Blocks whose vertices have fewer out-edges each are left out: to load them costs more than it saves.
  static constexpr std::int64_t least_degree = 8;
  // A copy pays where the edges from the first block are so large a share of all, and few are gathered.
  static constexpr double least_popular = 0.2;
  static constexpr double most_gathered = 0.4;
};

// --- The copy -------------------------------------------------------------

// The graph with its vertices by falling out-degree.
struct ranked_graph {
  array<std::uint32_t, device> order;  // vertices by place
  array<std::int64_t, device> offsets;
  array<std::uint32_t, device> places;  // of the edges' sources
};

struct degree_totals {
  unsigned long long linked;   // places with edges
  unsigned long long used;     // with out-edges
  unsigned long long dense;    // with at least least_degree
  unsigned long long popular;  // edges from the first block
};

// Vertices by falling out-degree, those without in-edges behind their equals. Synchronises.
template <class I, class O>
degree_totals order_vertices(const context<device>& ctx, const graph_view<I, O, device>& g, std::int64_t block,
                             array<std::uint32_t, device>& order) {
  const std::int64_t n = g.vertices();
  const std::int64_t edges = g.in.nnz();
  const O* const out = g.out.offsets.data();
  const O* const in = g.in.offsets.data();
  array<std::uint64_t, device> keys(ctx, n);
  std::uint64_t* const missing = keys.data();
  for_each(ctx, n, [=] __device__(std::int64_t v) {
    const auto degree = static_cast<std::int64_t>(out[v + 1] - out[v]);
    missing[v] = 2 * static_cast<std::uint64_t>(edges - degree) + (in[v + 1] == in[v] ? 1 : 0);
  });
  order = iota(ctx, n);
  sort_pairs(ctx, keys, order, 0, spmv::key_bits(edges + 1) + 1);
  array<degree_totals, device> totals(ctx, 1);
  fill_zero(ctx, totals.view());
  degree_totals* const total = totals.data();
  for_each(ctx, n, [=, missing = std::as_const(keys).data()] __device__(std::int64_t i) {
    const std::uint64_t none = 2 * static_cast<std::uint64_t>(edges) + 1;
    const std::uint64_t behind = i + 1 < n ? missing[i + 1] : none;
    const std::int64_t here = edges - static_cast<std::int64_t>(missing[i] / 2);
    const std::int64_t next = edges - static_cast<std::int64_t>(behind / 2);
    if (missing[i] < none && behind == none) total->linked = static_cast<count64>(i + 1);
    if (here > 0 && next == 0) total->used = static_cast<count64>(i + 1);
    if (here >= tuning::least_degree && next < tuning::least_degree) total->dense = static_cast<count64>(i + 1);
    if (i < block) atomicAdd(&total->popular, static_cast<count64>(here));
  });
  return to_host(ctx, std::as_const(totals).view())[0];
}

constexpr int tile_edges = 2048;

// to[e] = the place of the source of edge e, e as the edges lie by place of their targets.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    place_edges_kernel(const O* offsets, const I* indices, const std::uint32_t* order, const std::uint32_t* position,
                       const std::int64_t* placed_offsets, std::int64_t n, std::uint32_t* to) {
  __shared__ std::int64_t bounds[2];
  const std::int64_t edges = placed_offsets[n];
  const std::int64_t first = std::int64_t{blockIdx.x} * tile_edges;
  const std::int64_t last = min(first + tile_edges, edges);
  // The last row that begins at or before an edge.
  const auto row_of = [&](std::int64_t e, std::int64_t low, std::int64_t high) {
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (placed_offsets[middle] <= e) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  };
  if (threadIdx.x < 2) bounds[threadIdx.x] = row_of(threadIdx.x == 0 ? first : last - 1, 0, n - 1);
  __syncthreads();
  for (std::int64_t e = first + threadIdx.x; e < last; e += block_threads) {
    const std::int64_t row = row_of(e, bounds[0], bounds[1]);
    const std::int64_t from = static_cast<std::int64_t>(offsets[order[row]]) + (e - placed_offsets[row]);
    to[e] = position[indices[from]];
  }
}

template <class I, class O>
void place_edges(const context<device>& ctx, const csr_pattern_view<I, O, device>& in, ranked_graph& to) {
  const std::int64_t n = in.rows;
  array<std::uint32_t, device> positions(ctx, n);
  to.offsets = {ctx, n + 1};
  to.places = {ctx, in.nnz()};
  const std::uint32_t* const order = to.order.data();
  std::uint32_t* const position = positions.data();
  std::int64_t* const placed = to.offsets.data();
  const O* const offsets = in.offsets.data();
  for_each(ctx, n + 1, [=] __device__(std::int64_t i) {
    if (i < n) position[order[i]] = static_cast<std::uint32_t>(i);
    placed[i] = i < n ? static_cast<std::int64_t>(offsets[order[i] + 1] - offsets[order[i]]) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(to.offsets).view(), to.offsets.view());
  place_edges_kernel<<<grid_of(in.nnz(), tile_edges), block_threads, 0, ctx.stream()>>>(
      offsets, in.indices.data(), order, position, placed, n, to.places.data());
  SPARGO_CUDA_TRY(cudaGetLastError());
}

// Where the cells' chunks begin, in quads of their lanes: the entries of a lane are a multiple of four. Synchronises.
struct cell_starts {
  array<std::uint32_t, device> quads;  // cell_chunks + 1
  std::int64_t total = 0;
};
cell_starts count_quads(const context<device>& ctx, const blocked_pattern& pattern) {
  const std::int64_t chunks = pattern.cell_chunks;
  const std::uint32_t* const starts = pattern.chunk_starts.data();
  array<std::int64_t, device> counts(ctx, chunks + 1);
  cell_starts to{{ctx, chunks + 1}};
  for_each(ctx, chunks + 1, [=, count = counts.data()] __device__(std::int64_t c) {
    count[c] = c < chunks ? div_up(starts[c + 1] - starts[c], 4U) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(counts).view(), counts.view());
  for_each(ctx, chunks + 1, [before = counts.data(), quads = to.quads.data()] __device__(std::int64_t c) {
    quads[c] = static_cast<std::uint32_t>(before[c]);
  });
  to.total = element<std::int64_t>(ctx, std::as_const(counts).view(), chunks);
  return to;
}

constexpr std::int64_t quad_slots = 4 * warp_size;

// The slot of entry k in a chunk of cells of so many quads: two quads of each lane side by side, at last one.
__device__ inline std::int64_t cell_slot(std::uint32_t quads, std::uint32_t lane, std::uint32_t k) {
  const std::uint32_t pair = k / 8;
  if (pair < quads / 2) return std::int64_t{pair} * 2 * quad_slots + 8 * lane + k % 8;
  return std::int64_t{pair} * 2 * quad_slots + 4 * lane + k % 4;
}

// Their places in their blocks; `block` where there is no entry.
array<std::uint16_t, device> place_cells(const context<device>& ctx, const blocked_pattern& pattern,
                                         const cell_starts& starts, const std::uint32_t* places, std::uint32_t block) {
  array<std::uint16_t, device> cells(ctx, std::max(starts.total * quad_slots, std::int64_t{1}));
  for_each(ctx, pattern.cell_chunks * warp_size,
           [=, to = cells.data(), from = pattern.chunk_starts.data(), sources = pattern.sources.data(),
            first_quad = starts.quads.data()] __device__(std::int64_t i) {
             const std::int64_t chunk = i / warp_size;
             const auto lane = static_cast<std::uint32_t>(i % warp_size);
             const std::uint32_t size = from[chunk + 1] - from[chunk];
             const std::uint32_t quads = first_quad[chunk + 1] - first_quad[chunk];
             for (std::uint32_t k = 0; k < 4 * quads; ++k) {
               const std::uint32_t source = k < size ? sources[spmv::slot_of(from[chunk], size, lane, k)] : no_entry;
               to[first_quad[chunk] * quad_slots + cell_slot(quads, lane, k)] =
                   static_cast<std::uint16_t>(source == no_entry ? block : places[source] % block);
             }
           });
  return cells;
}

// The places of the other edges, a chunk's lanes side by side; `none` where there is none.
array<std::uint32_t, device> place_others(const context<device>& ctx, const blocked_pattern& pattern,
                                          const std::uint32_t* places, std::uint32_t none) {
  array<std::uint32_t, device> others(ctx, std::max(pattern.slots - pattern.cell_slots, std::int64_t{1}));
  for_each(ctx, (pattern.chunks - pattern.cell_chunks) * warp_size,
           [=, to = others.data(), first = pattern.cell_chunks, before = pattern.cell_slots,
            from = pattern.chunk_starts.data(), sources = pattern.sources.data()] __device__(std::int64_t i) {
             const std::int64_t chunk = first + i / warp_size;
             const auto lane = static_cast<std::uint32_t>(i % warp_size);
             const std::uint32_t size = from[chunk + 1] - from[chunk];
             for (std::uint32_t k = 0; k < size; ++k) {
               const std::uint32_t source = sources[spmv::slot_of(from[chunk], size, lane, k)];
               to[(std::int64_t{from[chunk]} + k) * warp_size + lane - before] =
                   source == no_entry ? none : places[source];
             }
           });
  return others;
}

// By chunk and lane: the strip there, that is where its sum goes; no_entry: none.
array<std::uint32_t, device> name_strips(const context<device>& ctx, const blocked_pattern& pattern) {
  array<std::uint32_t, device> strips(ctx, pattern.chunks * warp_size);
  std::uint32_t* const strip = strips.data();
  for_each(ctx, strips.size(), [=] __device__(std::int64_t i) { strip[i] = no_entry; });
  for_each(ctx, pattern.places.size(), [=, places = pattern.places.data()] __device__(std::int64_t s) {
    strip[places[s]] = static_cast<std::uint32_t>(s);
  });
  return strips;
}

// --- Sums of strips -------------------------------------------------------

template <class V>
struct strip_sums {
  const run_state* state;
  const std::uint32_t* group_chunks;
  const std::uint32_t* shares;  // a thread block: its first chunk of cells
  const std::uint32_t* quads;   // before each chunk of cells
  const std::uint16_t* cells;
  const std::uint32_t* starts;  // over the warp's width, of chunks of other edges
  const std::uint32_t* others;
  std::int64_t cell_slots;
  std::int64_t used;
  std::uint32_t block;  // vertices of a block
  std::uint32_t groups;
  std::uint32_t cell_chunks;
  std::uint32_t chunks;
  unsigned* tickets;
  const std::uint32_t* strips;  // by chunk and lane
  V* sums;                      // by strip
};

template <class V>
__device__ void store_sum(const strip_sums<V>& a, std::uint32_t strip, V sum) {
  if (strip != no_entry) a.sums[strip] = sum;
}

// Chunks first .. end - 1, whose sources are in `part`, dealt out to warps in turn and back, so that each gets as many
// long ones. All of a chunk's first loads are in flight together.
template <class V>
__device__ void sum_cell_chunks(const strip_sums<V>& a, std::uint32_t first, std::uint32_t end, std::uint32_t warps,
                                const V* part) {
  constexpr int batch = 4;
  const std::uint32_t warp = threadIdx.x / warp_size;
  const std::uint32_t lane = threadIdx.x % warp_size;
  const auto chunk_of = [&](std::uint32_t round) {
    return first + round * warps + ((round & 1U) != 0 ? warps - 1 - warp : warp);
  };
  const auto two = [&](unsigned word) { return part[word & 0xffffU] + part[word >> 16]; };
  std::uint32_t chunk = chunk_of(0);
  std::uint32_t start = chunk < end ? a.quads[chunk] : 0;
  std::uint32_t quads = chunk < end ? a.quads[chunk + 1] - start : 0;
  for (std::uint32_t round = 1; chunk < end; ++round) {
    const std::uint32_t next = chunk_of(round);
    const std::uint32_t strip = a.strips[chunk * warp_size + lane];
    const uint4* pairs = reinterpret_cast<const uint4*>(a.cells + start * quad_slots) + lane;
    const int count = static_cast<int>(quads / 2);
    uint2 rest{};
    if ((quads & 1U) != 0)
      rest = __ldcs(reinterpret_cast<const uint2*>(a.cells + (start + quads - 1) * quad_slots) + lane);
    V sum = 0;
    for (int k = 0; k < count; k += batch) {
      uint4 raw[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        if (k + j < count) raw[j] = __ldcs(pairs + j * warp_size);
      }
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        if (k + j < count) sum += (two(raw[j].x) + two(raw[j].y)) + (two(raw[j].z) + two(raw[j].w));
      }
      pairs += batch * warp_size;
    }
    start = next < end ? a.quads[next] : 0;
    const std::uint32_t next_quads = next < end ? a.quads[next + 1] - start : 0;
    if ((quads & 1U) != 0) sum += two(rest.x) + two(rest.y);
    store_sum(a, strip, sum);
    quads = next_quads;
    chunk = next;
  }
}

// The chunks of other edges, by tickets of some neighbours, which are of a like length: their gathers are in flight
// together. The next ticket is on its way meanwhile. A strip's sum does not depend on who forms it.
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
    const std::uint32_t here = lane <= width ? a.starts[min(first + lane, a.chunks)] : 0;
    std::uint32_t size[width];
    const std::uint32_t* from[width];
    std::uint32_t strip[width];
    std::uint32_t longest = 0;
    V sum[width];
#pragma unroll
    for (int c = 0; c < width; ++c) {
      const std::uint32_t start = __shfl_sync(full_mask, here, c);
      size[c] = __shfl_sync(full_mask, here, c + 1) - start;
      longest = max(longest, size[c]);
      from[c] = a.others + (std::int64_t{start} * warp_size - a.cell_slots) + lane;
      strip[c] = first + c < a.chunks ? a.strips[(first + c) * warp_size + lane] : no_entry;
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
    for (int c = 0; c < width; ++c) store_sum(a, strip[c], sum[c]);
  }
}

extern __shared__ int4 pagerank_bytes[];

// Of the warps that sum cells.
template <int Warps>
__device__ __forceinline__ void cell_barrier() {
  if constexpr (Warps == tuning::threads / warp_size) {
    __syncthreads();
  } else {
    asm volatile("bar.sync 1, %0;" ::"n"(Warps * warp_size) : "memory");
  }
}

// All of them call it, and may read afterwards.
template <int Warps, class V>
__device__ void load_part(const V* shares, std::int64_t size, V* part) {
  constexpr int line = 16 / static_cast<int>(sizeof(V));
  cell_barrier<Warps>();  // the part before is done with
  for (std::int64_t c = std::int64_t{line} * threadIdx.x; c < size; c += line * Warps * warp_size) {
    copy_line_async(part + c, shares + c);
  }
  wait_for_copies();
  cell_barrier<Warps>();
}

template <int Warps, class V>
__device__ void sum_cells(const strip_sums<V>& a, const V* shares, V* part) {
  std::uint32_t first = a.shares[blockIdx.x];
  const std::uint32_t last = a.shares[blockIdx.x + 1];
  if (threadIdx.x == 0) part[a.block] = 0;  // slots without an entry
  for (std::uint32_t group = 0; first < last; ++group) {
    const std::uint32_t end = min(a.group_chunks[group + 1], last);
    if (end <= first) continue;
    const std::int64_t begin = std::int64_t{group} * a.block;
    load_part<Warps>(shares + begin, min(std::int64_t{a.block}, a.used - begin), part);
    sum_cell_chunks<V>(a, first, end, Warps, part);
    first = end;
  }
}

// `Gatherers` warps sum the strips outside of cells from the start, the others after their cells: so the L2 cache and
// shared memory are both busy.
template <int Gatherers, class V>
__global__ void __launch_bounds__(tuning::threads, 1) sum_strips_kernel(strip_sums<V> a, const V* __restrict__ shares) {
  if (a.state->done != 0) return;
  constexpr int warps = tuning::threads / warp_size - Gatherers;
  if (threadIdx.x < warps * warp_size) sum_cells<warps>(a, shares, reinterpret_cast<V*>(pagerank_bytes));
  sum_other_chunks(a, shares);
}

template <class V>
__global__ void __launch_bounds__(block_threads)
    finish_vertices_kernel(step_arguments<V> a, spmv::strip_arguments<V, true> strips, unsigned* tickets,
                           const V* __restrict__ now, V* __restrict__ next) {
  if (a.state->done != 0) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *tickets = 0;  // of the next step
  const step_terms terms = a.state->terms;
  step_outcome mine;
  spmv::add_strips(strips, [&](std::int64_t place, V sum) {
    mine.add(finish_vertex(a, terms, place, __ldg(a.degrees + place), sum, __ldg(now + place), next), a.norm);
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) mine.add(finish_alike(a, terms, now, next), a.norm);
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
        sums_(ctx, pattern_.places.size()),
        part_sums_(ctx, pattern_.part_hubs.size()),
        arrived_(ctx, pattern_.hub_rows),
        tickets_(ctx, 1) {
    const auto width = static_cast<std::uint32_t>(block);
    auto starts = count_quads(ctx, pattern_);
    cells_ = place_cells(ctx, pattern_, starts, places, width);
    quads_ = std::move(starts.quads);
    others_ = place_others(ctx, pattern_, places, no_entry);
    strip_names_ = name_strips(ctx, pattern_);
    pattern_.sources = {};
    pattern_.cell_columns = {};
    pattern_.other_ranks = {};
    pattern_.strip_sizes = {};
    pattern_.places = {};
    thread_blocks_ = std::min<std::int64_t>(ctx.properties().multiprocessors, pattern_.chunks);
    shares_ = share_chunks(ctx, pattern_, thread_blocks_);
    fill_zero(ctx, arrived_.view());
    fill_zero(ctx, tickets_.view());
    strips_ = {.rows = pattern_.rows,
               .row_strips = pattern_.row_strips.data(),
               .places = nullptr,
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
    shared_bytes_ = static_cast<std::size_t>(block) * sizeof(V) + 16;
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(&sum_strips_kernel<tuning::gatherers, V>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes_)));
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
                       .strips = strip_names_.data(),
                       .sums = sums_.data()};
  }

  void step(const step_arguments<V>& a, const V* now, V* next) const override {
    strip_sums<V> sums = sums_arguments_;
    sums.state = a.state;
    sum_strips_kernel<tuning::gatherers, V>
        <<<static_cast<unsigned>(thread_blocks_), tuning::threads, shared_bytes_, ctx_.stream()>>>(sums, now);
    SPARGO_CUDA_TRY(cudaGetLastError());
    spmv::strip_arguments<V, true> strips = strips_;
    strips.rows = a.kept;
    finish_vertices_kernel<V><<<static_cast<unsigned>(strips.blocks()), block_threads, 0, ctx_.stream()>>>(
        a, strips, sums.tickets, now, next);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }
  [[nodiscard]] std::int64_t blocks() const noexcept override { return strips_.blocks(); }
  [[nodiscard]] const std::uint32_t* order() const noexcept override { return order_.data(); }
  [[nodiscard]] std::int64_t with_edges() const noexcept override { return linked_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto bytes = [](const auto&... a) {
      return ((a.size() * static_cast<std::int64_t>(sizeof(*a.data()))) + ...);
    };
    return bytes(order_, quads_, cells_, others_, strip_names_, shares_, sums_, part_sums_, arrived_,
                 pattern_.group_chunks, pattern_.chunk_starts, pattern_.row_strips, pattern_.long_rows,
                 pattern_.hub_parts, pattern_.part_hubs);
  }

 private:
  context<device> ctx_;
  std::int64_t linked_;  // vertices with edges
  array<std::uint32_t, device> order_;
  blocked_pattern pattern_;
  array<std::uint32_t, device> quads_;
  array<std::uint16_t, device> cells_;   // places in their blocks
  array<std::uint32_t, device> others_;  // places
  array<std::uint32_t, device> strip_names_;
  array<std::uint32_t, device> shares_;
  array<V, device> sums_;  // of the step, by strip
  array<V, device> part_sums_;
  array<unsigned, device> arrived_;
  array<unsigned, device> tickets_;
  spmv::strip_arguments<V, true> strips_{};
  strip_sums<V> sums_arguments_{};
  std::int64_t thread_blocks_ = 0;
  std::size_t shared_bytes_ = 0;
};

}  // namespace

template <class V, class I, class O>
step_copy_attempt<V> copy_blocked(const context<device>& ctx, const graph_view<I, O, device>& g, copy_demand demand) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - (std::int64_t{1} << 16);
  const bool by_choice = demand == copy_demand::if_it_pays;
  const std::int64_t n = g.vertices();
  const std::int64_t edges = g.in.nnz();
  if (n > most || edges > most) return {nullptr, "the graph needs more than 32 bits"};
  const std::int64_t bytes =
      std::min(tuning::block_bytes, ctx.properties().shared_memory_per_block - tuning::cache_bytes);
  const std::int64_t block = std::min<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(V)), 0xfff0) / 4 * 4;

  ranked_graph ranked;
  const degree_totals totals = order_vertices(ctx, g, block, ranked.order);
  const auto percent_of = [&](std::int64_t part) { return std::to_string(100 * part / edges) + " percent"; };
  const auto popular = static_cast<std::int64_t>(totals.popular);
  if (by_choice && static_cast<double>(popular) < tuning::least_popular * static_cast<double>(edges)) {
    return {nullptr, percent_of(popular) + " of the edges come from the vertices of most edges"};
  }
  place_edges(ctx, g.in, ranked);
  const spmv::blocked_shape shape{block, tuning::most_blocks, sizeof(V) == 4 ? tuning::narrow_cell : tuning::wide_cell};
  spmv::column_order order;
  order.ranks = std::move(ranked.places);
  order.used = static_cast<std::int64_t>(totals.used);
  order.blocks = std::clamp<std::int64_t>(div_up(static_cast<std::int64_t>(totals.dense), block), 1, shape.most_blocks);
  const auto cut = spmv::cut_rows<std::int64_t>(ctx, std::as_const(ranked.offsets).view(), order, shape);
  if (by_choice && static_cast<double>(cut.gathered) > tuning::most_gathered * static_cast<double>(edges)) {
    return {nullptr, percent_of(cut.gathered) + " of the edges have no others beside them"};
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
