// PageRank steps from a copy of the graph, in two passes with only coalesced reads and writes.
//
// If the sources of a vertex's in-edges are scattered over the graph, each edge costs an L2 sector of shares: 32 bytes
// for one value. Instead, the first pass processes edges by block of sources, whose shares fit an SM's shared memory,
// and writes the share of each edge consecutively. The second pass processes bins of adjacent vertices whose edges fit
// shared memory: it copies the bin's cells, a short run from every block; then each vertex gathers its own shares from
// there, in the graph's order. Adjacent bins run concurrently and have adjacent cells, so memory sees long runs.
//
// Invariant: a cell starts at a multiple of four edges, in memory and in its bin; padding holds arbitrary shares that
// are never read. Cost of a step: per edge two 16-bit numbers, and its share written and read once: 12 bytes in fp32,
// 20 in fp64, at copy bandwidth; 3 values and an offset per vertex. Source: propagation blocking (Beamer, Asanovic and
// Patterson, IPDPS 2017), with the binning moved into the plan.
#include "core/bytes_of.hpp"
#include "core/device/async_copy.cuh"
#include "core/device/bulk_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "graph/pagerank/binned_build.cuh"
#include "sparse/spmv/copies/binned/device.cuh"

#include <spargo/core/device_features.cuh>

#include <algorithm>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  static constexpr int write_threads = 1024;
  static constexpr int collect_threads = 512;
  static constexpr int collect_blocks = 2;  // per SM
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  // Shares per bin; 48, 56, 64, 72, 80 KiB: uniform 2^22 of degree 32, fp32 0.545, 0.535, 0.529, 0.531, 0.610 ms.
  static constexpr std::int64_t bin_bytes = std::int64_t{64} * 1024;
  static constexpr std::int64_t spare_bytes = std::int64_t{20} * 1024;
  static constexpr std::int64_t most_blocks = 8192;   // the build counts them in shared memory
  static constexpr int batch = 4;                     // 16-byte stores per thread and round
  static constexpr std::int64_t longest = 512;        // maximum in-degree
  static constexpr std::int64_t least_sectors = 800;  // minimum sectors of shares per 1000 consecutive edges
  static constexpr std::int64_t least_cell =
      27;                                     // minimum edges per cell; fp64 with 27: 1.189 ms, from the graph 1.329
  static constexpr double most_uneven = 1.3;  // maximum ratio of the largest block's edges to the mean
};

template <class V>
inline constexpr int words = static_cast<int>(16 / sizeof(V));  // values per 16 bytes

template <class V>
struct binned_arguments {
  std::int64_t n;
  std::int64_t sources;  // n, or more for a distributed part with ghosts
  std::int64_t width;    // sources per block
  int blocks;
  std::int64_t bins;
  int rows;                           // vertices per bin
  int capacity;                       // edges per bin
  const std::uint32_t* block_starts;  // blocks + 1, in groups
  const bin_cell* cells;              // [bin][blocks + 1]
  const std::uint16_t* columns;       // by position in memory: the source within its block
  const std::uint32_t* units;         // n + 1: units before each vertex
  const std::uint16_t* places;        // by unit: positions of the vertex's shares in the bin
  V* values;                          // by position in memory
};

// --- Passes ---------------------------------------------------------------

extern __shared__ int4 binned_bytes[];

// A thread's four or two sources, and their shares.
template <class V>
struct write_step {
  std::uint16_t columns[words<V>];

  __device__ void load(const std::uint16_t* all, std::int64_t unit) {
    if constexpr (words<V> == 4) {
      const uint2 raw = __ldcs(reinterpret_cast<const uint2*>(all) + unit);
      __builtin_memcpy(columns, &raw, sizeof(columns));
    } else {
      const unsigned raw = __ldcs(reinterpret_cast<const unsigned*>(all) + unit);
      __builtin_memcpy(columns, &raw, sizeof(columns));
    }
  }
  __device__ void store(V* all, std::int64_t unit, const V* part) const {
    V values[words<V>];
#pragma unroll
    for (int j = 0; j < words<V>; ++j) values[j] = part[columns[j]];
    uint4 raw;
    __builtin_memcpy(&raw, values, sizeof(raw));
    __stcs(reinterpret_cast<uint4*>(all) + unit, raw);
  }
};

// One thread block per block of sources.
template <class V>
__global__ void __launch_bounds__(tuning::write_threads, 1)
    write_kernel(binned_arguments<V> b, const run_state* state, const V* __restrict__ shares) {
  if (state->done != 0) return;
  V* const part = reinterpret_cast<V*>(binned_bytes);
  constexpr std::int64_t units = group / words<V>;  // per group
  constexpr std::int64_t step = tuning::write_threads;
  for (int block = static_cast<int>(blockIdx.x); block < b.blocks; block += static_cast<int>(gridDim.x)) {
    const std::int64_t end = units * b.block_starts[block + 1];
    std::int64_t at = units * b.block_starts[block] + threadIdx.x;
    write_step<V> next[tuning::batch];
#pragma unroll
    for (int j = 0; j < tuning::batch; ++j) {
      if (at + j * step < end) next[j].load(b.columns, at + j * step);
    }
    const std::int64_t first = block * b.width;
    const std::int64_t size = min(b.width, b.sources - first);
    __syncthreads();  // all threads have finished with the previous block
    for (std::int64_t c = words<V> * static_cast<int>(threadIdx.x); c < size; c += words<V> * step) {
      copy_line_async(part + c, shares + first + c);
    }
    wait_for_copies();
    __syncthreads();
    for (; at < end; at += tuning::batch * step) {
      write_step<V> now[tuning::batch];
#pragma unroll
      for (int j = 0; j < tuning::batch; ++j) {
        now[j] = next[j];
        const std::int64_t there = at + (tuning::batch + j) * step;
        if (there < end) next[j].load(b.columns, there);
      }
#pragma unroll
      for (int j = 0; j < tuning::batch; ++j) {
        if (at + j * step < end) now[j].store(b.values, at + j * step, part);
      }
    }
  }
}

// Copies the bin's cells to the stage with asynchronous copies.
template <class V>
__device__ void copy_cells(const binned_arguments<V>& b, std::int64_t bin, V* stage) {
  constexpr int warps = tuning::collect_threads / warp_size;
  constexpr std::uint32_t lines = group * sizeof(V) / 16;  // 16-byte lines per group
  const bin_cell* const cells = b.cells + bin * (b.blocks + 1);
  const int lane = lane_id();
  const int each = div_up(b.blocks, warps);
  const int last = min((static_cast<int>(threadIdx.x) / warp_size + 1) * each, b.blocks);
  for (int first = static_cast<int>(threadIdx.x) / warp_size * each; first < last; first += warp_size - 1) {
    const bin_cell mine = cells[min(first + lane, b.blocks)];
    const int count = min(last - first, warp_size - 1);
    for (int j = 0; j < count; ++j) {
      const std::uint32_t memory = __shfl_sync(full_mask, mine.memory, j);
      const std::uint32_t begin = __shfl_sync(full_mask, mine.stage, j);
      const std::uint32_t size = (__shfl_sync(full_mask, mine.stage, j + 1) - begin) * lines;
      const V* const from = b.values + std::int64_t{memory} * group;
      V* const to = stage + begin * group;
      for (std::uint32_t k = static_cast<std::uint32_t>(lane); k < size; k += warp_size) {
        copy_line_async(to + k * words<V>, from + k * words<V>);
      }
    }
  }
}

// Sums the shares that a vertex's units name.
template <class V>
__device__ V sum_units(const uint4* units, std::uint32_t begin, std::uint32_t end, const V* stage) {
  const auto two = [&](unsigned word) { return stage[word & 0xffffU] + stage[word >> 16]; };
  V sum = 0;
  for (std::uint32_t u = begin; u < end; ++u) {
    const uint4 raw = units[u];
    sum += (two(raw.x) + two(raw.y)) + (two(raw.z) + two(raw.w));
  }
  return sum;
}

// Loads the bin's cells and units into shared memory; on Hopper with bulk copies that complete `arrived`.
template <class V>
__device__ void fetch_bin(const binned_arguments<V>& b, std::int64_t bin, std::uint32_t first, std::uint32_t size,
                          V* stage, uint4* units, shared_barrier& arrived) {
  constexpr int threads = tuning::collect_threads;
  const uint4* const from = reinterpret_cast<const uint4*>(b.places) + first;
  if constexpr (has_hopper_blocks) {
    constexpr std::uint32_t bytes = group * sizeof(V);
    const bin_cell* const cells = b.cells + bin * (b.blocks + 1);
    if (threadIdx.x == 0) {
      arrived.expect_tx(cells[b.blocks].stage * bytes + size * 16);
      if (size > 0) bulk_copy(units, from, size * 16, arrived);
    }
    for (int c = static_cast<int>(threadIdx.x); c < b.blocks; c += threads) {
      const bin_cell mine = cells[c];
      const std::uint32_t groups = cells[c + 1].stage - mine.stage;
      if (groups == 0) continue;
      bulk_copy(stage + mine.stage * group, b.values + std::int64_t{mine.memory} * group, groups * bytes, arrived);
    }
  } else {
    copy_cells(b, bin, stage);
    for (std::uint32_t u = threadIdx.x; u < size; u += threads) copy_line_async(units + u, from + u);
  }
}

// Thread blocks loop over bins; each thread processes one vertex at a time.
template <class V>
__global__ void __launch_bounds__(tuning::collect_threads,
                                  resident_blocks(tuning::collect_blocks, tuning::collect_threads))
    collect_kernel(step_arguments<V> a, binned_arguments<V> b, const V* __restrict__ now, V* __restrict__ next) {
  if (a.state->done != 0) return;
  __shared__ shared_barrier arrived;
  constexpr int threads = tuning::collect_threads;
  V* const stage = reinterpret_cast<V*>(binned_bytes);
  uint4* const units = reinterpret_cast<uint4*>(stage + b.capacity + words<V>);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    stage[b.capacity] = 0;
    arrived.init(1);
    mbarrier_init_fence();
  }
  __syncthreads();
  const step_terms terms = a.state->terms;
  step_outcome mine;
  unsigned parity = 0;
  for (std::int64_t bin = blockIdx.x; bin < b.bins; bin += gridDim.x) {
    const std::int64_t first_row = bin * b.rows;
    const std::int64_t last_row = min(first_row + b.rows, b.n);
    const std::uint32_t first = b.units[first_row];
    fetch_bin(b, bin, first, b.units[last_row] - first, stage, units, arrived);
    std::int64_t v = first_row + thread;
    std::uint32_t begin = v < last_row ? b.units[v] - first : 0;
    std::uint32_t end = v < last_row ? b.units[v + 1] - first : 0;
    V degree = v < last_row ? __ldg(a.degrees + v) : V{0};
    V before = v < last_row ? __ldg(now + v) : V{0};
    if constexpr (has_hopper_blocks) {
      arrived.wait(parity);
      parity ^= 1U;
    } else {
      wait_for_copies();
      __syncthreads();
    }
    while (v < last_row) {
      mine.add(finish_vertex(a, terms, v, degree, sum_units(units, begin, end, stage), before, next), a.norm);
      v += threads;
      if (v >= last_row) break;
      begin = b.units[v] - first;
      end = b.units[v + 1] - first;
      degree = __ldg(a.degrees + v);
      before = __ldg(now + v);
    }
    fence_for_bulk_copies();
    __syncthreads();  // all threads have finished with the bin
  }
  close_step(mine, a.outcomes, a.rule, a.end, a.norm, true, a.state);
}

template <class V>
class binned_copy final : public step_copy<V> {
 public:
  // `starts`: of the cells, by block, then by bin, plus the end; in groups.
  template <class I, class O>
  binned_copy(const context<device>& ctx, const csr_pattern_view<I, O, device>& in, std::int64_t sources,
              const binned_shape& shape, const array<std::int64_t, device>& starts, std::int64_t groups,
              array<std::uint32_t, device> units)
      : ctx_(ctx),
        bins_(shape.bins),
        cells_(ctx, shape.bins * (shape.blocks + 1)),
        block_starts_(ctx, shape.blocks + 1),
        columns_(ctx, groups * group),
        units_(std::move(units)),
        places_(ctx, shape.units * unit),
        values_(ctx, groups * group) {
    fill_zero(ctx, columns_.view());
    const auto blocks = static_cast<int>(shape.blocks);
    launch_kernel(ctx, {bins_, block_threads, shape.blocks * sizeof(unsigned)}, place_cells_kernel<I, O>,
                  in.offsets.data(), in.indices.data(), in.rows, shape.rows, shape.width, blocks,
                  static_cast<int>(shape.capacity), starts.data(), units_.data(), cells_.data(), columns_.data(),
                  places_.data());
    take_block_starts(ctx, starts.data(), bins_, block_starts_);
    arguments_ = {.n = in.rows,
                  .sources = sources,
                  .width = shape.width,
                  .blocks = blocks,
                  .bins = bins_,
                  .rows = static_cast<int>(shape.rows),
                  .capacity = static_cast<int>(shape.capacity),
                  .block_starts = block_starts_.data(),
                  .cells = cells_.data(),
                  .columns = columns_.data(),
                  .units = units_.data(),
                  .places = places_.data(),
                  .values = values_.data()};
    grid_ = std::min<std::int64_t>(ctx.properties().multiprocessors, shape.blocks);
    write_bytes_ = static_cast<std::size_t>(shape.width) * sizeof(V);
    collect_bytes_ = static_cast<std::size_t>(shape.collect_bytes(sizeof(V)));
    allow_shared(write_kernel<V>, write_bytes_);
    allow_shared(collect_kernel<V>, collect_bytes_);
    collect_grid_ = std::min(bins_, resident_grid(ctx, collect_kernel<V>, tuning::collect_threads, collect_bytes_));
  }

  void step(const step_arguments<V>& a, const V* now, V* next) const override {
    launch_kernel(ctx_, {grid_, tuning::write_threads, write_bytes_}, write_kernel<V>, arguments_, a.state, now);
    launch_kernel(ctx_, {collect_grid_, tuning::collect_threads, collect_bytes_}, collect_kernel<V>, a, arguments_, now,
                  next);
  }
  [[nodiscard]] std::int64_t blocks() const noexcept override { return collect_grid_; }
  [[nodiscard]] const std::uint32_t* order() const noexcept override { return nullptr; }
  [[nodiscard]] std::int64_t with_edges() const noexcept override { return arguments_.sources; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(cells_, block_starts_, columns_, units_, places_, values_);
  }

 private:
  context<device> ctx_;
  std::int64_t bins_;
  array<bin_cell, device> cells_;
  array<std::uint32_t, device> block_starts_;
  array<std::uint16_t, device> columns_;
  array<std::uint32_t, device> units_;
  array<std::uint16_t, device> places_;
  array<V, device> values_;  // of the current step
  binned_arguments<V> arguments_{};
  std::int64_t grid_ = 0;
  std::int64_t collect_grid_ = 0;
  std::size_t write_bytes_ = 0;
  std::size_t collect_bytes_ = 0;
};

}  // namespace

template <class V, class I, class O>
step_copy_attempt<V> copy_binned(const context<device>& ctx, const graph_view<I, O, device>& g, copy_demand demand) {
  const bool by_choice = demand == copy_demand::if_it_pays;
  const std::int64_t n = g.vertices();
  const std::int64_t edges = g.in.nnz();
  constexpr std::int64_t most = std::int64_t{1} << 32;
  if (n >= most || edges >= most) return {nullptr, "the graph exceeds 32-bit indices"};
  const std::int64_t room = ctx.properties().shared_memory_per_block - tuning::spare_bytes;
  constexpr std::int64_t bytes = sizeof(V);
  const std::int64_t widest = std::min(std::min(tuning::block_bytes, room) / bytes, std::int64_t{0xfff0}) / 4 * 4;
  if (by_choice) {
    const std::int64_t sectors = spmv::sectors_per_1000(ctx, g.in.indices.data(), edges, bytes);
    if (sectors < tuning::least_sectors) {
      return {nullptr, "1000 consecutive edges read only " + std::to_string(sectors) + " sectors of shares"};
    }
  }
  // A multiple of the number of SMs.
  const std::int64_t processors = ctx.properties().multiprocessors;
  binned_shape shape;
  shape.width = div_up(div_up(n, processors * div_up(n, processors * widest)), std::int64_t{4}) * 4;
  shape.blocks = div_up(n, shape.width);
  if (shape.blocks > tuning::most_blocks) return {nullptr, "the graph has too many vertices"};
  shape.capacity = std::min(tuning::bin_bytes / bytes, room / (bytes + 4)) / unit * unit;
  if (shape.capacity < warp_size) return {nullptr, "the device has too little shared memory"};
  auto units = count_units(ctx, g.in.offsets.data(), g.in.rows);
  shape.units = element<std::uint32_t>(ctx, std::as_const(units).view(), g.in.rows);
  const auto starts = count_cells(ctx, g.in, units, bytes, room, shape);
  if (shape.bins == 0) return {nullptr, "some vertices have too many in-edges for a bin"};
  if (by_choice && shape.longest > tuning::longest) {
    return {nullptr, "a vertex has " + std::to_string(shape.longest) + " in-edges, too many for a thread"};
  }
  const std::int64_t cells = shape.blocks * shape.bins;
  if (by_choice && edges / cells < tuning::least_cell) {
    return {nullptr, std::to_string(shape.blocks) + " blocks of sources and " + std::to_string(shape.bins) +
                         " bins leave cells of " + std::to_string(edges / cells) + " edges"};
  }
  array<std::uint32_t, device> there(ctx, shape.blocks + 1);
  take_block_starts(ctx, starts.data(), shape.bins, there);
  const auto block_starts = to_host(ctx, std::as_const(there).view());
  const std::int64_t groups = block_starts[shape.blocks];
  std::int64_t largest = 0;
  for (std::int64_t b = 0; b < shape.blocks; ++b) {
    largest = std::max<std::int64_t>(largest, block_starts[b + 1] - block_starts[b]);
  }
  if (by_choice && static_cast<double>(largest * shape.blocks) > tuning::most_uneven * static_cast<double>(groups)) {
    return {nullptr, "some blocks of sources have many more edges than others"};
  }
  auto reason =
      "shares by " + std::to_string(shape.blocks) + " blocks of sources and " + std::to_string(shape.bins) + " bins";
  return {std::make_unique<binned_copy<V>>(ctx, g.in, n, shape, starts, groups, std::move(units)), std::move(reason)};
}

#define INSTANTIATE_V(V, I, O)                                                                                \
  template step_copy_attempt<V> copy_binned<V, I, O>(const context<device>&, const graph_view<I, O, device>&, \
                                                     copy_demand);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank
