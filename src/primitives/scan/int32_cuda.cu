#include "primitives/scan/scan_cuda.cuh"

namespace spargo::detail::scan {

template void run(const context<device>&, span<const std::int32_t, device>, span<std::int32_t, device>, scan_kind,
                  operation, scan_algorithm);

}  // namespace spargo::detail::scan
