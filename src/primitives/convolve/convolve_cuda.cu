// Convolution on a device: untiled algorithms, filters of any width, choice of algorithm.
//
// `naive` and `constant_filter` differ only in where the taps are: in global memory a tap is a load through the caches;
// as a kernel parameter it is in constant memory and broadcast to the warp.
// Filters too wide for a parameter use another register tiling: a thread holds a column of outputs and traverses each
// column of inputs once per filter column. Each input is multiplied by 8 taps, which slide through registers, so that 8
// products cost one load of an input and a fraction of a load of taps.
// Cost: K * K products per output. The order of summation does not depend on the launch.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "primitives/convolve/filter.cuh"

namespace spargo::detail::convolve {

namespace {

struct tuning {
  // 32 columns for coalescing, 8 rows.
  static constexpr int naive_cols = 32;
  static constexpr int naive_rows = 8;
  // Outputs per thread for wide filters: 8 taps and 8 sums in registers.
  static constexpr int wide_outputs = 8;
  static constexpr int wide_rows = 4;  // warps per block, one row each
};

// Taps in global memory, any width.
template <class T>
struct global_filter {
  const T* tap;
  std::int64_t width;
};

// A null row lies outside the image.
template <class T, class Filter>
__device__ T add_row_tested(const T* row, std::int64_t cols, std::int64_t col, const Filter& filter,
                            std::int64_t filter_row, T sum) {
  const std::int64_t half = filter.width / 2;
  for (std::int64_t t = 0; t < filter.width; ++t) {
    const std::int64_t j = col + t - half;
    if (j >= 0 && j < cols) sum = fma(row[j], filter.tap[filter_row * filter.width + t], sum);
  }
  return sum;
}

template <class T, class Filter>
__global__ void __launch_bounds__(tuning::naive_cols* tuning::naive_rows)
    naive_image_kernel(image_view<const T, device> in, image_view<T, device> out,
                       const __grid_constant__ Filter filter) {
  const std::int64_t col = std::int64_t{blockIdx.x} * tuning::naive_cols + threadIdx.x;
  if (col >= in.cols) return;
  const std::int64_t half = filter.width / 2;
  const std::int64_t step = std::int64_t{gridDim.y} * tuning::naive_rows;
  for (std::int64_t row = std::int64_t{blockIdx.y} * tuning::naive_rows + threadIdx.y; row < in.rows; row += step) {
    T sum{0};
    for (std::int64_t s = 0; s < filter.width; ++s) {
      const std::int64_t i = row + s - half;
      if (i >= 0 && i < in.rows) sum = add_row_tested(in.data.data() + i * in.pitch, in.cols, col, filter, s, sum);
    }
    out.data[row * out.pitch + col] = sum;
  }
}

template <class T, class Filter>
__global__ void __launch_bounds__(block_threads)
    naive_line_kernel(span<const T, device> in, span<T, device> out, const __grid_constant__ Filter filter) {
  for (std::int64_t i = global_thread(); i < in.size(); i += grid_threads()) {
    out[i] = add_row_tested(in.data(), in.size(), i, filter, 0, T{0});
  }
}

// A filter too wide for a parameter, stored by columns that begin at multiples of 16 bytes.
template <class T>
struct column_filter {
  static constexpr int vec = 16 / static_cast<int>(sizeof(T));
  const T* tap;
  int width;

  SPARGO_HD static constexpr std::int64_t stride(std::int64_t width) { return div_up(width, vec) * vec; }
  __device__ const T* column(int t) const { return tap + t * stride(width); }
};

// Adds a column of inputs to N outputs of a column: step s reads input s, whose tap for output r is s - r. Taps slide
// through `window`: at step s, window[N + k] is tap s + k. All inputs are in the image; the filter is at least N wide.
template <class T, int N>
__device__ void add_inner_column(const T* from, std::int64_t pitch, const T* taps, int width, T (&sum)[N]) {
  constexpr int vec = column_filter<T>::vec;
  T window[N + vec];
#pragma unroll
  for (int k = 0; k < N; k += vec) {
    *reinterpret_cast<int4*>(window + k) = __ldg(reinterpret_cast<const int4*>(taps + k));
  }
#pragma unroll
  for (int s = 0; s < N; ++s, from += pitch) {
    const T value = *from;
#pragma unroll
    for (int r = 0; r <= s; ++r) sum[r] = fma(value, window[s - r], sum[r]);
  }
  int s = N;
#pragma unroll 2
  for (; s + vec <= width; s += vec) {
    T value[vec];
#pragma unroll
    for (int c = 0; c < vec; ++c, from += pitch) value[c] = *from;
    *reinterpret_cast<int4*>(window + N) = __ldg(reinterpret_cast<const int4*>(taps + s));
#pragma unroll
    for (int c = 0; c < vec; ++c) {
#pragma unroll
      for (int r = 0; r < N; ++r) sum[r] = fma(value[c], window[N + c - r], sum[r]);
    }
#pragma unroll
    for (int k = 0; k < N; ++k) window[k] = window[k + vec];
  }
#pragma unroll 1
  for (; s < width; ++s, from += pitch) {
    const T value = *from;
    window[N] = taps[s];
#pragma unroll
    for (int r = 0; r < N; ++r) sum[r] = fma(value, window[N - r], sum[r]);
#pragma unroll
    for (int k = 0; k < N; ++k) window[k] = window[k + 1];
  }
#pragma unroll
  for (int d = 0; d + 1 < N; ++d, from += pitch) {
    const T value = *from;
#pragma unroll
    for (int r = d + 1; r < N; ++r) sum[r] = fma(value, window[N + d - r], sum[r]);
  }
}

// The same at the image's top and bottom: of the `rows` inputs from `first` on, those outside are skipped.
template <class T, int N>
__device__ void add_outer_column(const T* from, std::int64_t pitch, std::int64_t first, std::int64_t rows,
                                 const T* taps, int width, T (&sum)[N]) {
#pragma unroll 1
  for (int s = 0; s < width + N - 1; ++s) {
    if (first + s < 0 || first + s >= rows) continue;
    const T value = from[s * pitch];
#pragma unroll
    for (int r = 0; r < N; ++r) {
      if (s >= r && s - r < width) sum[r] = fma(value, taps[s - r], sum[r]);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(32 * tuning::wide_rows)
    wide_image_kernel(image_view<const T, device> in, image_view<T, device> out, column_filter<T> filter) {
  constexpr int N = tuning::wide_outputs;
  const std::int64_t col = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (col >= in.cols) return;
  const std::int64_t step = std::int64_t{gridDim.y} * tuning::wide_rows * N;
  for (std::int64_t row = (std::int64_t{blockIdx.y} * tuning::wide_rows + threadIdx.y) * N; row < in.rows;
       row += step) {
    T sum[N] = {};
    const std::int64_t top = row - filter.width / 2;
    const bool inner = top >= 0 && top + filter.width + N - 1 <= in.rows;
    for (int t = 0; t < filter.width; ++t) {
      const std::int64_t column = col + t - filter.width / 2;
      if (column < 0 || column >= in.cols) continue;
      const T* from = in.data.data() + top * in.pitch + column;
      if (inner) {
        add_inner_column(from, in.pitch, filter.column(t), filter.width, sum);
      } else {
        add_outer_column(from, in.pitch, top, in.rows, filter.column(t), filter.width, sum);
      }
    }
#pragma unroll
    for (int r = 0; r < N; ++r) {
      if (row + r < in.rows) out.data[(row + r) * out.pitch + col] = sum[r];
    }
  }
}

// A thread's outputs are block_threads apart, so that loads are coalesced and each tap serves all of them.
template <class T>
__global__ void __launch_bounds__(block_threads)
    wide_line_kernel(span<const T, device> in, span<T, device> out, global_filter<T> filter) {
  constexpr int N = tuning::wide_outputs;
  const std::int64_t half = filter.width / 2;
  const std::int64_t first = std::int64_t{blockIdx.x} * block_threads * N;
  const std::int64_t mine = first + threadIdx.x;
  T sum[N] = {};
  if (first >= half && first + block_threads * N + half <= in.size()) {
    const T* from = in.data() + mine - half;
#pragma unroll 4
    for (std::int64_t t = 0; t < filter.width; ++t) {
      const T tap = filter.tap[t];
#pragma unroll
      for (int r = 0; r < N; ++r) sum[r] = fma(from[t + r * block_threads], tap, sum[r]);
    }
  } else {
#pragma unroll 1
    for (int r = 0; r < N; ++r) {
      const std::int64_t i = mine + r * block_threads;
      if (i < in.size()) out[i] = add_row_tested(in.data(), in.size(), i, filter, 0, T{0});
    }
    return;
  }
#pragma unroll
  for (int r = 0; r < N; ++r) out[mine + r * block_threads] = sum[r];
}

// Copies taps to the device. The host memory may be freed on return.
template <class T>
array<T, device> upload(const context<device>& ctx, std::vector<T> taps) {
  array<T, device> uploaded(ctx, static_cast<std::int64_t>(taps.size()));
  copy<T>(ctx, span<const T, host>(taps), uploaded.view());
  return uploaded;
}
template <class T>
array<T, device> upload_rows(const context<device>& ctx, const plain_filter<T>& filter) {
  return upload(ctx, std::vector<T>(filter.taps.begin(), filter.taps.end()));
}
template <class T>
array<T, device> upload_columns(const context<device>& ctx, const plain_filter<T>& filter) {
  const std::int64_t stride = column_filter<T>::stride(filter.width);
  std::vector<T> taps(static_cast<std::size_t>(filter.width * stride));
  for (std::int64_t s = 0; s < filter.width; ++s) {
    for (std::int64_t t = 0; t < filter.width; ++t) {
      taps[static_cast<std::size_t>(t * stride + s)] = filter.taps[s * filter.width + t];
    }
  }
  return upload(ctx, std::move(taps));
}

template <class T, class Filter>
void launch_naive(const context<device>& ctx, const image_view<const T, device>& in, const Filter& filter,
                  const image_view<T, device>& out) {
  const dim3 block(tuning::naive_cols, tuning::naive_rows);
  launch_kernel(ctx, image_shape(in.rows, in.cols, block.y, block.x, block), naive_image_kernel<T, Filter>, in, out,
                filter);
}

template <class T, class Filter>
void launch_naive(const context<device>& ctx, span<const T, device> in, const Filter& filter, span<T, device> out) {
  launch_kernel(ctx, grid_stride(ctx, in.size()), naive_line_kernel<T, Filter>, in, out, filter);
}

template <class T>
void launch_wide(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
                 const image_view<T, device>& out) {
  const array<T, device> taps = upload_columns(ctx, filter);
  const dim3 block(32, tuning::wide_rows);
  launch_kernel(ctx, image_shape(in.rows, in.cols, tuning::wide_rows * tuning::wide_outputs, 32, block),
                wide_image_kernel<T>, in, out, {taps.data(), static_cast<int>(filter.width)});
}

template <class T>
void launch_wide(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter,
                 span<T, device> out) {
  const array<T, device> taps = upload_rows(ctx, filter);
  launch_kernel(ctx, one_thread_each(div_up(in.size(), tuning::wide_outputs), block_threads), wide_line_kernel<T>, in,
                out, {taps.data(), filter.width});
}

template <class T, class In, class Out, class Narrow>
void run(const context<device>& ctx, const In& in, const plain_filter<T>& filter, const Out& out,
         convolve_algorithm algorithm, Narrow&& register_tiled) {
  const device_guard guard(ctx);
  switch (algorithm) {
    case convolve_algorithm::naive: {
      const array<T, device> taps = upload_rows(ctx, filter);
      return launch_naive(ctx, in, global_filter<T>{taps.data(), filter.width}, out);
    }
    case convolve_algorithm::constant_filter:
      return launch_naive(ctx, in, as_parameter(filter), out);
    case convolve_algorithm::register_tiled:
      return filter.width > widest_parameter ? launch_wide(ctx, in, filter, out) : register_tiled();
    default:
      return convolve_tiled(ctx, in, filter, out, algorithm);
  }
}

}  // namespace

template <class T>
void run_line(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter, span<T, device> out,
              convolve_algorithm algorithm) {
  run<T>(ctx, in, filter, out, algorithm, [&] { convolve_windows(ctx, in, filter, out); });
}

template <class T>
void run_image(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
               const image_view<T, device>& out, convolve_algorithm algorithm) {
  run<T>(ctx, in, filter, out, algorithm, [&] { run_march(ctx, in, filter, out); });
}

template <class T>
void run_image(const context<device>& ctx, const image_view<const T, device>& in, const separated_filter<T>& filter,
               const image_view<T, device>& out) {
  const device_guard guard(ctx);
  run_march(ctx, in, filter, out);
}

#define INSTANTIATE(T)                                                                                            \
  template void run_line(const context<device>&, span<const T, device>, const plain_filter<T>&, span<T, device>,  \
                         convolve_algorithm);                                                                     \
  template void run_image(const context<device>&, const image_view<const T, device>&, const plain_filter<T>&,     \
                          const image_view<T, device>&, convolve_algorithm);                                      \
  template void run_image(const context<device>&, const image_view<const T, device>&, const separated_filter<T>&, \
                          const image_view<T, device>&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::convolve
