// What every kind of copy has in common: an attempt that gives an executor, or says why there is none.
#pragma once

#include "sparse/spmv/executor.hpp"

#include <string>

namespace spargo::detail::spmv {

template <class V>
struct copy_attempt {
  executor_ptr<V> executor;  // null: refused
  std::string reason;        // what is stored how, or why there is no copy
};

// Why a copy whose kernels hold so many bytes of x in a block's shared memory is none for a device; empty: it has them.
[[nodiscard]] inline std::string why_no_room(const device_properties& device, std::int64_t bytes) {
  if (device.shared_memory_per_block >= bytes) return {};
  return "a block needs " + std::to_string(bytes >> 10) + " KiB of shared memory, " + device.name + " has " +
         std::to_string(device.shared_memory_per_block >> 10);
}

enum class copy_demand {
  if_it_pays,  // refused where CSR as it stands is expected to be as fast
  by_name,     // refused only where the matrix cannot be stored that way, or takes too much memory
};

}  // namespace spargo::detail::spmv
