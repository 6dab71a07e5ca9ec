// Convolution on a device through tiles in shared memory, with three ways to treat the halo (Kirk and Hwu, "Programming
// Massively Parallel Processors", the chapters on convolution):
//   tiled_halo_output  one thread per output; all threads load the larger input tile in strides.
//   tiled_halo_input   one thread per input of the tile; those at the rim compute nothing.
//   tiled_cached_halo  a block stages only its own inputs; the halo is read through the caches, which neighbouring
//                      blocks have filled.
// Invariant: one barrier separates the last store to a tile from the first read of it, one the last read from the next
// tile's first store. Staged elements outside the input are 0; unstaged ones are not multiplied.
// Cost: on average an input is loaded ((tile + K - 1) / tile)^2 times; K * K shared reads per output.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "primitives/convolve/filter.cuh"

namespace spargo::detail::convolve {

namespace {

struct tuning {
  static constexpr int cols = 32;  // one warp per row: shared reads without bank conflicts
  static constexpr int rows = 16;  // rows of output tiles: 512 threads
  static constexpr int input_rows = 32;
  static constexpr int line = 256;
  static constexpr int halo = widest_parameter - 1;  // on both sides together
};

template <class T>
__device__ T or_zero(const image_view<const T, device>& in, std::int64_t i, std::int64_t j) {
  return i >= 0 && i < in.rows && j >= 0 && j < in.cols ? in.data[i * in.pitch + j] : T{0};
}
template <class T>
__device__ T or_zero(span<const T, device> in, std::int64_t i) {
  return i >= 0 && i < in.size() ? in[i] : T{0};
}

// The sum over a window with top left corner `corner`, in a tile with rows of `pitch`.
template <class T>
__device__ T window_sum(const T* corner, int pitch, const parameter_filter<T>& filter, int rows) {
  T sum{0};
  for (int s = 0; s < rows; ++s) {
    for (int t = 0; t < filter.width; ++t) {
      sum = fma(corner[s * pitch + t], filter.tap[s * filter.width + t], sum);
    }
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(tuning::cols* tuning::rows)
    halo_output_image_kernel(image_view<const T, device> in, image_view<T, device> out,
                             const __grid_constant__ parameter_filter<T> filter) {
  constexpr int pitch = tuning::cols + tuning::halo;
  __shared__ T tile[(tuning::rows + tuning::halo) * pitch];
  const int half = filter.width / 2;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t first_col = std::int64_t{blockIdx.x} * tuning::cols;
  const std::int64_t step = std::int64_t{gridDim.y} * tuning::rows;
  for (std::int64_t first_row = std::int64_t{blockIdx.y} * tuning::rows; first_row < in.rows; first_row += step) {
    for (int i = y; i < tuning::rows + 2 * half; i += tuning::rows) {
      for (int j = x; j < tuning::cols + 2 * half; j += tuning::cols) {
        tile[i * pitch + j] = or_zero(in, first_row + i - half, first_col + j - half);
      }
    }
    __syncthreads();
    if (first_row + y < in.rows && first_col + x < in.cols) {
      out.data[(first_row + y) * out.pitch + first_col + x] =
          window_sum(tile + y * pitch + x, pitch, filter, filter.width);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(tuning::cols* tuning::input_rows)
    halo_input_image_kernel(image_view<const T, device> in, image_view<T, device> out,
                            const __grid_constant__ parameter_filter<T> filter) {
  __shared__ T tile[tuning::input_rows * tuning::cols];
  const int half = filter.width / 2;
  const int rows = tuning::input_rows - 2 * half;  // output rows
  const int cols = tuning::cols - 2 * half;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t first_col = std::int64_t{blockIdx.x} * cols;
  const std::int64_t step = std::int64_t{gridDim.y} * rows;
  for (std::int64_t first_row = std::int64_t{blockIdx.y} * rows; first_row < in.rows; first_row += step) {
    tile[y * tuning::cols + x] = or_zero(in, first_row + y - half, first_col + x - half);
    __syncthreads();
    if (x < cols && y < rows && first_row + y < in.rows && first_col + x < in.cols) {
      out.data[(first_row + y) * out.pitch + first_col + x] =
          window_sum(tile + y * tuning::cols + x, tuning::cols, filter, filter.width);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(tuning::cols* tuning::rows)
    cached_halo_image_kernel(image_view<const T, device> in, image_view<T, device> out,
                             const __grid_constant__ parameter_filter<T> filter) {
  __shared__ T tile[tuning::rows * tuning::cols];
  const int half = filter.width / 2;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t first_col = std::int64_t{blockIdx.x} * tuning::cols;
  const std::int64_t step = std::int64_t{gridDim.y} * tuning::rows;
  for (std::int64_t first_row = std::int64_t{blockIdx.y} * tuning::rows; first_row < in.rows; first_row += step) {
    tile[y * tuning::cols + x] = or_zero(in, first_row + y, first_col + x);
    __syncthreads();
    if (first_row + y < in.rows && first_col + x < in.cols) {
      T sum{0};
      for (int s = 0; s < filter.width; ++s) {
        const int i = y + s - half;
        if (first_row + i < 0 || first_row + i >= in.rows) continue;
        const T* row = in.data.data() + (first_row + i) * in.pitch + first_col;
        for (int t = 0; t < filter.width; ++t) {
          const int j = x + t - half;
          if (first_col + j < 0 || first_col + j >= in.cols) continue;
          const bool own = i >= 0 && i < tuning::rows && j >= 0 && j < tuning::cols;
          sum = fma(own ? tile[i * tuning::cols + j] : row[j], filter.tap[s * filter.width + t], sum);
        }
      }
      out.data[(first_row + y) * out.pitch + first_col + x] = sum;
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(tuning::line)
    halo_output_line_kernel(span<const T, device> in, span<T, device> out,
                            const __grid_constant__ parameter_filter<T> filter) {
  __shared__ T tile[tuning::line + tuning::halo];
  const int half = filter.width / 2;
  const int x = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * tuning::line;
  for (int j = x; j < tuning::line + 2 * half; j += tuning::line) tile[j] = or_zero(in, first + j - half);
  __syncthreads();
  if (first + x < in.size()) out[first + x] = window_sum(tile + x, 0, filter, 1);
}

template <class T>
__global__ void __launch_bounds__(tuning::line)
    halo_input_line_kernel(span<const T, device> in, span<T, device> out,
                           const __grid_constant__ parameter_filter<T> filter) {
  __shared__ T tile[tuning::line];
  const int half = filter.width / 2;
  const int outputs = tuning::line - 2 * half;
  const int x = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * outputs;
  tile[x] = or_zero(in, first + x - half);
  __syncthreads();
  if (x < outputs && first + x < in.size()) out[first + x] = window_sum(tile + x, 0, filter, 1);
}

template <class T>
__global__ void __launch_bounds__(tuning::line)
    cached_halo_line_kernel(span<const T, device> in, span<T, device> out,
                            const __grid_constant__ parameter_filter<T> filter) {
  __shared__ T tile[tuning::line];
  const int half = filter.width / 2;
  const int x = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * tuning::line;
  tile[x] = or_zero(in, first + x);
  __syncthreads();
  if (first + x >= in.size()) return;
  T sum{0};
  for (int t = 0; t < filter.width; ++t) {
    const int j = x + t - half;
    if (first + j < 0 || first + j >= in.size()) continue;
    sum = fma(j >= 0 && j < tuning::line ? tile[j] : in[first + j], filter.tap[t], sum);
  }
  out[first + x] = sum;
}

[[noreturn]] void no_tiles(convolve_algorithm algorithm) {
  throw error(error_code::invalid_argument, "convolve: " + std::string(to_string(algorithm)) + " has no tiles");
}

}  // namespace

template <class T>
void convolve_tiled(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter,
                    span<T, device> out, convolve_algorithm algorithm) {
  const device_guard guard(ctx);
  const auto taps = as_parameter(filter);
  const std::int64_t outputs =
      algorithm == convolve_algorithm::tiled_halo_input ? tuning::line - (filter.width - 1) : tuning::line;
  const launch_shape shape{div_up(in.size(), outputs), tuning::line};
  switch (algorithm) {
    case convolve_algorithm::tiled_halo_output:
      launch_kernel(ctx, shape, halo_output_line_kernel<T>, in, out, taps);
      break;
    case convolve_algorithm::tiled_halo_input:
      launch_kernel(ctx, shape, halo_input_line_kernel<T>, in, out, taps);
      break;
    case convolve_algorithm::tiled_cached_halo:
      launch_kernel(ctx, shape, cached_halo_line_kernel<T>, in, out, taps);
      break;
    default:
      no_tiles(algorithm);
  }
}

template <class T>
void convolve_tiled(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
                    const image_view<T, device>& out, convolve_algorithm algorithm) {
  const device_guard guard(ctx);
  const auto taps = as_parameter(filter);
  const std::int64_t halo = filter.width - 1;
  const auto shape = [&](int block_rows, std::int64_t shared) {
    return image_shape(in.rows, in.cols, block_rows - shared, tuning::cols - shared, dim3(tuning::cols, block_rows));
  };
  switch (algorithm) {
    case convolve_algorithm::tiled_halo_output:
      launch_kernel(ctx, shape(tuning::rows, 0), halo_output_image_kernel<T>, in, out, taps);
      break;
    case convolve_algorithm::tiled_halo_input:
      launch_kernel(ctx, shape(tuning::input_rows, halo), halo_input_image_kernel<T>, in, out, taps);
      break;
    case convolve_algorithm::tiled_cached_halo:
      launch_kernel(ctx, shape(tuning::rows, 0), cached_halo_image_kernel<T>, in, out, taps);
      break;
    default:
      no_tiles(algorithm);
  }
}

#define INSTANTIATE(T)                                                                                                 \
  template void convolve_tiled(const context<device>&, span<const T, device>, const plain_filter<T>&, span<T, device>, \
                               convolve_algorithm);                                                                    \
  template void convolve_tiled(const context<device>&, const image_view<const T, device>&, const plain_filter<T>&,     \
                               const image_view<T, device>&, convolve_algorithm);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::convolve
