#include "primitives/histogram/histogram_cuda.cuh"

namespace spargo::detail::histogram {
SPARGO_INSTANTIATE_HISTOGRAM(key_bins<std::uint32_t>)
SPARGO_INSTANTIATE_HISTOGRAM(key_bins<std::uint64_t>)
}  // namespace spargo::detail::histogram
