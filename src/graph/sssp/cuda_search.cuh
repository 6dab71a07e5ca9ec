// State shared by the delta-stepping kernels: lengths, buckets of rows, edge relaxation.
//
// Rows are sorted by weight, so a search reads a row up to the first edge that is too heavy. A bucket entry is a row,
// or a part of a long one: the edges not yet followed, the vertex, and the length it was reached by. An entry is
// current while that is still the vertex's length: a shorter path adds its own entry, and each length is written by the
// one thread whose atomicMin lowered it, so exactly one entry per part is current. A push to a full bucket is dropped
// but still counted, so overflow is detected; the buckets are then rebuilt from the lengths.
#pragma once

#include "core/device/cooperative.cuh"
#include "core/device/warp.cuh"
#include "graph/frontier/step_counters.cuh"
#include "graph/sssp/lengths.hpp"

#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace spargo::detail::sssp {

struct cuda_tuning {
  static constexpr int block = 640;
  static constexpr int warps = block / warp_size;
  template <class D>
  static constexpr int unroll = sizeof(D) == 4 ? 4 : 2;  // edges in flight per lane
  static constexpr int least_staged = warp_size;         // staging slots per warp and bucket
};

// Lengths as unsigned integers: nonnegative doubles order like their bits.
template <class D>
using stored_length = std::conditional_t<sizeof(D) == 4, unsigned, count64>;

template <class D>
__device__ __forceinline__ stored_length<D> stored(D length) {
  if constexpr (std::is_same_v<D, double>) {
    return static_cast<count64>(__double_as_longlong(length));
  } else {
    return length;
  }
}
template <class D>
__device__ __forceinline__ D loaded(stored_length<D> length) {
  if constexpr (std::is_same_v<D, double>) {
    return __longlong_as_double(static_cast<long long>(length));
  } else {
    return length;
  }
}
template <class D>
inline constexpr stored_length<D> none = unreached<D>;
template <>
inline constexpr count64 none<double> = 0x7ff0000000000000;

template <class D, class W>
__device__ __forceinline__ stored_length<D> longer_stored(stored_length<D> path, W edge) {
  return stored<D>(longer(loaded<D>(path), edge));
}

// Edges [begin, begin + left) of a vertex reached by `length`.
template <class D, class I, class O>
struct __align__(16) bucket_entry {
  stored_length<D> length;
  O begin;
  I vertex;
  int left;
};

// What each thread counts in a step: sums and a maximum.
struct step_tally {
  count64 near_edges;       // of the near bucket's new entries
  count64 far_edges;        // of the far bucket's
  count64 reached_edges;    // of vertices reached for the first time
  count64 inverted_lowest;  // ~(least length reachable from the far bucket), 0 for none
};

// Counters of a step, initially zero.
struct counters : step_tally {
  count64 near;  // entries of the near bucket
  count64 far;   // entries of the far bucket
};

struct search_control {
  step_counters<counters> found;
  count64 reached;  // counted when the lengths are published
  count64 orphans;  // reached vertices whose tight neighbours are all equally near
  count64 queued;   // vertices in the queue of adopt_orphans_kernel
};

// One load per edge.
template <class W, class I>
struct __align__(sizeof(W) + sizeof(I) == 8 ? 8 : 16) target_and_weight {
  I target;
  W weight;
};

// Rows (words of 8 or 16 bytes) are streamed past the cache, which is needed for random reads of lengths.
template <class T>
__device__ __forceinline__ T load_streaming(const T* from) {
  using word = std::conditional_t<sizeof(T) % 16 == 0, int4, int2>;
  constexpr int words = sizeof(T) / sizeof(word);
  word raw[words];
#pragma unroll
  for (int k = 0; k < words; ++k) raw[k] = __ldcs(reinterpret_cast<const word*>(from) + k);
  T value;
  memcpy(&value, raw, sizeof(T));
  return value;
}
template <class T>
__device__ __forceinline__ void store_streaming(T* to, const T& value) {
  using word = std::conditional_t<sizeof(T) % 16 == 0, int4, int2>;
  constexpr int words = sizeof(T) / sizeof(word);
  word raw[words];
  memcpy(raw, &value, sizeof(T));
#pragma unroll
  for (int k = 0; k < words; ++k) __stcs(reinterpret_cast<word*>(to) + k, raw[k]);
}

// Targets and weights together, each row sorted by weight.
template <class W, class I, class O>
struct sorted_rows {
  const O* offsets;
  const target_and_weight<W, I>* edges;
  [[nodiscard]] __device__ __forceinline__ target_and_weight<W, I> load(O e) const { return load_streaming(edges + e); }
};

// In-edges: the sorted rows, or the graph's own arrays.
template <class W, class I, class O>
struct any_rows {
  const O* offsets;
  const target_and_weight<W, I>* edges;  // or null; then:
  const I* indices;
  const W* weights;
  [[nodiscard]] __device__ __forceinline__ target_and_weight<W, I> load(O e) const {
    if (edges != nullptr) return load_streaming(edges + e);
    return {__ldg(indices + e), __ldg(weights + e)};
  }
};

template <class W, class D, class I, class O>
struct device_search {
  using length = stored_length<D>;
  using entry = bucket_entry<D, I, O>;
  sorted_rows<W, I, O> out;
  any_rows<W, I, O> in;  // null: no pull
  std::int64_t n;
  std::int64_t edges;
  length* lengths;  // [n]
  entry* near[2];   // `slots` each: one is expanded, one filled
  entry* far[2];
  std::int64_t slots;  // at least the parts of all rows
  search_control* control;
  std::int64_t source;
  std::int64_t target;  // -1: none
  O least_degree;       // vertices with fewer out-edges are not expanded
  length limit;         // exclusive upper bound of paths
  D delta;
  D delta_beyond;  // after the pull
  int mirrored;    // 1: in-edges are the out-edges
  int staged;      // staging slots per warp and bucket
  int part;        // maximum edges per entry
  int pull_at;     // pull once unreached vertices' edges times this are fewer than the edges left
  int lanes_log;   // 1 << lanes_log lanes per vertex in a narrow step
};

// --- Buckets ---------------------------------------------------------------

// Destination of a step's entries: a bucket in global memory.
template <class E>
struct bucket_place {
  E* into;
  std::int64_t base;  // entries before the step
  std::int64_t room;
  count64* added;  // entries added by the step

  __device__ void store(std::int64_t at, const E& e) const {
    const std::int64_t slot = base + at;
    if (slot < room) store_streaming(into + slot, e);
  }
};

// Stages a warp's entries in front of a bucket.
template <class E>
struct warp_bucket {
  const bucket_place<E>& place;  // in shared memory
  staged_items<E> staged;
  int slots;  // at least warp_size

  // Moves the warp's staged entries to the bucket. All lanes call it.
  __device__ void flush() {
    staged.flush(place.added, lane_id(), [this](std::int64_t k, const E& e) { place.store(k, e); });
  }
  // Appends the entries of the lanes with `wanted`. All lanes call it.
  __device__ __forceinline__ void push(bool wanted, const E& e) {
    const unsigned mask = __ballot_sync(full_mask, wanted);
    if (mask == 0) return;
    staged.add(mask, wanted, e, lane_id());
    if (staged.count > slots - warp_size) flush();
  }
};

// Appends the rows of lanes with `wanted`, `degree` edges from e.begin, in parts of `part`. All lanes call it.
template <class E>
__device__ __noinline__ void push_parts(const bucket_place<E>& place, bool wanted, E e, std::int64_t degree, int part) {
  unsigned left = __ballot_sync(full_mask, wanted);
  const int lane = lane_id();
  const std::int64_t count = wanted ? (degree - 1) / part + 1 : 0;
  const std::int64_t past = warp_inclusive_sum(count);
  count64 first = 0;
  if (lane == warp_size - 1) first = atomicAdd(place.added, static_cast<count64>(past));
  first = __shfl_sync(full_mask, first, warp_size - 1);
  const std::int64_t at = static_cast<std::int64_t>(first) + past - count;
  for (; left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t to = __shfl_sync(full_mask, at, owner);
    const std::int64_t size = __shfl_sync(full_mask, degree, owner);
    E mine;
    mine.length = __shfl_sync(full_mask, e.length, owner);
    mine.vertex = __shfl_sync(full_mask, e.vertex, owner);
    const auto begin = __shfl_sync(full_mask, e.begin, owner);
    for (std::int64_t done = std::int64_t{lane} * part; done < size; done += std::int64_t{warp_size} * part) {
      mine.begin = static_cast<decltype(mine.begin)>(begin + done);
      mine.left = static_cast<int>(size - done < part ? size - done : part);
      place.store(to + done / part, mine);
    }
  }
}

template <class W, class D, class I, class O>
struct near_far_buckets {
  using entry = bucket_entry<D, I, O>;
  using length = stored_length<D>;
  using tally = std::make_unsigned_t<O>;
  const device_search<W, D, I, O>& s;
  warp_bucket<entry> near;
  warp_bucket<entry> far;
  tally near_edges = 0;
  tally far_edges = 0;
  tally reached_edges = 0;
  length lowest = none<D>;

  // Appends the rows of the lanes with `wanted`. All lanes call it.
  __device__ __forceinline__ void push_near(bool wanted, I v, length reached, O begin, O degree) {
    if (wanted) near_edges += static_cast<tally>(degree);
    push_row(near, wanted, v, reached, begin, degree);
  }
  __device__ __forceinline__ void push_far(bool wanted, I v, length reached, O begin, O degree) {
    if (wanted) count_far(reached, degree);
    push_row(far, wanted, v, reached, begin, degree);
  }
  // Whether the rest of the row leads anywhere within the limit; its first edge is the lightest.
  [[nodiscard]] __device__ __forceinline__ bool keeps(const entry& e) {
    if (e.left <= 0) return false;
    const length next = longer_stored<D>(e.length, s.out.load(e.begin).weight);
    if (next >= s.limit) return false;
    count_far(next, static_cast<O>(e.left));
    return true;
  }

  // Flushes the warps' staged entries and adds the block's sums. All threads of the block call it.
  __device__ void finish(counters* filling) {
    near.flush();
    far.flush();
    constexpr int sums = 3;
    merge_tally<step_tally>(
        filling, {near_edges, far_edges, reached_edges, lowest < none<D> ? ~static_cast<count64>(lowest) : count64{0}},
        [](int k, count64 a, count64 b) { return k < sums ? a + b : maximum{}(a, b); },
        [](int k, count64* to, count64 value) { k < sums ? atomicAdd(to, value) : atomicMax(to, value); });
  }

 private:
  __device__ __forceinline__ void push_row(warp_bucket<entry>& bucket, bool wanted, I v, length reached, O begin,
                                           O degree) {
    const bool is_long = wanted && degree > s.part;
    const entry e{reached, begin, v, static_cast<int>(degree)};
    bucket.push(wanted && !is_long, e);
    if (__any_sync(full_mask, is_long)) push_parts(bucket.place, is_long, e, degree, s.part);
  }
  __device__ __forceinline__ void count_far(length next, O degree) {
    far_edges += static_cast<tally>(degree);
    lowest = next < lowest ? next : lowest;
  }
};

// --- Edges -----------------------------------------------------------------

// Edges held by a lane; target -1: none.
template <class W, class D, class I>
struct lane_edges {
  static constexpr int size = cuda_tuning::unroll<D>;
  I target[size];
  W weight[size];
  stored_length<D> before[size];  // length at the edge's source
};

// A warp expands edges [begin, begin + degree) of each lane (degree 0: none) and distributes them evenly: lane l takes
// edges l, l + 32, ... of the concatenation. visit(edges, k, past) receives them: `k` is the number of the warp's first
// edge, `past` the end of the calling lane's range. All lanes call it. The sum of degrees fits an int.
template <class W, class D, class I, class Rows, class O, class Visit>
__device__ __forceinline__ void expand_together(const Rows& rows, stored_length<D> length, O begin, int degree,
                                                Visit&& visit) {
  constexpr int unroll = cuda_tuning::unroll<D>;
  const packed_edges<O> packed(begin, degree, warp_inclusive_sum(degree));
  const int total = packed.total;
  for (int base = 0; base < total; base += warp_size * unroll) {
    lane_edges<W, D, I> edges;
    int owner[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const int k = base + q * warp_size + lane_id();
      owner[q] = packed.owner(k);
      const O e = packed.first(owner[q]) + static_cast<O>(k);
      const target_and_weight<W, I> edge = k < total ? rows.load(e) : target_and_weight<W, I>{-1, 0};
      edges.target[q] = edge.target;
      edges.weight[q] = edge.weight;
    }
    // Last: the load of `length` may be in flight.
#pragma unroll
    for (int q = 0; q < unroll; ++q) edges.before[q] = __shfl_sync(full_mask, length, owner[q]);
    visit(edges, base, packed.last);
  }
}

// Bit mask of the lanes below `past`.
[[nodiscard]] __device__ __forceinline__ unsigned lanes_below(int past) {
  return past >= warp_size ? full_mask : (1U << (past < 0 ? 0 : past)) - 1;
}

}  // namespace spargo::detail::sssp
