// Prefix sums on the device: CUB's single-pass scan (Merrill and Garland, "Single-pass parallel prefix scan with
// decoupled look-back", NVIDIA 2016), which allows `in` and `out` to be the same. 2n element moves.
#include "primitives/backend.hpp"
#include "primitives/launch.cuh"

#include <cub/device/device_scan.cuh>

namespace spargo::detail {

template <class T>
void exclusive_scan(const context<device>& ctx, span<const T, device> in, span<T, device> out) {
  with_temporary_storage(ctx, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, in.data(), out.data(), in.size(), ctx.stream());
  });
}

template <class T>
void inclusive_scan(const context<device>& ctx, span<const T, device> in, span<T, device> out) {
  with_temporary_storage(ctx, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, in.data(), out.data(), in.size(), ctx.stream());
  });
}

#define INSTANTIATE(T)                                                                          \
  template void exclusive_scan(const context<device>&, span<const T, device>, span<T, device>); \
  template void inclusive_scan(const context<device>&, span<const T, device>, span<T, device>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace spargo::detail
