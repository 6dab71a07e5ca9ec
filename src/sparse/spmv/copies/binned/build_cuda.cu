// Builds the copy of a binned product: chooses the bins, then places the cells and their contents.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "primitives/element.hpp"
#include "sparse/spmv/copies/binned/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  static constexpr std::int64_t most_bin_rows = 2048;
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  // Values per bin; 48, 56, 64, 72, 80 KiB: PageRank of uniform 2^22 of degree 32, fp32 0.545, 0.535, 0.529, 0.531,
  // 0.610 ms.
  static constexpr std::int64_t bin_bytes = std::int64_t{64} * 1024;
  static constexpr std::int64_t spare_bytes = std::int64_t{20} * 1024;
  static constexpr std::int64_t most_blocks = 8192;  // the build counts them in shared memory
  // Nearly empty cells would take more memory than the entries.
  static constexpr std::int64_t cells_per_entry = 4;
  static constexpr std::int64_t few_cells = std::int64_t{1} << 20;
  static constexpr int attempts = 12;  // to find the bins
};

// The sample: windows as long as what a block of other products gathers at a time.
constexpr int window_entries = 1024;
constexpr std::int64_t windows = 512;
constexpr int table_slots = 4 * window_entries;
constexpr std::int64_t sector_bytes = 32;

// Maxima over all bins and rows.
struct bin_needs {
  unsigned groups;
  unsigned units;
  unsigned entries;  // of one row
};

// counts[block * bins + bin] = groups of the cell. One thread block per bin.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_cells_kernel(const O* offsets, const I* indices, const std::uint32_t* firsts, std::int64_t width, int blocks,
                       const std::uint32_t* units, std::int64_t* counts, bin_needs* most) {
  extern __shared__ unsigned block_counts[];
  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += block_threads) block_counts[b] = 0;
  __syncthreads();
  const std::int64_t bin = blockIdx.x;
  const std::int64_t first_row = firsts[bin];
  const std::int64_t last_row = firsts[bin + 1];
  const std::int64_t end = offsets[last_row];
  for (std::int64_t e = offsets[first_row] + threadIdx.x; e < end; e += block_threads) {
    atomicAdd(block_counts + indices[e] / width, 1U);
  }
  __syncthreads();
  unsigned mine = 0;
  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += block_threads) {
    const unsigned groups = div_up(block_counts[b], static_cast<unsigned>(bin_group));
    counts[static_cast<std::int64_t>(b) * gridDim.x + bin] = groups;
    mine += groups;
  }
  mine = warp_sum(mine);
  unsigned longest = 0;
  for (std::int64_t v = first_row + threadIdx.x; v < last_row; v += block_threads) {
    longest = max(longest, static_cast<unsigned>(offsets[v + 1] - offsets[v]));
  }
  longest = warp_max(longest);
  __shared__ unsigned all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  if (lane_id() == 0) atomicAdd(&all, mine);
  if (lane_id() == 0) atomicMax(&most->entries, longest);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(&most->groups, all);
  atomicMax(&most->units, units[last_row] - units[first_row]);
}

// One thread block per bin. The order within a cell is nondeterministic; `places` undoes it.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    place_cells_kernel(const O* offsets, const I* indices, const std::uint32_t* firsts, std::int64_t width, int blocks,
                       int capacity, const std::int64_t* starts, const std::uint32_t* units, bin_cell* cells,
                       std::uint16_t* columns, std::uint16_t* places, std::uint32_t* sources) {
  extern __shared__ unsigned cursors[];
  const std::int64_t bin = blockIdx.x;
  bin_cell* const mine = cells + bin * (blocks + 1);
  if (threadIdx.x == 0) {
    std::uint32_t stage = 0;
    for (int b = 0; b <= blocks; ++b) {
      const std::int64_t cell = static_cast<std::int64_t>(b) * gridDim.x + bin;
      mine[b] = {b < blocks ? static_cast<std::uint32_t>(starts[cell]) : 0, stage};
      if (b == blocks) break;
      cursors[b] = stage * bin_group;
      stage += static_cast<std::uint32_t>(starts[cell + 1] - starts[cell]);
    }
  }
  __syncthreads();
  constexpr int lanes = static_cast<int>(bin_unit);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t last_row = firsts[bin + 1];
  for (std::int64_t v = firsts[bin] + threadIdx.x / lanes; v < last_row; v += block_threads / lanes) {
    std::uint16_t* const to = places + std::int64_t{units[v]} * bin_unit;
    const std::int64_t size = static_cast<std::int64_t>(units[v + 1] - units[v]) * bin_unit;
    for (std::int64_t k = lane; k < size; k += lanes) {
      const std::int64_t e = static_cast<std::int64_t>(offsets[v]) + k;
      if (e >= static_cast<std::int64_t>(offsets[v + 1])) {
        to[k] = static_cast<std::uint16_t>(capacity);  // a product of 0
        continue;
      }
      const std::int64_t column = indices[e];
      const auto b = static_cast<int>(column / width);
      const unsigned place = atomicAdd(cursors + b, 1U);
      to[k] = static_cast<std::uint16_t>(place);
      const std::int64_t at =
          std::int64_t{mine[b].memory} * bin_group + (place - std::int64_t{mine[b].stage} * bin_group);
      columns[at] = static_cast<std::uint16_t>(column - b * width);
      if (sources != nullptr) sources[at] = static_cast<std::uint32_t>(e);
    }
  }
}

// units[v] = units before row v. Synchronizes.
template <class O>
array<std::uint32_t, device> count_units(const context<device>& ctx, const O* offsets, std::int64_t n) {
  array<std::int64_t, device> before(ctx, n + 1);
  array<std::uint32_t, device> units(ctx, n + 1);
  std::int64_t* const count = before.data();
  for_each(ctx, n + 1, [=] __device__(std::int64_t v) {
    count[v] = v < n ? div_up(static_cast<std::int64_t>(offsets[v + 1] - offsets[v]), bin_unit) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(before).view(), before.view());
  for_each(ctx, n + 1,
           [=, to = units.data()] __device__(std::int64_t v) { to[v] = static_cast<std::uint32_t>(count[v]); });
  return units;
}

// Extracts each block's first cell start, and the end.
void take_block_starts(const context<device>& ctx, const std::int64_t* starts, std::int64_t bins,
                       array<std::uint32_t, device>& to) {
  for_each(ctx, to.size(), [=, start = to.data()] __device__(std::int64_t b) {
    start[b] = static_cast<std::uint32_t>(starts[b * bins]);
  });
}

// Counts the sectors that a window reads, in a hash table.
template <class I>
__global__ void __launch_bounds__(threads_per_block)
    sectors_kernel(const I* indices, std::int64_t stride, int size, std::int64_t value_bytes,
                   unsigned long long* total) {
  __shared__ std::uint32_t table[table_slots];
  for (int s = static_cast<int>(threadIdx.x); s < table_slots; s += threads_per_block) table[s] = 0;
  __syncthreads();
  const I* const window = indices + static_cast<std::int64_t>(blockIdx.x) * stride;
  unsigned mine = 0;
  for (int k = static_cast<int>(threadIdx.x); k < size; k += threads_per_block) {
    const auto sector =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(window[k]) * value_bytes / sector_bytes) + 1;
    std::uint32_t slot = sector * 2654435761U >> 20;
    static_assert(table_slots == 1 << 12);
    while (true) {
      const std::uint32_t found = atomicCAS(table + slot, 0U, sector);
      if (found == 0) ++mine;
      if (found == 0 || found == sector) break;
      slot = (slot + 1) % table_slots;
    }
  }
  atomicAdd(total, static_cast<unsigned long long>(mine));
}

[[nodiscard]] std::int64_t room_of(const device_properties& device) {
  return device.shared_memory_per_block - tuning::spare_bytes;
}

// Calls each(first row) for the bins that rows first .. last - 1 are cut into: as many rows as have `most` entries.
template <class O, class Each>
__device__ void for_bins(const O* offsets, std::int64_t first, std::int64_t last, std::int64_t most, Each each) {
  each(first);
  std::int64_t begin = offsets[first];
  for (std::int64_t row = first; row < last; ++row) {
    if (row == first || static_cast<std::int64_t>(offsets[row + 1]) - begin <= most) continue;
    each(row);
    first = row;
    begin = offsets[row];
  }
}

// Cuts every `rows` rows into bins of at most `most` entries or one row. Synchronizes.
template <class O>
array<std::uint32_t, device> cut_rows_into_bins(const context<device>& ctx, span<const O, device> offsets,
                                                std::int64_t rows, std::int64_t most) {
  const std::int64_t n = offsets.size() - 1;
  const std::int64_t parts = div_up(n, rows);
  array<std::int64_t, device> before(ctx, parts + 1);
  for_each(ctx, parts + 1, [=, offset = offsets.data(), count = before.data()] __device__(std::int64_t p) {
    std::int64_t bins = 0;
    if (p < parts) for_bins(offset, p * rows, min((p + 1) * rows, n), most, [&](std::int64_t) { ++bins; });
    count[p] = bins;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(before).view(), before.view());
  array<std::uint32_t, device> firsts(ctx, element<std::int64_t>(ctx, std::as_const(before).view(), parts) + 1);
  for_each(ctx, parts + 1,
           [=, offset = offsets.data(), place = std::as_const(before).data(),
            to = firsts.data()] __device__(std::int64_t p) {
             std::int64_t at = place[p];
             if (p == parts) to[at] = static_cast<std::uint32_t>(n);
             if (p == parts) return;
             for_bins(offset, p * rows, min((p + 1) * rows, n), most,
                      [&](std::int64_t row) { to[at++] = static_cast<std::uint32_t>(row); });
           });
  return firsts;
}

// Chooses the bins so that none has more than `capacity` entries with padding. No bins if there is no way.
template <class I, class O>
void count_cells(const context<device>& ctx, span<const O, device> offsets, span<const I, device> indices,
                 bin_rows_rule rule, bin_cut& cut) {
  bin_shape& shape = cut.shape;
  const std::int64_t gaps = 2 * shape.blocks;  // padding per bin: less than two entries per cell on average
  auto wanted = std::max<std::int64_t>(shape.capacity - gaps, 1);
  const double degree = static_cast<double>(indices.size()) / static_cast<double>(shape.rows);
  auto rows = static_cast<std::int64_t>(
      0.97 * std::min(static_cast<double>(wanted) / degree, static_cast<double>(tuning::most_bin_rows)));
  const std::int64_t most_cells = tuning::cells_per_entry * indices.size() + tuning::few_cells;
  constexpr std::int64_t unlimited = std::int64_t{1} << 62;
  array<bin_needs, device> most(ctx, 1);
  for (int attempt = 0; attempt < tuning::attempts; ++attempt) {
    shape.bin_rows = rows > warp_size ? rows / warp_size * warp_size : std::max<std::int64_t>(rows, 1);
    cut.firsts = cut_rows_into_bins(ctx, offsets, shape.bin_rows, rule == bin_rows_rule::equal ? unlimited : wanted);
    shape.bins = cut.firsts.size() - 1;
    if (shape.blocks * shape.bins > most_cells) break;
    cut.starts = {ctx, shape.blocks * shape.bins + 1};
    fill_zero(ctx, cut.starts.view().subspan(cut.starts.size() - 1, 1));
    fill_zero(ctx, most.view());
    launch_kernel(ctx, {shape.bins, block_threads, static_cast<std::size_t>(shape.blocks) * sizeof(unsigned)},
                  count_cells_kernel<I, O>, offsets.data(), indices.data(), cut.firsts.data(), shape.width,
                  static_cast<int>(shape.blocks), cut.units.data(), cut.starts.data(), most.data());
    const auto needs = element<bin_needs>(ctx, std::as_const(most).view(), 0);
    const std::int64_t entries = bin_group * std::int64_t{needs.groups};
    shape.bin_units = needs.units;
    shape.longest = needs.entries;
    if (entries <= shape.capacity && shape.stage_bytes() <= room_of(ctx.properties())) {
      exclusive_scan<std::int64_t, device>(ctx, std::as_const(cut.starts).view(), cut.starts.view());
      return;
    }
    if (shape.bin_rows == 1) break;
    const auto smaller = [&](std::int64_t size) {
      return size * std::min(shape.capacity, entries) / entries * 31 / 32;
    };
    rows = std::min(smaller(rows), shape.bin_rows - 1);
    wanted = smaller(wanted);
  }
  shape.bins = 0;
}

// Parts of the first pass: whole blocks of columns, or equally many entries where one block would take much longer.
// `starts` of the blocks, plus the end.
template <class Starts>
std::vector<write_start> share_writes(const Starts& starts, const bin_shape& shape, std::int64_t parts) {
  std::vector<write_start> writes;
  for (std::int64_t part = 0; part <= parts; ++part) {
    std::int64_t block = shape.blocks * part / parts;
    std::int64_t group = starts[block];
    if (shape.is_uneven()) {
      group = shape.groups * part / parts;
      block = std::upper_bound(starts.begin(), starts.end(), group) - starts.begin() - 1;
    }
    writes.push_back({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(group)});
  }
  return writes;
}

}  // namespace

bin_shape shape_bins(const device_properties& device, std::int64_t rows, std::int64_t columns, std::int64_t value) {
  const std::int64_t room = room_of(device);
  const std::int64_t widest = std::min(std::min(tuning::block_bytes, room) / value, std::int64_t{0xfff0}) / 4 * 4;
  bin_shape shape{.rows = rows, .columns = columns, .value_bytes = value};
  // The number of blocks is a multiple of the number of SMs, as far as possible.
  const std::int64_t processors = device.multiprocessors;
  const std::int64_t rounds = div_up(columns, processors * widest);
  shape.width = div_up(div_up(columns, processors * rounds), std::int64_t{4}) * 4;
  shape.blocks = div_up(columns, shape.width);
  shape.capacity = std::min(tuning::bin_bytes / value, room / (value + 4)) / bin_unit * bin_unit;
  return shape;
}

template <class I, class O>
bin_cut cut_bins(const context<device>& ctx, span<const O, device> offsets, span<const I, device> indices,
                 const bin_shape& counted, bin_rows_rule rule) {
  bin_cut cut;
  cut.shape = counted;
  const auto refuse = [&](const char* why) {
    cut.refused = why;
    return std::move(cut);
  };
  bin_shape& shape = cut.shape;
  offsets = offsets.subspan(0, shape.rows + 1);
  if (shape.blocks > tuning::most_blocks) return refuse("there are too many columns");
  if (shape.capacity < warp_size) return refuse("the device has too little shared memory");
  cut.units = count_units(ctx, offsets.data(), shape.rows);
  shape.units = element<std::uint32_t>(ctx, std::as_const(cut.units).view(), shape.rows);
  count_cells(ctx, offsets, indices, rule, cut);
  if (shape.bins == 0) return refuse("some rows have too many entries for a bin, or too many bins would be needed");
  array<std::uint32_t, device> block_starts(ctx, shape.blocks + 1);
  take_block_starts(ctx, cut.starts.data(), shape.bins, block_starts);
  const auto starts = to_host(ctx, std::as_const(block_starts).view());
  shape.groups = starts[shape.blocks];
  for (std::int64_t b = 0; b < shape.blocks; ++b) {
    shape.largest_block = std::max<std::int64_t>(shape.largest_block, starts[b + 1] - starts[b]);
  }
  const std::int64_t parts = std::min<std::int64_t>(ctx.properties().multiprocessors, shape.blocks);
  const std::vector<write_start> writes = share_writes(starts, shape, parts);
  cut.writes = to_device(ctx, span<const write_start, host>(writes));
  return cut;
}

template <class I, class O>
binned_pattern fill_bins(const context<device>& ctx, bin_cut cut, span<const O, device> offsets,
                         span<const I, device> indices, entry_sources sources) {
  const bin_shape& s = cut.shape;
  const std::int64_t size = s.groups * bin_group;
  binned_pattern to{.shape = s,
                    .firsts = std::move(cut.firsts),
                    .cells = {ctx, s.bins * (s.blocks + 1)},
                    .block_starts = {ctx, s.blocks + 1},
                    .writes = std::move(cut.writes),
                    .block_columns = {ctx, size},
                    .units = std::move(cut.units),
                    .places = {ctx, s.units * bin_unit},
                    .sources = {ctx, sources == entry_sources::kept ? size : 0}};
  fill_zero(ctx, to.block_columns.view());
  if (!to.sources.empty()) {
    for_each(ctx, size, [source = to.sources.data()] __device__(std::int64_t k) { source[k] = no_entry; });
  }
  launch_kernel(ctx, {s.bins, block_threads, static_cast<std::size_t>(s.blocks) * sizeof(unsigned)},
                place_cells_kernel<I, O>, offsets.data(), indices.data(), to.firsts.data(), s.width,
                static_cast<int>(s.blocks), static_cast<int>(s.capacity), cut.starts.data(), to.units.data(),
                to.cells.data(), to.block_columns.data(), to.places.data(),
                to.sources.empty() ? nullptr : to.sources.data());
  take_block_starts(ctx, cut.starts.data(), s.bins, to.block_starts);
  return to;
}

template <class I>
std::int64_t sectors_per_1000(const context<device>& ctx, const I* indices, std::int64_t nnz,
                              std::int64_t value_bytes) {
  const std::int64_t size = std::min<std::int64_t>(nnz, window_entries);
  const std::int64_t count = std::min(windows, nnz / size);
  array<unsigned long long, device> total(ctx, 1);
  fill_zero(ctx, total.view());
  launch_kernel(ctx, {count, threads_per_block}, sectors_kernel<I>, indices, nnz / count, static_cast<int>(size),
                value_bytes, total.data());
  return static_cast<std::int64_t>(to_host(ctx, std::as_const(total).view())[0]) * 1000 / (count * size);
}

#define INSTANTIATE(I) \
  template std::int64_t sectors_per_1000(const context<device>&, const I*, std::int64_t, std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(I, O)                                                                                           \
  template bin_cut cut_bins(const context<device>&, span<const O, device>, span<const I, device>, const bin_shape&, \
                            bin_rows_rule);                                                                         \
  template binned_pattern fill_bins(const context<device>&, bin_cut, span<const O, device>, span<const I, device>,  \
                                    entry_sources);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
