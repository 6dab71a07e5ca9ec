// Five-point sweeps, one or several at once, by warps that hold 128 columns in registers and move down them.
//
// A lane owns 4 neighbouring columns. For each sweep in flight it keeps the two latest rows; the next row completes the
// three that a new row of the following sweep needs. So sweep t runs t rows behind the loads, and each row is read and
// written once for all sweeps (a wavefront, 2.5-D blocking: Nguyen, Satish, Chhugani, Kim, Dubey, SC 2010). Shuffles
// supply the columns beside a lane's. The lanes at a strip's ends lack a neighbour, so wrong values move in by one
// column per sweep: these lanes are a halo that strips compute twice and do not store. (For a single sweep, strips load
// one column on each side instead and store all 128.) For the same reason a segment starts `Depth` rows early.
//
// Invariant: after step i, sweep t + 1 has finished row row0 + i - (t + 1), and up[t], mid[t] are the rows row0 + i - t
// - 1 and row0 + i - t of sweep t. Every algorithm evaluates a cell by the same expression: same bits.
// Cost: each element is read and written once per Depth sweeps, plus (2 Depth rounded up to lanes) / 128 of columns and
// 2 Depth / segment of rows, mostly from the caches. No shared memory, no barrier.
#pragma once

#include "core/device/launch.cuh"
#include "primitives/stencil/backend.hpp"
#include "primitives/stencil/residual.cuh"

namespace spargo::detail::stencil {

template <class T, int Size>
struct march_pack {
  T of[Size];
  T beside;  // single sweep only: left of the first lane, right of the last
};

// Elements of one memory access: 16 bytes where base and pitch allow, else one.
enum class march_access { scalar, vector };

// Whether to compute the largest change of the last sweep.
enum class march_residual { none, largest };

struct march_shape {
  static constexpr int columns = 4;  // per lane
  // A single sweep loads the columns beside a strip instead, so strips start on whole cache lines.
  template <int Depth>
  static constexpr int halo_lanes = Depth == 1 ? 0 : (Depth + columns - 1) / columns;
  template <int Depth>
  static constexpr int strip = (warp_size - 2 * halo_lanes<Depth>)*columns;  // columns stored by a warp
};

template <class T>
__device__ void load_vector(const T* from, march_pack<T, 4>& to) {
  constexpr int items = 16 / sizeof(T);
#pragma unroll
  for (int k = 0; k < 4; k += items) {
    if constexpr (std::same_as<T, float>) {
      const float4 v = __ldg(reinterpret_cast<const float4*>(from));
      to.of[0] = v.x, to.of[1] = v.y, to.of[2] = v.z, to.of[3] = v.w;
    } else {
      const double2 v = __ldg(reinterpret_cast<const double2*>(from + k));
      to.of[k] = v.x, to.of[k + 1] = v.y;
    }
  }
}

template <class T>
__device__ void store_vector(const march_pack<T, 4>& from, T* to) {
  if constexpr (std::same_as<T, float>) {
    __stcs(reinterpret_cast<float4*>(to), make_float4(from.of[0], from.of[1], from.of[2], from.of[3]));
  } else {
    __stcs(reinterpret_cast<double2*>(to), make_double2(from.of[0], from.of[1]));
    __stcs(reinterpret_cast<double2*>(to) + 1, make_double2(from.of[2], from.of[3]));
  }
}

// Whether a lane's columns are inside the array, or tested one by one.
enum class march_place { inside, edge };

// One lane's loads, row by row; the array's first and last rows repeat beyond it.
template <class T, march_access Access, march_place Place>
struct march_loads {
  const T* at;         // the next row at this lane's first column
  std::int64_t pitch;  // of the array
  int step = 0;        // rows loaded
  int first_move;      // `at` moves in steps [first_move, end_move)
  int end_move;
  int lowest;  // the lane's columns [lowest, end) are in the array
  int end;
  int beside;  // offset of the extra column beside the strip; 0: none

  __device__ march_pack<T, march_shape::columns> next() {
    march_pack<T, march_shape::columns> row;
    row.beside = T{0};
    if constexpr (Place == march_place::inside && Access == march_access::vector) {
      load_vector(at, row);
    } else {
#pragma unroll
      for (int c = 0; c < march_shape::columns; ++c) {
        row.of[c] = Place == march_place::inside || (c >= lowest && c < end) ? __ldg(at + c) : T{0};
      }
    }
    if (beside != 0) row.beside = __ldg(at + beside);
    if (step >= first_move && step < end_move) at += pitch;
    ++step;
    return row;
  }
};

// One warp: rows [first, last) of `strip`. Returns the largest |new - old| of this lane's cells in the last sweep.
template <class Cell, int Depth, int Ahead, march_residual Residual, march_access Access, march_place Place, class T>
__device__ T march_warp(const five_point_job<T>& job, std::int64_t strip, std::int64_t first, std::int64_t last) {
  constexpr int columns = march_shape::columns;
  constexpr int halo = march_shape::halo_lanes<Depth>;
  using pack = march_pack<T, columns>;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t col = strip * march_shape::strip<Depth> + (lane - halo) * columns;  // first column of this lane
  const bool stores = lane >= halo && lane < warp_size - halo;
  const std::int64_t row0 = first - Depth;
  const int steps = static_cast<int>(last - first) + 2 * Depth;
  const int lowest = static_cast<int>(col < 0 ? min(std::int64_t{columns}, -col) : 0);
  const int end = static_cast<int>(max(std::int64_t{0}, min(std::int64_t{columns}, job.cols - col)));
  // Boundary rows, counted from row0, if the segment can reach them.
  const int first_move = static_cast<int>(max(std::int64_t{0}, -row0));
  const int top = row0 <= 0 ? first_move : -1;
  const int bottom = static_cast<int>(min(std::int64_t{steps}, job.rows - 1 - row0));

  int beside = 0;
  if (Depth == 1 && lane == 0 && col > 0) beside = -1;
  if (Depth == 1 && lane == warp_size - 1 && col + columns < job.cols) beside = columns;
  march_loads<T, Access, Place> loads{job.in + max(std::int64_t{0}, row0) * job.in_pitch + col,
                                      job.in_pitch,
                                      0,
                                      first_move,
                                      min(bottom, steps - 1),
                                      lowest,
                                      end,
                                      beside};
  T* to = job.out + first * job.out_pitch + col;
  pack ahead[Ahead];
  pack up[Depth];
  pack mid[Depth];
#pragma unroll
  for (int k = 0; k < Ahead; ++k) ahead[k] = loads.next();
#pragma unroll
  for (int t = 0; t < Depth; ++t) {
#pragma unroll
    for (int c = 0; c < columns; ++c) up[t].of[c] = mid[t].of[c] = T{0};
    up[t].beside = mid[t].beside = T{0};
  }

  T moved{0};
  for (int base = 0; base < steps; base += Ahead) {
#pragma unroll
    for (int k = 0; k < Ahead; ++k) {
      const int step = base + k;
      pack row = ahead[k];
      ahead[k] = loads.next();
#pragma unroll
      for (int t = 0; t < Depth; ++t) {
        T before = __shfl_up_sync(full_mask, mid[t].of[columns - 1], 1);
        T after = __shfl_down_sync(full_mask, mid[t].of[0], 1);
        if constexpr (Depth == 1) {
          if (lane == 0) before = mid[t].beside;
          if (lane == warp_size - 1) after = mid[t].beside;
        }
        pack next;
#pragma unroll
        for (int c = 0; c < columns; ++c) {
          const T left = c > 0 ? mid[t].of[c - 1] : before;
          const T right = c + 1 < columns ? mid[t].of[c + 1] : after;
          next.of[c] = Cell::apply(mid[t].of[c], left, right, up[t].of[c], row.of[c]);
          if constexpr (Place == march_place::edge) {
            const int of_row = step - (t + 1);
            const bool rim = of_row == top || of_row == bottom || col + c == 0 || col + c == job.cols - 1;
            if (rim) next.of[c] = mid[t].of[c];
          }
        }
        up[t] = mid[t];
        mid[t] = row;
        row = next;
      }
      if (step >= 2 * Depth && step < steps) {
        if (stores) {
          if constexpr (Residual == march_residual::largest) {
#pragma unroll
            for (int c = 0; c < columns; ++c) {
              if (Place == march_place::inside || (c >= lowest && c < end)) {
                moved = larger_magnitude(moved, change_of(row.of[c], up[Depth - 1].of[c]));
              }
            }
          }
          if constexpr (Place == march_place::inside && Access == march_access::vector) {
            store_vector(row, to);
          } else {
#pragma unroll
            for (int c = 0; c < columns; ++c) {
              if (Place == march_place::inside || (c >= lowest && c < end)) __stcs(to + c, row.of[c]);
            }
          }
        }
        to += job.out_pitch;
      }
    }
  }
  return moved;
}

struct march_launch {
  static constexpr int warps = 4;  // per block: neighbouring strips, which share halos in L1
};

template <class Cell, int Depth, int Ahead, int Blocks, march_residual Residual, march_access Access, class T>
__global__ void __launch_bounds__(march_launch::warps* warp_size, Blocks)
    march_kernel(five_point_job<T> job, std::int64_t segment, T* residual) {
  using enum march_place;
  const std::int64_t strip = std::int64_t{blockIdx.x} * march_launch::warps + static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t col = strip * march_shape::strip<Depth>;
  if (col >= job.cols) return;
  constexpr int halo = march_shape::halo_lanes<Depth> * march_shape::columns;
  const bool inside_cols = col - halo >= 1 && col - halo + warp_size * march_shape::columns <= job.cols - 1;
  T moved{0};
  for (std::int64_t first = blockIdx.y * segment; first < job.rows; first += gridDim.y * segment) {
    const std::int64_t last = min(job.rows, first + segment);
    const bool inside_rows = first - Depth >= 0 && last - 1 + Depth <= job.rows - 1;
    const T segment_moved = inside_cols && inside_rows
                                ? march_warp<Cell, Depth, Ahead, Residual, Access, inside>(job, strip, first, last)
                                : march_warp<Cell, Depth, Ahead, Residual, Access, edge>(job, strip, first, last);
    moved = larger_magnitude(moved, segment_moved);
  }
  if constexpr (Residual == march_residual::largest) raise_residual(moved, residual);
}

}  // namespace spargo::detail::stencil
