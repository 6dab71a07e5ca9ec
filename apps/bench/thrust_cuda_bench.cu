// Peer of the device scans: Thrust's, on the context's stream and memory. Its reductions return to the host only.
#include "bench/scan_device.hpp"

#include <spargo/core/thrust.cuh>

#include <thrust/scan.h>

namespace spargo::bench {

namespace {

template <class T>
void add_scan(std::int64_t size) {
  add_peer(scan_group<T>(scan_direction::exclusive, size, "cuda") + "thrust", [=](benchmark::State& state) {
    return measure_device_scan<T>(state, scan_direction::exclusive, size, [](device_scan_problem<T>& p) {
      thrust::exclusive_scan(thrust_policy(p.ctx), thrust_begin(p.in.view()), thrust_end(p.in.view()),
                             thrust_begin(p.out.view()));
    });
  });
}

const registration here{[] {
  if (!current_settings().device) return;
  for_each_device_scan([](auto type, scan_direction direction, std::int64_t size) {
    using T = typename decltype(type)::type;
    if constexpr (std::same_as<T, std::int32_t>) {  // each type takes nvcc seconds
      if (direction == scan_direction::exclusive) add_scan<T>(size);
    }
  });
}};

}  // namespace

}  // namespace spargo::bench
