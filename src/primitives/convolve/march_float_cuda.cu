// Convolution of images of float: see march.cuh.
#include "primitives/convolve/march_launch.cuh"

namespace spargo::detail::convolve {

template void run_march(const context<device>&, const image_view<const float, device>&, const plain_filter<float>&,
                        const image_view<float, device>&);
template void run_march(const context<device>&, const image_view<const float, device>&, const separated_filter<float>&,
                        const image_view<float, device>&);

}  // namespace spargo::detail::convolve
