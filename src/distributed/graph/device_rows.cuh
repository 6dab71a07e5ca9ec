// Row sums on a rank's device: rows without ghosts while ghosts are exchanged, the others as soon as they arrive.
//
// A row is summed by a thread in order, by a warp, or by a block, depending on its length only. So a sum has the same
// bits for any number of ranks; for a short row those of spmv_plan's row_per_thread. Rows are listed by kind, longest
// first. Cost: one pass over the matrix, one index per row.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "distributed/exchange/local_columns.hpp"
#include "sparse/device.cuh"

#include <vector>

namespace spargo::detail::distributed {

struct rows_tuning {
  // Untuned: uniform, 10^6 rows of 16, fp64: two ranks on one H200, 4 MB each way, 0.32 ms; one, without lists, 0.20.
  static constexpr std::int64_t thread_row = 32;
  static constexpr std::int64_t warp_row = 4096;  // as in PageRank on one device
};

// Rows in listed order: summed by blocks, by warps, by threads.
struct row_work {
  const std::int32_t* order = nullptr;
  std::int64_t of_blocks = 0;
  std::int64_t of_warps = 0;
  std::int64_t of_threads = 0;

  static constexpr std::int64_t warps = block_threads / warp_size;  // per block
  [[nodiscard]] __host__ __device__ std::int64_t warp_blocks() const { return (of_warps + warps - 1) / warps; }
  [[nodiscard]] std::int64_t blocks() const { return of_blocks + warp_blocks() + div_up(of_threads, block_threads); }
};

// Values of the entries.
template <class D>
struct weights_of {
  const D* values;
  __device__ D operator()(std::int64_t e) const { return read_once(values + e); }
};

// x: own elements from 0, then the ghosts.
template <class D>
struct local_vector {
  const D* own;
  const D* ghosts;
  std::int32_t count;  // of own elements
  __device__ D operator()(std::int32_t i) const { return read(i < count ? own + i : ghosts + (i - count)); }
};

// Sum over entries first, first + step, ... below last in order, with InFlight loads in flight.
template <int InFlight, class D, class Weights>
__device__ D strided_sum(const std::int32_t* indices, Weights weights, const local_vector<D>& x, std::int64_t first,
                         std::int64_t last, std::int64_t step) {
  D sum{};
#pragma unroll 1
  for (std::int64_t e = first; e < last; e += InFlight * step) {
    D weight[InFlight];
    std::int32_t index[InFlight];
#pragma unroll
    for (int u = 0; u < InFlight; ++u) {
      const bool inside = e + u * step < last;
      index[u] = inside ? __ldcs(indices + e + u * step) : -1;
      weight[u] = inside ? weights(e + u * step) : D{};
    }
#pragma unroll
    for (int u = 0; u < InFlight; ++u) {
      if (index[u] >= 0) sum = multiply_add(weight[u], x(index[u]), sum);
    }
  }
  return sum;
}

template <class D, class Weights, class Finish>
__global__ void __launch_bounds__(block_threads)
    sum_rows_kernel(row_work rows, const std::int64_t* __restrict__ offsets, const std::int32_t* __restrict__ indices,
                    Weights weights, local_vector<D> x, Finish finish) {
  const int thread = static_cast<int>(threadIdx.x);
  std::int64_t block = blockIdx.x;
  if (block < rows.of_blocks) {
    __shared__ D of_warps[row_work::warps];
    const std::int32_t row = rows.order[block];
    const D sum = block_sum(strided_sum<4>(indices, weights, x, offsets[row] + thread, offsets[row + 1], block_threads),
                            of_warps);
    if (thread == 0) finish(row, sum);
    return;
  }
  block -= rows.of_blocks;
  if (block < rows.warp_blocks()) {
    const std::int64_t at = block * row_work::warps + thread / warp_size;
    if (at >= rows.of_warps) return;  // whole warps leave
    const std::int32_t row = rows.order[rows.of_blocks + at];
    const D sum = group_sum(strided_sum<4>(indices, weights, x, offsets[row] + lane_id(), offsets[row + 1], warp_size),
                            warp_size);
    if (lane_id() == 0) finish(row, sum);
    return;
  }
  block -= rows.warp_blocks();
  const std::int64_t at = block * block_threads + thread;
  if (at >= rows.of_threads) return;
  const std::int32_t row = rows.order[rows.of_blocks + rows.of_warps + at];
  finish(row, strided_sum<8>(indices, weights, x, offsets[row], offsets[row + 1], 1));
}

// Lists the rows with and without ghosts by who sums them.
class split_rows {
 public:
  split_rows() = default;
  // Interior rows `first` to `last` are summed elsewhere.
  split_rows(const context<device>& ctx, span<const std::int64_t, host> offsets, const local_columns& columns,
             std::int64_t first = 0, std::int64_t last = 0)
      : rows_(std::max<std::int64_t>(0, offsets.size() - 1)) {
    std::vector<std::int32_t> lists[2][3];  // [has ghosts][kind]
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (row >= first && row < last) continue;
      const std::int64_t size = offsets[row + 1] - offsets[row];
      const int by = size > rows_tuning::warp_row ? 0 : size > rows_tuning::thread_row ? 1 : 2;
      const bool waits = !columns.are_own(offsets[row], offsets[row + 1]);
      lists[waits ? 1 : 0][by].push_back(static_cast<std::int32_t>(row));
    }
    std::vector<std::int32_t> all;
    for (const auto& of_kind : lists) {
      for (const auto& list : of_kind) all.insert(all.end(), list.begin(), list.end());
    }
    order_ = to_device(ctx, all);
    const std::int32_t* at = order_.data();
    for (int waits = 0; waits < 2; ++waits) {
      work_[waits] = {at, std::ssize(lists[waits][0]), std::ssize(lists[waits][1]), std::ssize(lists[waits][2])};
      at += work_[waits].of_blocks + work_[waits].of_warps + work_[waits].of_threads;
    }
  }

  [[nodiscard]] const row_work& interior() const { return work_[0]; }
  [[nodiscard]] const row_work& boundary() const { return work_[1]; }
  [[nodiscard]] std::int64_t interior_rows() const {
    return rows_ - work_[1].of_blocks - work_[1].of_warps - work_[1].of_threads;
  }

 private:
  std::int64_t rows_ = 0;
  array<std::int32_t, device> order_;
  row_work work_[2];
};

template <class D, class Weights, class Finish>
void sum_rows(const launch_site& at, const row_work& rows, const std::int64_t* offsets, const std::int32_t* indices,
              Weights weights, const local_vector<D>& x, Finish finish) {
  const std::int64_t blocks = rows.blocks();
  if (blocks == 0) return;
  const device_guard guard(at.ctx);
  launch_kernel(at, {blocks, block_threads}, sum_rows_kernel<D, Weights, Finish>, rows, offsets, indices, weights, x,
                finish);
}

}  // namespace spargo::detail::distributed
