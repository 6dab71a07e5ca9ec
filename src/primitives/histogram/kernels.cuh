// Histogram kernels, one per device algorithm.
//
// Idea: counters in the nearest memory that holds them, and few, cheap increments. An increment of a shared counter by
// the constant 1 whose old value is unused compiles to one instruction (ATOMS.POPC.INC), which counts all lanes at one
// address at once. So skewed data is no problem for 32-bit tables; their only cost is bank conflicts (3.5 for 32 random
// lanes), and per-lane tables have none.
// Invariant: a bin's count is the sum of its shared counters over all blocks plus what was added to the result
// directly; one thread counts each element. Integer sums do not depend on order.
// Cost: n reads; each resident block sweeps its table once at the end.
// Sources: Shams and Kennedy, Efficient histogram algorithms for NVIDIA CUDA compatible devices, 2007; Podlozhnyuk,
// Histogram calculation in CUDA, 2007 (tables per warp); Gomez-Luna et al., An optimized approach to histogram
// computation on GPU, 2013 (replicated tables).
#pragma once

#include "core/device/launch.cuh"
#include "primitives/histogram/bins.hpp"

#include <spargo/core/device_features.cuh>

namespace spargo::detail::histogram {

// H200, 2^30 bytes (256 bins) and 2^28 int32 keys, cold, medians.
struct tuning {
  static constexpr int threads = 1024;         // two blocks of 1024 beat four of 512 by 2 %, one by 2 % (bytes)
  static constexpr int byte_vectors = 4;       // 16-byte loads in flight: 1, 2, 4 take 0.273, 0.264, 0.259 ms
  static constexpr int vectors = 4;            // 2, 4: 0.312, 0.282 ms (65,536 packed bins)
  static constexpr int lanes = 32;             // tables: 1, 8, 16, 32 take 0.446, 0.418, 0.301, 0.264 ms (random bytes)
  static constexpr int block_bins = 12288;     // 48 KiB, the limit without opt-in, for the algorithm of small blocks
  static constexpr int edge_bytes = 64 << 10;  // edges up to this size are copied to shared memory for the search
  static constexpr int hot_lanes = 6;          // of 32 lanes with the same key: from here on it is counted separately
};

// Counts of either width, so that each kernel is compiled once.
struct result {
  void* data;
  std::uint64_t size;
  bool wide;

  __device__ void add(std::uint64_t bin, std::uint64_t n) const {
    if (wide) {
      atomicAdd(static_cast<unsigned long long*>(data) + bin, static_cast<unsigned long long>(n));
    } else {
      atomicAdd(static_cast<unsigned*>(data) + bin, static_cast<unsigned>(n));
    }
  }
};

// --- Elements -------------------------------------------------------------------------------------------------------

// Values at any address: aligned 16-byte vectors, and fewer than two vectors' worth of loose values around them.
template <class T>
struct values {
  static constexpr int per_vector = 16 / static_cast<int>(sizeof(T));
  const T* data;
  std::int64_t size;
  std::int64_t head;  // loose values before the first boundary
  std::int64_t vectors;

  values(const T* from, std::int64_t count) : data(from), size(count) {
    const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from) % 16);
    head = std::min(count, misaligned == 0 ? 0 : (16 - misaligned) / static_cast<std::int64_t>(sizeof(T)));
    vectors = (count - head) / per_vector;
  }
  __device__ uint4 vector(std::int64_t i) const { return __ldcs(reinterpret_cast<const uint4*>(data + head) + i); }
  __device__ std::int64_t loose() const { return size - vectors * per_vector; }
  __device__ T loose(std::int64_t i) const { return data[i < head ? i : i + vectors * per_vector]; }
};

template <class T>
__device__ T element(const uint4& v, int j) {
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
  if constexpr (sizeof(T) == 1) {
    return static_cast<T>(words[j / 4] >> 8 * (j % 4));
  } else if constexpr (std::same_as<T, float>) {
    return __uint_as_float(words[j]);
  } else if constexpr (std::same_as<T, double>) {
    return __hiloint2double(static_cast<int>(words[2 * j + 1]), static_cast<int>(words[2 * j]));
  } else if constexpr (sizeof(T) == 4) {
    return words[j];
  } else {
    return std::uint64_t{words[2 * j + 1]} << 32 | words[2 * j];
  }
}

// f(v) for the values of block `block` of `blocks`; each thread has `ahead` loads in flight.
template <int ahead, class T, class F>
__device__ void for_each_value(const values<T>& in, std::int64_t block, std::int64_t blocks, F&& f) {
  const auto each = [&](const uint4& v) {
#pragma unroll
    for (int j = 0; j < in.per_vector; ++j) f(element<T>(v, j));
  };
  const std::int64_t tile = std::int64_t{ahead} * blockDim.x;
  std::int64_t i = block * tile + threadIdx.x;
#pragma unroll 1
  for (; i + (ahead - 1) * blockDim.x < in.vectors; i += blocks * tile) {
    uint4 v[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) v[k] = in.vector(i + k * blockDim.x);
#pragma unroll
    for (int k = 0; k < ahead; ++k) each(v[k]);
  }
#pragma unroll 1
  for (; i < in.vectors; i += blockDim.x) each(in.vector(i));  // the last, partial tile
  if (block == 0 && threadIdx.x < in.loose()) f(in.loose(threadIdx.x));
}

// --- Shared memory --------------------------------------------------------------------------------------------------

// A block's dynamic shared memory: edges to search if they are small enough, then counters.
template <class Bins>
std::int64_t staged_bytes(const Bins& bins) {
  if constexpr (requires { bins.edges; }) {
    const auto bytes = static_cast<std::int64_t>(div_up((bins.bins + 1) * sizeof(typename Bins::value), 16) * 16);
    return bytes <= tuning::edge_bytes ? bytes : 0;
  }
  return 0;
}

template <class Bins>
__device__ Bins stage(const Bins& bins, void* shared, int bytes) {
  if constexpr (requires { bins.edges; }) {
    if (bytes == 0) return bins;
    auto* edges = static_cast<typename Bins::value*>(shared);
    for (unsigned k = threadIdx.x; k <= bins.bins; k += blockDim.x) edges[k] = bins.edges[k];
    Bins staged = bins;
    staged.edges = edges;
    return staged;
  }
  return bins;
}

__device__ inline void zero(unsigned* table, unsigned size) {
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) table[i] = 0;
}

// Where a block starts its sweep over a table, so that blocks that end together do not hit the same addresses.
__device__ inline unsigned sweep_start(unsigned size) {
  return static_cast<unsigned>(std::uint64_t{blockIdx.x} * size / gridDim.x) / warp_size * warp_size;
}

extern __shared__ __align__(16) unsigned char shared_memory[];

// --- The rungs ------------------------------------------------------------------------------------------------------

// contiguous_partition: thread t has elements [t * share, (t + 1) * share).
template <class Bins>
__global__ void __launch_bounds__(block_threads) contiguous(values<typename Bins::value> in, Bins bins, result out) {
  const std::int64_t share = div_up(in.size, grid_threads());
  const std::int64_t first = global_thread() * share;
  const std::int64_t last = first + share < in.size ? first + share : in.size;
  for (std::int64_t i = first; i < last; ++i) {
    const std::uint64_t bin = bins(in.data[i]);
    if (bin < out.size) out.add(bin, 1);
  }
}

template <class Bins>
__global__ void __launch_bounds__(block_threads) global_atomic(values<typename Bins::value> in, Bins bins, result out) {
  for (std::int64_t i = global_thread(); i < in.size; i += grid_threads()) {
    const std::uint64_t bin = bins(in.data[i]);
    if (bin < out.size) out.add(bin, 1);
  }
}

// Finds the lanes that hold the same bin by ballots over its bits; the first of them adds for all.
template <class Bins>
__global__ void __launch_bounds__(block_threads) aggregated(values<typename Bins::value> in, Bins bins, result out) {
  using index = typename Bins::index;
  using matched = std::conditional_t<sizeof(index) == 4, unsigned, unsigned long long>;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  // Uniform over the warp, so that all its lanes reach every collective.
  for (std::int64_t first = global_thread() - lane; first < in.size; first += grid_threads()) {
    const std::int64_t i = first + lane;
    const index bin = i < in.size ? bins(in.data[i]) : ~index{0};
    const unsigned peers = __match_any_sync(full_mask, static_cast<matched>(bin));
    if (i < in.size && bin < out.size && __ffs(static_cast<int>(peers)) - 1 == lane) {
      out.add(bin, static_cast<unsigned>(__popc(peers)));
    }
  }
}

// Counts one element in the block's table of the first `held` bins, or else in the result.
template <class Index>
__device__ void count_one(Index bin, unsigned* table, unsigned held, const result& out) {
  if (bin < held) {
    atomicAdd(&table[bin], 1U);
  } else if (bin < out.size) {
    out.add(bin, 1);
  }
}

__device__ inline void add_table(const unsigned* table, unsigned held, const result& out) {
  const unsigned start = sweep_start(held);
  for (unsigned i = threadIdx.x; i < held; i += blockDim.x) {
    const unsigned bin = i < held - start ? i + start : i - (held - start);
    if (table[bin] != 0) out.add(bin, table[bin]);
  }
}

// privatized: one element per thread.
template <class Bins>
__global__ void __launch_bounds__(tuning::threads)
    privatized(values<typename Bins::value> in, Bins bins, result out, unsigned held) {
  auto* table = reinterpret_cast<unsigned*>(shared_memory);
  zero(table, held);
  __syncthreads();
  const std::int64_t i = global_thread();
  if (i < in.size) count_one(bins(in.data[i]), table, held, out);
  __syncthreads();
  add_table(table, held, out);
}

// privatized_coarsened: as many blocks as are resident.
template <class Bins>
__global__ void __launch_bounds__(tuning::threads)
    coarsened(values<typename Bins::value> in, Bins bins_, result out, unsigned held, int staged) {
  auto* table = reinterpret_cast<unsigned*>(shared_memory + staged);
  zero(table, held);
  const Bins bins = stage(bins_, shared_memory, staged);
  __syncthreads();
  for_each_value<tuning::vectors>(in, blockIdx.x, gridDim.x,
                                  [&](typename Bins::value v) { count_one(bins(v), table, held, out); });
  __syncthreads();
  add_table(table, held, out);
}

// lane_privatized for bytes: lane l's table of all 256 byte values is in bank l, so that an increment takes a shift and
// a mask and never conflicts. Bins are looked up at the end.
template <class Bins>
__global__ void __launch_bounds__(tuning::threads, resident_blocks(2, tuning::threads))
    lanes_of_bytes(values<std::uint8_t> in, Bins bins, result out) {
  constexpr int lanes = tuning::lanes;
  auto* tables = reinterpret_cast<unsigned*>(shared_memory);
  zero(tables, 256 * lanes);
  __syncthreads();
  unsigned* own = tables + threadIdx.x % lanes;
  for_each_value<tuning::byte_vectors>(in, blockIdx.x, gridDim.x,
                                       [&](std::uint8_t v) { atomicAdd(own + unsigned{v} * lanes, 1U); });
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) {
    std::uint64_t sum = 0;
#pragma unroll 4
    for (unsigned l = 0; l < lanes; ++l) sum += tables[b * lanes + (l + threadIdx.x) % lanes];
    const std::uint64_t bin = bins(static_cast<std::uint8_t>(b));
    if (sum != 0 && bin < out.size) out.add(bin, sum);
  }
}

// lane_privatized for wider elements: 2^shift tables, as many as fit, interleaved by bin.
template <class Bins>
__global__ void __launch_bounds__(tuning::threads)
    lanes_of_values(values<typename Bins::value> in, Bins bins_, result out, unsigned held, int shift, int staged) {
  auto* tables = reinterpret_cast<unsigned*>(shared_memory + staged);
  zero(tables, held << shift);
  const Bins bins = stage(bins_, shared_memory, staged);
  __syncthreads();
  const unsigned lanes = 1U << shift;
  unsigned* own = tables + threadIdx.x % lanes;
  for_each_value<tuning::vectors>(in, blockIdx.x, gridDim.x, [&](typename Bins::value v) {
    const auto bin = bins(v);
    if (bin < held) {
      atomicAdd(own + (static_cast<unsigned>(bin) << shift), 1U);
    } else if (bin < out.size) {
      out.add(bin, 1);
    }
  });
  __syncthreads();
  for (unsigned b = threadIdx.x; b < held; b += blockDim.x) {
    std::uint64_t sum = 0;
    for (unsigned l = 0; l < lanes; ++l) sum += tables[(b << shift) + (l + threadIdx.x) % lanes];
    if (sum != 0) out.add(b, sum);
  }
}

}  // namespace spargo::detail::histogram
