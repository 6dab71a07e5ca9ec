// Sums of strips with values.
//
// A lane loads four entries at a time, values and columns, while it multiplies the previous four; it multiplies as many
// as its own strip has. Warps take the strips' chunks in alternating direction.
#include "core/device/async_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/blocked/product.cuh"
#include "sparse/spmv/device.cuh"

namespace spargo::detail::spmv {

namespace {

// ms per product on an H200, R-MAT 22; more in sparse_tuning.txt.
struct tuning {
  // fp32, 1024, 768, 512 threads: 0.263, 0.272, 0.305; fp64 0.609 (spills), 0.434, 0.477.
  static constexpr int narrow_threads = 1024;
  static constexpr int threads = 768;
  static constexpr int wide_threads = 512;
  // For a gather-only kernel, if no column is hot and values are wide: power law fp64 0.530, without 0.561.
  static constexpr int gather_threads = 512;
  static constexpr int gather_blocks = 2;
};

template <class D>
inline constexpr int product_threads = sizeof(D) <= 4   ? tuning::narrow_threads
                                       : sizeof(D) <= 8 ? tuning::threads
                                                        : tuning::wide_threads;
static_assert(part_columns<float> <= 1 << 16);

template <class D>
struct blocked_arguments {
  std::int64_t used;  // number of ranks
  std::uint32_t popular;
  std::uint32_t groups;
  std::uint32_t chunks;
  std::uint32_t cell_chunks;
  const std::uint32_t* group_chunks;
  const std::uint32_t* shares;  // first chunk of cells of each thread block
  const std::uint32_t* chunk_starts;
  const std::uint16_t* strip_sizes;
  const std::uint16_t* cell_columns;
  const std::uint32_t* other_ranks;
  std::int64_t cell_slots;
  const D* values;
  D* sums;  // by place
};

extern __shared__ int4 blocked_bytes[];

// The whole block must call it; `part` is then readable.
template <class D>
__device__ void load_part(const D* x, std::int64_t size, D* part) {
  __syncthreads();  // the previous part has been used
  for (std::int64_t c = threadIdx.x; c < size; c += blockDim.x) copy_async(part + c, x + c);
  wait_for_copies();
  __syncthreads();
}

// Four columns, 8 or 16 bytes.
__device__ inline quad<std::uint16_t> load_columns(const std::uint16_t* p) {
  const uint2 raw = __ldcs(reinterpret_cast<const uint2*>(p));
  quad<std::uint16_t> q;
  __builtin_memcpy(&q, &raw, sizeof(q));
  return q;
}
__device__ inline quad<std::uint32_t> load_columns(const std::uint32_t* p) { return load_quad(p); }

// A chunk, as one lane uses it.
struct lane_chunk {
  std::uint32_t number;
  std::uint32_t start;  // slots before it, divided by the warp size
  std::uint32_t size;   // entries of its longest strip; 0: no chunk
  std::uint32_t mine;   // entries of this lane's strip

  template <class D>
  __device__ static lane_chunk of(const blocked_arguments<D>& a, std::uint32_t number, std::uint32_t end, int lane) {
    if (number >= end) return {number, 0, 0, 0};
    const std::uint32_t start = a.chunk_starts[number];
    return {number, start, a.chunk_starts[number + 1] - start, a.strip_sizes[number * warp_size + lane]};
  }
};

// Up to four entries of a lane's strip, starting at a multiple of four.
template <class D, class C>
struct strip_step {
  quad<D> values;
  quad<C> columns;

  // `all_columns` points to slot 0.
  __device__ void load(const D* all_values, const C* all_columns, const lane_chunk& chunk, std::uint32_t k, int lane) {
    const std::int64_t slot = (static_cast<std::int64_t>(chunk.start) + k) * warp_size;
    if (k + 4 <= chunk.size) {
      values = load_quad(all_values + slot + 4 * lane);
      columns = load_columns(all_columns + slot + 4 * lane);
      return;
    }
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      if (k + j >= chunk.size) continue;
      values.v[j] = read_once(all_values + slot + j * warp_size + lane);
      columns.v[j] = __ldcs(all_columns + slot + j * warp_size + lane);
    }
  }
};

// Sums chunks first .. end - 1. Workers take them round-robin in alternating direction, so that all get equally many
// long ones. The next step is loaded while one is multiplied. `fetch` gives the element of x for a column.
template <class D, class C, class Fetch>
__device__ void sum_chunks(const blocked_arguments<D>& a, const C* columns, std::uint32_t first, std::uint32_t end,
                           std::uint32_t workers, std::uint32_t worker, int lane, Fetch fetch) {
  const auto chunk_of = [&](std::uint32_t round) {
    const std::uint32_t turn = (round & 1U) != 0 ? workers - 1 - worker : worker;
    return lane_chunk::of(a, first + round * workers + turn, end, lane);
  };
  std::uint32_t round = 0;
  lane_chunk chunk = chunk_of(0);
  if (chunk.size == 0) return;
  lane_chunk next = chunk_of(1);
  strip_step<D, C> now;
  now.load(a.values, columns, chunk, 0, lane);
  D sum{};
  for (std::uint32_t k = 0;;) {
    const bool last = k + 4 >= chunk.size;
    strip_step<D, C> ahead;
    if (!last) {
      ahead.load(a.values, columns, chunk, k + 4, lane);
    } else if (next.size > 0) {
      ahead.load(a.values, columns, next, 0, lane);
    }
    D elements[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) elements[j] = k + j < chunk.mine ? fetch(now.columns.v[j]) : D{};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (k + j < chunk.mine) sum = multiply_add(now.values.v[j], elements[j], sum);
    }
    k += 4;
    if (last) {
      a.sums[static_cast<std::int64_t>(chunk.number) * warp_size + lane] = sum;
      if (next.size == 0) return;
      sum = D{};
      k = 0;
      chunk = next;
      next = chunk_of(++round + 1);
    }
    now = ahead;
  }
}

template <class D>
__device__ void sum_cells(const blocked_arguments<D>& a, const D* x, D* part) {
  __shared__ std::uint32_t first_group;
  std::uint32_t first = a.shares[blockIdx.x];
  const std::uint32_t last = a.shares[blockIdx.x + 1];
  if (first >= last) return;
  for (std::uint32_t g = threadIdx.x; g < a.groups; g += product_threads<D>) {
    if (a.group_chunks[g] <= first && first < a.group_chunks[g + 1]) first_group = g;
  }
  __syncthreads();
  constexpr int warps = product_threads<D> / warp_size;
  for (std::uint32_t group = first_group; first < last; ++group) {
    const std::uint32_t end = min(a.group_chunks[group + 1], last);
    if (end <= first) continue;
    const std::int64_t begin = group * part_columns<D>;
    load_part(x + begin, min(part_columns<D>, a.used - begin), part);
    sum_chunks(a, a.cell_columns, first, end, warps, threadIdx.x / warp_size, static_cast<int>(threadIdx.x) % warp_size,
               [&](std::uint16_t c) { return part[c]; });
    first = end;
  }
}

// Elements with rank below `popular` are in `part`.
template <class D>
__device__ void sum_others(const blocked_arguments<D>& a, const D* x, const D* part, std::uint32_t popular) {
  const std::uint32_t warps = blockDim.x / warp_size;
  sum_chunks(a, a.other_ranks - a.cell_slots, a.cell_chunks, a.chunks, gridDim.x * warps,
             blockIdx.x * warps + threadIdx.x / warp_size, static_cast<int>(threadIdx.x) % warp_size,
             [&](std::uint32_t c) { return c < popular ? part[c] : read(x + c); });
}

template <class D>
__global__ void __launch_bounds__(product_threads<D>, 1) blocked_kernel(blocked_arguments<D> a, const D* x) {
  D* const part = reinterpret_cast<D*>(blocked_bytes);
  sum_cells(a, x, part);
  if (a.cell_chunks == a.chunks) return;
  load_part(x, a.popular, part);
  sum_others(a, x, part, a.popular);
}

// Strips outside cells if no column is hot: without x in shared memory more gathers are in flight.
template <class D>
__global__ void __launch_bounds__(tuning::gather_threads, tuning::gather_blocks)
    others_kernel(blocked_arguments<D> a, const D* x) {
  sum_others(a, x, static_cast<const D*>(nullptr), 0U);
}

void place_columns(const context<device>& ctx, const blocked_pattern& pattern,
                   const array<std::uint32_t, device>& ranks, std::int64_t columns, array<std::uint16_t, device>& cells,
                   array<std::uint32_t, device>& others) {
  for_each(ctx, pattern.slots,
           [=, sources = pattern.sources.data(), rank = ranks.data(), cell_slots = pattern.cell_slots,
            in_cell = cells.data(), outside = others.data()] __device__(std::int64_t s) {
             const std::uint32_t r = sources[s] == no_entry ? 0 : rank[sources[s]];
             if (s < cell_slots) {
               in_cell[s] = static_cast<std::uint16_t>(r % columns);
             } else {
               outside[s - cell_slots] = r;
             }
           });
}

}  // namespace

template <class V>
weighted_strips<V>::weighted_strips(const context<device>& ctx, blocked_pattern pattern, column_order order,
                                    const V* values)
    : buffers_(ctx, std::move(pattern)),
      used_(order.used),
      popular_(order.popular),
      cell_columns_(ctx, buffers_.pattern.cell_slots),
      other_ranks_(ctx, buffers_.pattern.slots - buffers_.pattern.cell_slots) {
  place_columns(ctx, buffers_.pattern, order.ranks, part_columns<D>, cell_columns_, other_ranks_);
  order.ranks = {};  // before there are values
  values_ = {ctx, buffers_.pattern.slots};
  update(values);
  allow_shared(blocked_kernel<D>, part_bytes);
}

template <class V>
void weighted_strips<V>::sum(const D* x) const {
  const context<device>& ctx = buffers_.ctx;
  const blocked_pattern& p = buffers_.pattern;
  const bool apart = sizeof(D) > 4 && popular_ == 0;
  blocked_arguments<D> a{.used = used_,
                         .popular = static_cast<std::uint32_t>(popular_),
                         .groups = static_cast<std::uint32_t>(p.groups),
                         .chunks = static_cast<std::uint32_t>(apart ? p.cell_chunks : p.chunks),
                         .cell_chunks = static_cast<std::uint32_t>(p.cell_chunks),
                         .group_chunks = p.group_chunks.data(),
                         .shares = buffers_.shares.data(),
                         .chunk_starts = p.chunk_starts.data(),
                         .strip_sizes = p.strip_sizes.data(),
                         .cell_columns = cell_columns_.data(),
                         .other_ranks = other_ranks_.data(),
                         .cell_slots = p.cell_slots,
                         .values = device_cast(values_.data()),
                         .sums = device_cast(buffers_.sums.data())};
  const auto shared_bytes = static_cast<std::size_t>(std::min(used_, part_columns<D>)) * sizeof(D);
  if (a.chunks > 0) launch_kernel(ctx, {buffers_.blocks, product_threads<D>, shared_bytes}, blocked_kernel<D>, a, x);
  if (!apart || p.cell_chunks == p.chunks) return;
  a.chunks = static_cast<std::uint32_t>(p.chunks);
  launch_kernel(ctx, {buffers_.blocks * tuning::gather_blocks, tuning::gather_threads}, others_kernel<D>, a, x);
}

template <class V>
void weighted_strips<V>::update(const V* values) {
  for_each(buffers_.ctx, values_.size(),
           [to = device_cast(values_.data()), from = device_cast(values),
            sources = buffers_.pattern.sources.data()] __device__(std::int64_t s) {
             to[s] = sources[s] == no_entry ? D{} : from[sources[s]];
           });
}

#define INSTANTIATE(V) template class weighted_strips<V>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::spmv
