// Sliding maxima on the device: lines by sliding_fold.cuh, and the strided axes of a volume.
//
// Across an axis, each thread has its own line and the lanes of a warp are adjacent in memory, so that accesses are
// coalesced. `van_herk` gives one thread a run of w outputs: it scans the run from its end into the outputs, then scans
// the next run from its start and folds it into them; three reads and two writes per output for any w. Windows up to 8
// are read directly: neighbouring outputs share their reads in the caches.
#include "core/instantiate.hpp"
#include "primitives/stencil/sliding_fold.cuh"
#include "primitives/stencil/sliding_max_backend.hpp"

namespace spargo::detail::stencil {

namespace {

struct axis_tuning {
  static constexpr int direct_window = 8;  // up to this many cached reads cost no more than van_herk's passes
  static constexpr int tile = 64;          // outputs of a `tiled` block along the axis, and window elements per step
  static constexpr int tile_threads = 8;   // along the axis
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    volume_naive_kernel(const T* in, T* out, volume_shape shape, volume_shape window) {
  const std::int64_t size = shape.planes * shape.rows * shape.cols;
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    const std::int64_t c = k % shape.cols;
    const std::int64_t r = k / shape.cols % shape.rows;
    const std::int64_t p = k / shape.cols / shape.rows;
    const std::int64_t planes = min(window.planes, shape.planes - p);
    const std::int64_t rows = min(window.rows, shape.rows - r);
    const std::int64_t cols = min(window.cols, shape.cols - c);
    T largest = max_fold<T>::identity;
    for (std::int64_t dp = 0; dp < planes; ++dp) {
      for (std::int64_t dr = 0; dr < rows; ++dr) {
        const T* from = in + k + (dp * shape.rows + dr) * shape.cols;
        for (std::int64_t dc = 0; dc < cols; ++dc) largest = max_fold<T>::apply(largest, from[dc]);
      }
    }
    out[k] = largest;
  }
}

template <class T>
__global__ void __launch_bounds__(block_threads) axis_direct_kernel(axis_job<T> job) {
  for (std::int64_t e = global_thread(); e < job.outer * job.size * job.stride; e += grid_threads()) {
    const std::int64_t k = e / job.stride % job.size;
    const int count = static_cast<int>(min(job.window, job.size - k));
    T largest = job.in[e];
#pragma unroll
    for (int t = 1; t < axis_tuning::direct_window; ++t) {
      if (t < count) largest = max_fold<T>::apply(largest, job.in[e + t * job.stride]);
    }
    job.out[e] = largest;
  }
}

// One thread per run of `window` outputs of a line.
template <class T>
__global__ void __launch_bounds__(block_threads) axis_van_herk_kernel(axis_job<T> job) {
  const std::int64_t runs = div_up(job.size, job.window);
  for (std::int64_t w = global_thread(); w < job.outer * runs * job.stride; w += grid_threads()) {
    const std::int64_t line = w / job.stride / runs * job.size * job.stride + w % job.stride;
    const std::int64_t first = w / job.stride % runs * job.window;
    const std::int64_t next = min(job.size, first + job.window);
    T largest = max_fold<T>::identity;
#pragma unroll 8
    for (std::int64_t k = next - 1; k >= first; --k) {
      largest = max_fold<T>::apply(largest, job.in[line + k * job.stride]);
      job.out[line + k * job.stride] = largest;
    }
    largest = max_fold<T>::identity;
    const std::int64_t last = min(job.size, next + job.window - 1);
#pragma unroll 8
    for (std::int64_t k = next; k < last; ++k) {
      largest = max_fold<T>::apply(largest, job.in[line + k * job.stride]);
      T* to = job.out + line + (k - job.window + 1) * job.stride;
      *to = max_fold<T>::apply(*to, largest);
    }
    // Windows cut off by the end of the line contain all the rest of it.
    const bool is_cut_off = last > next && last == job.size;
    for (std::int64_t k = is_cut_off ? last - job.window + 1 : next; k < next; ++k) {
      T* to = job.out + line + k * job.stride;
      *to = max_fold<T>::apply(*to, largest);
    }
  }
}

// A tile of outputs of 32 neighbouring lines, chunk by chunk of the window.
template <class T>
__global__ void __launch_bounds__(warp_size* axis_tuning::tile_threads) axis_tiled_kernel(axis_job<T> job) {
  constexpr int tile = axis_tuning::tile;
  constexpr int down = axis_tuning::tile_threads;
  constexpr int each = tile / down;
  __shared__ T near[2 * tile][warp_size];
  const std::int64_t across = div_up(job.stride, warp_size);
  const std::int64_t along = div_up(job.size, tile);
  for (std::int64_t b = blockIdx.x; b < job.outer * along * across; b += gridDim.x) {
    const std::int64_t i = b % across * warp_size + threadIdx.x;
    const std::int64_t first = b / across % along * tile;
    const std::int64_t line = b / across / along * job.size * job.stride + i;
    T largest[each];
#pragma unroll
    for (int k = 0; k < each; ++k) largest[k] = max_fold<T>::identity;
    for (std::int64_t chunk = 0; chunk < job.window && first + chunk < job.size; chunk += tile) {
      const int width = static_cast<int>(min(std::int64_t{tile}, job.window - chunk));
      for (int k = threadIdx.y; k < tile + width; k += down) {
        const std::int64_t at = first + chunk + k;
        near[k][threadIdx.x] = i < job.stride && at < job.size ? job.in[line + at * job.stride] : max_fold<T>::identity;
      }
      __syncthreads();
      for (int t = 0; t < width; ++t) {
#pragma unroll
        for (int k = 0; k < each; ++k) {
          largest[k] = max_fold<T>::apply(largest[k], near[k * down + static_cast<int>(threadIdx.y) + t][threadIdx.x]);
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const std::int64_t at = first + k * down + threadIdx.y;
      if (i < job.stride && at < job.size) job.out[line + at * job.stride] = largest[k];
    }
  }
}

}  // namespace

template <class T>
void sliding_max_lines(const context<device>& ctx, const fold_job<T>& job, sliding_max_algorithm algorithm) {
  if (algorithm == sliding_max_algorithm::naive) {
    fold_naive(ctx, job, max_fold<T>{});
  } else if (algorithm == sliding_max_algorithm::tiled) {
    fold_tiled(ctx, job, max_fold<T>{});
  } else {
    fold_scanned(ctx, job, max_fold<T>{});
  }
}

template <class T>
void sliding_max_axis(const context<device>& ctx, const axis_job<T>& job, sliding_max_algorithm algorithm) {
  const device_guard guard(ctx);
  if (algorithm == sliding_max_algorithm::tiled) {
    const std::int64_t blocks = job.outer * div_up(job.size, axis_tuning::tile) * div_up(job.stride, warp_size);
    const auto grid = static_cast<unsigned>(std::min<std::int64_t>(INT32_MAX, blocks));
    launch_kernel(ctx, {grid, dim3(warp_size, axis_tuning::tile_threads)}, axis_tiled_kernel<T>, job);
  } else if (job.window <= axis_tuning::direct_window) {
    const std::int64_t size = job.outer * job.size * job.stride;
    launch_kernel(ctx, grid_stride(ctx, size), axis_direct_kernel<T>, job);
  } else {
    const std::int64_t runs = job.outer * div_up(job.size, job.window) * job.stride;
    launch_kernel(ctx, grid_stride(ctx, runs), axis_van_herk_kernel<T>, job);
  }
}

template <class T>
void sliding_max_naive(const context<device>& ctx, const T* in, T* out, const volume_shape& shape,
                       const volume_shape& window) {
  const device_guard guard(ctx);
  const std::int64_t size = shape.planes * shape.rows * shape.cols;
  launch_kernel(ctx, grid_stride(ctx, size), volume_naive_kernel<T>, in, out, shape, window);
}

#define INSTANTIATE(T)                                                                                \
  template void sliding_max_lines(const context<device>&, const fold_job<T>&, sliding_max_algorithm); \
  template void sliding_max_axis(const context<device>&, const axis_job<T>&, sliding_max_algorithm);  \
  template void sliding_max_naive(const context<device>&, const T*, T*, const volume_shape&, const volume_shape&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
