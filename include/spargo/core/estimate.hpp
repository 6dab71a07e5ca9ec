// Estimated memory and time of a plan, from sizes alone, before reading or allocating anything.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>

namespace spargo {

// Bytes are upper bounds of a plan's peak memory, with results, without input. On the host they are at most 1.5 times
// the peak, unless the plan's algorithm depends on the input's contents.
struct SPARGO_EXPORT plan_estimate {
  std::int64_t host_bytes = 0;    // of a plan on the host
  std::int64_t device_bytes = 0;  // of a plan on a device
  double host_seconds = 0;        // of a run on the host, to an order of magnitude
};

}  // namespace spargo
