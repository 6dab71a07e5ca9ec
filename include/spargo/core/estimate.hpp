// What a plan will take, from sizes alone: before anything is read, copied or allocated.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>

namespace spargo {

// Bytes are a plan's at its peak, results included and its input not, and upper bounds: on the host at most 1.5 times
// what a plan takes, wherever its algorithm does not depend on what the input holds.
struct SPARGO_EXPORT plan_estimate {
  std::int64_t host_bytes = 0;    // of a plan on the host
  std::int64_t device_bytes = 0;  // of a plan on a device
  double host_seconds = 0;        // of a run on the host, to an order of magnitude
};

}  // namespace spargo
