// Sums of strips without values, where columns are all that is read.
//
// A chunk of cell strips is read 16 bytes per lane at a time, mostly while the previous chunk is summed; padding names
// an element that is 0, so no lane tests for the end of its strip. Some warps of each block gather other entries from
// the start, the rest after their cells.
#include "core/device/async_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/shared_limit.cuh"
#include "primitives/element.hpp"
#include "sparse/spmv/copies/blocked/product.cuh"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::spmv {

namespace {

// ms per PageRank step on an H200, R-MAT 22.
struct tuning {
  static constexpr int threads = 1024;
  // Gathering warps. 3, 4, 6: fp32 0.213, 0.209, 0.230, fp64 0.352, 0.343, 0.315.
  template <class V>
  static constexpr int gatherers() {
    return sizeof(V) == 4 ? 4 : 6;
  }
  static constexpr int ticket_chunks = 4;
  // Maximum block of x; the rest of the SM's memory is L1 cache: 176, 192, 208 KiB 0.382, 0.383, 0.420.
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  static constexpr std::int64_t cache_bytes = std::int64_t{8} * 1024;
};

// --- Layout ---------------------------------------------------------------

// Starts of the cells' chunks, in quads: the entries of a lane are padded to a multiple of four. Synchronizes.
struct cell_starts {
  array<std::uint32_t, device> quads;  // cell_chunks + 1
  std::int64_t total = 0;
};
[[nodiscard]] cell_starts count_quads(const context<device>& ctx, const blocked_pattern& pattern) {
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

// Slot of entry k in a chunk of `quads` quads per lane: pairs of quads interleaved by lane, an odd last quad alone.
__device__ inline std::int64_t cell_slot(std::uint32_t quads, std::uint32_t lane, std::uint32_t k) {
  const std::uint32_t pair = k / 8;
  if (pair < quads / 2) return std::int64_t{pair} * 2 * quad_slots + 8 * lane + k % 8;
  return std::int64_t{pair} * 2 * quad_slots + 4 * lane + k % 4;
}

// Positions of the cells' entries within their blocks; `block` marks padding.
[[nodiscard]] array<std::uint16_t, device> place_cells(const context<device>& ctx, const blocked_pattern& pattern,
                                                       const cell_starts& starts, const std::uint32_t* places,
                                                       std::uint32_t block) {
  array<std::uint16_t, device> cells(ctx, std::max(starts.total * quad_slots, std::int64_t{1}));
  for_each(ctx, pattern.cell_chunks * warp_size,
           [=, to = cells.data(), from = pattern.chunk_starts.data(), sources = pattern.sources.data(),
            first_quad = starts.quads.data()] __device__(std::int64_t i) {
             const std::int64_t chunk = i / warp_size;
             const auto lane = static_cast<std::uint32_t>(i % warp_size);
             const std::uint32_t size = from[chunk + 1] - from[chunk];
             const std::uint32_t quads = first_quad[chunk + 1] - first_quad[chunk];
             for (std::uint32_t k = 0; k < 4 * quads; ++k) {
               const std::uint32_t source = k < size ? sources[slot_of(from[chunk], size, lane, k)] : no_entry;
               to[first_quad[chunk] * quad_slots + cell_slot(quads, lane, k)] =
                   static_cast<std::uint16_t>(source == no_entry ? block : places[source] % block);
             }
           });
  return cells;
}

// Positions of the other edges' sources, interleaved by lane; `none` marks padding.
[[nodiscard]] array<std::uint32_t, device> place_others(const context<device>& ctx, const blocked_pattern& pattern,
                                                        const std::uint32_t* places, std::uint32_t none) {
  array<std::uint32_t, device> others(ctx, std::max(pattern.slots - pattern.cell_slots, std::int64_t{1}));
  for_each(ctx, (pattern.chunks - pattern.cell_chunks) * warp_size,
           [=, to = others.data(), first = pattern.cell_chunks, before = pattern.cell_slots,
            from = pattern.chunk_starts.data(), sources = pattern.sources.data()] __device__(std::int64_t i) {
             const std::int64_t chunk = first + i / warp_size;
             const auto lane = static_cast<std::uint32_t>(i % warp_size);
             const std::uint32_t size = from[chunk + 1] - from[chunk];
             for (std::uint32_t k = 0; k < size; ++k) {
               const std::uint32_t source = sources[slot_of(from[chunk], size, lane, k)];
               to[(std::int64_t{from[chunk]} + k) * warp_size + lane - before] =
                   source == no_entry ? none : places[source];
             }
           });
  return others;
}

// --- Sums -----------------------------------------------------------------

template <class V>
struct pattern_arguments {
  const int* done;
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
__device__ void sum_cell_chunks(const pattern_arguments<V>& a, std::uint32_t first, std::uint32_t end,
                                std::uint32_t warps, const V* part) {
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
__device__ void sum_other_chunks(const pattern_arguments<V>& a, const V* x) {
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
        for (int j = 0; j < batch; ++j) sum[c] += place[c][j] != no_entry ? __ldg(x + place[c][j]) : V{0};
      }
    }
#pragma unroll
    for (int c = 0; c < width; ++c) {
      if (first + c < a.chunks) a.sums[std::int64_t{first + c} * warp_size + lane] = sum[c];
    }
  }
}

extern __shared__ int4 strip_bytes[];

template <class V>
constexpr int cell_warps = tuning::threads / warp_size - tuning::gatherers<V>();

// Barrier of the warps that sum cells.
template <class V>
__device__ __forceinline__ void cell_barrier() {
  asm volatile("bar.sync 1, %0;" ::"n"(cell_warps<V> * warp_size) : "memory");
}

// Loads a block of x into shared memory; called by all cell warps.
template <class V>
__device__ void load_part(const V* x, std::int64_t size, V* part) {
  constexpr int line = 16 / static_cast<int>(sizeof(V));
  cell_barrier<V>();  // all warps have finished with the previous block
  for (std::int64_t c = std::int64_t{line} * threadIdx.x; c < size; c += line * cell_warps<V> * warp_size) {
    copy_line_async(part + c, x + c);
  }
  wait_for_copies();
  cell_barrier<V>();
}

template <class V>
__device__ void sum_cells(const pattern_arguments<V>& a, const V* x, V* part) {
  std::uint32_t first = a.shares[blockIdx.x];
  const std::uint32_t last = a.shares[blockIdx.x + 1];
  if (threadIdx.x == 0) part[a.block] = 0;  // value of padding slots
  for (std::uint32_t group = 0; first < last; ++group) {
    const std::uint32_t end = min(a.group_chunks[group + 1], last);
    if (end <= first) continue;
    const std::int64_t begin = std::int64_t{group} * a.block;
    load_part(x + begin, min(std::int64_t{a.block}, a.used - begin), part);
    sum_cell_chunks<V>(a, first, end, cell_warps<V>, part);
    first = end;
  }
}

// Some warps gather other edges from the start, the rest after their cells: L2 cache and shared memory both work.
template <class V>
__global__ void __launch_bounds__(tuning::threads, 1)
    sum_strips_kernel(pattern_arguments<V> a, const V* __restrict__ x) {
  if (*a.done != 0) return;
  if (threadIdx.x < cell_warps<V> * warp_size) sum_cells(a, x, reinterpret_cast<V*>(strip_bytes));
  sum_other_chunks(a, x);
}

}  // namespace

template <class V>
std::int64_t pattern_strips<V>::block_columns(const device_properties& device) {
  const std::int64_t bytes = std::min(tuning::block_bytes, device.shared_memory_per_block - tuning::cache_bytes);
  return std::min<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(V)), 0xfff0) / 4 * 4;
}

template <class V>
pattern_strips<V>::pattern_strips(const context<device>& ctx, blocked_pattern pattern, const column_order& order,
                                  std::int64_t block)
    : buffers_(ctx, std::move(pattern)), used_(order.used), block_(block), tickets_(ctx, 1) {
  blocked_pattern& p = buffers_.pattern;
  auto starts = count_quads(ctx, p);
  cells_ = place_cells(ctx, p, starts, order.ranks.data(), static_cast<std::uint32_t>(block));
  quads_ = std::move(starts.quads);
  others_ = place_others(ctx, p, order.ranks.data(), no_entry);
  p.sources = {};
  p.strip_sizes = {};
  fill_zero(ctx, tickets_.view());
  allow_shared(sum_strips_kernel<V>, static_cast<std::size_t>(block) * sizeof(V) + 16);
}

template <class V>
void pattern_strips<V>::sum(const V* x, const int* done) const {
  const blocked_pattern& p = buffers_.pattern;
  const pattern_arguments<V> a{.done = done,
                               .group_chunks = p.group_chunks.data(),
                               .shares = buffers_.shares.data(),
                               .quads = quads_.data(),
                               .cells = cells_.data(),
                               .starts = p.chunk_starts.data(),
                               .others = others_.data(),
                               .cell_slots = p.cell_slots,
                               .used = used_,
                               .block = static_cast<std::uint32_t>(block_),
                               .groups = static_cast<std::uint32_t>(p.groups),
                               .cell_chunks = static_cast<std::uint32_t>(p.cell_chunks),
                               .chunks = static_cast<std::uint32_t>(p.chunks),
                               .tickets = tickets_.data(),
                               .sums = buffers_.sums.data()};
  launch_kernel(buffers_.ctx, {buffers_.blocks, tuning::threads, static_cast<std::size_t>(block_) * sizeof(V) + 16},
                sum_strips_kernel<V>, a, x);
}

template class pattern_strips<float>;
template class pattern_strips<double>;

}  // namespace spargo::detail::spmv
