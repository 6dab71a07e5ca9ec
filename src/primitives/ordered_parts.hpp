// Parts, of a text say, taken by threads in order, each of which must know how much lies before it.
//
// Idea: whoever takes a part first counts what is in it, then waits for the sums of the parts before, adds its own and
// passes the sum on, and only then does the long work. Counting is short, so nobody waits for long, and since parts
// are taken in order the one waited for is always being counted (a chained scan: Merrill and Garland, "Single-pass
// parallel prefix scan with decoupled look-back", 2016, with a window of one).
#pragma once

#include "core/parallel.hpp"
#include "core/turns.hpp"

#include <spargo/core/context.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace spargo::detail {

// count(i, slot) -> std::int64_t and work(i, sum of all counts before i, slot), neither of which may throw. Starts from
// `first`. Below ctx.threads(), a slot is one thread's at a time.
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
