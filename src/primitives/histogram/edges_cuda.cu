#include "primitives/histogram/histogram_cuda.cuh"

namespace spargo::detail::histogram {
SPARGO_INSTANTIATE_HISTOGRAM(edge_bins<float>)
SPARGO_INSTANTIATE_HISTOGRAM(edge_bins<double>)
}  // namespace spargo::detail::histogram
