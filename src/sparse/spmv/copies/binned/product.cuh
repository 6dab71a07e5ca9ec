// A binned product: two passes with only coalesced reads and writes.
//
// If the columns of a row are scattered, each entry costs an L2 sector of x: 32 bytes for one value. Instead, the first
// pass processes entries by block of columns, whose part of x fits an SM's shared memory, and writes the product of
// each entry consecutively. The second pass processes bins of adjacent rows whose entries fit shared memory: it copies
// the bin's cells, a short run from every block; then each row gathers its own products from there, in the matrix's
// order, and an epilogue takes its sum. Adjacent bins run concurrently and have adjacent cells, so memory sees long
// runs.
//
// Invariant: a cell starts at a multiple of four entries, in memory and in its bin; padding holds arbitrary products
// that are never read. Cost of a product: per entry its value, two 16-bit numbers, and the product written and read
// once: 12 bytes in fp32 and 20 in fp64, plus the value if there is one, at copy bandwidth. Source: propagation
// blocking (Beamer, Asanovic and Patterson, IPDPS 2017), with the binning moved into the plan.
#pragma once

#include "core/bytes_of.hpp"
#include "core/device/async_copy.cuh"
#include "core/device/bulk_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/device/shared_limit.cuh"
#include "sparse/spmv/copies/binned/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/core/device_features.cuh>

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

struct binned_tuning {
  static constexpr int write_threads = 1024;
  static constexpr int collect_threads = 512;
  static constexpr int collect_blocks = 2;  // per SM
};

// Value policies of the first pass. Each has: is_weighted; batch, 16-byte stores per thread and round; skip(), whether
// the product is not needed.

// All values are 1. x is aligned to 16 bytes and readable to a multiple of them.
struct unit_values {
  const int* done;  // in device memory; not 0: no product is needed

  static constexpr bool is_weighted = false;
  static constexpr int batch = 4;
  [[nodiscard]] __device__ bool skip() const { return *done != 0; }
};

template <class D>
struct entry_values {
  const D* values;  // by position in memory

  static constexpr bool is_weighted = true;
  static constexpr int batch = 2;
  [[nodiscard]] __device__ bool skip() const { return false; }
};

template <class D>
inline constexpr int words = static_cast<int>(16 / sizeof(D));  // values per 16 bytes

template <class D>
struct binned_arguments {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t width;  // columns per block
  int blocks;
  std::int64_t bins;
  int bin_rows;
  int capacity;                       // entries per bin
  const std::uint32_t* block_starts;  // blocks + 1, in groups
  const bin_cell* cells;              // [bin][blocks + 1]
  const std::uint16_t* block_columns;
  const std::uint32_t* units;
  const std::uint16_t* places;
  D* products;                  // by position in memory
  const std::uint32_t* firsts;  // bins + 1: first row
  const write_start* writes;    // by thread block of the first pass, plus the end
};

// --- Passes ---------------------------------------------------------------

extern __shared__ int4 binned_bytes[];

// A thread's entries of 16 bytes of products.
template <class D, class Values>
struct write_step {
  std::uint16_t columns[words<D>];
  D weights[Values::is_weighted ? words<D> : 1];

  __device__ void load(const std::uint16_t* all, const Values& values, std::int64_t unit) {
    using columns_word =
        std::conditional_t<words<D> == 4, uint2, std::conditional_t<words<D> == 2, unsigned, unsigned short>>;
    const columns_word raw = __ldcs(reinterpret_cast<const columns_word*>(all) + unit);
    __builtin_memcpy(columns, &raw, sizeof(columns));
    if constexpr (Values::is_weighted) {
      const uint4 some = __ldcs(reinterpret_cast<const uint4*>(values.values) + unit);
      __builtin_memcpy(weights, &some, sizeof(weights));
    }
  }
  __device__ void store(D* all, std::int64_t unit, const D* part) const {
    D products[words<D>];
#pragma unroll
    for (int j = 0; j < words<D>; ++j) {
      products[j] = part[columns[j]];
      if constexpr (Values::is_weighted) products[j] = weights[j] * products[j];
    }
    uint4 raw;
    __builtin_memcpy(&raw, products, sizeof(raw));
    __stcs(reinterpret_cast<uint4*>(all) + unit, raw);
  }
};

// Multiplies the groups [begin, end) of a block of columns, with all threads of the block.
template <class D, class Values>
__device__ __forceinline__ void write_groups(const binned_arguments<D>& b, const Values& values,
                                             const D* __restrict__ x, std::int64_t block, std::uint32_t begin_group,
                                             std::uint32_t end_group, D* part) {
  constexpr std::int64_t units = bin_group / words<D>;  // per group
  constexpr std::int64_t step = binned_tuning::write_threads;
  constexpr int batch = Values::batch;
  const std::int64_t end = units * end_group;
  std::int64_t at = units * begin_group + threadIdx.x;
  write_step<D, Values> next[batch];
#pragma unroll
  for (int j = 0; j < batch; ++j) {
    if (at + j * step < end) next[j].load(b.block_columns, values, at + j * step);
  }
  const std::int64_t first = block * b.width;
  const std::int64_t size = min(b.width, b.columns - first);
  __syncthreads();  // all threads have finished with the previous block
  if constexpr (Values::is_weighted) {
    for (std::int64_t c = threadIdx.x; c < size; c += step) copy_async(part + c, x + first + c);
  } else {
    for (std::int64_t c = words<D> * static_cast<int>(threadIdx.x); c < size; c += words<D> * step) {
      copy_line_async(part + c, x + first + c);
    }
  }
  wait_for_copies();
  __syncthreads();
  for (; at < end; at += batch * step) {
    write_step<D, Values> now[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      now[j] = next[j];
      const std::int64_t ahead = at + (batch + j) * step;
      if (ahead < end) next[j].load(b.block_columns, values, ahead);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      if (at + j * step < end) now[j].store(b.products, at + j * step, part);
    }
  }
}

// With values each thread block has an equal part of the entries if blocks of columns are uneven. Without, it has whole
// blocks: such a copy is made for even ones only, and parts cost PageRank of a uniform graph 1 percent.
template <class D, class Values>
__global__ void __launch_bounds__(binned_tuning::write_threads, 1)
    write_kernel(binned_arguments<D> b, Values values, const D* __restrict__ x) {
  if (values.skip()) return;
  D* const part = reinterpret_cast<D*>(binned_bytes);
  if constexpr (Values::is_weighted) {
    const write_start start = b.writes[blockIdx.x];
    const std::uint32_t last = b.writes[blockIdx.x + 1].group;
    std::uint32_t group = start.group;
    for (std::int64_t block = start.block; group < last; ++block) {
      const std::uint32_t end = min(b.block_starts[block + 1], last);
      write_groups(b, values, x, block, group, end, part);
      group = end;
    }
  } else {
    for (int block = static_cast<int>(blockIdx.x); block < b.blocks; block += static_cast<int>(gridDim.x)) {
      write_groups(b, values, x, block, b.block_starts[block], b.block_starts[block + 1], part);
    }
  }
}

// Copies the bin's cells to the stage with asynchronous copies.
template <class D>
__device__ void copy_cells(const binned_arguments<D>& b, std::int64_t bin, D* stage) {
  constexpr int warps = binned_tuning::collect_threads / warp_size;
  constexpr std::uint32_t lines = bin_group * sizeof(D) / 16;  // 16-byte lines per bin_group
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
      const D* const from = b.products + std::int64_t{memory} * bin_group;
      D* const to = stage + begin * bin_group;
      for (std::uint32_t k = static_cast<std::uint32_t>(lane); k < size; k += warp_size) {
        copy_line_async(to + k * words<D>, from + k * words<D>);
      }
    }
  }
}

// Sums the products that a row's units name.
template <class D>
__device__ D sum_units(const uint4* units, std::uint32_t begin, std::uint32_t end, const D* stage) {
  const auto two = [&](unsigned word) { return stage[word & 0xffffU] + stage[word >> 16]; };
  D sum{};
  for (std::uint32_t u = begin; u < end; ++u) {
    const uint4 raw = units[u];
    sum += (two(raw.x) + two(raw.y)) + (two(raw.z) + two(raw.w));
  }
  return sum;
}

// Loads the bin's cells and units into shared memory; on Hopper with bulk copies that complete `arrived`.
template <class D>
__device__ void fetch_bin(const binned_arguments<D>& b, std::int64_t bin, std::uint32_t first, std::uint32_t size,
                          D* stage, uint4* units, shared_barrier& arrived) {
  constexpr int threads = binned_tuning::collect_threads;
  const uint4* const from = reinterpret_cast<const uint4*>(b.places) + first;
  if constexpr (has_hopper_blocks) {
    constexpr std::uint32_t bytes = bin_group * sizeof(D);
    const bin_cell* const cells = b.cells + bin * (b.blocks + 1);
    if (threadIdx.x == 0) {
      arrived.expect_tx(cells[b.blocks].stage * bytes + size * 16);
      if (size > 0) bulk_copy(units, from, size * 16, arrived);
    }
    for (int c = static_cast<int>(threadIdx.x); c < b.blocks; c += threads) {
      const bin_cell mine = cells[c];
      const std::uint32_t groups = cells[c + 1].stage - mine.stage;
      if (groups == 0) continue;
      bulk_copy(stage + mine.stage * bin_group, b.products + std::int64_t{mine.memory} * bin_group, groups * bytes,
                arrived);
    }
  } else {
    copy_cells(b, bin, stage);
    for (std::uint32_t u = threadIdx.x; u < size; u += threads) copy_line_async(units + u, from + u);
  }
}

// Thread blocks loop over bins; each thread processes one row at a time. The epilogue has `rule`, and in each thread:
// `start()`, `load(row)`, which gives what it will need of a row, and `finish(row, loaded, sum)`.
template <class D, class Epilogue>
__device__ void collect_bins(const binned_arguments<D>& b, Epilogue& epilogue) {
  __shared__ shared_barrier arrived;
  constexpr int threads = binned_tuning::collect_threads;
  D* const stage = reinterpret_cast<D*>(binned_bytes);
  uint4* const units = reinterpret_cast<uint4*>(stage + b.capacity + words<D>);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    stage[b.capacity] = D{};
    arrived.init(1);
    mbarrier_init_fence();
  }
  __syncthreads();
  epilogue.start();
  unsigned parity = 0;
  for (std::int64_t bin = blockIdx.x; bin < b.bins; bin += gridDim.x) {
    std::int64_t first_row = 0;
    std::int64_t last_row = 0;
    if constexpr (Epilogue::rule == bin_rows_rule::equal) {
      first_row = bin * b.bin_rows;
      last_row = min(first_row + b.bin_rows, b.rows);
    } else {
      first_row = b.firsts[bin];
      last_row = b.firsts[bin + 1];
    }
    const std::uint32_t first = b.units[first_row];
    fetch_bin(b, bin, first, b.units[last_row] - first, stage, units, arrived);
    std::int64_t row = first_row + thread;
    std::uint32_t begin = row < last_row ? b.units[row] - first : 0;
    std::uint32_t end = row < last_row ? b.units[row + 1] - first : 0;
    auto loaded = row < last_row ? epilogue.load(row) : typename Epilogue::loaded{};
    if constexpr (has_hopper_blocks) {
      arrived.wait(parity);
      parity ^= 1U;
    } else {
      wait_for_copies();
      __syncthreads();
    }
    while (row < last_row) {
      epilogue.finish(row, loaded, sum_units(units, begin, end, stage));
      row += threads;
      if (row >= last_row) break;
      begin = b.units[row] - first;
      end = b.units[row + 1] - first;
      loaded = epilogue.load(row);
    }
    fence_for_bulk_copies();
    __syncthreads();  // all threads have finished with the bin
  }
}

inline constexpr int collect_residency = resident_blocks(binned_tuning::collect_blocks, binned_tuning::collect_threads);

// A copy and its launches. Collect: a kernel that calls collect_bins and then, for D and its own arguments.
template <class V, class Values>
class binned_copy {
 public:
  using D = device_value_t<V>;

  template <class... T>
  binned_copy(const context<device>& ctx, binned_pattern from, void (*collect)(T...))
      : ctx_(ctx), pattern_(std::move(from)), products_(ctx, pattern_.block_columns.size()) {
    const bin_shape& s = pattern_.shape;
    write_bytes_ = static_cast<std::size_t>(s.width) * sizeof(D);
    stage_bytes_ = static_cast<std::size_t>(s.stage_bytes());
    allow_shared(write_kernel<D, Values>, write_bytes_);
    allow_shared(collect, stage_bytes_);
    write_blocks_ = pattern_.writes.size() - 1;
    collect_blocks_ = std::min(s.bins, resident_grid(ctx, collect, binned_tuning::collect_threads, stage_bytes_));
  }

  // The first pass.
  void write(const Values& values, const D* x) const {
    launch_kernel(ctx_, {write_blocks_, binned_tuning::write_threads, write_bytes_}, write_kernel<D, Values>,
                  arguments(), values, x);
  }
  // Of the second pass.
  [[nodiscard]] launch_shape collect_shape() const {
    return {collect_blocks_, binned_tuning::collect_threads, stage_bytes_};
  }
  [[nodiscard]] std::int64_t collect_blocks() const noexcept { return collect_blocks_; }
  [[nodiscard]] binned_arguments<D> arguments() const {
    const bin_shape& s = pattern_.shape;
    return {.rows = s.rows,
            .columns = s.columns,
            .width = s.width,
            .blocks = static_cast<int>(s.blocks),
            .bins = s.bins,
            .bin_rows = static_cast<int>(s.bin_rows),
            .capacity = static_cast<int>(s.capacity),
            .block_starts = pattern_.block_starts.data(),
            .cells = pattern_.cells.data(),
            .block_columns = pattern_.block_columns.data(),
            .units = pattern_.units.data(),
            .places = pattern_.places.data(),
            .products = device_cast(products_.data()),
            .firsts = pattern_.firsts.data(),
            .writes = pattern_.writes.data()};
  }
  [[nodiscard]] const array<std::uint32_t, device>& sources() const noexcept { return pattern_.sources; }
  [[nodiscard]] std::int64_t bytes() const {
    return bytes_of(pattern_.firsts, pattern_.cells, pattern_.block_starts, pattern_.writes, pattern_.block_columns,
                    pattern_.units, pattern_.places, pattern_.sources, products_);
  }

 private:
  context<device> ctx_;
  binned_pattern pattern_;
  mutable array<V, device> products_;  // of the current product
  std::int64_t write_blocks_ = 0;
  std::int64_t collect_blocks_ = 0;
  std::size_t write_bytes_ = 0;
  std::size_t stage_bytes_ = 0;
};

}  // namespace spargo::detail::spmv
