// Scans of double on the device.
#include "primitives/scan/scan_cuda.cuh"

namespace spargo::detail {

template void scan(const context<device>&, span<const double, device>, span<double, device>, scan_kind, operation,
                   scan_algorithm);

}  // namespace spargo::detail
