// Threads take parts (of a text, for example) in order; each part needs the sum of the counts before it.
//
// A thread counts its part, waits for the sum over the earlier parts, adds its count, passes the sum on, and only then
// does the long work. Counting is short, so waits are short; parts are taken in order, so the part waited for is being
// counted (a chained scan: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016).
#pragma once

#include "core/parallel.hpp"
#include "core/turns.hpp"

#include <spargo/core/context.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace spargo::detail {

// count(i, slot) -> std::int64_t and work(i, sum of the counts before i, slot) must not throw. The sum starts at
// `first`. slot < ctx.threads() is used by one thread at a time.
template <class Count, class Work>
void for_each_part_in_order(const context<host>& ctx, std::int64_t parts, std::int64_t first, const Count& count,
                            const Work& work) {
  std::atomic<std::int64_t> taken{0};
  turn_order turn;
  std::int64_t sum = first;
  const int threads = static_cast<int>(std::clamp<std::int64_t>(parts, 1, ctx.threads()));
  parallel_parts(threads, threads, [&](std::int64_t slot) {
    for (std::int64_t i = taken.fetch_add(1); i < parts; i = taken.fetch_add(1)) {
      const std::int64_t counted = count(i, slot);
      turn.wait_for(i);
      const std::int64_t before = sum;
      sum += counted;
      turn.pass();
      work(i, before, slot);
    }
  });
}

}  // namespace spargo::detail
