// Boruvka's rounds on the device, over a list of edges between trees.
//
// 1. An edge that is the first of one of its trees is marked, and that tree's root goes under the other's. 2. Roots
// climb to their new roots: each a bounded number of steps a pass, which shortens any chain by that factor. 3. Edges
// are named by the new roots; those within a tree are dropped, the others offered to their trees.
//
// Where few trees are left, most edges join the same pairs. Then the heavier edges are set aside once, and nearly all
// of them are within a tree when the rounds over the lighter ones have ended.
//
// Invariant: the keys are a strict order, so parents form no cycle; an edge that is first for both trees puts the
// larger root under the smaller.
#pragma once

#include "graph/forest/cuda_lists.cuh"

namespace spargo::detail::forest {

struct round_control {
  count64 listed;      // edges at the start of the round
  count64 roots;       // trees that may have edges, from the second round of a batch on
  count64 hooked;      // not 0 if a tree went under another
  count64 unfinished;  // not 0 if a root needs another pass
  count64 set_aside;   // heavier edges, before the round
};

struct rounds_tuning {
  static constexpr int steps = 32;             // of a climb in one pass
  static constexpr int edges = 4;              // of a thread, so that one atomic places those of a block
  static constexpr std::int64_t rounds = 160;  // at most in a batch: each halves the trees that have edges, twice
  // Edges are set aside if there are at least `many` per tree and one for two vertices, all but `lighter` per tree.
  static constexpr std::int64_t many = 16;
  static constexpr std::int64_t lighter = 4;
  static constexpr std::int64_t samples = 1024;
};

template <class Key, class I>
__global__ void __launch_bounds__(block_threads)
    settle_kernel(edge_list<Key, I> list, first_edges<Key> first, I skipped) {
  if constexpr (first_edges<Key>::settles) {
    const auto size = static_cast<std::int64_t>(*list.size);
    for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
      const tree_edge<Key, I> edge = list.edges[k];
      if (edge.u != skipped) first.settle(edge.u, edge.key);
      if (edge.v != skipped) first.settle(edge.v, edge.key);
    }
  }
}

template <class Key, class I>
__global__ void __launch_bounds__(block_threads) hook_kernel(edge_list<Key, I> list, first_edges<Key> first, I skipped,
                                                             I* parents, unsigned* marked, round_control* round) {
  const auto size = static_cast<std::int64_t>(*list.size);
  bool hooks = false;
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    const tree_edge<Key, I> edge = list.edges[k];
    const bool of_u = edge.u != skipped && first.is_first(edge.u, edge.key);
    const bool of_v = edge.v != skipped && first.is_first(edge.v, edge.key);
    if (!of_u && !of_v) continue;
    const std::int64_t place = edge.key.place();
    atomicOr(marked + place / 32, 1U << (place % 32));
    const bool u_hooks = of_u && (!of_v || edge.v < edge.u);
    parents[u_hooks ? edge.u : edge.v] = u_hooks ? edge.v : edge.u;
    hooks = true;
  }
  if (hooks) round->hooked = 1;  // once a thread: all write to one address
}

// One pass of a climb. Returns whether v is under its root.
template <class I>
__device__ __forceinline__ bool climb(I* parents, I v) {
  volatile I* const fresh = parents;
  for (int step = 0; step < rounds_tuning::steps; ++step) {
    const I parent = fresh[v];
    const I above = fresh[parent];
    if (parent == above) return true;
    fresh[v] = above;
  }
  return false;
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    climb_further_kernel(std::int64_t n, const I* roots, I* parents, round_control* round) {
  const std::int64_t size = roots == nullptr ? n : static_cast<std::int64_t>(round->roots);
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    if (!climb(parents, roots == nullptr ? static_cast<I>(k) : roots[k])) round->unfinished = 1;
  }
}

// The position of the calling thread's `count` items in a list. All threads of the block call it.
__device__ __forceinline__ std::int64_t place_by_block(count64* size, int count) {
  __shared__ int of_warps[cuda_tuning::warps];
  __shared__ count64 base;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int inclusive = warp_inclusive_sum(count);
  if (lane_id() == warp_size - 1) of_warps[warp] = inclusive;
  __syncthreads();
  int before = inclusive - count;
  int all = 0;
  for (int w = 0; w < cuda_tuning::warps; ++w) {
    if (w < warp) before += of_warps[w];
    all += of_warps[w];
  }
  if (threadIdx.x == 0) base = all == 0 ? 0 : atomicAdd(size, static_cast<count64>(all));
  __syncthreads();
  return static_cast<std::int64_t>(base) + before;
}

// `roots` null: all vertices. Trees without a first edge are complete.
template <class Key, class I>
__global__ void __launch_bounds__(block_threads)
    climb_kernel(std::int64_t n, const I* roots, I* parents, first_edges<Key> first, I* next_roots,
                 round_control* round) {
  constexpr int per_block = block_threads * rounds_tuning::edges;
  const std::int64_t size = roots == nullptr ? n : static_cast<std::int64_t>(round[0].roots);
  for (std::int64_t base = std::int64_t{blockIdx.x} * per_block; base < size;
       base += std::int64_t{gridDim.x} * per_block) {
    I stays[rounds_tuning::edges];
    int count = 0;
#pragma unroll
    for (int j = 0; j < rounds_tuning::edges; ++j) {
      const std::int64_t k = base + j * block_threads + threadIdx.x;
      stays[j] = -1;
      if (k >= size) continue;
      const I v = roots == nullptr ? static_cast<I>(k) : roots[k];
      if (!climb(parents, v)) round[0].unfinished = 1;
      if (!first.has_first(v)) continue;
      first.reset(v);
      if (*const_cast<volatile I*>(parents + v) == v) stays[j] = v;
    }
#pragma unroll
    for (int j = 0; j < rounds_tuning::edges; ++j) count += stays[j] >= 0 ? 1 : 0;
    std::int64_t at = place_by_block(&round[1].roots, count);
#pragma unroll
    for (int j = 0; j < rounds_tuning::edges; ++j) {
      if (stays[j] >= 0) next_roots[at++] = stays[j];
    }
  }
}

enum class drop_kind {
  plain,
  split,  // edges above a limit are set aside
  late,   // of edges set aside: their trees may have moved on by several rounds
};

// Edges set aside are written from the end of their list's capacity on, backwards.
template <drop_kind Kind, class Key, class I>
__global__ void __launch_bounds__(block_threads)
    drop_inner_edges_kernel(edge_list<Key, I> list, const I* parents, first_edges<Key> first, I skipped,
                            edge_list<Key, I> next, Key limit, edge_list<Key, I> aside) {
  constexpr int per_block = block_threads * rounds_tuning::edges;
  const auto root_of = [&](I v) {
    I root = parents[v];
    if constexpr (Kind == drop_kind::late) {
      for (I above = parents[root]; above != root; above = parents[root]) root = above;
    }
    return root;
  };
  const auto size = static_cast<std::int64_t>(*list.size);
  for (std::int64_t base = std::int64_t{blockIdx.x} * per_block; base < size;
       base += std::int64_t{gridDim.x} * per_block) {
    tree_edge<Key, I> edges[rounds_tuning::edges];
    bool kept[rounds_tuning::edges];
    int count = 0;
    int heavier = 0;
#pragma unroll
    for (int j = 0; j < rounds_tuning::edges; ++j) {
      const std::int64_t k = base + j * block_threads + threadIdx.x;
      kept[j] = k < size;
      if (!kept[j]) continue;
      edges[j] = list.edges[k];
      edges[j].u = root_of(edges[j].u);
      edges[j].v = root_of(edges[j].v);
      kept[j] = edges[j].u != edges[j].v;
    }
#pragma unroll
    for (int j = 0; j < rounds_tuning::edges; ++j) {
      const bool is_heavier = Kind == drop_kind::split && kept[j] && limit < edges[j].key;
      heavier += is_heavier ? 1 : 0;
      count += kept[j] && !is_heavier ? 1 : 0;
    }
    std::int64_t at = place_by_block(next.size, count);
    std::int64_t at_aside = Kind == drop_kind::split ? aside.capacity - 1 - place_by_block(aside.size, heavier) : 0;
#pragma unroll
    for (int j = 0; j < rounds_tuning::edges; ++j) {
      if (!kept[j]) continue;
      if (Kind == drop_kind::split && limit < edges[j].key) {
        aside.edges[at_aside--] = edges[j];
        continue;
      }
      next.edges[at++] = edges[j];
      offer_to_both(first, edges[j], skipped);
    }
  }
}

// Keys of random edges of a list that is not empty.
template <class Key, class I>
__global__ void __launch_bounds__(block_threads) sample_list_kernel(edge_list<Key, I> list, Key* keys) {
  const std::int64_t k = global_thread();
  if (k >= rounds_tuning::samples) return;
  keys[k] = list.edges[mixed_bits(2, static_cast<std::uint64_t>(k)) % *list.size].key;
}

template <class Key, class I>
void start_trees(const context<device>& ctx, std::int64_t n, I* parents, first_edges<Key> first) {
  for_each(ctx, n, [parents, first] __device__(std::int64_t v) {
    if (parents != nullptr) parents[v] = static_cast<I>(v);
    first.reset(v);
  });
}

template <class I>
void put_under_roots(const context<device>& ctx, std::int64_t n, I* parents) {
  for_each(ctx, n, [parents] __device__(std::int64_t v) {
    I root = parents[v];
    for (I above = parents[root]; above != root; above = parents[root]) root = above;
    parents[v] = root;
  });
}

}  // namespace spargo::detail::forest
