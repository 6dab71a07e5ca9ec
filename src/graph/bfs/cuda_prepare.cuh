// Kernels before the first search (per-vertex data of the graph) and after a search (level sizes, smallest parents).
#pragma once

#include "graph/bfs/cuda_search.cuh"
#include "graph/frontier/edge_shares.cuh"

namespace spargo::detail::bfs {

struct prepare_tuning {
  static constexpr int block = 256;
  static constexpr int lanes = 8;   // per vertex, to find its likely parent
  static constexpr int tries = 64;  // in-neighbours sampled evenly per vertex. H200, R-MAT 22: 0.43 ms for all vertices
  static constexpr int edges = 2048;  // edges per warp for smallest parents
};

// Computes each vertex's initial `visited` bit and the weight of its out-degree. Vertices without edges, and bits past
// the last vertex, count as visited, so that pulls skip them. `chunks` receives the number of hub chunks.
template <class I, class O>
__global__ void profile_vertices_kernel(search<I, O> s, count64* chunks) {
  const std::int64_t v = global_thread();
  bool settled = true;
  std::int64_t degree = 0;
  if (v < s.n) {
    degree = out_degree_of(s, v);
    settled = s.in_offsets != nullptr && degree == 0 && s.in_offsets[v] == s.in_offsets[v + 1];
    s.weights[v] = static_cast<unsigned char>(weight_of(degree));
  }
  const unsigned mask = __ballot_sync(full_mask, settled);
  if (threadIdx.x % warp_size == 0 && v / warp_size < s.words) s.start[v / warp_size] = mask;
  if (degree >= cuda_tuning::hub_degree) {
    atomicAdd(chunks, static_cast<count64>((degree - 1) / cuda_tuning::hub_degree + 1));
  }
}

template <class O>
struct in_degrees {
  const O* offsets;
  __device__ std::int64_t operator()(std::int64_t v) const {
    return static_cast<std::int64_t>(offsets[v + 1] - offsets[v]);
  }
};

// Likely parents: of up to `tries` in-neighbours of each vertex, the one with the largest edges_of(v) (ties: smallest
// id), since it is likely to be reached first; -1 without in-edges. `lanes` lanes per vertex.
template <class I, class O, class EdgesOf>
__global__ void find_likely_kernel(search<I, O> s, EdgesOf edges_of) {
  constexpr int lanes = prepare_tuning::lanes;
  constexpr std::int64_t tries = prepare_tuning::tries;
  const std::int64_t v = global_thread() / lanes;
  const auto lane = static_cast<std::int64_t>(threadIdx.x % lanes);
  const O begin = v < s.n ? s.in_offsets[v] : O{0};
  const std::int64_t degree = v < s.n ? static_cast<std::int64_t>(s.in_offsets[v + 1] - begin) : 0;
  std::int64_t most = -1;
  I best = I{-1};
  for (std::int64_t k = lane; k < (degree < tries ? degree : tries); k += lanes) {
    const I u = s.in_indices[begin + static_cast<O>(degree <= tries ? k : degree / tries * k)];
    const std::int64_t edges = edges_of(u);
    if (edges > most || (edges == most && u < best)) {
      most = edges;
      best = u;
    }
  }
  for (int step = lanes / 2; step > 0; step /= 2) {
    const std::int64_t other = __shfl_xor_sync(full_mask, most, step);
    const I from = __shfl_xor_sync(full_mask, best, step);
    if (other > most || (other == most && from < best)) {
      most = other;
      best = from;
    }
  }
  if (lane == 0 && v < s.n) s.likely[v] = best;
}

// Histogram of levels; `counts` starts at zero.
template <class I>
__global__ void count_levels_kernel(const std::int32_t* levels, std::int64_t n, I* counts) {
  const std::int64_t v = global_thread();
  if (v >= n || levels[v] < 0) return;
  if constexpr (sizeof(I) == sizeof(int)) {
    atomicAdd(counts + levels[v], 1);
  } else {
    atomicAdd(reinterpret_cast<count64*>(counts + levels[v]), 1ULL);
  }
}

__device__ inline void lower_to(int* value, int offer) { atomicMin(value, offer); }
__device__ inline void lower_to(std::int64_t* value, std::int64_t offer) {
  atomicMin(reinterpret_cast<long long*>(value), static_cast<long long>(offer));
}

// Smallest parents: each reached vertex proposes itself to its out-neighbours one level deeper; the smallest proposal
// wins. Each warp takes an equal range of edges.
template <class I, class O>
__global__ void offer_parents_kernel(search<I, O> s) {
  std::int32_t level = -1;
  for_each_edge_in_share(
      s.out_offsets, {0, s.n, 0, s.edges}, prepare_tuning::edges, [&](std::int64_t u) { level = s.levels[u]; },
      [&](std::int64_t e, std::int64_t u) {
        if (level < 0) return;
        const I v = s.out_indices[e];
        if (s.levels[v] == level + 1 && s.parents[v] > static_cast<I>(u)) lower_to(s.parents + v, static_cast<I>(u));
      });
}

}  // namespace spargo::detail::bfs
