// Counters of a grid's steps against sums on the host: every block must read the same totals after every step.
#include "core/device/cooperative.cuh"
#include "graph/frontier/step_counters.cuh"
#include "support/device.hpp"

#include <gtest/gtest.h>

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

namespace spargo::detail {
namespace {

constexpr int steps = 50;

struct tally {
  count64 items;
  count64 weight;
  count64 highest;
};

// `Slots` counters of single blocks come after the tally: few are cleared by one thread, many by a block.
template <int Slots>
struct counters : tally {
  count64 slots[Slots];
};

// What a thread counts in a step; in some steps only one thread counts, or none.
SPARGO_HD constexpr tally counted(std::int64_t thread, int step) {
  if (step % 7 == 3) return {};
  if (step % 5 == 2 && thread != 1000) return {};
  const auto mixed = static_cast<count64>(thread + 1) * 0x9e3779b97f4a7c15U + static_cast<count64>(step);
  return {static_cast<count64>(thread % 3), mixed >> 24, mixed};
}

// out[step * blocks + block]: the totals that the block has read.
template <int Slots>
__global__ void __launch_bounds__(1024) count_kernel(step_counters<counters<Slots>>* found, counters<Slots>* out) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int turn = 0;
  for (int step = 0; step < steps; ++step, turn = next_turn(turn)) {
    counters<Slots>* const filling = found->begin_step(turn);
    const auto combine = [](int k, count64 a, count64 b) { return k < 2 ? a + b : maximum{}(a, b); };
    const auto merge = [](int k, count64* to, count64 value) { k < 2 ? atomicAdd(to, value) : atomicMax(to, value); };
    merge_tally<tally>(filling, counted(global_thread(), step), combine, merge);
    add_tally<tally>(filling, {1, 0, 0});  // sums alone
    if (threadIdx.x == 0) atomicAdd(&filling->slots[(blockIdx.x + static_cast<unsigned>(step)) % Slots], count64{1});
    grid.sync();
    if (threadIdx.x == 0) out[step * gridDim.x + blockIdx.x] = load_counters(filling);
  }
}

template <int Slots>
void expect_totals(int threads) {
  const context<device> ctx;
  const cooperative_kernel<step_counters<counters<Slots>>*, counters<Slots>*> kernel(ctx, count_kernel<Slots>, threads,
                                                                                     "test", 0, 1);
  const std::int64_t blocks = ctx.properties().multiprocessors;
  array<step_counters<counters<Slots>>, device> found(ctx, 1);
  array<counters<Slots>, device> out(ctx, steps * blocks);
  fill_zero(ctx, found.view());
  kernel.launch(ctx, found.data(), out.data());
  const auto totals = to_host(ctx, out.view());
  for (int step = 0; step < steps; ++step) {
    counters<Slots> expected{};
    for (std::int64_t thread = 0; thread < blocks * threads; ++thread) {
      const tally mine = counted(thread, step);
      expected.items += mine.items + 1;
      expected.weight += mine.weight;
      expected.highest = std::max(expected.highest, mine.highest);
    }
    for (std::int64_t block = 0; block < blocks; ++block) ++expected.slots[(block + step) % Slots];
    for (std::int64_t block = 0; block < blocks; ++block) {
      const counters<Slots>& read = totals[step * blocks + block];
      ASSERT_EQ(read.items, expected.items) << "step " << step << ", block " << block;
      ASSERT_EQ(read.weight, expected.weight) << "step " << step << ", block " << block;
      ASSERT_EQ(read.highest, expected.highest) << "step " << step << ", block " << block;
      for (int k = 0; k < Slots; ++k) {
        ASSERT_EQ(read.slots[k], expected.slots[k]) << "step " << step << ", block " << block << ", slot " << k;
      }
    }
  }
}

TEST(StepCounters, EveryBlockReadsTheTotalsOfEveryStep) {
  SPARGO_TEST_NEEDS_GPU();
  for (const int threads : {96, 640, 1024}) {
    SCOPED_TRACE(threads);
    expect_totals<5>(threads);
    expect_totals<100>(threads);
  }
}

}  // namespace
}  // namespace spargo::detail
