// Five-point stencils on the device: one sweep per launch with one thread per cell or with tiles in shared memory, or
// one or several sweeps by march.cuh.
#include "core/instantiate.hpp"
#include "primitives/stencil/march_launch.cuh"

namespace spargo::detail::stencil {

namespace {

struct sweep_tuning {
  static constexpr int rows = 8;        // threads per block along a column; 32 along a row
  static constexpr int tile_rows = 32;  // a tile of 32 columns: 34 x 34 loaded for 32 x 32
};

template <class T>
__device__ bool is_rim(const five_point_job<T>& job, std::int64_t row, std::int64_t col) {
  return row == 0 || row == job.rows - 1 || col == 0 || col == job.cols - 1;
}

template <class Cell, march_residual Residual, class T>
__global__ void __launch_bounds__(block_threads) sweep_naive_kernel(five_point_job<T> job, T* residual) {
  const std::int64_t col = std::int64_t{blockIdx.x} * warp_size + threadIdx.x;
  T moved{0};
  for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < job.rows && col < job.cols;
       row += std::int64_t{gridDim.y} * blockDim.y) {
    const T* at = job.in + row * job.in_pitch + col;
    T value = at[0];
    if (!is_rim(job, row, col)) value = Cell::apply(at[0], at[-1], at[1], at[-job.in_pitch], at[job.in_pitch]);
    job.out[row * job.out_pitch + col] = value;
    if constexpr (Residual == march_residual::largest) moved = larger_magnitude(moved, change_of(value, at[0]));
  }
  if constexpr (Residual == march_residual::largest) raise_residual(moved, residual);
}

// A block's 32 x 32 cells and their halo in shared memory; the corners are loaded but unused.
template <class Cell, march_residual Residual, class T>
__global__ void __launch_bounds__(block_threads) sweep_tiled_kernel(five_point_job<T> job, T* residual) {
  constexpr int tall = sweep_tuning::tile_rows;
  __shared__ T near[tall + 2][warp_size + 2];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t left = std::int64_t{blockIdx.x} * warp_size;
  T moved{0};
  for (std::int64_t top = std::int64_t{blockIdx.y} * tall; top < job.rows; top += std::int64_t{gridDim.y} * tall) {
    for (int r = y; r < tall + 2; r += sweep_tuning::rows) {
      for (int c = x; c < warp_size + 2; c += warp_size) {
        const std::int64_t row = top + r - 1;
        const std::int64_t col = left + c - 1;
        const bool exists = row >= 0 && row < job.rows && col >= 0 && col < job.cols;
        near[r][c] = exists ? job.in[row * job.in_pitch + col] : T{0};
      }
    }
    __syncthreads();
    const std::int64_t col = left + x;
    for (int r = y; r < tall; r += sweep_tuning::rows) {
      const std::int64_t row = top + r;
      if (row >= job.rows || col >= job.cols) break;
      const T old = near[r + 1][x + 1];
      T value = old;
      if (!is_rim(job, row, col)) {
        value = Cell::apply(old, near[r + 1][x], near[r + 1][x + 2], near[r][x + 1], near[r + 2][x + 1]);
      }
      job.out[row * job.out_pitch + col] = value;
      if constexpr (Residual == march_residual::largest) moved = larger_magnitude(moved, change_of(value, old));
    }
    __syncthreads();
  }
  if constexpr (Residual == march_residual::largest) raise_residual(moved, residual);
}

template <class T>
__global__ void __launch_bounds__(block_threads) copy_kernel(five_point_job<T> job) {
  const std::int64_t col = std::int64_t{blockIdx.x} * warp_size + threadIdx.x;
  for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < job.rows && col < job.cols;
       row += std::int64_t{gridDim.y} * blockDim.y) {
    job.out[row * job.out_pitch + col] = job.in[row * job.in_pitch + col];
  }
}

template <class T>
launch_shape sweep_shape(const five_point_job<T>& job, int tall) {
  return image_shape(job.rows, job.cols, tall, warp_size, dim3(warp_size, sweep_tuning::rows));
}

// One sweep by any algorithm; `moved` is null unless requested.
enum class sweep_rung { naive, tiled, marched };

template <class Cell, march_residual Residual, class T>
void sweep(const context<device>& ctx, const five_point_job<T>& job, T* moved, sweep_rung rung) {
  const device_guard guard(ctx);
  if (rung == sweep_rung::naive) {
    launch_kernel(ctx, sweep_shape(job, sweep_tuning::rows), sweep_naive_kernel<Cell, Residual, T>, job, moved);
  } else if (rung == sweep_rung::tiled) {
    launch_kernel(ctx, sweep_shape(job, sweep_tuning::tile_rows), sweep_tiled_kernel<Cell, Residual, T>, job, moved);
  } else {
    march<Cell, 1, Residual>(ctx, job, moved);
  }
}

sweep_rung rung_of(jacobi_algorithm algorithm) {
  if (algorithm == jacobi_algorithm::naive) return sweep_rung::naive;
  return algorithm == jacobi_algorithm::tiled ? sweep_rung::tiled : sweep_rung::marched;
}

}  // namespace

template <class T>
void five_point_average(const context<device>& ctx, const five_point_job<T>& job, stencil_algorithm algorithm) {
  const sweep_rung rung = algorithm == stencil_algorithm::naive   ? sweep_rung::naive
                          : algorithm == stencil_algorithm::tiled ? sweep_rung::tiled
                                                                  : sweep_rung::marched;
  sweep<average_cell, march_residual::none>(ctx, job, static_cast<T*>(nullptr), rung);
}

template <class T>
int jacobi_sweeps(const context<device>& ctx, const five_point_job<T>& job, std::int64_t wanted,
                  jacobi_algorithm algorithm) {
  if (algorithm == jacobi_algorithm::temporal && wanted > 1) return march_deep(ctx, job, wanted);
  sweep<laplace_cell, march_residual::none>(ctx, job, static_cast<T*>(nullptr), rung_of(algorithm));
  return 1;
}

template <class T>
T jacobi_tested_sweep(const context<device>& ctx, const five_point_job<T>& job, span<T, device> residual,
                      jacobi_algorithm algorithm) {
  fill_zero(ctx, residual);
  sweep<laplace_cell, march_residual::largest>(ctx, job, residual.data(), rung_of(algorithm));
  return element<T>(ctx, residual, 0);
}

template <class T>
void copy_cells(const context<device>& ctx, const five_point_job<T>& job) {
  const device_guard guard(ctx);
  launch_kernel(ctx, sweep_shape(job, sweep_tuning::rows), copy_kernel<T>, job);
}

#define INSTANTIATE(T)                                                                                                 \
  template void five_point_average(const context<device>&, const five_point_job<T>&, stencil_algorithm);               \
  template int jacobi_sweeps(const context<device>&, const five_point_job<T>&, std::int64_t, jacobi_algorithm);        \
  template T jacobi_tested_sweep(const context<device>&, const five_point_job<T>&, span<T, device>, jacobi_algorithm); \
  template void copy_cells(const context<device>&, const five_point_job<T>&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
