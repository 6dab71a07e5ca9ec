// Tiles of a reduction through shared memory by bulk copies (cp.async.bulk): no thread holds registers for loads in
// flight, and the alignment of the range costs nothing.
//
// A block walks its tiles by stages of 16 KiB in a ring: one thread asks for a stage, all wait for it on its mbarrier,
// add their columns, and pass a barrier before the stage is asked for again. Copies start at multiples of 16 bytes: of
// a range that does not, a stage brings 16 bytes more and is read from where it begins. Tiles whose copies would touch
// bytes outside of the range (the first, the last two) go by ordinary loads, while the first copies are under way.
// Invariant: the tree is that of tiles.cuh whatever the path. Cost: n reads, n / 16384 writes and reads.
// Bulk copies and mbarriers: PTX ISA, sections cp.async.bulk and mbarrier.
#include "core/device/bulk_copy.cuh"
#include "core/instantiate.hpp"
#include "primitives/reduce/bulk.hpp"
#include "primitives/reduce/tiles.cuh"

#include <algorithm>

namespace spargo::detail::reduce {

namespace {

struct ring {
  int stages;
  int blocks;  // per SM
};

// 2^28 floats, L2 cold: 4 stages x 3 blocks 0.2468 ms, x 1 0.2530, 12 stages x 1 0.2547; ordinary loads 0.2516 to
// 0.264. More measurements: apps/bench/results/primitives_tuning.txt.
constexpr ring values_ring{4, 3};
constexpr ring pairs_ring{3, 2};
constexpr int line = bulk_line;

// An operand of the range: where its first aligned 16 bytes lie, and how far its elements are from there.
template <class T>
struct operand {
  const char* aligned;
  int shift;  // bytes

  __host__ __device__ explicit operand(const T* data)
      : aligned(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(data) / line * line)),
        shift(static_cast<int>(reinterpret_cast<std::uintptr_t>(data) % line)) {}

  // Bytes of a stage, from the aligned address on.
  [[nodiscard]] __device__ unsigned bytes() const {
    return static_cast<unsigned>(stage_bytes + (shift > 0 ? line : 0));
  }
};

// The tiles [first, last) that bulk copies may bring.
struct tile_range {
  std::int64_t first;
  std::int64_t last;
};

template <class T>
tile_range bulk_range(const operands<T>& input) {
  const int shift = std::max(operand<T>(input.a).shift, operand<T>(input.b).shift);
  const std::int64_t whole = input.size / tile_size<T>;
  if (shift == 0) return {0, whole};
  const std::int64_t beyond = input.size - whole * tile_size<T>;  // a copy reads up to 15 bytes after its tile
  return {1, beyond * static_cast<std::int64_t>(sizeof(T)) < line ? whole - 1 : whole};
}

template <class Op, source_kind Source, class T>
struct stage {
  static constexpr int bytes = stage_bytes + 128;  // of an operand; 128 keeps the stages aligned
  static constexpr int all_bytes = bytes * (pairs<Source> ? 2 : 1);

  // Asks for part `part` of a tile; one thread.
  __device__ static void load(char* to, const operand<T>& a, const operand<T>& b, std::int64_t tile, int part,
                              shared_barrier& barrier) {
    const std::int64_t offset = tile * tile_bytes + std::int64_t{part} * stage_bytes;
    barrier.expect_tx(a.bytes() + (pairs<Source> ? b.bytes() : 0));
    bulk_copy(to, a.aligned + offset, a.bytes(), barrier);
    if (pairs<Source>) bulk_copy(to + bytes, b.aligned + offset, b.bytes(), barrier);
  }

  // Adds this thread's column.
  __device__ static void accumulate_into(T (&sum)[tile_accumulators], const char* from, const operand<T>& a,
                                         const operand<T>& b) {
    constexpr int items = stage_bytes / static_cast<int>(sizeof(T)) / tile_threads;
    const T* const x = reinterpret_cast<const T*>(from + a.shift) + threadIdx.x;
    const T* const y = reinterpret_cast<const T*>(from + bytes + b.shift) + threadIdx.x;
#pragma unroll
    for (int e = 0; e < items; ++e) {
      const T other = pairs<Source> ? y[e * tile_threads] : T{0};
      sum[e % tile_accumulators] =
          Op::apply(sum[e % tile_accumulators], device_item<Source>(x[e * tile_threads], other));
    }
  }
};

template <class Op, source_kind Source, int Stages, class T>
__global__ void __launch_bounds__(tile_threads) reduce_bulk_kernel(const T* a_data, const T* b_data, std::int64_t size,
                                                                   tile_range bulk, std::int64_t tiles, T* values) {
  using part_of = stage<Op, Source, T>;
  constexpr int parts = tile_bytes / stage_bytes;
  extern __shared__ __align__(128) char buffer[];
  __shared__ shared_barrier full[Stages];
  __shared__ T of_warp[2][tile_threads / warp_size];
  const operand<T> a(a_data);
  const operand<T> b(b_data);
  const std::int64_t begin = bulk.first + blockIdx.x;
  const std::int64_t mine = begin < bulk.last ? (bulk.last - begin + gridDim.x - 1) / gridDim.x * parts : 0;
  const auto load = [&](std::int64_t k, int at) {  // the block's k-th stage
    part_of::load(buffer + at * part_of::all_bytes, a, b, begin + k / parts * gridDim.x, static_cast<int>(k % parts),
                  full[at]);
  };

  cudaTriggerProgrammaticLaunchCompletion();  // the levels above may take their place; they wait for the end
  if (threadIdx.x == 0) {
    for (shared_barrier& barrier : full) barrier.init(1);
    mbarrier_init_fence();
    fence_for_bulk_copies();
    for (int s = 0; s < Stages && s < mine; ++s) load(s, s);
  }
  int turn = 0;
  for (std::int64_t edge = gridDim.x - 1 - blockIdx.x; edge < tiles - (bulk.last - bulk.first);
       edge += gridDim.x, turn ^= 1) {
    const std::int64_t tile = edge < bulk.first ? edge : edge - bulk.first + bulk.last;
    const T value = reduce_tile<Op, Source, stage_bytes>(a_data, b_data, size, tile, of_warp[turn]);
    if (threadIdx.x == 0) values[tile] = value;
  }
  __syncthreads();

  int at = 0;
  unsigned phase = 0;
  for (std::int64_t k = 0; k < mine; turn ^= 1) {
    T sum[tile_accumulators];
    clear<Op>(sum);
    const std::int64_t tile = begin + k / parts * gridDim.x;
    for (int part = 0; part < parts; ++part, ++k) {
      full[at].wait(phase);
      part_of::accumulate_into(sum, buffer + at * part_of::all_bytes, a, b);
      __syncthreads();
      if (threadIdx.x == 0 && k + Stages < mine) load(k + Stages, at);
      if (++at == Stages) {
        at = 0;
        phase ^= 1;
      }
    }
    const T value = reduce_block<Op, tile_threads>(reduce_registers<Op>(sum), of_warp[turn]);
    if (threadIdx.x == 0) values[tile] = value;
  }
}

template <class Op, source_kind Source, class T>
void run_bulk_tiles(const context<device>& ctx, const operands<T>& input, T* result, std::int64_t wanted) {
  constexpr ring shape = pairs<Source> ? pairs_ring : values_ring;
  constexpr int shared_bytes = shape.stages * stage<Op, Source, T>::all_bytes;
  const std::int64_t tiles = div_up(input.size, tile_size<T>);
  const std::int64_t blocks =
      wanted > 0 ? wanted : std::min<std::int64_t>(tiles, shape.blocks * ctx.properties().multiprocessors);
  array<T, device> values(ctx, tiles);
  const auto kernel = reduce_bulk_kernel<Op, Source, shape.stages, T>;
  SPARGO_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  kernel<<<static_cast<unsigned>(blocks), tile_threads, shared_bytes, ctx.stream()>>>(
      input.a, input.b, input.size, bulk_range(input), tiles, values.data());
  SPARGO_CUDA_TRY(cudaGetLastError());
  combine_values<Op>(ctx, std::move(values), result);
}

}  // namespace

bool has_bulk_tiles(const context<device>& ctx) {
  return ctx.properties().compute_capability_major == 9 && ctx.properties().compute_capability_minor == 0;
}

template <class T>
void run_by_bulk_tiles(const context<device>& ctx, source_kind source, operation op, const operands<T>& in, T* result,
                       std::int64_t blocks) {
  const device_guard guard(ctx);
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    run_bulk_tiles<decltype(apply), decltype(which)::value>(ctx, in, result, blocks);
  });
}

#define INSTANTIATE(T) \
  template void run_by_bulk_tiles(const context<device>&, source_kind, operation, const operands<T>&, T*, std::int64_t);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
