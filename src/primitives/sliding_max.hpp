// The host and device halves of sliding maxima, on checked arguments.
#pragma once

#include "primitives/sliding_fold.hpp"

#include <spargo/primitives/sliding_max.hpp>

namespace spargo::detail {

// Along lines; no window is wider than its line. `algorithm` is not automatic.
template <class T>
void sliding_max_lines(const context<host>& ctx, const fold_job<T>& job, sliding_max_algorithm algorithm);
template <class T>
void sliding_max_lines(const context<device>& ctx, const fold_job<T>& job, sliding_max_algorithm algorithm);

// Along an axis whose elements are not neighbours; tiled or van_herk.
template <class T>
void sliding_max_axis(const context<host>& ctx, const axis_job<T>& job, sliding_max_algorithm algorithm);
template <class T>
void sliding_max_axis(const context<device>& ctx, const axis_job<T>& job, sliding_max_algorithm algorithm);

// Every element of every window.
template <class T>
void sliding_max_naive(const context<host>& ctx, const T* in, T* out, const volume_shape& shape,
                       const volume_shape& window);
template <class T>
void sliding_max_naive(const context<device>& ctx, const T* in, T* out, const volume_shape& shape,
                       const volume_shape& window);

}  // namespace spargo::detail
