// Scans on the device, every algorithm, relative to a copy in the same run.
#include "bench/scan_device.hpp"

#include "primitives/scan/algorithms.hpp"

namespace spargo::bench {

namespace {

template <class T>
void add_scans(std::type_identity<T>, scan_direction direction, std::int64_t size) {
  const std::string group = scan_group<T>(direction, size, "cuda");
  for (const auto algorithm : detail::algorithms_on<device>(detail::scan::algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      return measure_device_scan<T>(state, direction, size, [&](device_scan_problem<T>& p) {
        const auto in = std::as_const(p.in).view();
        if (direction == scan_direction::inclusive) {
          inclusive_scan<T, device>(p.ctx, in, p.out.view(), operation::sum, {.algorithm = algorithm});
        } else {
          exclusive_scan<T, device>(p.ctx, in, p.out.view(), operation::sum, {.algorithm = algorithm});
        }
      });
    });
  }
}

const registration here{[] {
  if (!current_settings().device) return;
  for_each_device_scan(
      [](auto type, scan_direction direction, std::int64_t size) { add_scans(type, direction, size); });
}};

}  // namespace

}  // namespace spargo::bench
