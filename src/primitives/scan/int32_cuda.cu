// Scans of int32 on the device.
#include "primitives/scan/scan_cuda.cuh"

namespace spargo::detail {

template void scan(const context<device>&, span<const std::int32_t, device>, span<std::int32_t, device>, scan_kind,
                   operation, scan_algorithm);

}  // namespace spargo::detail
