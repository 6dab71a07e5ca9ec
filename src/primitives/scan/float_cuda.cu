#include "primitives/scan/scan_cuda.cuh"

namespace spargo::detail::scan {

template void run(const context<device>&, span<const float, device>, span<float, device>, scan_kind, operation,
                  scan_algorithm);

}  // namespace spargo::detail::scan
