// The K most similar vertices of each vertex on the device.
//
// A block takes a vertex u and adds the terms of its paths of two edges into counters in shared memory: a hash table
// where that is smaller, otherwise an array over a range of ids, one range after the other. The vertices reached become
// candidates if they come before the K-th best so far; when there are many candidates, the best K are kept. Sums are
// integers and the order of candidates is total, so the results do not depend on the order of work.
#pragma once

#include "graph/similarity/cuda_rows.cuh"

namespace spargo::detail::similarity {

// Times: H100, the best 10 of R-MAT 16 of degree 16, ms.
struct top_tuning {
  static constexpr int heavy_block = 1024;  // one per SM
  static constexpr int light_block = 256;   // for vertices with few paths
  static constexpr int light_slots = 4096;
  static constexpr int light_paths = 1800;  // with those back to the vertex at most half of the slots, mostly
  static constexpr int chunk = 256;         // entries of a row that a warp takes
  static constexpr int steps = 8;           // counters of a thread whose degrees are loaded together
  static constexpr int first_span = 128;    // counters that are read before there is a bound
  static constexpr int counted = 256;       // candidates whose places are counted rather than sorted
};
// Candidates of a block, of which it keeps at most half.
constexpr int top_capacity(int block) { return 2 * block; }

// Candidates in shared memory.
template <int Block, class I>
struct candidate_list {
  double* values;  // [capacity]
  I* ids;
  int* places;  // [counted]
  int* count;

  [[nodiscard]] __device__ __forceinline__ static bool precedes(double a_value, I a, double b_value, I b) {
    return a_value > b_value || (a_value == b_value && a < b);
  }

  // Sorts, and keeps the best `room`. All threads of the block call it, between barriers.
  __device__ void keep_best(int room) const {
    const int size = *count;
    if (size <= top_tuning::counted) {
      count_places(size, room);
    } else {
      sort(size);
    }
    if (threadIdx.x == 0) *count = size < room ? size : room;
    __syncthreads();
  }

 private:
  // Finds each candidate's place by counting those before it; several threads share a candidate.
  __device__ void count_places(int size, int room) const {
    const auto thread = static_cast<int>(threadIdx.x);
    int padded = warp_size;
    while (padded < size) padded *= 2;
    const int mine = thread % padded;
    const double value = mine < size ? values[mine] : 0;
    const I id = mine < size ? ids[mine] : I{0};
    if (thread < padded) places[thread] = 0;
    __syncthreads();
    int before = 0;
    for (int k = thread / padded; k < size; k += Block / padded)
      before += precedes(values[k], ids[k], value, id) ? 1 : 0;
    if (mine < size && before > 0) atomicAdd(places + mine, before);
    __syncthreads();
    if (thread < size && places[thread] < room) {
      values[places[thread]] = value;
      ids[places[thread]] = id;
    }
    __syncthreads();
  }

  // Bitonic sort: each thread compares one pair.
  __device__ void sort(int size) const {
    int padded = 2;
    while (padded < size) padded *= 2;
    for (int k = size + static_cast<int>(threadIdx.x); k < padded; k += Block) {
      values[k] = -1;
      ids[k] = 0;
    }
    __syncthreads();
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
  }
};

// firsts: room for each vertex's results; order: the vertices, by descending number of paths; sizes: how many it has.
// paths: of two edges from each vertex.
template <class I>
struct top_results {
  const std::int64_t* firsts;
  const std::int64_t* paths;
  const std::uint32_t* order;
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
  [[nodiscard]] __device__ __forceinline__ I vertex(int place) const {
    return hashed ? static_cast<I>(table.slots[place] - 1) : static_cast<I>(low + place);
  }
  [[nodiscard]] __device__ __forceinline__ sum_type sum(int place) const {
    if (Kind == counter_kind::half && !hashed) return sums[place / 2] >> 16 * (place % 2) & 0xffff;
    return sums[place];
  }
  // The words of a number of places, rounded up to 16 bytes.
  __device__ __forceinline__ void clear(int places, int threads) const {
    const std::int64_t sum_bytes = std::int64_t{places} * (hashed ? static_cast<int>(sizeof(sum_type)) : bytes);
    for (std::int64_t k = threadIdx.x; k < (sum_bytes + 15) / 16; k += threads) {
      reinterpret_cast<uint4*>(sums)[k] = {0, 0, 0, 0};
    }
    if (!hashed) return;
    for (std::int64_t k = threadIdx.x; k < std::int64_t{places} * static_cast<int>(sizeof(key)) / 16; k += threads) {
      reinterpret_cast<uint4*>(table.slots)[k] = {0, 0, 0, 0};
    }
  }
};

// The rows that a block reads together, each cut to a range of ids.
template <class I>
struct row_batch {
  static constexpr int size = 256;
  std::int64_t begins[size];
  std::int64_t ends[size];
  int chunks[size];  // of the rows before
  I owners[size];
};

// Counts the paths from the neighbours owners[0] to owners[size) of a vertex to ids in [low, high). All threads of the
// block call it, between barriers; chunks of the rows are spread over the warps.
template <bool Terms, int Block, counter_kind Kind, class I, class O>
__device__ __forceinline__ void count_paths(const measured_rows<I, O>& g, const O* in_offsets, const I* in_indices,
                                            const I* owners, std::int64_t size, std::int64_t low, std::int64_t high,
                                            const path_counters<Kind, I>& counters, row_batch<I>& batch) {
  using tuning = top_tuning;
  constexpr int warps = Block / warp_size;
  __shared__ int of_warps[warps];
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::int64_t first = 0; first < size; first += batch.size) {
    const int rows = size - first < batch.size ? static_cast<int>(size - first) : batch.size;
    int chunks = 0;
    if (thread < rows) {
      const I w = owners[first + thread];
      const std::int64_t row = in_offsets[w];
      std::int64_t begin = row;
      std::int64_t end = in_offsets[w + 1];
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
      const std::int64_t left = batch.ends[k] - begin;
      const int entries = left < tuning::chunk ? static_cast<int>(left) : tuning::chunk;
      const auto term = static_cast<typename path_counters<Kind, I>::sum_type>(g.template term<Terms>(batch.owners[k]));
      constexpr int steps = tuning::chunk / warp_size;
      I ids[steps];
#pragma unroll
      for (int j = 0; j < steps; ++j) {
        const int e = j * warp_size + lane_id();
        ids[j] = e < entries ? in_indices[begin + e] : I{-1};
      }
#pragma unroll
      for (int j = 0; j < steps; ++j) {
        if (ids[j] >= 0) counters.add(ids[j], term);
      }
    }
    __syncthreads();
  }
}

// A block's shared memory behind its candidates: the batch, then the counters.
template <int Block, class I>
constexpr std::int64_t top_list_bytes() {
  return top_capacity(Block) * static_cast<std::int64_t>(sizeof(double) + sizeof(I)) +
         top_tuning::counted * static_cast<std::int64_t>(sizeof(int)) + static_cast<std::int64_t>(sizeof(row_batch<I>));
}

// The vertices order[first] to order[last). in: the rows of the vertices that have a vertex as a neighbour.
template <counter_kind Kind, int Block, class I, class O>
__global__ void __launch_bounds__(Block)
    top_kernel(measured_rows<I, O> g, const O* in_offsets, const I* in_indices, top_results<I> results,
               std::int64_t first, std::int64_t last, unsigned slots, std::int64_t range, count64* next) {
  using tuning = top_tuning;
  using counters_type = path_counters<Kind, I>;
  using sum_type = typename counters_type::sum_type;
  using key = typename counters_type::key;
  constexpr bool terms = Kind == counter_kind::terms;
  constexpr int capacity = top_capacity(Block);
  extern __shared__ __align__(16) double shared_words[];
  __shared__ int count;
  __shared__ count64 taken;
  auto* const candidate_ids = reinterpret_cast<I*>(shared_words + capacity);
  auto* const places = reinterpret_cast<int*>(candidate_ids + capacity);
  const candidate_list<Block, I> best{shared_words, candidate_ids, places, &count};
  auto& batch = *reinterpret_cast<row_batch<I>*>(places + tuning::counted);
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
    if (static_cast<std::int64_t>(taken) >= last - first) return;
    const std::int64_t u = results.order[first + static_cast<std::int64_t>(taken)];
    const std::int64_t to = results.firsts[u];
    const auto room = static_cast<int>(results.firsts[u + 1] - to);
    if (room == 0) {
      if (thread == 0) results.sizes[u] = 0;
      continue;
    }
    const std::int64_t u_size = g.degree(u);
    const std::int64_t paths = results.paths[u] + u_size;  // with those back to u
    std::int64_t used = 64;
    while (used < 2 * paths && used < static_cast<std::int64_t>(slots)) used *= 2;
    // A table where it is smaller than the array of all ids.
    const bool hashed = used >= 2 * paths && used * counters_type::slot_bytes < g.vertices * counters_type::bytes;
    const int spare = (capacity - room) / 8 * 8;  // counters that certainly have room
    int span = min(max(tuning::first_span, 2 * room), spare) / 8 * 8;
    bool bounded = false;  // the first candidates are the best ones so far, in order
    for (std::int64_t low = 0; low < g.vertices; low += hashed ? g.vertices : range) {
      const std::int64_t high = hashed || low + range > g.vertices ? g.vertices : low + range;
      const int end = hashed ? static_cast<int>(used) : static_cast<int>(high - low);
      const counters_type counters{
          sums, {reinterpret_cast<key*>(sums + slots), static_cast<unsigned>(used) - 1}, hashed, low};
      counters.clear((end + 7) / 8 * 8, Block);
      __syncthreads();
      count_paths<terms, Block>(g, in_offsets, in_indices, g.row(u), u_size, low, high, counters, batch);
      // Steps over the counters: short ones until there is a bound, then longer ones, in which few are wanted.
      for (int base = 0; base < end;) {  // the same for all threads
        const double last_value = bounded ? best.values[room - 1] : 0;
        const I last_id = bounded ? best.ids[room - 1] : I{0};
        const auto bound = static_cast<float>(last_value);
        const auto a = static_cast<float>(u_size);
        const auto reaches = [&](sum_type sum, float b) {
          return may_reach(g.measure, unit, bound, static_cast<float>(sum), a, b);
        };
        sum_type least = 1;  // the least sum that may be wanted, whatever the other degree
        if (!terms && bounded) {
          least = static_cast<sum_type>(first_where(std::int64_t{1}, u_size, [&](std::int64_t c) {
            return reaches(static_cast<sum_type>(c), static_cast<float>(c));
          }));
        }
        const int before = count;
        __syncthreads();
        const int stop = min(base + span, end);
        for (int from = base + thread; from < stop; from += tuning::steps * Block) {
          sum_type found_sums[tuning::steps];
          I sizes[tuning::steps];  // loaded together
#pragma unroll
          for (int j = 0; j < tuning::steps; ++j) {
            const int place = from + j * Block;
            found_sums[j] = place < stop ? counters.sum(place) : sum_type{0};
            sizes[j] = found_sums[j] < least ? I{0} : static_cast<I>(g.degree(counters.vertex(place)));
          }
#pragma unroll
          for (int j = 0; j < tuning::steps; ++j) {
            const sum_type sum = found_sums[j];
            if (sum < least || !reaches(sum, static_cast<float>(sizes[j]))) continue;
            const I v = counters.vertex(from + j * Block);
            if (static_cast<std::int64_t>(v) == u) continue;
            const double value = g.value(sum, u_size, sizes[j]);
            if (bounded && !best.precedes(value, v, last_value, last_id)) continue;
            const int at = atomicAdd(&count, 1);
            if (at < capacity) {
              best.values[at] = value;
              best.ids[at] = v;
            }
          }
        }
        __syncthreads();
        const int found = count;
        __syncthreads();
        if (found > capacity) {  // the step again, shorter
          if (thread == 0) count = before;
          __syncthreads();
          if (before > room) best.keep_best(room);
          span = spare;
          continue;
        }
        base += span;
        if (found >= room && (!bounded || found > room + max(64, room / 2))) {
          best.keep_best(room);
          bounded = true;
        }
        span = min(4 * span, bounded ? 8 * Block : spare);
      }
    }
    best.keep_best(room);
    for (int k = thread; k < count; k += Block) {
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
