// Convolution of images of float by marching warps: see march.cuh.
#include "primitives/convolve/march_launch.cuh"

namespace spargo::detail {

template void convolve_march(const context<device>&, const image_view<const float, device>&,
                             const convolve_filter<float>&, const image_view<float, device>&);
template void convolve_march(const context<device>&, const image_view<const float, device>&,
                             const separated_filter<float>&, const image_view<float, device>&);

}  // namespace spargo::detail
