// Louvain and Leiden on the device: rows of a level, listed by batch and length.
//
// A row belongs to a thread, half a warp, a block, or to a block for each of its segments. The rows of a batch are
// listed together, and among them those of a class, so a launch handles rows of one class.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "graph/communities/modularity.hpp"

#include <spargo/core/array.hpp>

#include <array>

namespace spargo::detail::communities {

struct row_tuning {
  static constexpr int thread_row = 8;    // longest row for a thread
  static constexpr int tile_row = 128;    // for half a warp
  static constexpr int block_row = 1024;  // for a block of 256 threads
  static constexpr int segment = 8192;    // entries of a longer row for a block of 1024 threads, at most
  static constexpr int classes = 4;
  static constexpr int batches = 8;  // as the host
  static constexpr int buckets = classes * batches;
};
static_assert(row_tuning::buckets == warp_size);

__device__ inline void add_to(int* to, int value) { atomicAdd(to, value); }
__device__ inline void add_to(unsigned* to, unsigned value) { atomicAdd(to, value); }
__device__ inline void add_to(count64* to, count64 value) { atomicAdd(to, value); }
__device__ inline void add_to(std::int64_t* to, std::int64_t value) {
  atomicAdd(reinterpret_cast<count64*>(to), static_cast<count64>(value));
}
__device__ inline int fetch_add(int* to, int value) { return atomicAdd(to, value); }
__device__ inline std::int64_t fetch_add(std::int64_t* to, std::int64_t value) {
  return static_cast<std::int64_t>(atomicAdd(reinterpret_cast<count64*>(to), static_cast<count64>(value)));
}
__device__ inline int compare_swap(int* at, int expected, int value) { return atomicCAS(at, expected, value); }
__device__ inline std::int64_t compare_swap(std::int64_t* at, std::int64_t expected, std::int64_t value) {
  return static_cast<std::int64_t>(
      atomicCAS(reinterpret_cast<count64*>(at), static_cast<count64>(expected), static_cast<count64>(value)));
}
__device__ inline void lower_to(int* to, int value) { atomicMin(to, value); }
__device__ inline void lower_to(std::int64_t* to, std::int64_t value) {
  atomicMin(reinterpret_cast<long long*>(to), static_cast<long long>(value));
}

// --- Groups of threads ----------------------------------------------------

// items: entries of its longest row for a thread.
struct thread_group {
  static constexpr int size = 1;
  static constexpr int block = block_threads;
  __device__ static std::int64_t first() { return global_thread(); }
  __device__ static std::int64_t count() { return grid_threads(); }
  __device__ static int rank() { return 0; }
  __device__ static void sync() {}
  template <class T, class F>
  __device__ static T reduce(T value, F) {
    return value;
  }
};

// Half a warp: most rows are shorter than a warp is wide. The halves run apart.
struct tile_group {
  static constexpr int size = 16;
  static constexpr int block = 128;
  static constexpr int items = row_tuning::tile_row / size;
  __device__ static std::int64_t first() { return global_thread() / size; }
  __device__ static std::int64_t count() { return grid_threads() / size; }
  __device__ static int rank() { return static_cast<int>(threadIdx.x) % size; }
  __device__ static unsigned mask() { return 0xffffU << (lane_id() & size); }
  __device__ static void sync() { __syncwarp(mask()); }
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
      value = combine(value, shuffle_words(value, [step](auto v) { return __shfl_xor_sync(mask(), v, step); }));
    }
    return value;
  }
};

template <int Threads, int Row>
struct block_group {
  static constexpr int size = Threads;
  static constexpr int block = Threads;
  static constexpr int items = Row / size;
  __device__ static std::int64_t first() { return blockIdx.x; }
  __device__ static std::int64_t count() { return gridDim.x; }
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static void sync() { __syncthreads(); }
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
    __shared__ T of_warps[size / warp_size];
    value = fold_warps_to_all(warp_reduce(value, combine), of_warps, combine);
    __syncthreads();
    return value;
  }
};

// --- Lists of rows --------------------------------------------------------

// The bucket of a row: its batch and its class. active: null, or 0 where a row belongs to none.
template <class O>
struct bucket_rule {
  const O* offsets;
  const std::uint8_t* active;
  std::uint64_t key;
  unsigned batches = row_tuning::batches;

  __device__ std::int64_t size(std::int64_t v) const {
    return static_cast<std::int64_t>(offsets[v + 1]) - static_cast<std::int64_t>(offsets[v]);
  }
  __device__ int bucket(std::int64_t v) const {
    if (active != nullptr && active[v] == 0) return -1;
    const std::int64_t length = size(v);
    const int kind = length <= row_tuning::thread_row  ? 0
                     : length <= row_tuning::tile_row  ? 1
                     : length <= row_tuning::block_row ? 2
                                                       : 3;
    const auto batch = static_cast<int>(mixed_bits(key, static_cast<std::uint64_t>(v)) % batches);
    return batch * row_tuning::classes + kind;
  }
};

// Slots of a hash table for this number of labels: a power of two, at least twice the labels.
[[nodiscard]] SPARGO_HD inline std::int64_t slots_for(std::int64_t labels) {
  std::int64_t slots = 2;
  while (slots < 2 * labels) slots *= 2;
  return slots;
}

// How longer rows are divided. labels: the most that a row has.
struct division {
  std::int64_t segment;
  std::int64_t labels;

  [[nodiscard]] SPARGO_HD std::int64_t segments(std::int64_t size) const { return (size + segment - 1) / segment; }
  // Slots of the table of a row of several segments.
  [[nodiscard]] SPARGO_HD std::int64_t slots(std::int64_t size) const {
    return size > segment ? slots_for(size < labels ? size : labels) : 0;
  }
};
struct row_counters {
  count64 rows[row_tuning::buckets];
  count64 next[row_tuning::buckets];  // where the next row of a bucket goes
  // Of the last class, by batch: segments, slots of tables, and where the next ones go.
  count64 segments[row_tuning::batches];
  count64 slots[row_tuning::batches];
  count64 next_segment[row_tuning::batches];
  count64 next_slot[row_tuning::batches];
  count64 moved;
  count64 gained;  // as gain_rule::summed
};

template <class O>
__global__ void __launch_bounds__(block_threads)
    count_rows_kernel(std::int64_t n, division rows, bucket_rule<O> rule, row_counters* counters) {
  __shared__ unsigned counts[row_tuning::buckets];
  if (threadIdx.x < row_tuning::buckets) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const int bucket = rule.bucket(v);
    if (bucket < 0) continue;
    atomicAdd(&counts[bucket], 1U);
    if (bucket % row_tuning::classes != row_tuning::classes - 1) continue;
    const std::int64_t size = rule.size(v);
    const int batch = bucket / row_tuning::classes;
    atomicAdd(&counters->segments[batch], static_cast<count64>(rows.segments(size)));
    atomicAdd(&counters->slots[batch], static_cast<count64>(rows.slots(size)));
  }
  __syncthreads();
  if (threadIdx.x < row_tuning::buckets && counts[threadIdx.x] > 0) {
    atomicAdd(&counters->rows[threadIdx.x], static_cast<count64>(counts[threadIdx.x]));
  }
}

static __global__ void clear_buckets_kernel(row_counters* counters) {
  counters->rows[threadIdx.x] = 0;
  if (threadIdx.x < row_tuning::batches) {
    counters->segments[threadIdx.x] = 0;
    counters->slots[threadIdx.x] = 0;
  }
}
static __global__ void place_buckets_kernel(row_counters* counters) {
  counters->next[threadIdx.x] = warp_exclusive_sum(counters->rows[threadIdx.x]);
  const bool is_batch = threadIdx.x < row_tuning::batches;
  const count64 before = warp_exclusive_sum(is_batch ? counters->segments[threadIdx.x] : count64{0});
  if (is_batch) {
    counters->next_segment[threadIdx.x] = before;
    counters->next_slot[threadIdx.x] = 0;
  }
}
static __global__ void clear_moves_kernel(row_counters* counters) {
  counters->moved = 0;
  counters->gained = 0;
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_rows_by_bucket_kernel(std::int64_t n, bucket_rule<O> rule, row_counters* counters, I* list) {
  __shared__ unsigned counts[row_tuning::buckets];
  __shared__ count64 begins[row_tuning::buckets];
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads; base < n; base += grid_threads()) {
    if (threadIdx.x < row_tuning::buckets) counts[threadIdx.x] = 0;
    __syncthreads();
    const std::int64_t v = base + threadIdx.x;
    const int bucket = v < n ? rule.bucket(v) : -1;
    const unsigned place = bucket >= 0 ? atomicAdd(&counts[bucket], 1U) : 0;
    __syncthreads();
    if (threadIdx.x < row_tuning::buckets) {
      const unsigned own = counts[threadIdx.x];
      begins[threadIdx.x] = own > 0 ? atomicAdd(&counters->next[threadIdx.x], static_cast<count64>(own)) : 0;
    }
    __syncthreads();
    if (bucket >= 0) list[begins[bucket] + place] = static_cast<I>(v);
    __syncthreads();
  }
}

// A segment of a row, and where the row's table begins. arrived: of the row's first segment, segments done.
struct row_segment {
  std::int64_t place;  // of the row in the list
  std::int64_t table;
  unsigned index;      // among the row's
  unsigned arrived;    // 0 between launches
  std::int64_t first;  // of the row's segments
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_segments_kernel(std::int64_t first, std::int64_t count, const I* list, division rows, bucket_rule<O> rule,
                         int batch, row_counters* counters, row_segment* segments) {
  for (std::int64_t r = global_thread(); r < count; r += grid_threads()) {
    const std::int64_t v = list[first + r];
    const std::int64_t size = rule.size(v);
    const std::int64_t own = rows.segments(size);
    const auto at = static_cast<std::int64_t>(atomicAdd(&counters->next_segment[batch], static_cast<count64>(own)));
    const auto table =
        static_cast<std::int64_t>(atomicAdd(&counters->next_slot[batch], static_cast<count64>(rows.slots(size))));
    for (std::int64_t s = 0; s < own; ++s) segments[at + s] = {first + r, table, static_cast<unsigned>(s), 0, at};
  }
}

using block_row_group = block_group<block_threads, row_tuning::block_row>;
using segment_group = block_group<1024, row_tuning::segment>;

// body(Group{}, k, v, begin, end) for entries begin to end, all of the row v at place k of the list; then
// body.finish(), by all threads.
template <class Group, class I, class O, class Body>
__global__ void __launch_bounds__(Group::block)
    each_row_kernel(std::int64_t first, std::int64_t count, const I* list, const O* offsets, Body body) {
  for (std::int64_t r = Group::first(); r < count; r += Group::count()) {
    const std::int64_t v = list[first + r];
    body(Group{}, first + r, v, std::int64_t{offsets[v]}, std::int64_t{offsets[v + 1]});
  }
  __syncwarp();
  body.finish();
}

// The same for the entries of segments.
template <class I, class O, class Body>
__global__ void __launch_bounds__(segment_group::block)
    each_segment_kernel(std::int64_t count, std::int64_t segment, const row_segment* segments, const I* list,
                        const O* offsets, Body body) {
  for (std::int64_t s = blockIdx.x; s < count; s += gridDim.x) {
    const row_segment& own = segments[s];
    const std::int64_t v = list[own.place];
    const std::int64_t begin = std::int64_t{offsets[v]} + std::int64_t{own.index} * segment;
    const std::int64_t end = offsets[v + 1];
    body(segment_group{}, own.place, v, begin, begin + segment < end ? begin + segment : end);
  }
  __syncwarp();
  body.finish();
}

// The rows of a level, or the active ones, in buckets.
template <class I, class O>
class row_lists {
 public:
  explicit row_lists(const context<device>& ctx, std::int64_t rows, std::int64_t segment = row_tuning::segment)
      : ctx_(ctx),
        division_{segment, rows},
        list_(ctx, rows),
        counters_(ctx, 1),
        pinned_(context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1) {
    fill_zero<row_counters, device>(ctx, counters_.view());
  }

  struct progress {
    std::int64_t moved;
    std::int64_t gained;
  };
  // Counts the rows of every bucket; waits for the device. Returns what happened since the last call.
  progress count(std::int64_t n, const bucket_rule<O>& rule) {
    const device_guard guard(ctx_);
    launch_kernel(ctx_, {1, warp_size}, clear_buckets_kernel, counters_.data());
    if (n > 0) launch_kernel(ctx_, grid_stride(ctx_, n), count_rows_kernel<O>, n, division_, rule, counters_.data());
    launch_kernel(ctx_, {1, warp_size}, place_buckets_kernel, counters_.data());
    copy_to_host(ctx_, counters_.data(), pinned_.data(), sizeof(row_counters));
    launch_kernel(ctx_, {1, 1}, clear_moves_kernel, counters_.data());
    ctx_.synchronize();
    for (int b = 0; b < row_tuning::buckets; ++b) begin_[b + 1] = begin_[b] + as_signed(pinned_[0].rows[b]);
    for (int b = 0; b < row_tuning::batches; ++b) {
      segment_begin_[b + 1] = segment_begin_[b] + as_signed(pinned_[0].segments[b]);
    }
    return {as_signed(pinned_[0].moved), as_signed(pinned_[0].gained)};
  }
  // Lists the rows counted last.
  void list(std::int64_t n, const bucket_rule<O>& rule) {
    if (begin_[row_tuning::buckets] == 0) return;
    const device_guard guard(ctx_);
    launch_kernel(ctx_, grid_stride(ctx_, n), list_rows_by_bucket_kernel<I, O>, n, rule, counters_.data(),
                  list_.data());
    const std::int64_t segments = segment_begin_[row_tuning::batches];
    if (segments > segments_.size()) segments_ = {ctx_, segments};
    for (int b = 0; b < row_tuning::batches; ++b) {
      const range rows = of(row_tuning::classes - 1, b);
      if (rows.count == 0) continue;
      launch_kernel(ctx_, grid_stride(ctx_, rows.count), list_segments_kernel<I, O>, rows.first, rows.count,
                    list_.data(), division_, rule, b, counters_.data(), segments_.data());
    }
  }
  void list_all(std::int64_t n, const bucket_rule<O>& rule) {
    (void)count(n, rule);
    list(n, rule);
  }
  // In one batch.
  void list_all(std::int64_t n, const O* offsets) { list_all(n, {offsets, nullptr, 0, 1}); }

  [[nodiscard]] row_counters* counters() { return counters_.data(); }
  [[nodiscard]] const I* rows() const { return list_.data(); }
  [[nodiscard]] std::int64_t bytes() const {
    return list_.size() * std::int64_t{sizeof(I)} + segments_.size() * std::int64_t{sizeof(row_segment)};
  }

  struct range {
    std::int64_t first;
    std::int64_t count;
  };
  [[nodiscard]] range of(int kind, int batch) const {
    const int bucket = batch * row_tuning::classes + kind;
    return {begin_[bucket], begin_[bucket + 1] - begin_[bucket]};
  }
  [[nodiscard]] range of_batch(int batch) const {
    const int bucket = batch * row_tuning::classes;
    return {begin_[bucket], begin_[bucket + row_tuning::classes] - begin_[bucket]};
  }
  // Those of rows of the last class.
  [[nodiscard]] range segments_of_batch(int batch) const {
    return {segment_begin_[batch], segment_begin_[batch + 1] - segment_begin_[batch]};
  }
  [[nodiscard]] const division& divided() const { return division_; }
  [[nodiscard]] row_segment* segments() { return segments_.data(); }
  // Slots of the tables of a batch's rows of several segments.
  [[nodiscard]] std::int64_t most_slots() const {
    std::int64_t most = 0;
    for (const count64 slots : pinned_[0].slots) most = std::max(most, as_signed(slots));
    return most;
  }

  // body for all rows of a batch, the longest in segments.
  template <class Body>
  void for_batch(int batch, const O* offsets, const Body& body) const {
    const device_guard guard(ctx_);
    const range segments = segments_of_batch(batch);
    if (segments.count > 0) {
      launch_kernel(ctx_, {std::int64_t{blocks_for(ctx_, segments.count, 1)}, segment_group::block},
                    each_segment_kernel<I, O, Body>, segments.count, division_.segment,
                    segments_.data() + segments.first, list_.data(), offsets, body);
    }
    const auto start = [&](const range& rows, const launch_shape& shape, auto kernel) {
      if (rows.count > 0) launch_kernel(ctx_, shape, kernel, rows.first, rows.count, list_.data(), offsets, body);
    };
    start(of(2, batch), grid_stride(ctx_, of(2, batch).count, 1), each_row_kernel<block_row_group, I, O, Body>);
    start(of(1, batch), tile_shape(of(1, batch).count), each_row_kernel<tile_group, I, O, Body>);
    start(of(0, batch), grid_stride(ctx_, of(0, batch).count), each_row_kernel<thread_group, I, O, Body>);
  }
  template <class Body>
  void for_all(const O* offsets, const Body& body) const {
    for (int batch = 0; batch < row_tuning::batches; ++batch) for_batch(batch, offsets, body);
  }
  [[nodiscard]] launch_shape tile_shape(std::int64_t rows) const {
    return {std::int64_t{blocks_for(ctx_, rows, tile_group::block / tile_group::size)}, tile_group::block};
  }

 private:
  [[nodiscard]] static std::int64_t as_signed(count64 value) { return static_cast<std::int64_t>(value); }

  context<device> ctx_;
  division division_;
  array<I, device> list_;
  array<row_segment, device> segments_;
  array<row_counters, device> counters_;
  array<row_counters, host> pinned_;
  std::int64_t begin_[row_tuning::buckets + 1]{};
  std::int64_t segment_begin_[row_tuning::batches + 1]{};
};

}  // namespace spargo::detail::communities
