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
  static constexpr int rows = 256;     // that a block reads together
  static constexpr int chunk = 128;    // entries of a row that a warp takes
  static constexpr int steps = 8;      // counters that a thread reads between barriers once there is a bound
  static constexpr int crowded = 256;  // candidates that are cut to the best
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

// A float below which no value is wanted, and the test for it without a division: whether a pair may have that value.
// The test rounds, so it errs on the side of true by some 2^-17. `b` is a degree, or the least it may be, `sum`.
[[nodiscard]] __device__ __forceinline__ bool may_reach(similarity_measure measure, float unit, float least, float sum,
                                                        float a, float b) {
  constexpr float slack = 1.00001F;
  switch (measure) {
    case similarity_measure::jaccard:
      return sum * slack >= least * (a + b - sum);
    case similarity_measure::overlap:
      return sum * slack >= least * fminf(a, b);
    case similarity_measure::sorensen:
      return 2 * slack * sum >= least * (a + b);
    case similarity_measure::cosine:
      return sum * slack >= least * sqrtf(a * b);
    case similarity_measure::adamic_adar:
    case similarity_measure::resource_allocation:
    case similarity_measure::common_neighbors:
      return sum * unit * slack >= least;
  }
  return true;
}

enum class counter_kind { half, whole, terms };  // 16 bits, 32 bits, or 64-bit sums of terms

// Counters of a block in shared memory: a hash table of vertices, or an array over a range of ids.
template <counter_kind Kind, class I>
struct path_counters {
  using sum_type = std::conditional_t<Kind == counter_kind::terms, count64, unsigned>;
  using key = typename hashed_row<I>::key;
  static constexpr std::int64_t slot_bytes = sizeof(sum_type) + sizeof(key);
  static constexpr int bytes = Kind == counter_kind::half ? 2 : sizeof(sum_type);  // of a counter of the array

  sum_type* sums;
  hashed_row<I> table;
  bool hashed;
  std::int64_t low;  // the first id of the range

  __device__ __forceinline__ void add(I v, sum_type term) const {
    const std::int64_t at = hashed ? std::int64_t{table.insert(v)} : static_cast<std::int64_t>(v) - low;
    if (Kind == counter_kind::half && !hashed) {
      atomicAdd(sums + at / 2, term << 16 * (at % 2));
    } else {
      atomicAdd(sums + at, term);
    }
  }
  [[nodiscard]] __device__ __forceinline__ sum_type sum(int place) const {
    if (Kind == counter_kind::half && !hashed) return sums[place / 2] >> 16 * (place % 2) & 0xffff;
    return sums[place];
  }
  [[nodiscard]] __device__ __forceinline__ I vertex(int place) const {
    return hashed ? static_cast<I>(table.slots[place] - 1) : static_cast<I>(low + place);
  }
  // Called by all threads of the block.
  __device__ __forceinline__ void clear(std::int64_t places) const {
    const std::int64_t words = Kind == counter_kind::half && !hashed ? (places + 1) / 2 : places;
    for (std::int64_t k = threadIdx.x; k < words; k += top_tuning::block) {
      sums[k] = 0;
      if (hashed) table.slots[k] = 0;
    }
  }
};

// The rows that a block reads together, each cut to a range of ids.
template <class I>
struct row_batch {
  std::int64_t begins[top_tuning::rows];
  std::int64_t ends[top_tuning::rows];
  int chunks[top_tuning::rows];  // of the rows before
  I owners[top_tuning::rows];
};

// Counts the paths from the neighbours owners[0] to owners[size) of a vertex to ids in [low, high). All threads of the
// block call it, between barriers; chunks of the rows are spread over the warps.
template <bool Terms, counter_kind Kind, class I, class O>
__device__ __forceinline__ void count_paths(const measured_rows<I, O>& g, const O* in_offsets, const I* in_indices,
                                            const I* owners, std::int64_t size, std::int64_t low, std::int64_t high,
                                            const path_counters<Kind, I>& counters, row_batch<I>& batch) {
  using tuning = top_tuning;
  constexpr int warps = tuning::block / warp_size;
  __shared__ int of_warps[warps];
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::int64_t first = 0; first < size; first += tuning::rows) {
    const int rows = size - first < tuning::rows ? static_cast<int>(size - first) : tuning::rows;
    int chunks = 0;
    if (thread < rows) {
      const I w = owners[first + thread];
      std::int64_t begin = in_offsets[w];
      std::int64_t end = in_offsets[w + 1];
      const std::int64_t row = begin;
      const std::int64_t row_size = end - begin;
      if (low > 0) begin = row + lower_bound(in_indices + row, row_size, low);
      if (high < g.vertices) end = row + lower_bound(in_indices + row, row_size, high);
      batch.begins[thread] = begin;
      batch.ends[thread] = end;
      batch.owners[thread] = w;
      chunks = static_cast<int>(div_up(end - begin, std::int64_t{tuning::chunk}));
    }
    const prefix_sum<int> sum = block_exclusive_sum(chunks, of_warps);
    if (thread < rows) batch.chunks[thread] = sum.before;
    __syncthreads();
    for (int c = thread / warp_size; c < sum.total; c += warps) {
      const int k = first_where(1, rows, [&](int i) { return batch.chunks[i] > c; }) - 1;
      const std::int64_t begin = batch.begins[k] + std::int64_t{c - batch.chunks[k]} * tuning::chunk;
      const std::int64_t end = batch.ends[k];
      const auto term = static_cast<typename path_counters<Kind, I>::sum_type>(g.template term<Terms>(batch.owners[k]));
      I ids[tuning::chunk / warp_size];
#pragma unroll
      for (int j = 0; j < tuning::chunk / warp_size; ++j) {
        const std::int64_t e = begin + j * warp_size + lane_id();
        ids[j] = e < end ? in_indices[e] : I{-1};
      }
#pragma unroll
      for (int j = 0; j < tuning::chunk / warp_size; ++j) {
        if (ids[j] >= 0) counters.add(ids[j], term);
      }
    }
    __syncthreads();
  }
}

// in: the rows of the vertices that have a vertex as a neighbour.
template <counter_kind Kind, class I, class O>
__global__ void __launch_bounds__(top_tuning::block)
    top_kernel(measured_rows<I, O> g, const O* in_offsets, const I* in_indices, top_results<I> results, unsigned slots,
               std::int64_t range, count64* next) {
  using tuning = top_tuning;
  using counters_type = path_counters<Kind, I>;
  using sum_type = typename counters_type::sum_type;
  using key = typename counters_type::key;
  constexpr bool terms = Kind == counter_kind::terms;
  extern __shared__ double shared_words[];
  __shared__ int count;
  __shared__ count64 taken;
  const candidate_list<I> best{shared_words, reinterpret_cast<I*>(shared_words + tuning::capacity), &count};
  auto& batch = *reinterpret_cast<row_batch<I>*>(best.ids + tuning::capacity);
  auto* const sums = reinterpret_cast<sum_type*>(&batch + 1);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto unit = static_cast<float>(terms ? g.unit : 1.0);
  for (;;) {
    __syncthreads();
    if (thread == 0) {
      taken = atomicAdd(next, count64{1});
      count = 0;
    }
    __syncthreads();
    if (taken >= static_cast<count64>(g.vertices)) return;
    const auto u = static_cast<std::int64_t>(taken);
    const std::int64_t to = results.firsts[u];
    const auto room = static_cast<int>(results.firsts[u + 1] - to);
    if (room == 0) {
      if (thread == 0) results.sizes[u] = 0;
      continue;
    }
    const std::int64_t u_size = g.degree(u);
    const std::int64_t paths = results.paths[u] + u_size;  // with those back to u
    const bool hashed = paths <= static_cast<std::int64_t>(slots / 2);
    unsigned used = 64;
    while (used < 2 * paths && used < slots) used *= 2;
    bool bounded = false;  // the first candidates are the best ones so far, in order
    for (std::int64_t low = 0; low < g.vertices; low += hashed ? g.vertices : range) {
      const std::int64_t high = hashed || low + range > g.vertices ? g.vertices : low + range;
      const int places = hashed ? static_cast<int>(used) : static_cast<int>(high - low);
      const counters_type counters{sums, {reinterpret_cast<key*>(sums + slots), used - 1}, hashed, low};
      counters.clear(places);
      __syncthreads();
      count_paths<terms>(g, in_offsets, in_indices, g.row(u), u_size, low, high, counters, batch);
      // Steps over the counters: short ones until there is a bound, then long ones, in which few are wanted.
      bool single = !bounded;
      int step = bounded ? tuning::block : min(tuning::block, max(2 * room, 128));
      for (int base = 0; base < places;) {  // the same for all threads
        const double last_value = bounded ? best.values[room - 1] : 0;
        const I last_id = bounded ? best.ids[room - 1] : I{0};
        const auto least = static_cast<float>(last_value);
        const int before = count;
        const int steps = single ? 1 : tuning::steps;
        __syncthreads();
        for (int j = 0; j < steps; ++j) {
          const int place = base + j * tuning::block + thread;
          if (place >= places || thread >= step) continue;
          const sum_type sum = counters.sum(place);
          if (sum == 0) continue;
          const auto about = static_cast<float>(sum);
          const auto a = static_cast<float>(u_size);
          if (!may_reach(g.measure, unit, least, about, a, about)) continue;
          const I v = counters.vertex(place);
          const std::int64_t v_size = g.degree(v);
          if (static_cast<std::int64_t>(v) == u ||
              !may_reach(g.measure, unit, least, about, a, static_cast<float>(v_size)))
            continue;
          const double value = g.value(sum, u_size, v_size);
          if (bounded && !candidate_list<I>::precedes(value, v, last_value, last_id)) continue;
          const int at = atomicAdd(&count, 1);
          if (at < tuning::capacity) {
            best.values[at] = value;
            best.ids[at] = v;
          }
        }
        __syncthreads();
        const int found = count;
        __syncthreads();
        if (found > tuning::capacity) {  // after several steps: again, one by one
          if (thread == 0) count = before;
          __syncthreads();
          if (before > room) best.keep_best(room);
          single = true;
          continue;
        }
        base += single ? step : tuning::steps * tuning::block;
        if (!bounded || found > tuning::crowded || found + tuning::block > tuning::capacity) {
          if (found >= room) {
            best.keep_best(room);
            bounded = true;
          }
        }
        single = !bounded || (single && step < tuning::block);
        step = tuning::block;
      }
    }
    best.keep_best(room);
    for (int k = thread; k < count; k += tuning::block) {
      results.targets[to + k] = best.ids[k];
      results.values[to + k] = best.values[k];
    }
    if (thread == 0) results.sizes[u] = count;
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
