// Convolution on a device: the rungs without tiles, filters of any width, and the choice of rung.
//
// `naive` and `constant_filter` differ in one thing: where the taps lie. In global memory a tap is a load through the
// cache hierarchy; as a kernel parameter it lies in constant memory and is broadcast to the warp.
// Wide filters (K above what a parameter holds) are register-tiled in another way than narrow ones: a thread holds a
// column of outputs, and walks down each column of inputs once a filter column. Every input then meets 8 taps, which
// slide through registers, so that 8 products cost two loads.
// Cost: K * K products an output; no order of the sum depends on the launch.
#include "primitives/convolve_filter.cuh"
#include "primitives/launch.cuh"

namespace spargo::detail {

namespace {

struct tuning {
  // 32 columns for coalescing; 8 rows.
  static constexpr int naive_cols = 32;
  static constexpr int naive_rows = 8;
  // Outputs a thread of wide filters: 8 taps and 8 sums in registers.
  static constexpr int wide_outputs = 8;
  static constexpr int wide_rows = 4;  // warps a block, of one row of threads each
  static constexpr std::int64_t grid_rows = 65535;
};

// Taps in global memory, any width.
template <class T>
struct global_filter {
  const T* tap;
  std::int64_t width;
};

// A null row stands for one outside.
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

// Adds input column `column` to a column of outputs whose first row is `row`: taps[s] for s in [0, width) is the
// filter's column. Step s of the walk meets input row + s - width / 2, which has tap s - r for output r.
template <class T, int N>
__device__ void add_column(const image_view<const T, device>& in, std::int64_t row, std::int64_t column, const T* taps,
                           int width, T (&sum)[N]) {
  const std::int64_t top = row - width / 2;
  const T* from = in.data.data() + top * in.pitch + column;
  const auto input = [&](int s, T& value) {
    const bool inside = top + s >= 0 && top + s < in.rows;
    if (inside) value = from[s * in.pitch];
    return inside;
  };
  T value{0};
  for (int s = 0; s < N - 1; ++s) {
    if (!input(s, value)) continue;
#pragma unroll
    for (int r = 0; r < N; ++r) {
      if (r <= s) sum[r] = fma(value, taps[s - r], sum[r]);
    }
  }
  T slide[N];
#pragma unroll
  for (int r = 0; r + 1 < N; ++r) slide[r] = taps[N - 2 - r];
#pragma unroll 8
  for (int s = N - 1; s < width; ++s) {
#pragma unroll
    for (int r = N - 1; r > 0; --r) slide[r] = slide[r - 1];
    slide[0] = taps[s];
    if (!input(s, value)) continue;
#pragma unroll
    for (int r = 0; r < N; ++r) sum[r] = fma(value, slide[r], sum[r]);
  }
  for (int s = width; s < width + N - 1; ++s) {
    if (!input(s, value)) continue;
#pragma unroll
    for (int r = 0; r < N; ++r) {
      if (s - r < width) sum[r] = fma(value, taps[s - r], sum[r]);
    }
  }
}

// `filter` holds columns of the filter one after another. Its width is at least wide_outputs.
template <class T>
__global__ void __launch_bounds__(32 * tuning::wide_rows)
    wide_image_kernel(image_view<const T, device> in, image_view<T, device> out, global_filter<T> filter) {
  constexpr int N = tuning::wide_outputs;
  const std::int64_t col = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  if (col >= in.cols) return;
  const auto width = static_cast<int>(filter.width);
  const std::int64_t step = std::int64_t{gridDim.y} * tuning::wide_rows * N;
  for (std::int64_t row = (std::int64_t{blockIdx.y} * tuning::wide_rows + threadIdx.y) * N; row < in.rows;
       row += step) {
    T sum[N] = {};
    for (int t = 0; t < width; ++t) {
      const std::int64_t column = col + t - width / 2;
      if (column >= 0 && column < in.cols)
        add_column(in, row, column, filter.tap + std::int64_t{t} * width, width, sum);
    }
#pragma unroll
    for (int r = 0; r < N; ++r) {
      if (row + r < in.rows) out.data[(row + r) * out.pitch + col] = sum[r];
    }
  }
}

// A thread's outputs lie block_threads apart, so that every load is coalesced and a tap is used for all of them.
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

// Taps in scratch; `by_columns` holds an image's filter column after column. The host memory is free on return.
template <class T>
array<T, device> upload(const context<device>& ctx, std::vector<T> taps) {
  array<T, device> there(ctx, static_cast<std::int64_t>(taps.size()));
  copy<T>(ctx, span<const T, host>(taps), there.view());
  return there;
}
template <class T>
array<T, device> upload_rows(const context<device>& ctx, const convolve_filter<T>& filter) {
  return upload(ctx, std::vector<T>(filter.taps.begin(), filter.taps.end()));
}
template <class T>
array<T, device> upload_columns(const context<device>& ctx, const convolve_filter<T>& filter) {
  std::vector<T> taps(static_cast<std::size_t>(filter.taps.size()));
  for (std::int64_t s = 0; s < filter.width; ++s) {
    for (std::int64_t t = 0; t < filter.width; ++t) {
      taps[static_cast<std::size_t>(t * filter.width + s)] = filter.taps[s * filter.width + t];
    }
  }
  return upload(ctx, std::move(taps));
}

dim3 grid_of(std::int64_t rows, std::int64_t cols, std::int64_t block_rows, std::int64_t block_cols) {
  return dim3(static_cast<unsigned>(div_up(cols, block_cols)),
              static_cast<unsigned>(std::min(div_up(rows, block_rows), tuning::grid_rows)));
}

template <class T, class Filter>
void launch_naive(const context<device>& ctx, const image_view<const T, device>& in, const Filter& filter,
                  const image_view<T, device>& out) {
  const dim3 block(tuning::naive_cols, tuning::naive_rows);
  naive_image_kernel<T, Filter>
      <<<grid_of(in.rows, in.cols, tuning::naive_rows, tuning::naive_cols), block, 0, ctx.stream()>>>(in, out, filter);
  SPARGO_CUDA_TRY(cudaGetLastError());
}

template <class T, class Filter>
void launch_naive(const context<device>& ctx, span<const T, device> in, const Filter& filter, span<T, device> out) {
  naive_line_kernel<T, Filter>
      <<<blocks_for(ctx, in.size(), block_threads), block_threads, 0, ctx.stream()>>>(in, out, filter);
  SPARGO_CUDA_TRY(cudaGetLastError());
}

template <class T>
void launch_wide(const context<device>& ctx, const image_view<const T, device>& in, const convolve_filter<T>& filter,
                 const image_view<T, device>& out) {
  const array<T, device> taps = upload_columns(ctx, filter);
  const dim3 block(32, tuning::wide_rows);
  wide_image_kernel<T>
      <<<grid_of(in.rows, in.cols, tuning::wide_rows * tuning::wide_outputs, 32), block, 0, ctx.stream()>>>(
          in, out, {taps.data(), filter.width});
  SPARGO_CUDA_TRY(cudaGetLastError());
}

template <class T>
void launch_wide(const context<device>& ctx, span<const T, device> in, const convolve_filter<T>& filter,
                 span<T, device> out) {
  const array<T, device> taps = upload_rows(ctx, filter);
  const auto blocks = static_cast<unsigned>(div_up(in.size(), std::int64_t{block_threads} * tuning::wide_outputs));
  wide_line_kernel<T><<<blocks, block_threads, 0, ctx.stream()>>>(in, out, {taps.data(), filter.width});
  SPARGO_CUDA_TRY(cudaGetLastError());
}

// Lines and images alike.
template <class T, class In, class Out, class Narrow>
void run(const context<device>& ctx, const In& in, const convolve_filter<T>& filter, const Out& out,
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
void convolve_line(const context<device>& ctx, span<const T, device> in, const convolve_filter<T>& filter,
                   span<T, device> out, convolve_algorithm algorithm) {
  run<T>(ctx, in, filter, out, algorithm, [&] { convolve_windows(ctx, in, filter, out); });
}

template <class T>
void convolve_image(const context<device>& ctx, const image_view<const T, device>& in, const convolve_filter<T>& filter,
                    const image_view<T, device>& out, convolve_algorithm algorithm) {
  run<T>(ctx, in, filter, out, algorithm, [&] { convolve_march(ctx, in, filter, out); });
}

template <class T>
void convolve_image(const context<device>& ctx, const image_view<const T, device>& in,
                    const separated_filter<T>& filter, const image_view<T, device>& out) {
  const device_guard guard(ctx);
  convolve_march(ctx, in, filter, out);
}

#define INSTANTIATE(T)                                                                                                 \
  template void convolve_line(const context<device>&, span<const T, device>, const convolve_filter<T>&,                \
                              span<T, device>, convolve_algorithm);                                                    \
  template void convolve_image(const context<device>&, const image_view<const T, device>&, const convolve_filter<T>&,  \
                               const image_view<T, device>&, convolve_algorithm);                                      \
  template void convolve_image(const context<device>&, const image_view<const T, device>&, const separated_filter<T>&, \
                               const image_view<T, device>&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace spargo::detail
