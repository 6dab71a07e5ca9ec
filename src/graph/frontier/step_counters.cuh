// Counters of the steps of a persistent grid, such as the levels of a search.
//
// All blocks add to the counters of a step and read them after the grid barrier that ends it. Three sets rotate: a step
// fills one and clears the next. That one was read before the step's barrier and is filled after it, so one barrier per
// step suffices.
#pragma once

#include "core/cuda.cuh"

#include <type_traits>

namespace spargo::detail {

// Reads counters, a struct of count64, from the L2 cache, where atomics of other blocks take effect.
template <class C>
[[nodiscard]] __device__ __forceinline__ C load_counters(const C* from) {
  static_assert(std::is_trivially_copyable_v<C> && sizeof(C) % sizeof(count64) == 0);
  C counters;
#pragma unroll
  for (unsigned k = 0; k < sizeof(C) / sizeof(count64); ++k) {
    reinterpret_cast<count64*>(&counters)[k] = __ldcg(reinterpret_cast<const count64*>(from) + k);
  }
  return counters;
}

// In device memory. `turn` is the set that the last step has filled; every thread of the grid keeps it, from 0 on.
template <class C>
struct step_counters {
  C sets[3];

  [[nodiscard]] __device__ C* filled(int turn) { return sets + turn; }

  // Returns the set that this step fills, and has the grid's first block clear the next one. All threads call it, after
  // the barrier of the last step.
  [[nodiscard]] __device__ C* begin_step(int turn) {
    constexpr unsigned words = sizeof(C) / sizeof(count64);
    C* const filling = sets + (turn + 1) % 3;
    C* const next = sets + (turn + 2) % 3;
    if constexpr (words <= warp_size) {
      if (global_thread() == 0) *next = {};
    } else if (blockIdx.x == 0) {
      for (unsigned k = threadIdx.x; k < words; k += blockDim.x) reinterpret_cast<count64*>(next)[k] = 0;
    }
    return filling;
  }
};

[[nodiscard]] __device__ inline int next_turn(int turn) { return (turn + 1) % 3; }

}  // namespace spargo::detail
