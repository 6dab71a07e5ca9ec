// Last step of a blocked product: each row adds the sums of its strips.
//
// Most rows have few strips and are added by one thread, which processes several rows at once, since each row has a
// chain of dependent loads: its number of strips, their places, their sums. The plan lists the rows with more strips:
// rows with dozens are added by a group of lanes, with hundreds by a warp, and hubs in parts by one block each, the
// last of which adds the parts. All in a fixed order.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "sparse/spmv/copies/blocked/device.cuh"
#include "sparse/spmv/device.cuh"

#include <cstdint>
#include <type_traits>

namespace spargo::detail::spmv {

// How many strips of a row one thread, a group of lanes and a warp add at most; hubs have more, in parts of `part`.
struct strip_limits {
  std::uint32_t thread;
  std::uint32_t group;
  std::uint32_t warp;
  std::uint32_t part;
};

struct blocked_row_tuning {
  // Rows per thread, 4, 2, 1: 0.158, 0.160, 0.203 ms of this step (R-MAT 24 with 4 entries per row, fp64, H200).
  static constexpr int batch = 4;
  static constexpr int group_lanes = 8;
  static constexpr int group_rows = 2;  // rows per group at once; 4, 2, 1: PageRank of R-MAT 22 0.218, 0.209, 0.215 ms
  // Limits half as large change a product by less than a percent (R-MAT 22, R-MAT 24, power law).
  static constexpr strip_limits limits{.thread = 4, .group = 64, .warp = 512, .part = 1024};
};

// The strips of rows, added by blocks (parts of hubs), warps or lane groups (long rows), or threads.
template <class D>
struct strip_arguments {
  std::int64_t rows;
  const std::uint32_t* row_strips;
  const std::uint32_t* places;
  const D* sums;
  const std::uint32_t* long_rows;
  std::int64_t hub_rows;
  std::int64_t warp_rows;
  std::int64_t group_rows;
  std::int64_t parts;
  const std::uint32_t* hub_parts;
  const std::uint32_t* part_hubs;
  D* part_sums;
  unsigned* arrived;  // per hub: finished parts; 0 between runs

  [[nodiscard]] SPARGO_HD std::int64_t warp_blocks() const { return div_up(warp_rows, rows_per_warp_block); }
  [[nodiscard]] SPARGO_HD std::int64_t group_blocks() const { return div_up(group_rows, rows_a_group_block); }
  [[nodiscard]] SPARGO_HD std::int64_t blocks() const {
    return parts + warp_blocks() + group_blocks() +
           div_up(rows, std::int64_t{blocked_row_tuning::batch} * threads_per_block);
  }
  // Adds strips begin, begin + step, ... below end.
  [[nodiscard]] __device__ D add(std::uint32_t begin, std::uint32_t end, std::uint32_t step) const {
    D sum{};
#pragma unroll 4
    for (std::uint32_t p = begin; p < end; p += step) sum += sums[places[p]];
    return sum;
  }

  static constexpr std::int64_t rows_per_warp_block = threads_per_block / warp_size;
  static constexpr std::int64_t rows_a_group_block =
      threads_per_block / blocked_row_tuning::group_lanes * blocked_row_tuning::group_rows;
};

// Reads what another block has written in this kernel.
template <class D>
__device__ D read_fresh(const D* p) {
  D value;
  if constexpr (sizeof(D) == 4) {
    value = __ldcg(p);
  } else {
    using word = std::conditional_t<sizeof(D) == 8, uint2, uint4>;
    const word raw = __ldcg(reinterpret_cast<const word*>(p));
    __builtin_memcpy(&value, &raw, sizeof(value));
  }
  return value;
}

// The block that finishes a hub's last part adds all parts, in order.
template <class D, class Emit>
__device__ void add_part(const strip_arguments<D>& a, std::uint32_t part, Emit emit) {
  __shared__ D warp_sums[threads_per_block / warp_size];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::uint32_t hub = a.part_hubs[part];
  const std::uint32_t first = a.hub_parts[hub];
  const std::uint32_t parts = a.hub_parts[hub + 1] - first;
  const std::uint32_t row = a.long_rows[hub];
  const std::uint32_t begin = a.row_strips[row] + (part - first) * blocked_row_tuning::limits.part;
  const std::uint32_t end = min(begin + blocked_row_tuning::limits.part, a.row_strips[row + 1]);
  const D mine = group_sum(a.add(begin + threadIdx.x, end, threads_per_block), warp_size);
  if (lane == 0) warp_sums[threadIdx.x / warp_size] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    D sum{};
    for (const D& of_warp : warp_sums) sum += of_warp;
    a.part_sums[part] = sum;
  }
  if (!block_arrives_last(a.arrived + hub, parts) || threadIdx.x >= warp_size) return;
  D sum{};
  for (std::uint32_t p = threadIdx.x; p < parts; p += warp_size) sum += read_fresh(a.part_sums + first + p);
  sum = group_sum(sum, warp_size);
  if (lane == 0) emit(row, sum);
}

// `lanes` lanes per long row, for rows first .. end - 1. A lane overlaps the dependent loads of `Rows` rows.
template <int Rows, class D, class Emit>
__device__ void add_long_rows(const strip_arguments<D>& a, std::int64_t first, std::int64_t end, int lanes, Emit emit) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int apart = threads_per_block / lanes;
  const std::int64_t i = first + static_cast<int>(threadIdx.x) / lanes;
  std::uint32_t row[Rows];
  std::uint32_t at[Rows];
  std::uint32_t behind[Rows];
  D sum[Rows];
#pragma unroll
  for (int j = 0; j < Rows; ++j) row[j] = i + j * apart < end ? a.long_rows[i + j * apart] : no_entry;
#pragma unroll
  for (int j = 0; j < Rows; ++j) {
    at[j] = row[j] != no_entry ? a.row_strips[row[j]] + static_cast<std::uint32_t>(lane) : 0;
    behind[j] = row[j] != no_entry ? a.row_strips[row[j] + 1] : 0;
    sum[j] = D{};
  }
  if constexpr (Rows == 1) sum[0] = a.add(at[0], behind[0], static_cast<std::uint32_t>(lanes));
  for (bool any = Rows > 1; any;) {
    std::uint32_t place[Rows];
    any = false;
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      place[j] = at[j] < behind[j] ? a.places[at[j]] : no_entry;
      at[j] += static_cast<std::uint32_t>(lanes);
      any = any || at[j] < behind[j];
    }
#pragma unroll
    for (int j = 0; j < Rows; ++j) {
      if (place[j] != no_entry) sum[j] += a.sums[place[j]];
    }
  }
  __syncwarp();
#pragma unroll
  for (int j = 0; j < Rows; ++j) {
    sum[j] = group_sum(sum[j], lanes);
    if (row[j] != no_entry && lane == 0) emit(row[j], sum[j]);
  }
}

// The k-th strips of a thread's rows are loaded together.
template <class D, class Emit>
__device__ void add_short_rows(const strip_arguments<D>& a, std::int64_t first, Emit emit) {
  constexpr int batch = blocked_row_tuning::batch;
  constexpr std::uint32_t most = blocked_row_tuning::limits.thread;
  std::uint32_t begin[batch];
  std::uint32_t count[batch];
  D sum[batch];
#pragma unroll
  for (int j = 0; j < batch; ++j) {
    const std::int64_t row = first + j * threads_per_block + threadIdx.x;
    begin[j] = row < a.rows ? a.row_strips[row] : 0;
    count[j] = row < a.rows ? a.row_strips[row + 1] - begin[j] : most + 1;
    sum[j] = D{};
  }
#pragma unroll
  for (std::uint32_t p = 0; p < most; ++p) {
    std::uint32_t place[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      place[j] = p < count[j] && count[j] <= most ? a.places[begin[j] + p] : no_entry;
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      if (place[j] != no_entry) sum[j] += a.sums[place[j]];
    }
  }
#pragma unroll
  for (int j = 0; j < batch; ++j) {
    if (count[j] <= most) emit(first + j * threads_per_block + threadIdx.x, sum[j]);
  }
}

// emit(row, sum) for the rows of block `block` of `blocks()`, each by one thread.
template <class D, class Emit>
__device__ void add_strips(const strip_arguments<D>& a, std::int64_t block, Emit emit) {
  if (block < a.parts) return add_part(a, static_cast<std::uint32_t>(block), emit);
  block -= a.parts;
  std::int64_t first = a.hub_rows;
  if (block < a.warp_blocks()) {
    return add_long_rows<1>(a, first + block * a.rows_per_warp_block, first + a.warp_rows, warp_size, emit);
  }
  block -= a.warp_blocks();
  first += a.warp_rows;
  if (block < a.group_blocks()) {
    return add_long_rows<blocked_row_tuning::group_rows>(a, first + block * a.rows_a_group_block, first + a.group_rows,
                                                         blocked_row_tuning::group_lanes, emit);
  }
  block -= a.group_blocks();
  add_short_rows(a, block * (blocked_row_tuning::batch * threads_per_block), emit);
}

template <class D>
__global__ void __launch_bounds__(threads_per_block) add_strips_kernel(strip_arguments<D> a, D alpha, D beta, D* y) {
  add_strips(a, blockIdx.x, [&](std::int64_t row, D sum) { update(y[row], alpha, sum, beta); });
}

}  // namespace spargo::detail::spmv
