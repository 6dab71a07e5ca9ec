// Launches of march.cuh, instantiated in one file per value type.
#pragma once

#include "core/device/launch.cuh"
#include "primitives/convolve/filter.cuh"
#include "primitives/convolve/march.cuh"

namespace spargo::detail::convolve {

struct march_tuning {
  // Fewest output rows per strip; below, most work would be the K - 1 extra input rows.
  static constexpr std::int64_t shortest_strip = 16;
  static constexpr std::int64_t longest_strip = std::int64_t{1} << 29;  // rows are counted in 32 bits within a strip
  static constexpr std::int64_t grid_rows = 65535;
};

// By filter width: vectors per lane, rows per step, steps in the ring, warps per SM. Two vectors per lane read half the
// halo; from K = 9 on arithmetic dominates and more warps hide its latency; from K = 11 on registers allow one vector
// only. H200, 8192 x 8192 float, ms; all measurements: apps/bench/results/primitives_tuning.txt.
template <class T, int K>
struct march_shape_of {
  static constexpr bool is_float = sizeof(T) == 4;
  // K = 3: 0.148 with 1 row and 4 steps, 0.154 with 2 rows and 3 steps; K = 7: 0.157, 0.150
  using narrow = std::conditional_t<is_float && K <= 5, march_shape<2, 1, 4, 8>, march_shape<2, 2, 3, 8>>;
  // K = 9: 0.231 with 1 vector and 16 warps, 0.212 with 2 vectors and 12 warps
  using middle = std::conditional_t<is_float, march_shape<2, 2, 3, 12>, march_shape<1, 1, 4, 16>>;
  using wide = march_shape<1, 1, 4, 16>;  // K = 15: 0.601, 0.595, 0.580 with 8, 12, 16 warps
  using full = std::conditional_t<(K <= 7), narrow, std::conditional_t<(K <= 9), middle, wide>>;
  using outer = march_shape<2, 1, 4, 8>;  // separable, K = 15: 0.151; 1 vector, 2 rows and 6 steps 0.156
};

template <class T>
bool is_aligned(const T* data, std::int64_t pitch, std::int64_t rows) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
         (rows == 1 || pitch % (16 / static_cast<std::int64_t>(sizeof(T))) == 0);
}

// Strip height that gives every SM its warps in equal numbers, so that all end together.
template <class Shape, class T, class Filter>
void launch_march(const context<device>& ctx, const image_view<const T, device>& in, const Filter& filter,
                  const image_view<T, device>& out) {
  const march_image<T> image{in.data.data(), in.pitch, out.data.data(), out.pitch, in.rows, in.cols};
  const std::int64_t strips = div_up(in.cols, Shape::vectors * 512 / static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t warps = std::int64_t{ctx.properties().multiprocessors} * Shape::blocks;
  const std::int64_t tall = div_up(in.rows, std::max(std::int64_t{1}, warps / strips));
  const std::int64_t share = std::max({std::min(tall, march_tuning::longest_strip), march_tuning::shortest_strip,
                                       div_up(in.rows, march_tuning::grid_rows)});
  const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>(div_up(in.rows, share)));
  if (is_aligned(image.in, in.pitch, in.rows) && is_aligned(image.out, out.pitch, in.rows)) {
    launch_kernel(ctx, {grid, 32}, march_kernel<T, Filter, Shape, row_access::vectors>, image, static_cast<int>(share),
                  filter);
  } else {
    launch_kernel(ctx, {grid, 32}, march_kernel<T, Filter, Shape, row_access::elements>, image, static_cast<int>(share),
                  filter);
  }
}

template <class T>
void run_march(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
               const image_view<T, device>& out) {
  const device_guard guard(ctx);
  with_width(filter.width, [&](auto width) {
    constexpr int K = decltype(width)::value;
    full_filter<T, K> taps;
    for (int i = 0; i < K * K; ++i) taps.tap[i / K][i % K] = filter.taps[i];
    launch_march<typename march_shape_of<T, K>::full>(ctx, in, taps, out);
  });
}

template <class T>
void run_march(const context<device>& ctx, const image_view<const T, device>& in, const separated_filter<T>& filter,
               const image_view<T, device>& out) {
  const device_guard guard(ctx);
  with_width(static_cast<std::int64_t>(filter.down.size()), [&](auto width) {
    constexpr int K = decltype(width)::value;
    outer_filter<T, K> taps;
    std::copy_n(filter.down.begin(), K, taps.down);
    std::copy_n(filter.across.begin(), K, taps.across);
    launch_march<typename march_shape_of<T, K>::outer>(ctx, in, taps, out);
  });
}

}  // namespace spargo::detail::convolve
