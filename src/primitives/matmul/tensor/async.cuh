// PTX wrappers for bulk tensor copies to the blocks of one cluster.
//
// The copy engine (TMA) writes tiles into the shared memory of one or all blocks of the cluster and counts the bytes on
// a barrier at the same address in each. Source: PTX ISA, "cp.async.bulk.tensor".
#pragma once

#include "core/device/barrier.cuh"

#include <cuda.h>

#include <cstdint>

namespace spargo::detail::matmul::tensor {

__device__ __forceinline__ std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_synchronize() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Loads the matrix's box at column x and row y into this block.
__device__ __forceinline__ void load_box(std::uint32_t to, const CUtensorMap& map, std::uint32_t barrier, int x,
                                         int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

// Into every block whose bit is set in `blocks`; each block's own barrier counts the bytes.
__device__ __forceinline__ void load_box(std::uint32_t to, const CUtensorMap& map, std::uint32_t barrier, int x, int y,
                                         std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

// Moves registers between warpgroups: each calls one of these two once.
template <int Registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

}  // namespace spargo::detail::matmul::tensor
