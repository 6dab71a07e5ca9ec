// Edges of a graph between trees, collected into a list on the device, and the first edge of each tree.
//
// A warp takes tiles of 1024 entries. Of the first batch it compares the weights, compacts the places of the light ones
// in shared memory, and only then reads their ends, 32 at a time. Later it reads the rows of vertices outside the
// largest tree only. Collected edges are offered to both of their trees at once.
#pragma once

#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/forest/keys.hpp"

#include <spargo/graph/frontier/expansion.cuh>
#include <spargo/graph/weights.hpp>

namespace spargo::detail::forest {

struct cuda_tuning {
  static constexpr int warps = block_threads / warp_size;
  static constexpr int tile = 1024;   // entries; places in it fit 16 bits
  static constexpr int staged = 64;   // edges that a warp appends together, at least
  static constexpr int unrolled = 4;  // weights of a lane in flight
};

template <class W, class I, class O>
struct weighted_rows {
  std::int64_t n;
  std::int64_t nnz;
  const O* offsets;
  const I* indices;
  const W* weights;
  bool ascending;

  // The last row of [low, high) that begins at or before e.
  [[nodiscard]] __device__ std::int64_t row_of(std::int64_t e, std::int64_t low, std::int64_t high) const {
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (static_cast<std::int64_t>(offsets[middle]) <= e ? low : high) = middle;
    }
    return low;
  }
  // The same by a warp, all lanes of which ask for it: 5 loads one after the other for 2^22 rows.
  [[nodiscard]] __device__ std::int64_t row_of_by_warp(std::int64_t e, std::int64_t low, std::int64_t high) const {
    while (high - low > 1) {
      const std::int64_t step = div_up(high - low, std::int64_t{warp_size});
      const std::int64_t row = low + lane_id() * step;
      const unsigned lanes = __ballot_sync(full_mask, row < high && static_cast<std::int64_t>(offsets[row]) <= e);
      low += (__popc(lanes) - 1) * step;
      high = min(high, low + step);
    }
    return low;
  }
};

// --- The first edge of each tree, by its root ---

__device__ __forceinline__ void lower(std::uint64_t* at, std::uint64_t value) {
  if (value < __ldcg(reinterpret_cast<const count64*>(at))) atomicMin(reinterpret_cast<count64*>(at), value);
}

// After all edges are offered they are settled, if the key takes two words.
template <class Key>
struct first_edges;

template <>
struct first_edges<narrow_key> {
  static constexpr bool settles = false;
  static constexpr int words = 1;
  std::uint64_t* bits;

  __device__ void offer(std::int64_t root, narrow_key key) const { lower(bits + root, key.bits); }
  __device__ bool is_first(std::int64_t root, narrow_key key) const { return bits[root] == key.bits; }
  __device__ bool has_first(std::int64_t root) const { return bits[root] != no_edge; }
  __device__ void reset(std::int64_t root) const { bits[root] = no_edge; }
};

template <>
struct first_edges<wide_key> {
  static constexpr bool settles = true;
  static constexpr int words = 2;
  std::uint64_t* weights;
  std::uint64_t* places;

  __device__ void offer(std::int64_t root, const wide_key& key) const { lower(weights + root, key.high); }
  __device__ void settle(std::int64_t root, const wide_key& key) const {
    if (weights[root] == key.high) lower(places + root, key.low);
  }
  __device__ bool is_first(std::int64_t root, const wide_key& key) const {
    return weights[root] == key.high && places[root] == key.low;
  }
  __device__ bool has_first(std::int64_t root) const { return places[root] != no_edge; }
  __device__ void reset(std::int64_t root) const {
    weights[root] = no_edge;
    places[root] = no_edge;
  }
};

template <class Key, class I>
__device__ __forceinline__ void offer_to_both(const first_edges<Key>& first, const tree_edge<Key, I>& edge, I skipped) {
  if (edge.u != skipped) first.offer(edge.u, edge.key);
  if (edge.v != skipped) first.offer(edge.v, edge.key);
}

// --- Lists ---

// Edges beyond the capacity are counted, and dropped.
template <class Key, class I>
struct edge_list {
  tree_edge<Key, I>* edges;
  std::int64_t capacity;
  count64* size;
};

// A warp's edges in front of a list.
template <class Key, class I>
class edge_stage {
  using edge = tree_edge<Key, I>;

 public:
  static constexpr int capacity = cuda_tuning::staged + warp_size;

  __device__ edge_stage(edge* slots, const edge_list<Key, I>& to, const first_edges<Key>& first, I skipped)
      : staged_{slots}, to_(to), first_(first), skipped_(skipped) {}

  // All lanes of the warp call these.
  __device__ void add(bool kept, const edge& item) {
    const unsigned lanes = __ballot_sync(full_mask, kept);
    if (lanes == 0) return;
    staged_.add(lanes, kept, item, lane_id());
    if (staged_.count >= cuda_tuning::staged) flush();
  }
  __device__ void flush() {
    staged_.flush(to_.size, lane_id(), [&](std::int64_t k, const edge& item) {
      if (k < to_.capacity) to_.edges[k] = item;
      offer_to_both(first_, item, skipped_);
    });
  }

 private:
  staged_items<edge> staged_;
  edge_list<Key, I> to_;
  first_edges<Key> first_;
  I skipped_;
};

// --- Collecting ---

// Edges up to the limit; every vertex is a tree.
template <class Key, class W, class I, class O>
__global__ void __launch_bounds__(block_threads)
    collect_light_kernel(weighted_rows<W, I, O> rows, key_order<Key, W> order, Key limit, edge_list<Key, I> list,
                         first_edges<Key> first) {
  __shared__ std::uint16_t light_places[cuda_tuning::warps][cuda_tuning::tile];
  __shared__ alignas(
      16) unsigned char slots[cuda_tuning::warps][edge_stage<Key, I>::capacity * sizeof(tree_edge<Key, I>)];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_id();
  std::uint16_t* const light = light_places[warp];
  edge_stage<Key, I> stage(reinterpret_cast<tree_edge<Key, I>*>(slots[warp]), list, first, I{-1});
  const auto most = limit.weight();
  const std::int64_t tiles = div_up(rows.nnz, std::int64_t{cuda_tuning::tile});
  for (std::int64_t tile = global_thread() / warp_size; tile < tiles; tile += grid_threads() / warp_size) {
    const std::int64_t begin = tile * cuda_tuning::tile;
    const int size = static_cast<int>(min(rows.nnz - begin, std::int64_t{cuda_tuning::tile}));
    int count = 0;
    for (int base = 0; base < size; base += warp_size * cuda_tuning::unrolled) {
      bool is_light[cuda_tuning::unrolled];
#pragma unroll
      for (int j = 0; j < cuda_tuning::unrolled; ++j) {
        const int k = base + j * warp_size + lane;
        is_light[j] = k < size && order.weight(rows.weights[begin + k]) <= most;
      }
#pragma unroll
      for (int j = 0; j < cuda_tuning::unrolled; ++j) {
        const unsigned lanes = __ballot_sync(full_mask, is_light[j]);
        if (is_light[j]) {
          light[count + __popc(lanes & ((1U << lane) - 1))] = static_cast<std::uint16_t>(base + j * warp_size + lane);
        }
        count += __popc(lanes);
      }
    }
    if (count == 0) continue;
    __syncwarp();
    const std::int64_t low = rows.row_of_by_warp(begin, 0, rows.n);
    const std::int64_t high = rows.row_of_by_warp(begin + size - 1, low, rows.n) + 1;
    for (int base = 0; base < count; base += warp_size) {
      bool kept = base + lane < count;
      tree_edge<Key, I> edge{};
      if (kept) {
        const std::int64_t e = begin + light[base + lane];
        const W weight = rows.weights[e];
        edge = {order(weight, e), static_cast<I>(rows.row_of(e, low, high)), rows.indices[e]};
        kept = edge.u < edge.v && !is_nan(weight) && !(limit < edge.key);
      }
      stage.add(kept, edge);
    }
    __syncwarp();
  }
  stage.flush();
}

// The place of edge e from u in v's row: the first of parallel edges of that weight, -1 if there is none.
template <class Key, class W, class I, class O>
__device__ std::int64_t mirrored(const weighted_rows<W, I, O>& rows, const key_order<Key, W>& order, I u, I v,
                                 std::int64_t e) {
  std::int64_t at = rows.offsets[v];
  const std::int64_t end = rows.offsets[v + 1];
  if (rows.ascending) at += lower_bound(rows.indices + at, end - at, u);
  const auto weight = order.weight(rows.weights[e]);
  for (; at < end; ++at) {
    if (rows.indices[at] == u && !is_nan(rows.weights[at]) && order.weight(rows.weights[at]) == weight) return at;
    if (rows.ascending && rows.indices[at] != u) break;
  }
  return -1;
}

// Edges between trees up to the limit; vertices are under their roots. An edge into the largest tree is found from its
// other end only, others from the smaller one.
template <class Key, class W, class I, class O>
__global__ void __launch_bounds__(block_threads)
    collect_between_kernel(weighted_rows<W, I, O> rows, key_order<Key, W> order, Key limit, const I* roots, I skipped,
                           edge_list<Key, I> list, first_edges<Key> first) {
  __shared__ alignas(
      16) unsigned char slots[cuda_tuning::warps][edge_stage<Key, I>::capacity * sizeof(tree_edge<Key, I>)];
  const int lane = lane_id();
  edge_stage<Key, I> stage(reinterpret_cast<tree_edge<Key, I>*>(slots[threadIdx.x / warp_size]), list, first, skipped);
  const std::int64_t tiles = div_up(rows.nnz, std::int64_t{cuda_tuning::tile});
  for (std::int64_t tile = global_thread() / warp_size; tile < tiles; tile += grid_threads() / warp_size) {
    const std::int64_t begin = tile * cuda_tuning::tile;
    const std::int64_t end = min(rows.nnz, begin + cuda_tuning::tile);
    for (std::int64_t base = rows.row_of_by_warp(begin, 0, rows.n); base < rows.n && rows.offsets[base] < end;
         base += warp_size) {
      const std::int64_t row = base + lane;
      std::int64_t own_first = end;
      std::int64_t own_last = end;
      I own_root = skipped;
      if (row < rows.n) {
        own_first = max(begin, static_cast<std::int64_t>(rows.offsets[row]));
        own_last = min(end, static_cast<std::int64_t>(rows.offsets[row + 1]));
        own_root = roots[row];
      }
      // The lanes share the edges of all these rows, since most are short.
      const int degree = own_root != skipped && own_first < own_last ? static_cast<int>(own_last - own_first) : 0;
      const packed_edges<O> edges(static_cast<O>(own_first), degree, warp_inclusive_sum(degree));
      for (int k = lane; k - lane < edges.total; k += warp_size) {
        const int owner = edges.owner(k);
        const auto u = static_cast<I>(base + owner);
        const I root = shuffle(own_root, owner);
        const auto e = static_cast<std::int64_t>(edges.first(owner) + static_cast<O>(k));
        bool kept = k < edges.total;
        tree_edge<Key, I> edge{};
        if (kept) {
          const I v = rows.indices[e];
          const I other = roots[v];
          const W weight = rows.weights[e];
          kept = other != root && (u < v || other == skipped) && !is_nan(weight);
          const std::int64_t place = kept && v < u ? mirrored(rows, order, u, v, e) : e;
          if (kept) edge = {order(weight, place), root, other};
          kept = kept && place >= 0 && !(limit < edge.key);
        }
        stage.add(kept, edge);
      }
    }
  }
  stage.flush();
}

// Keys of random entries that are edges between trees; of others the largest key. With `roots` vertices are under them.
template <class Key, class W, class I, class O>
__global__ void __launch_bounds__(block_threads)
    sample_keys_kernel(weighted_rows<W, I, O> rows, key_order<Key, W> order, const I* roots, std::uint64_t seed,
                       std::int64_t tries, Key* keys) {
  const std::int64_t k = global_thread();
  if (k >= tries) return;
  const auto e =
      static_cast<std::int64_t>(mixed_bits(seed, static_cast<std::uint64_t>(k)) % static_cast<std::uint64_t>(rows.nnz));
  const auto u = static_cast<I>(rows.row_of(e, 0, rows.n));
  const I v = rows.indices[e];
  const W weight = rows.weights[e];
  const bool is_edge = u < v && !is_nan(weight) && (roots == nullptr || roots[u] != roots[v]);
  keys[k] = is_edge ? order(weight, e) : Key();
}

}  // namespace spargo::detail::forest
