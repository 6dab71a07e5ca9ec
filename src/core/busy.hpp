// What loops spare a busy machine.
//
// Waking a worker there can cost the leader its own time slice: COO to CSR of 450,000 entries, two loops of 0.3 ms,
// took 9.9 ms on 32 cores beside 64 busy loops, 2.0 ms by one thread. Loops that one thread ends within about half a
// millisecond are done by the threads that are awake.
#pragma once

#include "core/parallel.hpp"

namespace spargo::detail {

// For a region whose threads should each have at least `least` of the work, 10 to 30 us.
[[nodiscard]] inline waking waking_for(std::int64_t work, std::int64_t least) {
  return work / least < 16 ? waking::unless_busy : waking::always;
}

// For tests: all teams take the machine as busy, and do not poll.
void assume_busy(bool busy);

}  // namespace spargo::detail
