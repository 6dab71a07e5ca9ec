// Louvain and Leiden on the device: rows of a level by length, and hash tables that sum weights by label.
//
// A row belongs to a thread, a warp, a block of 256 or one of 1024 threads. Rows of a batch are listed by that class,
// so a launch handles rows of one class. Tables lie in shared memory, those of the longest rows in global memory. Sums
// are of integers, and ties are decided by labels, so results depend neither on the order of rows nor on that of
// atomics.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "graph/communities/modularity.hpp"

#include <spargo/core/array.hpp>

#include <array>

namespace spargo::detail::communities {

// Untuned.
struct row_tuning {
  static constexpr int thread_row = 8;    // longest row for a thread
  static constexpr int warp_row = 128;    // for a warp
  static constexpr int block_row = 1024;  // for a block of 256 threads
  static constexpr int huge_block = 1024;
  static constexpr int classes = 4;
  static constexpr int batches = 8;  // as the host
  static constexpr int buckets = classes * batches;
  static constexpr std::int64_t pool_slots = std::int64_t{1}
                                             << 26;  // of all tables in global memory, unless one needs more
};
static_assert(row_tuning::buckets == warp_size);

__device__ inline void add_to(int* to, int value) { atomicAdd(to, value); }
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

struct thread_group {
  static constexpr int size = 1;
  static constexpr int block = block_threads;
  static constexpr int shared_slots = 0;
  __device__ static std::int64_t first() { return global_thread(); }
  __device__ static std::int64_t count() { return grid_threads(); }
  __device__ static int rank() { return 0; }
  __device__ static void sync() {}
  template <class T, class F>
  __device__ static T reduce(T value, F) {
    return value;
  }
};

struct warp_group {
  static constexpr int size = warp_size;
  static constexpr int block = block_threads;
  static constexpr int shared_slots = 2 * row_tuning::warp_row;
  __device__ static std::int64_t first() { return global_thread() / warp_size; }
  __device__ static std::int64_t count() { return grid_threads() / warp_size; }
  __device__ static int rank() { return lane_id(); }
  __device__ static void sync() { __syncwarp(); }
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
    return warp_reduce(value, combine);
  }
};

template <int Threads>
struct block_group {
  static constexpr int size = Threads;
  static constexpr int block = Threads;
  static constexpr int shared_slots = Threads == block_threads ? 2 * row_tuning::block_row : 0;
  __device__ static std::int64_t first() { return blockIdx.x; }
  __device__ static std::int64_t count() { return gridDim.x; }
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static void sync() { __syncthreads(); }
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
    __shared__ T of_warps[Threads / warp_size];
    value = fold_warps_to_all(warp_reduce(value, combine), of_warps, combine);
    __syncthreads();
    return value;
  }
};
using huge_group = block_group<row_tuning::huge_block>;

// --- Sums by label --------------------------------------------------------

template <class I>
struct sum_table {
  I* labels;  // -1: free
  count64* sums;
  std::int64_t slots;  // a power of two, more than there are labels

  [[nodiscard]] SPARGO_HD static std::int64_t slots_for(std::int64_t labels) {
    std::int64_t slots = 2;
    while (slots < 2 * labels) slots *= 2;
    return slots;
  }

  template <class Group>
  __device__ void clear(Group) const {
    for (std::int64_t s = Group::rank(); s < slots; s += Group::size) {
      labels[s] = -1;
      sums[s] = 0;
    }
  }
  __device__ void add(I label, std::int64_t weight) const {
    const auto mask = static_cast<count64>(slots - 1);
    count64 at = ((static_cast<count64>(label) * 0x9e3779b97f4a7c15ULL) >> 32) & mask;
    for (;;) {
      const I there = *static_cast<volatile I*>(labels + at);
      if (there == label) break;
      if (there == -1) {
        const I before = compare_swap(labels + at, I{-1}, label);
        if (before == -1 || before == label) break;
      }
      at = (at + 1) & mask;
    }
    atomicAdd(sums + at, static_cast<count64>(weight));
  }
};

// A community and what joining it gains; -1: none.
template <class I>
struct candidate {
  int128 gain;
  I community;

  __device__ void offer(const candidate& other) {
    if (other.community < 0) return;
    if (community < 0 || other.gain > gain || (other.gain == gain && other.community < community)) *this = other;
  }
};
struct better_of {
  template <class I>
  __device__ candidate<I> operator()(candidate<I> a, const candidate<I>& b) const {
    a.offer(b);
    return a;
  }
};

// --- Decisions ------------------------------------------------------------

// A rule decides rows: wants(v); label(v, u) of a neighbour, -1: none; own(v), whose sum is given apart;
// offer(best, v, label, sum); finish(k, v, best, sum of own) returns 1 if v moves; skip(k, v) if it is not wanted.
template <class Group, class I, class O, class Rule>
__global__ void __launch_bounds__(Group::block)
    decide_kernel(std::int64_t first, std::int64_t count, const I* list, level_graph<I, O> g, Rule rule,
                  sum_table<I> pool, count64* moved) {
  constexpr int shared = Group::shared_slots > 0 ? Group::shared_slots : 1;
  constexpr int tables = Group::shared_slots > 0 ? Group::block / Group::size : 1;
  __shared__ I shared_labels[tables][shared];
  __shared__ count64 shared_sums[tables][shared];
  const int own_table = Group::shared_slots > 0 ? static_cast<int>(threadIdx.x) / Group::size : 0;
  sum_table<I> table{shared_labels[own_table], shared_sums[own_table], 0};
  if constexpr (Group::shared_slots == 0) {
    table.labels = pool.labels + blockIdx.x * pool.slots;
    table.sums = pool.sums + blockIdx.x * pool.slots;
  }
  unsigned moves = 0;
  for (std::int64_t r = Group::first(); r < count; r += Group::count()) {
    const std::int64_t k = first + r;
    const std::int64_t v = list[k];
    if (!rule.wants(v)) {
      if (Group::rank() == 0) rule.skip(k, v);
      continue;
    }
    const std::int64_t begin = g.offsets[v];
    const std::int64_t end = g.offsets[v + 1];
    const std::int64_t most = end - begin < g.nodes ? end - begin : g.nodes;
    table.slots = sum_table<I>::slots_for(most);
    table.clear(Group{});
    Group::sync();
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I u = g.neighbours[e];
      const I label = u == v ? I{-1} : rule.label(v, u);
      if (label >= 0) table.add(label, g.weight(e));
    }
    Group::sync();
    const I own = rule.own(v);
    candidate<I> best{0, I{-1}};
    std::int64_t inside = 0;
    for (std::int64_t s = Group::rank(); s < table.slots; s += Group::size) {
      const I label = table.labels[s];
      if (label < 0) continue;
      const auto sum = static_cast<std::int64_t>(table.sums[s]);
      if (label == own) {
        inside = sum;
      } else {
        rule.offer(best, v, label, sum);
      }
    }
    best = Group::reduce(best, better_of{});
    inside = Group::reduce(inside, plus{});
    if (Group::rank() == 0) moves += rule.finish(k, v, best, inside);
    Group::sync();
  }
  __syncwarp();
  moves = warp_sum(moves);
  if (lane_id() == 0 && moves > 0) atomicAdd(moved, static_cast<count64>(moves));
}

// The same for rows of at most thread_row entries, one thread each.
template <class I, class O, class Rule>
__global__ void __launch_bounds__(block_threads)
    decide_short_kernel(std::int64_t first, std::int64_t count, const I* list, level_graph<I, O> g, Rule rule,
                        count64* moved) {
  constexpr int most = row_tuning::thread_row;
  unsigned moves = 0;
  for (std::int64_t r = global_thread(); r < count; r += grid_threads()) {
    const std::int64_t k = first + r;
    const std::int64_t v = list[k];
    if (!rule.wants(v)) {
      rule.skip(k, v);
      continue;
    }
    const std::int64_t begin = g.offsets[v];
    const auto size = static_cast<int>(static_cast<std::int64_t>(g.offsets[v + 1]) - begin);
    I labels[most];
    std::int64_t weights[most];
#pragma unroll
    for (int j = 0; j < most; ++j) {
      labels[j] = j < size ? g.neighbours[begin + j] : static_cast<I>(v);
      weights[j] = j < size ? g.weight(begin + j) : 0;
    }
#pragma unroll
    for (int j = 0; j < most; ++j) labels[j] = labels[j] == v ? I{-1} : rule.label(v, labels[j]);
    const I own = rule.own(v);
    candidate<I> best{0, I{-1}};
    std::int64_t inside = 0;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (labels[j] < 0) continue;
      std::int64_t sum = 0;
      bool seen = false;
#pragma unroll
      for (int other = 0; other < most; ++other) {
        const bool same = labels[other] == labels[j];
        sum += same ? weights[other] : 0;
        seen = seen || (same && other < j);
      }
      if (seen) continue;
      if (labels[j] == own) {
        inside = sum;
      } else {
        rule.offer(best, v, labels[j], sum);
      }
    }
    moves += rule.finish(k, v, best, inside);
  }
  __syncwarp();
  moves = warp_sum(moves);
  if (lane_id() == 0 && moves > 0) atomicAdd(moved, static_cast<count64>(moves));
}

// body(Group{}, k, v) for the row v at place k of the list; then body.finish(), by all threads.
template <class Group, class I, class Body>
__global__ void __launch_bounds__(Group::block)
    each_row_kernel(std::int64_t first, std::int64_t count, const I* list, Body body) {
  for (std::int64_t r = Group::first(); r < count; r += Group::count()) body(Group{}, first + r, list[first + r]);
  __syncwarp();
  body.finish();
}

// --- Lists of rows --------------------------------------------------------

// The bucket of a row: its class and its batch. active: null, or 0 where a row belongs to none.
template <class O>
struct bucket_rule {
  const O* offsets;
  const std::uint8_t* active;
  std::uint64_t key;

  __device__ int bucket(std::int64_t v) const {
    if (active != nullptr && active[v] == 0) return -1;
    const std::int64_t size = static_cast<std::int64_t>(offsets[v + 1]) - offsets[v];
    const int kind = size <= row_tuning::thread_row  ? 0
                     : size <= row_tuning::warp_row  ? 1
                     : size <= row_tuning::block_row ? 2
                                                     : 3;
    const auto batch = static_cast<int>(mixed_bits(key, static_cast<std::uint64_t>(v)) % row_tuning::batches);
    return kind * row_tuning::batches + batch;
  }
};

struct row_counters {
  count64 rows[row_tuning::buckets];
  count64 next[row_tuning::buckets];  // where the next row of a bucket goes
  count64 moved;
  count64 longest;  // row counted so far, of those above block_row
};

template <class O>
__global__ void __launch_bounds__(block_threads)
    count_rows_kernel(std::int64_t n, bucket_rule<O> rule, row_counters* counters) {
  __shared__ unsigned counts[row_tuning::buckets];
  if (threadIdx.x < row_tuning::buckets) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const int bucket = rule.bucket(v);
    if (bucket < 0) continue;
    atomicAdd(&counts[bucket], 1U);
    if (bucket / row_tuning::batches == row_tuning::classes - 1) {
      atomicMax(&counters->longest, static_cast<count64>(rule.offsets[v + 1]) - static_cast<count64>(rule.offsets[v]));
    }
  }
  __syncthreads();
  if (threadIdx.x < row_tuning::buckets && counts[threadIdx.x] > 0) {
    atomicAdd(&counters->rows[threadIdx.x], static_cast<count64>(counts[threadIdx.x]));
  }
}

static __global__ void clear_buckets_kernel(row_counters* counters) { counters->rows[threadIdx.x] = 0; }
static __global__ void place_buckets_kernel(row_counters* counters) {
  counters->next[threadIdx.x] = warp_exclusive_sum(counters->rows[threadIdx.x]);
}
static __global__ void clear_moves_kernel(row_counters* counters) { counters->moved = 0; }

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

// The rows of a level, or the active ones, in buckets.
template <class I, class O>
class row_lists {
 public:
  row_lists(const context<device>& ctx, std::int64_t rows)
      : ctx_(ctx),
        list_(ctx, rows),
        counters_(ctx, 1),
        pinned_(context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1) {
    fill_zero<row_counters, device>(ctx, counters_.view());
  }

  // Counts the rows of every bucket; waits for the device. Returns how many moved since the last call.
  std::int64_t count(std::int64_t n, const bucket_rule<O>& rule) {
    const device_guard guard(ctx_);
    launch_kernel(ctx_, {1, warp_size}, clear_buckets_kernel, counters_.data());
    if (n > 0) launch_kernel(ctx_, grid_stride(ctx_, n), count_rows_kernel<O>, n, rule, counters_.data());
    launch_kernel(ctx_, {1, warp_size}, place_buckets_kernel, counters_.data());
    copy_to_host(ctx_, counters_.data(), pinned_.data(), sizeof(row_counters));
    launch_kernel(ctx_, {1, 1}, clear_moves_kernel, counters_.data());
    ctx_.synchronize();
    for (int b = 0; b < row_tuning::buckets; ++b) {
      begin_[static_cast<std::size_t>(b) + 1] =
          begin_[static_cast<std::size_t>(b)] + static_cast<std::int64_t>(pinned_[0].rows[b]);
    }
    return static_cast<std::int64_t>(pinned_[0].moved);
  }
  // Lists the rows counted last.
  void list(std::int64_t n, const bucket_rule<O>& rule) {
    if (begin_.back() == 0) return;
    const device_guard guard(ctx_);
    launch_kernel(ctx_, grid_stride(ctx_, n), list_rows_by_bucket_kernel<I, O>, n, rule, counters_.data(),
                  list_.data());
  }
  void list_all(std::int64_t n, const O* offsets, std::uint64_t key) {
    (void)count(n, {offsets, nullptr, key});
    list(n, {offsets, nullptr, key});
  }

  // Of the rows counted so far; at most block_row if none is longer.
  [[nodiscard]] std::int64_t longest() const { return static_cast<std::int64_t>(pinned_[0].longest); }
  [[nodiscard]] count64* moved() { return &counters_.data()->moved; }
  [[nodiscard]] const I* rows() const { return list_.data(); }
  [[nodiscard]] std::int64_t bytes() const { return list_.size() * std::int64_t{sizeof(I)}; }

  struct range {
    std::int64_t first;
    std::int64_t count;
  };
  [[nodiscard]] range of(int kind, int batch) const { return between(kind * row_tuning::batches + batch, 1); }
  [[nodiscard]] range of(int kind) const { return between(kind * row_tuning::batches, row_tuning::batches); }

  // body for all rows of a batch.
  template <class Body>
  void for_batch(int batch, const Body& body) const {
    for_each_kind([&](int kind) { return of(kind, batch); }, body);
  }
  template <class Body>
  void for_all(const Body& body) const {
    for_each_kind([&](int kind) { return of(kind); }, body);
  }

 private:
  [[nodiscard]] range between(int bucket, int buckets) const {
    const auto first = begin_[static_cast<std::size_t>(bucket)];
    return {first, begin_[static_cast<std::size_t>(bucket + buckets)] - first};
  }
  template <class RangeOf, class Body>
  void for_each_kind(RangeOf range_of, const Body& body) const {
    const device_guard guard(ctx_);
    const auto start = [&](const range& rows, const launch_shape& shape, auto kernel) {
      if (rows.count > 0) launch_kernel(ctx_, shape, kernel, rows.first, rows.count, list_.data(), body);
    };
    start(range_of(3), {blocks_for(ctx_, range_of(3).count, 1), row_tuning::huge_block},
          each_row_kernel<huge_group, I, Body>);
    start(range_of(2), grid_stride(ctx_, range_of(2).count, 1), each_row_kernel<block_group<block_threads>, I, Body>);
    start(range_of(1), grid_stride(ctx_, range_of(1).count, block_threads / warp_size),
          each_row_kernel<warp_group, I, Body>);
    start(range_of(0), grid_stride(ctx_, range_of(0).count), each_row_kernel<thread_group, I, Body>);
  }

  context<device> ctx_;
  array<I, device> list_;
  array<row_counters, device> counters_;
  array<row_counters, host> pinned_;
  std::array<std::int64_t, row_tuning::buckets + 1> begin_{};
};

// Decides the rows of batches, with tables in global memory for the longest.
template <class I>
class table_pool {
 public:
  // For rows of at most `longest` labels.
  table_pool(const context<device>& ctx, std::int64_t longest) : slots_(sum_table<I>::slots_for(longest)) {
    if (longest <= row_tuning::block_row) return;
    const std::int64_t most = 2 * std::int64_t{ctx.properties().multiprocessors};
    tables_ = std::clamp<std::int64_t>(row_tuning::pool_slots / slots_, 1, most);
    labels_ = {ctx, tables_ * slots_};
    sums_ = {ctx, tables_ * slots_};
  }

  template <class O, class Rule>
  void decide(const context<device>& ctx, row_lists<I, O>& lists, int batch, const level_graph<I, O>& g,
              const Rule& rule) {
    const device_guard guard(ctx);
    const sum_table<I> pool{labels_.data(), sums_.data(), slots_};
    const auto start = [&](int kind, const launch_shape& shape, auto kernel) {
      const auto rows = lists.of(kind, batch);
      if (rows.count > 0)
        launch_kernel(ctx, shape, kernel, rows.first, rows.count, lists.rows(), g, rule, pool, lists.moved());
    };
    const auto count = [&](int kind) { return lists.of(kind, batch).count; };
    start(3, {std::clamp<std::int64_t>(count(3), 1, std::max<std::int64_t>(tables_, 1)), row_tuning::huge_block},
          decide_kernel<huge_group, I, O, Rule>);
    start(2, grid_stride(ctx, count(2), 1), decide_kernel<block_group<block_threads>, I, O, Rule>);
    start(1, grid_stride(ctx, count(1), block_threads / warp_size), decide_kernel<warp_group, I, O, Rule>);
    const auto rows = lists.of(0, batch);
    if (rows.count == 0) return;
    launch_kernel(ctx, grid_stride(ctx, rows.count), decide_short_kernel<I, O, Rule>, rows.first, rows.count,
                  lists.rows(), g, rule, lists.moved());
  }

 private:
  std::int64_t slots_;
  std::int64_t tables_ = 0;
  array<I, device> labels_;
  array<count64, device> sums_;
};

}  // namespace spargo::detail::communities
