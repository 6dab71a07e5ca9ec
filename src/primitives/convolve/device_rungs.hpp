// The device algorithms of convolution, one file each. Filters have at most widest_parameter columns.
#pragma once

#include "primitives/convolve/backend.hpp"

namespace spargo::detail::convolve {

// run_march: register_tiled and separable for images.
template <class T>
void run_march(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
               const image_view<T, device>& out);
template <class T>
void run_march(const context<device>& ctx, const image_view<const T, device>& in, const separated_filter<T>& filter,
               const image_view<T, device>& out);

// run_line: register_tiled for lines.
template <class T>
void convolve_windows(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter,
                      span<T, device> out);

// convolve_tiled: the rungs with shared-memory tiles.
template <class T>
void convolve_tiled(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter,
                    span<T, device> out, convolve_algorithm algorithm);
template <class T>
void convolve_tiled(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
                    const image_view<T, device>& out, convolve_algorithm algorithm);

}  // namespace spargo::detail::convolve
