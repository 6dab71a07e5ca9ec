// The K most similar vertices of each vertex on the device.
//
// A block takes a vertex u and adds the terms of its paths of two edges into counters in shared memory: a hash table
// for a small number of paths, otherwise an array over a range of ids, one range after the other. The vertices reached
// become candidates if they come before the K-th best so far; when the list of candidates is full, it is sorted and the
// best K are kept. Sums are integers and the order of candidates is total, so the results do not depend on the order of
// work.
#pragma once

#include "graph/similarity/cuda_rows.cuh"

namespace spargo::detail::similarity {

struct top_tuning {
  static constexpr int block = 1024;
  static constexpr int capacity = 2 * block;  // candidates
  static constexpr std::int64_t most = capacity - block;
};

// Candidates in shared memory.
template <class I>
struct candidate_list {
  double* values;
  I* ids;
  int* count;

  [[nodiscard]] __device__ __forceinline__ static bool precedes(double a_value, I a, double b_value, I b) {
    return a_value > b_value || (a_value == b_value && a < b);
  }

  // Sorts, and keeps the best `room`. All threads of the block call it, between barriers.
  __device__ void keep_best(int room) const {
    const int size = *count;
    int padded = 2;
    while (padded < size) padded *= 2;
    for (int k = size + static_cast<int>(threadIdx.x); k < padded; k += top_tuning::block) {
      values[k] = -1;
      ids[k] = 0;
    }
    __syncthreads();
    // Bitonic sort: each thread compares one pair.
    for (int k = 2; k <= padded; k *= 2) {
      for (int j = k / 2; j > 0; j /= 2) {
        const auto t = static_cast<int>(threadIdx.x);
        if (t < padded / 2) {
          const int a = 2 * t - (t & (j - 1));
          const int b = a + j;
          const bool ascends = (a & k) == 0;
          if (precedes(values[b], ids[b], values[a], ids[a]) == ascends) {
            const double value = values[a];
            const I id = ids[a];
            values[a] = values[b];
            ids[a] = ids[b];
            values[b] = value;
            ids[b] = id;
          }
        }
        __syncthreads();
      }
    }
    if (threadIdx.x == 0) *count = size < room ? size : room;
    __syncthreads();
  }
};

// firsts: room for each vertex's results; sizes: how many it has. paths: of two edges from each vertex.
template <class I>
struct top_results {
  const std::int64_t* firsts;
  const std::int64_t* paths;
  I* targets;
  double* values;
  std::int64_t* sizes;
};

// Counters of a block: `slots` of a hash table, or `range` ids.
template <bool Terms, class I>
struct path_counters {
  using sum_type = std::conditional_t<Terms, count64, unsigned>;
  using key = typename hashed_row<I>::key;
  static constexpr std::int64_t slot_bytes = sizeof(sum_type) + sizeof(key);
};

// in: the rows of the vertices that have a vertex as a neighbour.
template <bool Terms, class I, class O>
__global__ void __launch_bounds__(top_tuning::block)
    top_kernel(measured_rows<I, O> g, const O* in_offsets, const I* in_indices, top_results<I> results, unsigned slots,
               std::int64_t range, count64* next) {
  using counters = path_counters<Terms, I>;
  using sum_type = typename counters::sum_type;
  using key = typename counters::key;
  extern __shared__ double shared_words[];
  __shared__ int count;
  __shared__ count64 taken;
  const candidate_list<I> best{shared_words, reinterpret_cast<I*>(shared_words + top_tuning::capacity), &count};
  auto* const sums = reinterpret_cast<sum_type*>(best.ids + top_tuning::capacity);
  auto* const keys = reinterpret_cast<key*>(sums + slots);
  const auto thread = static_cast<std::int64_t>(threadIdx.x);
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      taken = atomicAdd(next, count64{1});
      count = 0;
    }
    __syncthreads();
    if (taken >= static_cast<count64>(g.vertices)) return;
    const auto u = static_cast<std::int64_t>(taken);
    const std::int64_t to = results.firsts[u];
    const auto room = static_cast<int>(results.firsts[u + 1] - to);
    if (room == 0) {
      if (threadIdx.x == 0) results.sizes[u] = 0;
      continue;
    }
    const std::int64_t u_size = g.degree(u);
    const std::int64_t paths = results.paths[u] + u_size;  // with those back to u
    const bool hashed = paths <= static_cast<std::int64_t>(slots / 2);
    unsigned used = 64;
    while (used < 2 * paths && used < slots) used *= 2;
    const hashed_row<I> table{keys, used - 1};
    bool bounded = false;  // the first candidates are the best ones so far, in order
    for (std::int64_t low = 0; low < g.vertices; low += hashed ? g.vertices : range) {
      const std::int64_t high = hashed || low + range > g.vertices ? g.vertices : low + range;
      const std::int64_t places = hashed ? std::int64_t{used} : high - low;
      for (std::int64_t k = thread; k < places; k += top_tuning::block) {
        sums[k] = 0;
        if (hashed) keys[k] = 0;
      }
      __syncthreads();
      for (std::int64_t k = thread / warp_size; k < u_size; k += top_tuning::block / warp_size) {
        const I w = g.row(u)[k];
        const I* const theirs = in_indices + in_offsets[w];
        const std::int64_t size = static_cast<std::int64_t>(in_offsets[w + 1]) - in_offsets[w];
        const auto term = static_cast<sum_type>(g.template term<Terms>(w));
        for (std::int64_t e = (low == 0 ? 0 : lower_bound(theirs, size, low)) + lane_id(); e < size; e += warp_size) {
          const I v = theirs[e];
          if (static_cast<std::int64_t>(v) >= high) break;
          atomicAdd(sums + (hashed ? std::int64_t{table.insert(v)} : static_cast<std::int64_t>(v) - low), term);
        }
      }
      __syncthreads();
      for (std::int64_t base = 0; base < places; base += top_tuning::block) {  // the same for all threads
        const double last_value = bounded ? best.values[room - 1] : 0;
        const I last_id = bounded ? best.ids[room - 1] : I{0};
        const std::int64_t place = base + thread;
        const sum_type sum = place < places ? sums[place] : sum_type{0};
        if (sum > 0) {
          const I v = hashed ? static_cast<I>(keys[place] - 1) : static_cast<I>(low + place);
          if (static_cast<std::int64_t>(v) != u) {
            const double value = g.value(sum, u_size, g.degree(v));
            const bool wanted = !bounded || candidate_list<I>::precedes(value, v, last_value, last_id);
            const int at = wanted ? atomicAdd(&count, 1) : 0;
            if (wanted) {
              best.values[at] = value;
              best.ids[at] = v;
            }
          }
        }
        __syncthreads();
        const bool overflows = count + top_tuning::block > top_tuning::capacity;
        __syncthreads();
        if (overflows) {
          best.keep_best(room);
          bounded = true;
        }
      }
    }
    best.keep_best(room);
    for (int k = static_cast<int>(thread); k < count; k += top_tuning::block) {
      results.targets[to + k] = best.ids[k];
      results.values[to + k] = best.values[k];
    }
    if (threadIdx.x == 0) results.sizes[u] = count;
  }
}

// Moves each vertex's results to their places, a warp for a vertex. starts: sums of the sizes before each.
template <class I>
__global__ void __launch_bounds__(block_threads)
    close_gaps_kernel(std::int64_t vertices, top_results<I> from, const std::int64_t* starts, I* sources, I* targets,
                      double* values) {
  for (std::int64_t u = triangles::global_warp(); u < vertices; u += triangles::grid_warps()) {
    const std::int64_t size = starts[u + 1] - starts[u];
    for (std::int64_t k = lane_id(); k < size; k += warp_size) {
      sources[starts[u] + k] = static_cast<I>(u);
      targets[starts[u] + k] = from.targets[from.firsts[u] + k];
      values[starts[u] + k] = from.values[from.firsts[u] + k];
    }
  }
}

// Paths of two edges from each vertex to others.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_paths_kernel(measured_rows<I, O> g, const O* in_offsets, std::int64_t* paths) {
  for (std::int64_t u = triangles::global_warp(); u < g.vertices; u += triangles::grid_warps()) {
    count64 sum = 0;
    for (std::int64_t k = lane_id(); k < g.degree(u); k += warp_size) {
      const I w = g.row(u)[k];
      sum += static_cast<count64>(in_offsets[w + 1] - in_offsets[w]) - 1;
    }
    __syncwarp();
    sum = warp_sum(sum);
    if (lane_id() == 0) paths[u] = static_cast<std::int64_t>(sum);
  }
}

}  // namespace spargo::detail::similarity
