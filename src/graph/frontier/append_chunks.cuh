// Appends chunks of long rows to a list shared by many warps; one lane reserves the space for its warp.
#pragma once

#include "core/device/warp.cuh"

#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>

namespace spargo::detail {

// Appends the chunks of each lane's vertex with more than `size` edges. The whole warp writes the chunks of a vertex,
// adjacent in the list: one lane alone would take 10 microseconds for a hub of 160,000 edges.
template <class I>
__device__ void append_chunks(edge_chunk<I>* chunks, count64* count, I v, std::int64_t degree, int size) {
  const int lane = static_cast<int>(threadIdx.x % warp_size);  // lane_id() costs multi-source BFS registers
  for (unsigned rest = __ballot_sync(full_mask, degree > size); rest != 0; rest &= rest - 1) {
    const int owner = __ffs(static_cast<int>(rest)) - 1;
    const I vertex = __shfl_sync(full_mask, v, owner);
    const std::int64_t many = (__shfl_sync(full_mask, degree, owner) + size - 1) / size;
    count64 at = 0;
    if (lane == 0) at = atomicAdd(count, static_cast<count64>(many));
    at = __shfl_sync(full_mask, at, 0);
    for (std::int64_t p = lane; p < many; p += warp_size) {
      chunks[at + static_cast<count64>(p)] = {vertex, static_cast<I>(p)};
    }
  }
}

// Chunks of all rows of more than `Size` edges. One thread per vertex, whole warps.
template <int Size, class I, class O>
__global__ void cut_rows_kernel(const O* offsets, std::int64_t n, edge_chunk<I>* chunks, count64* count) {
  const std::int64_t v = global_thread();
  const std::int64_t degree = v < n ? static_cast<std::int64_t>(offsets[v + 1] - offsets[v]) : 0;
  append_chunks(chunks, count, static_cast<I>(v), degree, Size);
}

}  // namespace spargo::detail
