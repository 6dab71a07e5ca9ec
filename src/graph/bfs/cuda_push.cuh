// Push: follow the edges of the queued frontier and append the vertices found.
#pragma once

#include "graph/bfs/cuda_search.cuh"

namespace spargo::detail::bfs {

// A warp expands one vertex per lane (edges [begin, begin + degree), degree 0 for none) and distributes all edges
// evenly: lane l takes edges l, l + 32, ... of the concatenation and finds each edge's owner by a search over the
// lanes' prefix sums. All lanes call it. Degrees are at most hub_degree, so sums fit an int. Targets are claimed in
// `visited` and passed to keep(target, parent, won, left): arrays of `unroll` entries for the warp's next edges, of
// which `left` remain. An edge's parent is `vertex` of the lane that owns it.
template <class I, class O, class Keep>
__device__ __forceinline__ void claim_edges(const search<I, O>& s, unsigned* visited, I vertex, O begin, int degree,
                                            const Keep& keep) {
  constexpr int unroll = cuda_tuning::unroll;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const packed_edges<O> packed(begin, degree, warp_inclusive_sum(degree));
  const int total = packed.total;
  for (int base = 0; base < total; base += warp_size * unroll) {
    I target[unroll];
    I parent[unroll];
    bool won[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const int k = base + q * warp_size + lane;
      const int owner = packed.owner(k);
      const O from = packed.first(owner);
      parent[q] = __shfl_sync(full_mask, vertex, owner);
      target[q] = k < total ? __ldg(s.out_indices + (from + k)) : I{-1};
    }
    claim_all(visited, target, won);
    keep(target, parent, won, total - base);
  }
}

// The level of a vertex found here is written when that vertex is expanded (see push_balanced and write_front): in a
// pull those stores are coalesced.
template <class I, class O>
__device__ void expand_together(const search<I, O>& s, sink<I>& to, I vertex, O begin, int degree,
                                thread_tally& tally) {
  constexpr int unroll = cuda_tuning::unroll;
  claim_edges(s, s.visited, vertex, begin, degree,
              [&](const I(&target)[unroll], const I(&parent)[unroll], const bool(&won)[unroll], int left) {
                int weight[unroll];
#pragma unroll
                for (int q = 0; q < unroll; ++q) weight[q] = won[q] ? __ldg(s.weights + target[q]) : 0;
#pragma unroll
                for (int q = 0; q < unroll; ++q) {
                  if (q * warp_size >= left) break;  // uniform across the warp
                  if (won[q]) {
                    if (s.parents != nullptr) s.parents[target[q]] = parent[q];
                    if (target[q] == s.target) to.found->target = 1;
                    ++tally.vertices;
                    tally.edges += edges_of_weight(weight[q]);
                  }
                  append_together(s, to, won[q], target[q], weight[q]);
                }
              });
}

// Load-balanced push of the queue [begin, end) and of the hub chunks: a warp calls expand(vertex, begin, degree).
template <class I, class O, class Expand>
__device__ void push_balanced(const search<I, O>& s, sink<I>& to, const search_position& at, const Expand& expand) {
  const std::int64_t first_warp = grid_warp();
  const std::int64_t warps = grid_warps();
  constexpr int hub = cuda_tuning::hub_degree;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t c = at.hub_begin + first_warp; c < at.hub_end; c += warps) {
    const edge_chunk<I> chunk = s.hubs[c];
    if (chunk.number == 0 && lane == 0) write_level(s, chunk.vertex, at.level);
    const O begin = chunk.first(s.out_offsets[chunk.vertex], hub);
    const O end = s.out_offsets[std::int64_t{chunk.vertex} + 1];
    // Each lane gets an equal range of the chunk, as if it were a vertex.
    const int size = static_cast<int>(end - begin < hub ? end - begin : hub);
    const int first = size * lane / warp_size;
    const int past = size * (lane + 1) / warp_size;
    expand(chunk.vertex, static_cast<O>(begin + first), past - first);
  }
  const std::int64_t size = at.end - at.begin;
  std::int64_t tile = (size + warps - 1) / warps;  // small frontier: fewer vertices per warp, but all warps busy
  tile = tile < 1 ? 1 : (tile > warp_size ? warp_size : tile);
  for (std::int64_t t = first_warp * tile; t < size; t += warps * tile) {
    I vertex = 0;
    O begin = 0;
    int degree = 0;
    if (lane < tile && t + lane < size) {
      vertex = s.queue[at.begin + t + lane];
      begin = s.out_offsets[vertex];
      degree = static_cast<int>(s.out_offsets[std::int64_t{vertex} + 1] - begin);
      write_level(s, vertex, at.level);
    }
    expand(vertex, begin, degree);
  }
  flush_staged(s, to);
}

// True for the one thread that claims u; it writes u's level and parent and counts it.
template <class I, class O>
__device__ __forceinline__ bool discover(const search<I, O>& s, const sink<I>& to, I u, I v, std::int64_t level,
                                         thread_tally& tally) {
  if (!claim_bit(s.visited, u)) return false;
  write_found(s, u, v, level);
  if (u == s.target) to.found->target = 1;
  tally.edges += static_cast<count64>(out_degree_of(s, u));
  ++tally.vertices;
  return true;
}

// Variant `global_queue`: one thread per vertex, one atomic on the queue's tail per discovery.
template <class I, class O>
__device__ void push_global(const search<I, O>& s, sink<I>& to, const search_position& at, thread_tally& tally) {
  for (std::int64_t i = at.begin + global_thread(); i < at.end; i += grid_threads()) {
    const I v = s.queue[i];
    for (O e = s.out_offsets[v]; e < s.out_offsets[std::int64_t{v} + 1]; ++e) {
      const I u = s.out_indices[e];
      if (!discover(s, to, u, v, at.level + 1, tally)) continue;
      s.queue[to.queue_base + static_cast<std::int64_t>(atomicAdd(&to.found->queued, 1ULL))] = u;
    }
  }
}

// Variant `block_queue`: a block gathers discoveries in shared memory and appends them with one atomic; overflow goes
// straight to the global queue. All threads of a block run the same rounds.
template <class I, class O>
__device__ void push_block(const search<I, O>& s, sink<I>& to, const search_position& at, thread_tally& tally) {
  constexpr unsigned slots = cuda_tuning::block_queue;
  __shared__ I shared_queue[slots];
  __shared__ unsigned tail;
  __shared__ count64 base;
  for (std::int64_t first = at.begin + std::int64_t{blockIdx.x} * blockDim.x; first < at.end;
       first += std::int64_t{gridDim.x} * blockDim.x) {
    if (threadIdx.x == 0) tail = 0;
    __syncthreads();
    const std::int64_t i = first + threadIdx.x;
    if (i < at.end) {
      const I v = s.queue[i];
      for (O e = s.out_offsets[v]; e < s.out_offsets[std::int64_t{v} + 1]; ++e) {
        const I u = s.out_indices[e];
        if (!discover(s, to, u, v, at.level + 1, tally)) continue;
        const unsigned slot = atomicAdd(&tail, 1U);
        if (slot < slots) {
          shared_queue[slot] = u;
        } else {
          s.queue[to.queue_base + static_cast<std::int64_t>(atomicAdd(&to.found->queued, 1ULL))] = u;
        }
      }
    }
    __syncthreads();
    const unsigned kept = tail < slots ? tail : slots;  // the tail counts overflow too
    if (threadIdx.x == 0) base = atomicAdd(&to.found->queued, static_cast<count64>(kept));
    __syncthreads();
    for (unsigned k = threadIdx.x; k < kept; k += blockDim.x) {
      s.queue[to.queue_base + static_cast<std::int64_t>(base) + k] = shared_queue[k];
    }
    __syncthreads();  // before the next round resets the tail
  }
}

}  // namespace spargo::detail::bfs
