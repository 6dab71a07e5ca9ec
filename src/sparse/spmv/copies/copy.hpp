// Common to all copies: an attempt gives an executor, or the reason why there is none.
#pragma once

#include "sparse/spmv/executor.hpp"

#include <cstdint>
#include <string>

namespace spargo::detail::spmv {

template <class V>
struct copy_attempt {
  executor_ptr<V> executor;  // null: refused
  std::string reason;        // how the matrix is stored, or why there is no copy
};

// The reason why a device cannot run kernels with `bytes` of x in shared memory; empty if it can.
[[nodiscard]] inline std::string reason_against_device(const device_properties& device, std::int64_t bytes) {
  if (device.shared_memory_per_block >= bytes) return {};
  return "a block needs " + std::to_string(bytes >> 10) + " KiB of shared memory, " + device.name + " has " +
         std::to_string(device.shared_memory_per_block >> 10);
}

// Marks slots without an entry.
inline constexpr std::uint32_t no_entry = 0xffffffffU;

enum class copy_demand {
  if_it_pays,  // refused if CSR in place is expected to be as fast
  by_name,     // refused only if the matrix cannot be stored that way, or takes too much memory
};

}  // namespace spargo::detail::spmv
