// Convolution of images of double: see march.cuh.
#include "primitives/convolve/march_launch.cuh"

namespace spargo::detail::convolve {

template void run_march(const context<device>&, const image_view<const double, device>&, const plain_filter<double>&,
                        const image_view<double, device>&);
template void run_march(const context<device>&, const image_view<const double, device>&,
                        const separated_filter<double>&, const image_view<double, device>&);

}  // namespace spargo::detail::convolve
