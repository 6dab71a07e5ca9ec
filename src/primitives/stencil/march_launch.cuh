// Launches of march.cuh: sweeps per launch, rows per warp.
#pragma once

#include "primitives/element.hpp"
#include "primitives/stencil/march.cuh"

namespace spargo::detail::stencil {

struct march_tuning {
  // By depth: rows of loads in flight, minimum of 4-warp blocks per SM (which limits registers), most rows per warp.
  // More measurements: apps/bench/results/primitives_tuning.txt.
  template <class T>
  static constexpr int deepest = sizeof(T) == 8 ? 6 : 8;  // float, ms per sweep: depth 4 0.155, 8 0.093, 12 0.100
  template <class T, int Depth>
  static constexpr int ahead = Depth == deepest<T> ? 6 : 4;  // depth 8 with 2, 4, 6 rows: 0.125, 0.099, 0.093
  template <class T, int Depth>
  static constexpr int blocks = sizeof(T) == 8 ? (Depth == 1 ? 4 : 2) : (Depth == 1 ? 6 : (Depth == 8 ? 3 : 4));
  template <int Depth>
  static constexpr std::int64_t longest_segment = Depth == 1 ? 10 : 160;  // depth 1: 6 0.583, 10 0.532, 18 0.551

  static constexpr std::int64_t shortest_segment = 10;  // 2 Depth more rows are read and computed
  static constexpr int blocks_wanted = 8;               // per SM, before segments grow longer
};

// Rows per warp: within the limits above, as many as still give the device enough blocks.
template <int Depth>
std::int64_t march_segment(const context<device>& ctx, std::int64_t rows, std::int64_t blocks_across) {
  const std::int64_t wanted = std::int64_t{march_tuning::blocks_wanted} * ctx.properties().multiprocessors;
  return std::clamp(div_up(rows, div_up(wanted, blocks_across)), march_tuning::shortest_segment,
                    march_tuning::longest_segment<Depth>);
}

template <class T>
bool is_vector_row(const T* first, std::int64_t pitch) {
  constexpr std::size_t bytes = 16;
  return reinterpret_cast<std::uintptr_t>(first) % bytes == 0 &&
         static_cast<std::size_t>(pitch) * sizeof(T) % bytes == 0;
}

template <class Cell, int Depth, march_residual Residual, march_access Access, class T>
void march_by(const context<device>& ctx, const five_point_job<T>& job, T* residual) {
  constexpr int ahead = march_tuning::ahead<T, Depth>;
  constexpr int blocks = march_tuning::blocks<T, Depth>;
  const std::int64_t across = div_up(div_up(job.cols, march_shape::strip<Depth>), march_launch::warps);
  const std::int64_t segment = march_segment<Depth>(ctx, job.rows, across);
  launch_kernel(ctx, image_shape(job.rows, across, segment, 1, march_launch::warps * warp_size),
                march_kernel<Cell, Depth, ahead, blocks, Residual, Access, T>, job, segment, residual);
}

// `Depth` sweeps from job.in to job.out, with vectors if both arrays are aligned; asynchronous.
template <class Cell, int Depth, march_residual Residual, class T>
void march(const context<device>& ctx, const five_point_job<T>& job, T* residual) {
  const device_guard guard(ctx);
  if (is_vector_row(job.in, job.in_pitch) && is_vector_row(job.out, job.out_pitch)) {
    march_by<Cell, Depth, Residual, march_access::vector>(ctx, job, residual);
  } else {
    march_by<Cell, Depth, Residual, march_access::scalar>(ctx, job, residual);
  }
}

// Up to `wanted` >= 2 sweeps of Jacobi's iteration; returns their number.
template <class T>
int march_deep(const context<device>& ctx, const five_point_job<T>& job, std::int64_t wanted);

}  // namespace spargo::detail::stencil
