// Builds the copy of binned_cuda.cu: chooses the bin size, then places the cells and their contents.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/pagerank/device.cuh"
#include "primitives/element.hpp"
#include "sparse/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::pagerank {

inline constexpr std::int64_t most_bin_rows = 2048;  // vertices per bin
inline constexpr std::int64_t group = 4;             // cells are padded to a multiple of this many edges
inline constexpr std::int64_t unit = 8;  // a vertex's positions are padded to a multiple of this many edges: 16 bytes

// Cell (block, bin): its start in memory and in the bin's stage, in groups.
struct bin_cell {
  std::uint32_t memory;
  std::uint32_t stage;
};

// Maxima over all bins and vertices.
struct bin_needs {
  unsigned groups;
  unsigned units;
  unsigned edges;  // of one vertex
};

// counts[block * bins + bin] = groups of the cell. One thread block per bin.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_cells_kernel(const O* offsets, const I* indices, std::int64_t n, std::int64_t rows, std::int64_t width,
                       int blocks, const std::uint32_t* units, std::int64_t* counts, bin_needs* most) {
  extern __shared__ unsigned block_counts[];
  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += block_threads) block_counts[b] = 0;
  __syncthreads();
  const std::int64_t bin = blockIdx.x;
  const std::int64_t end = offsets[min((bin + 1) * rows, n)];
  for (std::int64_t e = offsets[bin * rows] + threadIdx.x; e < end; e += block_threads) {
    atomicAdd(block_counts + indices[e] / width, 1U);
  }
  __syncthreads();
  unsigned mine = 0;
  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += block_threads) {
    const unsigned groups = div_up(block_counts[b], static_cast<unsigned>(group));
    counts[static_cast<std::int64_t>(b) * gridDim.x + bin] = groups;
    mine += groups;
  }
  mine = warp_sum(mine);
  unsigned longest = 0;
  const std::int64_t last_row = min((bin + 1) * rows, n);
  for (std::int64_t v = bin * rows + threadIdx.x; v < last_row; v += block_threads) {
    longest = max(longest, static_cast<unsigned>(offsets[v + 1] - offsets[v]));
  }
  longest = warp_max(longest);
  __shared__ unsigned all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  if (lane_id() == 0) atomicAdd(&all, mine);
  if (lane_id() == 0) atomicMax(&most->edges, longest);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(&most->groups, all);
  atomicMax(&most->units, units[last_row] - units[bin * rows]);
}

// One thread block per bin. The order within a cell is nondeterministic; `places` undoes it.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    place_cells_kernel(const O* offsets, const I* indices, std::int64_t n, std::int64_t rows, std::int64_t width,
                       int blocks, int capacity, const std::int64_t* starts, const std::uint32_t* units,
                       bin_cell* cells, std::uint16_t* columns, std::uint16_t* places) {
  extern __shared__ unsigned cursors[];
  const std::int64_t bin = blockIdx.x;
  bin_cell* const mine = cells + bin * (blocks + 1);
  if (threadIdx.x == 0) {
    std::uint32_t stage = 0;
    for (int b = 0; b <= blocks; ++b) {
      const std::int64_t cell = static_cast<std::int64_t>(b) * gridDim.x + bin;
      mine[b] = {b < blocks ? static_cast<std::uint32_t>(starts[cell]) : 0, stage};
      if (b == blocks) break;
      cursors[b] = stage * group;
      stage += static_cast<std::uint32_t>(starts[cell + 1] - starts[cell]);
    }
  }
  __syncthreads();
  constexpr int lanes = static_cast<int>(unit);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t last_row = min((bin + 1) * rows, n);
  for (std::int64_t v = bin * rows + threadIdx.x / lanes; v < last_row; v += block_threads / lanes) {
    std::uint16_t* const to = places + std::int64_t{units[v]} * unit;
    const std::int64_t size = static_cast<std::int64_t>(units[v + 1] - units[v]) * unit;
    for (std::int64_t k = lane; k < size; k += lanes) {
      const std::int64_t e = static_cast<std::int64_t>(offsets[v]) + k;
      if (e >= static_cast<std::int64_t>(offsets[v + 1])) {
        to[k] = static_cast<std::uint16_t>(capacity);  // a share of 0
        continue;
      }
      const std::int64_t source = indices[e];
      const auto b = static_cast<int>(source / width);
      const unsigned place = atomicAdd(cursors + b, 1U);
      to[k] = static_cast<std::uint16_t>(place);
      columns[std::int64_t{mine[b].memory} * group + (place - std::int64_t{mine[b].stage} * group)] =
          static_cast<std::uint16_t>(source - b * width);
    }
  }
}

// units[v] = units before vertex v. Synchronizes.
template <class O>
array<std::uint32_t, device> count_units(const context<device>& ctx, const O* offsets, std::int64_t n) {
  array<std::int64_t, device> before(ctx, n + 1);
  array<std::uint32_t, device> units(ctx, n + 1);
  std::int64_t* const count = before.data();
  for_each(ctx, n + 1, [=] __device__(std::int64_t v) {
    count[v] = v < n ? div_up(static_cast<std::int64_t>(offsets[v + 1] - offsets[v]), unit) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(before).view(), before.view());
  for_each(ctx, n + 1,
           [=, to = units.data()] __device__(std::int64_t v) { to[v] = static_cast<std::uint32_t>(count[v]); });
  return units;
}

// Extracts each block's first cell start, and the end.
inline void take_block_starts(const context<device>& ctx, const std::int64_t* starts, std::int64_t bins,
                              array<std::uint32_t, device>& to) {
  for_each(ctx, to.size(), [=, start = to.data()] __device__(std::int64_t b) {
    start[b] = static_cast<std::uint32_t>(starts[b * bins]);
  });
}

struct binned_shape {
  std::int64_t width = 0;
  std::int64_t blocks = 0;
  std::int64_t rows = 0;
  std::int64_t bins = 0;
  std::int64_t capacity = 0;   // edges per bin
  std::int64_t bin_units = 0;  // maximum over bins
  std::int64_t units = 0;      // total
  std::int64_t longest = 0;    // maximum in-degree

  [[nodiscard]] std::int64_t collect_bytes(std::int64_t value) const {
    return capacity * value + 16 + bin_units * unit * 2;
  }
};

// Chooses the number of vertices per bin so that no bin has more than `capacity` edges; returns the starts of the
// cells, in groups. No bins if some vertices have too many edges. Synchronizes.
template <class I, class O>
array<std::int64_t, device> count_cells(const context<device>& ctx, const csr_pattern_view<I, O, device>& in,
                                        const array<std::uint32_t, device>& units, std::int64_t value,
                                        std::int64_t room, binned_shape& shape) {
  const std::int64_t n = in.rows;
  const std::int64_t gaps = 2 * shape.blocks;  // padding per bin: less than two edges per cell on average
  const auto wanted = static_cast<double>(std::max<std::int64_t>(shape.capacity - gaps, 1));
  const double degree = static_cast<double>(in.nnz()) / static_cast<double>(n);
  auto rows = static_cast<std::int64_t>(0.97 * std::min(wanted / degree, static_cast<double>(most_bin_rows)));
  array<bin_needs, device> most(ctx, 1);
  for (int attempt = 0; attempt < 4; ++attempt) {
    shape.rows = std::max<std::int64_t>(rows / warp_size * warp_size, warp_size);
    shape.bins = div_up(n, shape.rows);
    array<std::int64_t, device> starts(ctx, shape.blocks * shape.bins + 1);
    fill_zero(ctx, starts.view().subspan(starts.size() - 1, 1));
    fill_zero(ctx, most.view());
    launch_kernel(ctx, {shape.bins, block_threads, static_cast<std::size_t>(shape.blocks) * sizeof(unsigned)},
                  count_cells_kernel<I, O>, in.offsets.data(), in.indices.data(), n, shape.rows, shape.width,
                  static_cast<int>(shape.blocks), units.data(), starts.data(), most.data());
    const auto needs = element<bin_needs>(ctx, std::as_const(most).view(), 0);
    const std::int64_t edges = group * std::int64_t{needs.groups};
    shape.bin_units = needs.units;
    shape.longest = needs.edges;
    if (edges <= shape.capacity && shape.collect_bytes(value) <= room) {
      exclusive_scan<std::int64_t, device>(ctx, std::as_const(starts).view(), starts.view());
      return starts;
    }
    if (shape.rows == warp_size) break;
    rows = std::min(rows * std::min(shape.capacity, edges) / edges * 31 / 32, shape.rows - warp_size);
  }
  shape.bins = 0;
  return {};
}

}  // namespace spargo::detail::pagerank
