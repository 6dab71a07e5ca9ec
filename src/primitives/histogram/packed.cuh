// multi_pass: two 16-bit counters per word of shared memory, so that a block holds about 116,000 bins.
//
// Bin k of a window of 2 * half bins is the lower half of word k, or the upper half of word k - half. Increments
// atomically add n or n * 65536 (0 < n < 65536) to the word and test the old word returned:
//   - if an upper half overflows, it is 65536 too small: the thread adds 65536 to the result;
//   - if a lower half overflows, it is 65536 too small too, and its carry adds 1 to the upper half, which may wrap from
//     65535 to 0 (the thread adds 65536 to the upper bin's result). The thread then subtracts 65536 from the word to
//     undo the carry, which may wrap an upper half from 0 to 65535 (it subtracts 65536 from that result).
// Invariant: every change of a half is the intended one, up to 65536, and the thread that made it corrects the result
// from the old word alone. So half + result differ from the true count only by carries not yet undone, for any
// interleaving; after the barrier there are none. Intermediate sums may be negative: they are modulo 2^32 or 2^64.
//
// Lanes with the same bin serialise at its word. So each warp samples one key per batch: if many lanes hold the same,
// that key is hot, and each lane counts it in a register until another key becomes hot. Batches without a hot key pay
// two votes and a shuffle per 16 keys per lane.
//
// If there are more bins than a table holds, they are counted in windows: for each tile the blocks of all windows are
// neighbours and read it from L2 after the first one has.
#pragma once

#include "core/device/warp.cuh"
#include "primitives/histogram/kernels.cuh"

namespace spargo::detail::histogram {

struct windows {
  unsigned held;   // bins per window
  unsigned count;  // number of windows; other keys belong to other blocks
  int staged;      // bytes of edges before the table
};

struct packed_table {
  static constexpr unsigned nothing = ~0U;  // no bin of this window

  unsigned* words;
  unsigned half;
  std::uint64_t first;  // first bin of the window
  const result& out;

  __device__ unsigned add(unsigned key, unsigned n) const {
    return key < half ? atomicAdd(words + key, n) : atomicAdd(words + (key - half), n << 16);
  }
  // Whether adding n to the half of `key` overflowed it, given the old word.
  __device__ bool carries(unsigned key, unsigned n, unsigned old) const {
    return (key < half ? old & 0xffffU : old >> 16) + n > 0xffffU;
  }
  __device__ void undo_carry(unsigned key, unsigned old) const {
    correct(key, 0x10000);
    if (key >= half) return;
    if (old >> 16 == 0xffffU) correct(key + half, 0x10000);
    if (atomicSub(words + key, 0x10000U) >> 16 == 0) correct(key + half, -0x10000);
  }
  __device__ void add_checked(unsigned key, unsigned n) const {
    const unsigned old = add(key, n);
    if (carries(key, n, old)) undo_carry(key, old);
  }
  // With an odd number of bins the last word's upper half is no bin and is 0 in the end.
  __device__ void correct(unsigned key, std::int64_t by) const {
    if (first + key < out.size) out.add(first + key, static_cast<std::uint64_t>(by));
  }
};

// The hot key and this lane's count of it.
struct hot_key {
  unsigned key = packed_table::nothing;
  unsigned hits = 0;

  __device__ void flush(const packed_table& table) {
    const unsigned all = warp_sum(hits);
    if (all != 0 && key != packed_table::nothing && threadIdx.x % warp_size == 0) table.add_checked(key, all);
    hits = 0;
  }
  // Whether the batch has a hot key, judged by the lanes' `sample`; may replace the hot key.
  __device__ bool update(const packed_table& table, unsigned sample, unsigned round) {
    const int of_old = __popc(__ballot_sync(full_mask, sample == key));
    if (of_old >= tuning::hot_lanes) return true;
    const unsigned candidate = __shfl_sync(full_mask, sample, static_cast<int>(round % warp_size));
    if (__popc(__ballot_sync(full_mask, sample == candidate)) < tuning::hot_lanes) return false;
    flush(table);
    key = candidate;
    return true;
  }
};

// Counts a batch of keys, eight additions in flight.
template <bool with_hot, int size>
__device__ void count_batch(const packed_table& table, const unsigned (&key)[size], hot_key& hot) {
  constexpr int group = size < 8 ? size : 8;
#pragma unroll
  for (int g = 0; g < size; g += group) {
    unsigned old[group];
    bool carry = false;
#pragma unroll
    for (int j = 0; j < group; ++j) {
      old[j] = 0;
      if (with_hot && key[g + j] == hot.key) {
        ++hot.hits;
      } else if (key[g + j] != packed_table::nothing) {
        old[j] = table.add(key[g + j], 1);
      }
    }
#pragma unroll
    for (int j = 0; j < group; ++j) carry |= table.carries(key[g + j], 1, old[j]);
    if (carry) {
#pragma unroll
      for (int j = 0; j < group; ++j) {
        if (table.carries(key[g + j], 1, old[j])) table.undo_carry(key[g + j], old[j]);
      }
    }
  }
}

__device__ inline void add_packed_table(const packed_table& table, unsigned held, const result& out) {
  const unsigned start = sweep_start(table.half);
  for (unsigned i = threadIdx.x; i < table.half; i += blockDim.x) {
    const unsigned at = i < table.half - start ? i + start : i - (table.half - start);
    const unsigned word = table.words[at];
    if ((word & 0xffffU) != 0) out.add(table.first + at, word & 0xffffU);
    if (word >> 16 != 0 && at + table.half < held) out.add(table.first + table.half + at, word >> 16);
  }
}

template <class Bins>
__global__ void __launch_bounds__(tuning::threads, 1)
    packed(values<typename Bins::value> in, Bins bins_, result out, windows shape) {
  using value = typename Bins::value;
  constexpr int per_vector = values<value>::per_vector;
  constexpr int ahead = per_vector == 16 ? 1 : tuning::vectors;
  const std::uint64_t first = std::uint64_t{blockIdx.x % shape.count} * shape.held;
  const unsigned held = static_cast<unsigned>(out.size - first < shape.held ? out.size - first : shape.held);
  const packed_table table{reinterpret_cast<unsigned*>(shared_memory + shape.staged), (held + 1) / 2, first, out};
  zero(table.words, table.half);
  const Bins bins = stage(bins_, shared_memory, shape.staged);
  __syncthreads();

  const auto key_of = [&](value v) {
    const auto key = static_cast<typename Bins::index>(bins(v) - first);
    return key < held ? static_cast<unsigned>(key) : packed_table::nothing;
  };
  hot_key hot;
  unsigned round = 0;
  const std::int64_t tile = ahead * tuning::threads;
  const std::int64_t blocks = gridDim.x / shape.count;
  for (std::int64_t t = blockIdx.x / shape.count * tile; t < in.vectors; t += blocks * tile) {
    unsigned key[ahead * per_vector];
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const std::int64_t i = t + k * tuning::threads + threadIdx.x;
      const uint4 v = i < in.vectors ? in.vector(i) : uint4{};
#pragma unroll
      for (int j = 0; j < per_vector; ++j) {
        key[k * per_vector + j] = i < in.vectors ? key_of(element<value>(v, j)) : packed_table::nothing;
      }
    }
    if (hot.update(table, key[0], round++)) {
      count_batch<true>(table, key, hot);
    } else {
      count_batch<false>(table, key, hot);
    }
    if (__any_sync(full_mask, hot.hits >= 1024)) hot.flush(table);  // 32 * (1024 + a batch) < 65536
  }
  hot.flush(table);
  if (blockIdx.x / shape.count == 0 && threadIdx.x < in.loose()) {
    const unsigned key = key_of(in.loose(threadIdx.x));
    if (key != packed_table::nothing) table.add_checked(key, 1);
  }
  __syncthreads();
  add_packed_table(table, held, out);
}

}  // namespace spargo::detail::histogram
