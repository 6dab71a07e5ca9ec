// Louvain and Leiden on the device: rows of a level, listed by batch and length.
//
// A row belongs to a thread, some lanes of a warp, a block, or to a block for each of its segments. The rows of a batch
// are listed together, and among them those of a class, so a launch handles rows of one class.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "graph/communities/local_moving.hpp"

#include <spargo/core/array.hpp>

#include <array>

namespace spargo::detail::communities {

struct row_tuning {
  static constexpr int thread_row = 8;    // longest row for a thread
  static constexpr int eight_row = 32;    // for eight lanes
  static constexpr int tile_row = 128;    // for half a warp
  static constexpr int block_row = 1024;  // for a block of 128 threads
  static constexpr int segment = 4096;    // entries of a longer row for a block of 512 threads, at most
  static constexpr int classes = 5;
  static constexpr int batches = 8;  // as the host
  static constexpr int buckets = classes * batches;
};
static_assert(row_tuning::buckets <= 2 * warp_size);

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

// Some lanes of a warp. All lanes of the warp take part in whatever its groups do, those without a row too: groups that
// run apart would execute most instructions once each.
template <int Lanes, int Row>
struct lane_group {
  static constexpr int size = Lanes;
  static constexpr int block = 128;
  static constexpr int items = Row / size;
  __device__ static std::int64_t first() { return global_thread() / size; }
  __device__ static std::int64_t count() { return grid_threads() / size; }
  __device__ static int rank() { return static_cast<int>(threadIdx.x) % size; }
  __device__ static void sync() { __syncwarp(); }
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
    return group_reduce(value, size, combine);
  }
};

// Half a warp, whose halves run apart.
struct tile_group {
  static constexpr int size = 16;
  static constexpr int block = 128;
  __device__ static std::int64_t first() { return global_thread() / size; }
  __device__ static std::int64_t count() { return grid_threads() / size; }
  __device__ static int rank() { return static_cast<int>(threadIdx.x) % size; }
  __device__ static unsigned mask() { return 0xffffU << (lane_id() & size); }
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

// The bucket of a row: its batch and its class. turn: null, or as in is_marked_by: rows without a mark belong to none.
template <class O>
struct bucket_rule {
  const O* offsets;
  std::uint8_t* turn;
  std::uint64_t key;
  unsigned batches = row_tuning::batches;

  __device__ std::int64_t size(std::int64_t v) const {
    return static_cast<std::int64_t>(offsets[v + 1]) - static_cast<std::int64_t>(offsets[v]);
  }
  __device__ int bucket(std::int64_t v) const {
    if (turn != nullptr && turn[v] < turn_marked) return -1;
    const std::int64_t length = size(v);
    const int kind = length <= row_tuning::thread_row  ? 0
                     : length <= row_tuning::eight_row ? 1
                     : length <= row_tuning::tile_row  ? 2
                     : length <= row_tuning::block_row ? 3
                                                       : 4;
    const auto batch = static_cast<int>(mixed_bits(key, static_cast<std::uint64_t>(v)) % batches);
    return batch * row_tuning::classes + kind;
  }
  // When the row is listed.
  __device__ void take_turn(std::int64_t v, int bucket) const {
    if (turn != nullptr) turn[v] = static_cast<std::uint8_t>(bucket < 0 ? 0 : bucket / row_tuning::classes + 1);
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
  [[nodiscard]] SPARGO_HD std::int64_t most_labels(std::int64_t size) const { return size < labels ? size : labels; }
  // Slots of the table of a row of several segments.
  [[nodiscard]] SPARGO_HD std::int64_t slots(std::int64_t size) const {
    return size > segment ? slots_for(most_labels(size)) : 0;
  }
};
// Rows by bucket; of the last class, by batch, segments and slots of tables; and what nodes did since the last count.
struct row_counts {
  count64 rows[row_tuning::buckets];
  count64 segments[row_tuning::batches];
  count64 slots[row_tuning::batches];
  count64 moved;
  count64 gained;  // as gain_rule::summed
};
struct row_counters {
  row_counts now;      // 0 between counts, but for moved and gained
  row_counts counted;  // for the host
  // Where the next ones go.
  count64 next[row_tuning::buckets];
  count64 next_segment[row_tuning::batches];
  count64 next_slot[row_tuning::batches];
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
    atomicAdd(&counters->now.segments[batch], static_cast<count64>(rows.segments(size)));
    atomicAdd(&counters->now.slots[batch], static_cast<count64>(rows.slots(size)));
  }
  __syncthreads();
  if (threadIdx.x < row_tuning::buckets && counts[threadIdx.x] > 0) {
    atomicAdd(&counters->now.rows[threadIdx.x], static_cast<count64>(counts[threadIdx.x]));
  }
}

// One block of block_threads.
static __global__ void __launch_bounds__(block_threads) place_buckets_kernel(row_counters* counters) {
  constexpr int words = sizeof(row_counts) / sizeof(count64);
  static_assert(words <= block_threads);
  __shared__ row_counts counts;
  auto* const now = reinterpret_cast<count64*>(&counters->now);
  if (threadIdx.x < words) {
    reinterpret_cast<count64*>(&counts)[threadIdx.x] = now[threadIdx.x];
    now[threadIdx.x] = 0;
  }
  __syncthreads();
  if (threadIdx.x < words) {
    reinterpret_cast<count64*>(&counters->counted)[threadIdx.x] = reinterpret_cast<count64*>(&counts)[threadIdx.x];
  }
  const auto place = [](int own, const count64* sizes) {
    count64 before = 0;
    for (int k = 0; k < own; ++k) before += sizes[k];
    return before;
  };
  const int own = static_cast<int>(threadIdx.x);
  if (own < row_tuning::buckets) counters->next[own] = place(own, counts.rows);
  if (own < row_tuning::batches) {
    counters->next_segment[own] = place(own, counts.segments);
    counters->next_slot[own] = 0;
  }
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
    if (v < n) rule.take_turn(v, bucket);
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

// A segment of a row, and where the row's table begins. The rest, of a row's first segment, is 0 between launches.
struct row_segment {
  std::int64_t place;  // of the row in the list
  std::int64_t table;
  std::int64_t first;  // of the row's segments
  unsigned index;      // among the row's
  unsigned arrived;    // segments done
  unsigned used;       // of the rule
  count64 inside;      // the sum of the row's own label
};

// Rows of the last class in a batch.
struct long_rows {
  std::int64_t first[row_tuning::batches];
  std::int64_t count[row_tuning::batches];
};

// blockIdx.y: the batch.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_segments_kernel(long_rows all, const I* list, division rows, bucket_rule<O> rule, row_counters* counters,
                         row_segment* segments) {
  const unsigned batch = blockIdx.y;
  for (std::int64_t r = global_thread(); r < all.count[batch]; r += grid_threads()) {
    const std::int64_t place = all.first[batch] + r;
    const std::int64_t size = rule.size(list[place]);
    const std::int64_t own = rows.segments(size);
    const auto at = static_cast<std::int64_t>(atomicAdd(&counters->next_segment[batch], static_cast<count64>(own)));
    const auto table =
        static_cast<std::int64_t>(atomicAdd(&counters->next_slot[batch], static_cast<count64>(rows.slots(size))));
    for (std::int64_t s = 0; s < own; ++s) segments[at + s] = {place, table, at, static_cast<unsigned>(s), 0, 0, 0};
  }
}

using eight_lanes = lane_group<8, row_tuning::eight_row>;
using half_warp = lane_group<16, row_tuning::tile_row>;
using block_row_group = block_group<128, row_tuning::block_row>;
using segment_group = block_group<512, row_tuning::segment>;

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
    if (n > 0) launch_kernel(ctx_, grid_stride(ctx_, n), count_rows_kernel<O>, n, division_, rule, counters_.data());
    launch_kernel(ctx_, {1, block_threads}, place_buckets_kernel, counters_.data());
    copy_to_host(ctx_, &counters_.data()->counted, pinned_.data(), sizeof(row_counts));
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
    if (segments == 0) return;
    if (segments > segments_.size()) segments_ = {ctx_, segments};
    long_rows rows{};
    std::int64_t most = 0;
    for (int b = 0; b < row_tuning::batches; ++b) {
      const range own = of(row_tuning::classes - 1, b);
      rows.first[b] = own.first;
      rows.count[b] = own.count;
      most = std::max(most, own.count);
    }
    launch_shape shape = grid_stride(ctx_, most);
    shape.blocks.y = row_tuning::batches;
    launch_kernel(ctx_, shape, list_segments_kernel<I, O>, rows, list_.data(), division_, rule, counters_.data(),
                  segments_.data());
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
  [[nodiscard]] std::int64_t slots_of_batch(int batch) const { return as_signed(pinned_[0].slots[batch]); }
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
    for_segments(batch, offsets, body);
    const auto start = [&]<class Group>(Group, const range& rows) {
      if (rows.count == 0) return;
      launch_kernel(ctx_, shape_for<Group>(rows.count), each_row_kernel<Group, I, O, Body>, rows.first, rows.count,
                    list_.data(), offsets, body);
    };
    start(block_row_group{}, of(3, batch));
    start(tile_group{}, {of(1, batch).first, of(1, batch).count + of(2, batch).count});
    start(thread_group{}, of(0, batch));
  }
  // body for the segments of the longest rows.
  template <class Body>
  void for_segments(int batch, const O* offsets, const Body& body) const {
    const range segments = segments_of_batch(batch);
    if (segments.count == 0) return;
    launch_kernel(ctx_, {std::int64_t{blocks_for(ctx_, segments.count, 1)}, segment_group::block},
                  each_segment_kernel<I, O, Body>, segments.count, division_.segment, segments_.data() + segments.first,
                  list_.data(), offsets, body);
  }
  template <class Body>
  void for_all(const O* offsets, const Body& body) const {
    for (int batch = 0; batch < row_tuning::batches; ++batch) for_batch(batch, offsets, body);
  }
  // Of a kernel whose groups take a row at a time.
  template <class Group>
  [[nodiscard]] launch_shape shape_for(std::int64_t rows) const {
    return {std::int64_t{blocks_for(ctx_, rows, Group::block / Group::size)}, Group::block};
  }

 private:
  [[nodiscard]] static std::int64_t as_signed(count64 value) { return static_cast<std::int64_t>(value); }

  context<device> ctx_;
  division division_;
  array<I, device> list_;
  array<row_segment, device> segments_;
  array<row_counters, device> counters_;
  array<row_counts, host> pinned_;
  std::int64_t begin_[row_tuning::buckets + 1]{};
  std::int64_t segment_begin_[row_tuning::batches + 1]{};
};

}  // namespace spargo::detail::communities
