#include "primitives/histogram/histogram_cuda.cuh"

namespace spargo::detail::histogram {
SPARGO_INSTANTIATE_HISTOGRAM(key_bins<std::uint8_t>)
SPARGO_INSTANTIATE_HISTOGRAM(letter_bins)
}  // namespace spargo::detail::histogram
