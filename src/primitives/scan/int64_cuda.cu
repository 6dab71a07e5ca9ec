#include "primitives/scan/scan_cuda.cuh"

namespace spargo::detail::scan {

template void run(const context<device>&, span<const std::int64_t, device>, span<std::int64_t, device>, scan_kind,
                  operation, scan_algorithm);

}  // namespace spargo::detail::scan
