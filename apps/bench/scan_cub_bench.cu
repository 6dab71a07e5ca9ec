// Peer of the device scans: CUB's, whose scratch memory is allocated only once, unlike ours.
#include "bench/scan_device.hpp"

#include <cub/device/device_scan.cuh>

namespace spargo::bench {

namespace {

template <class T>
cudaError_t cub_scan(scan_direction direction, void* storage, std::size_t& bytes, const device_scan_problem<T>& p,
                     T* out) {
  const auto size = p.in.size();
  return direction == scan_direction::inclusive
             ? cub::DeviceScan::InclusiveSum(storage, bytes, p.in.data(), out, size, p.ctx.stream())
             : cub::DeviceScan::ExclusiveSum(storage, bytes, p.in.data(), out, size, p.ctx.stream());
}

template <class T>
void add_cub(std::type_identity<T>, scan_direction direction, std::int64_t size) {
  add_peer(scan_group<T>(direction, size, "cuda") + "cub", [=](benchmark::State& state) {
    array<char, device> storage;
    std::size_t bytes = 0;
    return measure_device_scan<T>(state, direction, size, [&](device_scan_problem<T>& p) {
      if (storage.empty()) {
        expect(cub_scan<T>(direction, nullptr, bytes, p, p.out.data()));
        storage = array<char, device>(p.ctx, static_cast<std::int64_t>(bytes));
      }
      expect(cub_scan<T>(direction, storage.data(), bytes, p, p.out.data()));
    });
  });
}

const registration here{[] {
  if (!current_settings().device) return;
  for_each_device_scan([](auto type, scan_direction direction, std::int64_t size) { add_cub(type, direction, size); });
}};

}  // namespace

}  // namespace spargo::bench
