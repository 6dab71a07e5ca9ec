// Builds the copy of a blocked product: ranks columns, cuts rows into strips, sorts these, places entries in slots.
//
// A warp processes a segment of a row. It counts the entries per column block in shared memory; blocks with enough of
// them become cells, the rest are the segment's other entries. The same traversal counts the strips, lists them, and
// finally assigns slots in the order of the entries: two plans of a matrix are identical bit by bit.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/spmv/copies/blocked/add.cuh"
#include "sparse/spmv/copies/blocked/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Entries that one warp processes.
  static constexpr std::int64_t segment = 16384;
  static constexpr int blocks_a_multiprocessor = 8;
};

// Entries per strip, 32 and 64: R-MAT 22 fp32 0.262, 0.254 ms. Longer strips keep a warp busy after the others.
constexpr std::uint32_t strip_bits = 6;
constexpr std::uint32_t strip_entries = 1U << strip_bits;  // at most, summed by one lane
constexpr int warps = threads_per_block / warp_size;
// Cost of a chunk besides its entries (start, sizes, sums), in entries per lane.
constexpr std::int64_t chunk_cost = 2;

struct cut_arguments {
  const std::uint32_t* ranks;
  const std::uint32_t* starts;
  std::int64_t segments;
  std::uint32_t first_block;
  std::uint32_t blocks;
  std::uint32_t block_columns;
  std::uint32_t popular;
  std::uint32_t least_cell;
  std::int64_t window;
  int low_bits;  // bits of a strip's key below the group
};

[[nodiscard]] cut_arguments arguments_of(const column_order& order, const array<std::uint32_t, device>& starts,
                                         const blocked_shape& shape) {
  return {
      .ranks = order.ranks.data(),
      .starts = starts.data(),
      .segments = starts.size() - 1,
      .first_block = static_cast<std::uint32_t>(order.first_block),
      .blocks = static_cast<std::uint32_t>(order.blocks),
      .block_columns = static_cast<std::uint32_t>(shape.block_columns),
      .popular = static_cast<std::uint32_t>(order.popular),
      .least_cell = shape.least_cell,
      .window = shape.window > 0 ? shape.window : starts.size(),
      .low_bits = static_cast<int>(strip_bits) + (shape.window > 0 ? key_bits(starts.size() / shape.window + 1) : 0)};
}

extern __shared__ std::uint32_t segment_words[];

__device__ inline std::uint32_t strips_of(std::uint32_t entries) {
  return (entries + strip_entries - 1) / strip_entries;
}

// A segment processed by a warp; `counts` has one word per column block, in shared memory.
struct segment_cells {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t others;  // entries outside of cells
  bool has_cells;        // if false, the counts are invalid

  // The whole warp calls it.
  __device__ segment_cells(const cut_arguments& a, std::int64_t segment, std::uint32_t* counts, int lane)
      : begin(a.starts[segment]), end(a.starts[segment + 1]), others(end - begin), has_cells(false) {
    if (end - begin < a.least_cell || a.first_block >= a.blocks) return;
    __syncwarp();  // the previous segment is finished
    for (std::uint32_t b = static_cast<std::uint32_t>(lane); b < a.blocks; b += warp_size) counts[b] = 0;
    __syncwarp();
    // Integer counts, so the order of additions does not matter.
    for (std::uint32_t e = begin + static_cast<std::uint32_t>(lane); e < end; e += warp_size) {
      const std::uint32_t block = a.ranks[e] / a.block_columns;
      if (block >= a.first_block && block < a.blocks) atomicAdd(counts + block, 1U);
    }
    __syncwarp();
    std::uint32_t in_cells = 0;
    for (std::uint32_t b = static_cast<std::uint32_t>(lane); b < a.blocks; b += warp_size) {
      if (counts[b] < a.least_cell) counts[b] = 0;
      in_cells += counts[b];
    }
    in_cells = warp_reduce(in_cells, plus{});
    __syncwarp();
    others -= in_cells;
    has_cells = in_cells > 0;
  }

  // Calls visit(block, entries, strips before) for the lane's blocks; returns the number of strips. Whole warp.
  template <class Visit>
  __device__ std::uint32_t for_cells(const cut_arguments& a, const std::uint32_t* counts, int lane, Visit visit) const {
    std::uint32_t before = strips_of(others);
    if (!has_cells) return before;
    for (std::uint32_t first = 0; first < a.blocks; first += warp_size) {
      const std::uint32_t block = first + static_cast<std::uint32_t>(lane);
      const std::uint32_t entries = block < a.blocks ? counts[block] : 0;
      const std::uint32_t strips = strips_of(entries);
      const std::uint32_t upto = warp_inclusive_sum(strips);
      if (entries > 0) visit(block, entries, before + upto - strips);
      before += __shfl_sync(full_mask, upto, warp_size - 1);
    }
    return before;
  }
};

// Distributes segments round-robin to the grid's warps: body(segment, shared words of the warp, lane).
template <class Body>
__device__ void for_segments(const cut_arguments& a, std::uint32_t words, Body body) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  std::uint32_t* const mine = segment_words + static_cast<std::uint32_t>(warp) * words;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps;
  for (std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * warps + warp; s < a.segments; s += step) {
    body(s, mine, static_cast<int>(threadIdx.x) % warp_size);
  }
}

__global__ void __launch_bounds__(threads_per_block)
    count_strips_kernel(cut_arguments a, std::int64_t* strips, unsigned long long* gathered) {
  unsigned long long mine = 0;
  for_segments(a, a.blocks, [&](std::int64_t s, std::uint32_t* counts, int lane) {
    const segment_cells cells(a, s, counts, lane);
    const std::uint32_t count = cells.for_cells(a, counts, lane, [](std::uint32_t, std::uint32_t, std::uint32_t) {});
    if (lane == 0) strips[s] = count;
    std::uint32_t popular = 0;
    if (a.popular > 0) {
      for (std::uint32_t e = cells.begin + static_cast<std::uint32_t>(lane); e < cells.end; e += warp_size) {
        if (a.ranks[e] < a.popular) ++popular;
      }
      popular = warp_reduce(popular, plus{});
    }
    mine += cells.others - popular;
  });
  if (threadIdx.x % warp_size == 0) atomicAdd(gathered, mine);
}

// keys[strip] = group, then window, then descending size.
__global__ void __launch_bounds__(threads_per_block)
    list_strips_kernel(cut_arguments a, const std::int64_t* segment_strips, std::uint64_t* keys) {
  for_segments(a, a.blocks, [&](std::int64_t s, std::uint32_t* counts, int lane) {
    const segment_cells cells(a, s, counts, lane);
    std::uint64_t* const to = keys + segment_strips[s];
    const auto list = [&](std::uint32_t group, std::uint32_t entries, std::uint32_t first) {
      const std::uint64_t high =
          static_cast<std::uint64_t>(group) << a.low_bits | static_cast<std::uint64_t>(s / a.window) << strip_bits;
      for (; entries > strip_entries; entries -= strip_entries) to[first++] = high;
      to[first] = high | (strip_entries - entries);
    };
    if (lane == 0 && cells.others > 0) list(a.blocks, cells.others, 0);
    cells.for_cells(a, counts, lane, list);
  });
}

__global__ void __launch_bounds__(threads_per_block)
    place_entries_kernel(cut_arguments a, const std::int64_t* segment_strips, const std::uint32_t* places,
                         const std::uint32_t* chunk_starts, std::uint32_t* sources) {
  // Per group one word for the entries placed so far and one for its first strip. The last group is the other entries.
  for_segments(a, 2 * (a.blocks + 1), [&](std::int64_t s, std::uint32_t* placed, int lane) {
    std::uint32_t* const first_strips = placed + a.blocks + 1;
    const segment_cells cells(a, s, placed, lane);
    __syncwarp();
    const auto first = static_cast<std::uint32_t>(segment_strips[s]);
    if (cells.has_cells) {
      for (std::uint32_t b = static_cast<std::uint32_t>(lane); b < a.blocks; b += warp_size) first_strips[b] = no_entry;
      __syncwarp();
    }
    cells.for_cells(a, placed, lane, [&](std::uint32_t block, std::uint32_t, std::uint32_t before) {
      first_strips[block] = first + before;
      placed[block] = 0;
    });
    if (lane == 0) {
      first_strips[a.blocks] = first;
      placed[a.blocks] = 0;
    }
    __syncwarp();
    for (std::uint32_t from = cells.begin; from < cells.end; from += warp_size) {
      const std::uint32_t e = from + static_cast<std::uint32_t>(lane);
      std::uint32_t group = no_entry;
      if (e < cells.end) {
        group = a.ranks[e] / a.block_columns;
        if (!cells.has_cells || group >= a.blocks || first_strips[group] == no_entry) group = a.blocks;
      }
      const unsigned alike = __match_any_sync(full_mask, group);
      const auto lower = static_cast<std::uint32_t>(__popc(alike & ((1U << lane) - 1)));
      const std::uint32_t k = e < cells.end ? placed[group] + lower : 0;
      __syncwarp();
      if (e < cells.end && lower == 0) placed[group] += static_cast<std::uint32_t>(__popc(alike));
      __syncwarp();
      if (e >= cells.end) continue;
      const std::uint32_t place = places[first_strips[group] + k / strip_entries];
      const std::uint32_t start = chunk_starts[place / warp_size];
      const std::uint32_t size = chunk_starts[place / warp_size + 1] - start;
      sources[slot_of(start, size, place % warp_size, k % strip_entries)] = e;
    }
  });
}

// Launch shape of a kernel with `words` shared words per warp.
[[nodiscard]] launch_shape segments_shape(const context<device>& ctx, std::int64_t segments, std::int64_t words) {
  const std::int64_t most = std::int64_t{tuning::blocks_a_multiprocessor} * ctx.properties().multiprocessors;
  return {std::clamp<std::int64_t>(div_up(segments, std::int64_t{warps}), 1, most), threads_per_block,
          static_cast<std::size_t>(words) * 4 * warps};
}

// Sorts the strips by key: computes their places and the lengths of chunks.
void place_strips(const context<device>& ctx, const row_cut& cut, const cut_arguments& arguments, blocked_pattern& to) {
  array<std::uint64_t, device> keys(ctx, cut.strips);
  launch_kernel(ctx, segments_shape(ctx, cut.segments, arguments.blocks), list_strips_kernel, arguments,
                cut.segment_strips.data(), keys.data());
  auto strips = iota(ctx, cut.strips);
  sort_pairs(ctx, keys, strips, 0, arguments.low_bits + key_bits(to.groups));
  const std::uint64_t* const key = keys.data();

  array<std::int64_t, device> firsts(ctx, to.groups + 1);
  std::int64_t* const first = firsts.data();
  const std::int64_t count = cut.strips;
  const int low_bits = arguments.low_bits;
  for_each(ctx, to.groups + 1, [=] __device__(std::int64_t g) { first[g] = lower_bound(key, count, g << low_bits); });
  const auto first_strips = to_host(ctx, std::as_const(firsts).view());
  std::vector<std::uint32_t> chunks(1, 0);  // chunks before each group
  std::vector<std::int64_t> gaps;           // places without a strip before each group
  for (std::int64_t g = 0; g < to.groups; ++g) {
    gaps.push_back(std::int64_t{chunks.back()} * warp_size - first_strips[g]);
    const std::int64_t group_chunks = div_up(first_strips[g + 1] - first_strips[g], std::int64_t{warp_size});
    chunks.push_back(chunks.back() + static_cast<std::uint32_t>(group_chunks));
  }
  to.chunks = chunks.back();
  to.cell_chunks = chunks[chunks.size() - 2];
  to.group_chunks = to_device(ctx, span<const std::uint32_t, host>(chunks));
  const auto device_gaps = to_device(ctx, span<const std::int64_t, host>(gaps));

  to.places = {ctx, cut.strips};
  to.strip_sizes = {ctx, to.chunks * warp_size};
  fill_zero(ctx, to.strip_sizes.view());
  array<std::int64_t, device> sizes(ctx, to.chunks + 1);
  fill_zero(ctx, sizes.view());
  std::uint32_t* const places = to.places.data();
  std::uint16_t* const strip_sizes = to.strip_sizes.data();
  std::int64_t* const chunk_sizes = sizes.data();
  const std::int64_t* const gap = device_gaps.data();
  const std::uint32_t* const strip = strips.data();
  for_each(ctx, count, [=] __device__(std::int64_t i) {
    const std::uint64_t size = strip_entries - (key[i] & (strip_entries - 1));
    const std::int64_t place = i + gap[key[i] >> low_bits];
    places[strip[i]] = static_cast<std::uint32_t>(place);
    strip_sizes[place] = static_cast<std::uint16_t>(size);
    atomicMax(reinterpret_cast<count64*>(chunk_sizes + place / warp_size), static_cast<count64>(size));
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(sizes).view(), sizes.view());
  to.chunk_starts = {ctx, to.chunks + 1};
  std::uint32_t* const starts = to.chunk_starts.data();
  for_each(ctx, to.chunks + 1,
           [=] __device__(std::int64_t c) { starts[c] = static_cast<std::uint32_t>(chunk_sizes[c]); });
  to.slots = warp_size * to_host(ctx, std::as_const(sizes).view().subspan(to.chunks, 1))[0];
  to.cell_slots = warp_size * to_host(ctx, std::as_const(sizes).view().subspan(to.cell_chunks, 1))[0];
}

// Lists rows with more strips than a thread adds, by descending count; those with more than a warp adds get parts.
void list_long_rows(const context<device>& ctx, blocked_pattern& to) {
  constexpr strip_limits limits = blocked_row_tuning::limits;
  const std::int64_t rows = to.rows;
  const std::uint32_t* const strips = to.row_strips.data();
  array<std::int64_t, device> numbers(ctx, rows + 1);
  std::int64_t* const number = numbers.data();
  const std::uint32_t least = limits.thread + 1;
  for_each(ctx, rows + 1,
           [=] __device__(std::int64_t r) { number[r] = r < rows && strips[r + 1] - strips[r] >= least ? 1 : 0; });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(numbers).view(), numbers.view());
  const std::int64_t count = to_host(ctx, std::as_const(numbers).view().subspan(rows, 1))[0];
  array<std::uint64_t, device> keys(ctx, count);
  to.long_rows = {ctx, count};
  std::uint64_t* const missing = keys.data();
  std::uint32_t* const row = to.long_rows.data();
  for_each(ctx, rows, [=] __device__(std::int64_t r) {
    if (number[r + 1] == number[r]) return;
    missing[number[r]] = no_entry - (strips[r + 1] - strips[r]);
    row[number[r]] = static_cast<std::uint32_t>(r);
  });
  if (count > 0) sort_pairs(ctx, keys, to.long_rows, 0, 32);
  const std::uint64_t* const sorted = keys.data();
  array<std::int64_t, device> bounds(ctx, 2);
  std::int64_t* const bound = bounds.data();
  const std::uint32_t limit_of[2] = {limits.warp, limits.group};
  for_each(ctx, 2, [=] __device__(std::int64_t k) { bound[k] = lower_bound(sorted, count, no_entry - limit_of[k]); });
  const auto ends = to_host(ctx, std::as_const(bounds).view());
  to.hub_rows = ends[0];
  to.warp_rows = ends[1] - ends[0];
  to.group_rows = count - ends[1];

  std::vector<std::uint32_t> hub_parts(1, 0);  // parts before each hub
  std::vector<std::uint32_t> part_hubs;
  const auto hubs = to_host(ctx, std::as_const(keys).view().subspan(0, to.hub_rows));
  for (std::int64_t h = 0; h < to.hub_rows; ++h) {
    const auto parts = div_up(static_cast<std::int64_t>(no_entry - hubs[h]), std::int64_t{limits.part});
    part_hubs.insert(part_hubs.end(), static_cast<std::size_t>(parts), static_cast<std::uint32_t>(h));
    hub_parts.push_back(static_cast<std::uint32_t>(part_hubs.size()));
  }
  to.hub_parts = to_device(ctx, span<const std::uint32_t, host>(hub_parts));
  to.part_hubs = to_device(ctx, span<const std::uint32_t, host>(part_hubs));
}

}  // namespace

template <class O>
row_cut cut_rows(const context<device>& ctx, span<const O, device> offsets, const column_order& order,
                 const blocked_shape& shape) {
  row_cut cut;
  cut.rows = offsets.size() - 1;
  cut.row_segments = {ctx, cut.rows + 1};
  std::int64_t* const segments = cut.row_segments.data();
  const O* const offset = offsets.data();
  const std::int64_t rows = cut.rows;
  for_each(ctx, rows + 1, [=] __device__(std::int64_t r) {
    const std::int64_t entries = r < rows ? static_cast<std::int64_t>(offset[r + 1]) - offset[r] : 0;
    segments[r] = div_up(entries, tuning::segment);
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(cut.row_segments).view(), cut.row_segments.view());
  cut.segments = to_host(ctx, std::as_const(cut.row_segments).view().subspan(rows, 1))[0];
  cut.starts = {ctx, cut.segments + 1};
  std::uint32_t* const starts = cut.starts.data();
  for_each(ctx, rows + 1, [=] __device__(std::int64_t r) {
    if (r == rows) starts[segments[r]] = static_cast<std::uint32_t>(offset[r]);
    for (std::int64_t s = segments[r]; r < rows && s < segments[r + 1]; ++s) {
      starts[s] = static_cast<std::uint32_t>(offset[r] + (s - segments[r]) * tuning::segment);
    }
  });
  cut.segment_strips = {ctx, cut.segments + 1};
  fill_zero(ctx, cut.segment_strips.view());
  array<unsigned long long, device> gathered(ctx, 1);
  fill_zero(ctx, gathered.view());
  launch_kernel(ctx, segments_shape(ctx, cut.segments, order.blocks), count_strips_kernel,
                arguments_of(order, cut.starts, shape), cut.segment_strips.data(), gathered.data());
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(cut.segment_strips).view(), cut.segment_strips.view());
  cut.strips = to_host(ctx, std::as_const(cut.segment_strips).view().subspan(cut.segments, 1))[0];
  cut.gathered = static_cast<std::int64_t>(to_host(ctx, std::as_const(gathered).view())[0]);
  return cut;
}

blocked_pattern arrange_entries(const context<device>& ctx, const column_order& order, const row_cut& cut,
                                const blocked_shape& shape) {
  const cut_arguments arguments = arguments_of(order, cut.starts, shape);
  blocked_pattern to;
  to.rows = cut.rows;
  to.groups = order.blocks + 1;
  place_strips(ctx, cut, arguments, to);

  to.sources = {ctx, to.slots};
  std::uint32_t* const sources = to.sources.data();
  for_each(ctx, to.slots, [=] __device__(std::int64_t s) { sources[s] = no_entry; });
  launch_kernel(ctx, segments_shape(ctx, cut.segments, 2 * to.groups), place_entries_kernel, arguments,
                cut.segment_strips.data(), to.places.data(), to.chunk_starts.data(), sources);

  to.row_strips = {ctx, cut.rows + 1};
  std::uint32_t* const row_strips = to.row_strips.data();
  const std::int64_t* const segments = cut.row_segments.data();
  const std::int64_t* const segment_strips = cut.segment_strips.data();
  for_each(ctx, cut.rows + 1,
           [=] __device__(std::int64_t r) { row_strips[r] = static_cast<std::uint32_t>(segment_strips[segments[r]]); });
  list_long_rows(ctx, to);
  return to;
}

array<std::uint32_t, device> share_chunks(const context<device>& ctx, const blocked_pattern& pattern,
                                          std::int64_t blocks) {
  array<std::uint32_t, device> shares(ctx, blocks + 1);
  std::uint32_t* const share = shares.data();
  const std::uint32_t* const starts = pattern.chunk_starts.data();
  const std::int64_t chunks = pattern.cell_chunks;
  for_each(ctx, blocks + 1, [=] __device__(std::int64_t b) {
    const auto cost_before = [&](std::int64_t chunk) { return starts[chunk] + chunk_cost * chunk; };
    const std::int64_t wanted = cost_before(chunks) * b / blocks;
    const auto reaches = [&](std::int64_t chunk) { return cost_before(chunk) >= wanted; };
    share[b] = static_cast<std::uint32_t>(first_where(std::int64_t{0}, chunks, reaches));
  });
  return shares;
}

#define INSTANTIATE(O) \
  template row_cut cut_rows(const context<device>&, span<const O, device>, const column_order&, const blocked_shape&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::spmv
