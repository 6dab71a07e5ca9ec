// Barriers of persistent kernels: among a rank's blocks, and among all ranks, on one GPU or several with peer access.
//
// Blocks count their arrivals in device memory and wait for a number that the last one sets. At a barrier of all ranks
// that last block first posts a few words and the barrier's number to every other rank's memory, and waits for their
// posts. Stores into peer memory before a barrier are visible to all ranks after it (system-wide fences, release and
// acquire at each link of the chain). There are two sets of posts, used alternately: a rank that writes for barrier k +
// 2 has passed barrier k + 1, at which every rank arrived after reading barrier k's posts. No wait is unbounded: a rank
// that times out, or sees that another has, breaks the grids of all ranks.
#pragma once

#include "core/cuda.cuh"
#include "core/device/warp.cuh"

namespace spargo::detail::distributed {

inline constexpr int most_persistent_ranks = 8;
inline constexpr count64 broken = ~count64{0};  // replaces a number

struct __align__(64) rank_post {
  static constexpr int words = 6;
  count64 word[words];
  count64 number;  // of the barrier
};

// Written by other ranks.
struct rank_board {
  rank_post posts[2][most_persistent_ranks];  // [set][from]
};

// In the rank's own memory; zero-initialised.
struct grid_state {
  count64 arrived;  // blocks, over all rounds
  count64 round;    // the last completed one, or `broken`
  count64 rounds;   // of earlier kernels
  count64 barriers;
};

// One rank's view of all.
struct rank_links {
  int rank;
  int ranks;
  count64 patience;  // nanoseconds
  grid_state* state;
  rank_board* boards[most_persistent_ranks];  // of all ranks
};

// The last round and barrier since the plan was made. In a block's shared memory.
struct barrier_counters {
  count64 round;
  count64 barrier;
};

__device__ inline count64 nanoseconds_now() {
  count64 now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

template <bool System>
__device__ __forceinline__ count64 load_acquire(const count64* word) {
  count64 value = 0;
  if constexpr (System) {
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  } else {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  }
  return value;
}
template <bool System>
__device__ __forceinline__ void store_release(count64* word, count64 value) {
  if constexpr (System) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
  } else {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
  }
}

// Waits until `word` is `wanted`; false if it is `broken` or after `patience`.
template <bool System>
__device__ bool await_number(const count64* word, count64 wanted, count64 patience) {
  constexpr unsigned between_clocks = 64;
  count64 since = 0;
  for (unsigned looks = 1;; ++looks) {
    const count64 now = load_acquire<System>(word);
    if (now == wanted) return true;
    if (now == broken) return false;
    if (looks % between_clocks != 0) continue;
    const count64 time = nanoseconds_now();
    if (since == 0) since = time;
    if (time - since > patience) return false;
  }
}

// A grid of blocks of the same rank along x, all resident at once. Every rank makes the same calls in the same order,
// by all threads of all blocks. A false result is uniform in a block, which must then end.
class rank_grid {
 public:
  __device__ rank_grid(const rank_links& links, barrier_counters& counters) : links_(links), counters_(counters) {}

  // By one thread, followed by a barrier of the block.
  __device__ void enter() {
    counters_.round = links_.state->rounds;
    counters_.barrier = links_.state->barriers;
  }

  // A barrier of this rank's blocks.
  __device__ bool sync() {
    return pass<false>([] { return true; });
  }

  // A barrier of all ranks. The first warp of one block of each rank calls send(word), where lane r sets the words for
  // rank r, and receive(word), where lane r has the words from rank r; other lanes have zeros.
  template <class Send, class Receive>
  __device__ bool sync_ranks(const Send& send, const Receive& receive) {
    if (threadIdx.x == 0) ++counters_.barrier;
    return pass<true>([&] {
      const int lane = lane_id();
      const count64 number = counters_.barrier;
      count64 word[rank_post::words] = {};
      send(word);
      const bool is_of_rank = lane < links_.ranks;
      if (is_of_rank) {
        rank_post& post = links_.boards[lane]->posts[number & 1][links_.rank];
        for (int w = 0; w < rank_post::words; ++w) post.word[w] = word[w];
        store_release<true>(&post.number, number);
      }
      __syncwarp();
      bool ok = true;
      if (is_of_rank) {
        const rank_post& received_post = links_.boards[links_.rank]->posts[number & 1][lane];
        ok = await_number<true>(&received_post.number, number, links_.patience);
        for (int w = 0; w < rank_post::words && ok; ++w) word[w] = __ldcg(&received_post.word[w]);
      } else {
        for (count64& each : word) each = 0;
      }
      if (__all_sync(full_mask, ok)) {
        receive(word);
        return true;
      }
      for (int set = 0; set < 2 && is_of_rank; ++set) {
        store_release<true>(&links_.boards[lane]->posts[set][links_.rank].number, broken);
      }
      return false;
    });
  }

  // By one thread, at the end: the next kernel continues from here.
  __device__ void leave() {
    links_.state->rounds = counters_.round;
    links_.state->barriers = counters_.barrier;
  }

 private:
  // The first warp of the last block to arrive calls finish().
  template <bool System, class Finish>
  __device__ bool pass(const Finish& finish) {
    __shared__ bool passed;
    __syncthreads();
    if (threadIdx.x < warp_size) {
      grid_state& state = *links_.state;
      if (lane_id() == 0) ++counters_.round;
      __syncwarp();
      const count64 round = counters_.round;
      bool is_last = false;
      if (lane_id() == 0) {
        System ? __threadfence_system() : __threadfence();
        is_last = atomicAdd(&state.arrived, count64{1}) + 1 == round * gridDim.x;
        if (is_last) __threadfence();
      }
      is_last = __shfl_sync(full_mask, is_last, 0);
      if (is_last) {
        const bool ok = finish();
        __syncwarp();
        if (lane_id() == 0) {
          store_release<false>(&state.round, ok ? round : broken);
          passed = ok;
        }
      } else if (lane_id() == 0) {
        passed = await_number<false>(&state.round, round, 2 * links_.patience);
      }
    }
    __syncthreads();
    return passed;
  }

  const rank_links& links_;
  barrier_counters& counters_;
};

}  // namespace spargo::detail::distributed
