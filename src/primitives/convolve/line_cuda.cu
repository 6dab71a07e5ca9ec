// Convolution of lines by register windows: see line.cuh.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "primitives/convolve/filter.cuh"
#include "primitives/convolve/line.cuh"

namespace spargo::detail::convolve {

namespace {

struct tuning {
  // Vectors per thread, ms with 1 and 2: K = 11 0.514, 0.521; K = 15 0.551, 0.511; double, K = 15 0.570, 0.702 (H200).
  template <class T, int K>
  static constexpr int vectors() {
    return sizeof(T) == 4 && K > 11 ? 2 : 1;
  }
};

template <int Shift, class T, int K>
void launch(const context<device>& ctx, const line_part<T>& line, const line_filter<T, K>& filter) {
  const std::int64_t tile = std::int64_t{line_threads} * tuning::vectors<T, K>();
  const std::int64_t blocks = std::max(std::int64_t{1}, div_up(line.vectors, tile));
  launch_kernel(ctx, {blocks, line_threads}, line_kernel<T, K, Shift, tuning::vectors<T, K>()>, line, filter);
}

// Elements past a 16-byte boundary.
template <class T>
std::int64_t past_boundary(const T* data) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % 16 / sizeof(T));
}

template <class T, int K>
void launch_shifted(const context<device>& ctx, const line_part<T>& line, const line_filter<T, K>& filter) {
  switch (past_boundary(line.in + line.first)) {
    case 0:
      return launch<0>(ctx, line, filter);
    case 1:
      return launch<1>(ctx, line, filter);
    default:
      break;
  }
  if constexpr (sizeof(T) == 4) {
    if (past_boundary(line.in + line.first) == 2) return launch<2>(ctx, line, filter);
    return launch<3>(ctx, line, filter);
  }
}

}  // namespace

template <class T>
void convolve_windows(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter,
                      span<T, device> out) {
  const device_guard guard(ctx);
  constexpr std::int64_t vec = 16 / sizeof(T);
  const std::int64_t first = std::min((vec - past_boundary(out.data())) % vec, in.size());
  const line_part<T> line{in.data(), out.data(), in.size(), first, (in.size() - first) / vec};
  with_width(filter.width, [&](auto width) {
    constexpr int K = decltype(width)::value;
    line_filter<T, K> taps;
    std::copy_n(filter.taps.data(), K, taps.tap);
    launch_shifted(ctx, line, taps);
  });
}

#define INSTANTIATE(T)                                                                                  \
  template void convolve_windows(const context<device>&, span<const T, device>, const plain_filter<T>&, \
                                 span<T, device>);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::convolve
