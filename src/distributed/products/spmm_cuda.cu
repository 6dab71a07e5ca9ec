// Distributed SpMM on devices.
//
// As in spmm_plan's row_groups, neighbouring lanes share a row of X, each with the sums of its segments. A row is
// computed by one group of lanes (short), by the groups of a warp (longer), or of a block (longest); that depends only
// on the row's length and the number of columns, and device_rows.cuh lists the rows by it. So Y has the same bits for
// any number of ranks. Rows without ghosts are multiplied while the ghost rows of X are exchanged, the others on the
// exchange's stream as soon as these arrive. Cost: the matrix once per panel of columns, one index per row.
#include "distributed/graph/device_rows.cuh"
#include "distributed/products/executor.hpp"
#include "sparse/spmm/device.cuh"

#include <optional>

namespace spargo::detail::distributed {

namespace {

using spmm::kernel_arguments;
using spmm::lane_share;
using spmm::lane_sums;

struct spmm_tuning {
  // Minimum segments per row for two segments per lane: row_groups' value for rows of 27. Untuned here.
  static constexpr std::int64_t two_segments_from = 16;
};

template <int L, int N, class D>
__device__ void write_row(const kernel_arguments<D, std::int32_t, std::int64_t>& a, const lane_share<N>& share,
                          std::int32_t row, const lane_sums<D, L, N>& sums) {
#pragma unroll
  for (int n = 0; n < N; ++n) {
    if (!share.owns(n, a.lanes_log2)) continue;
    spmm::update_segment(a.y + row * a.y_stride + share.segments[n] * L, a.alpha, sums.of[n], a.beta);
  }
}

// The groups of lanes take a row's entries round-robin, batch by batch; this one is group `slot` of `slots`. Every
// group of the warp returns the warp's sums. Called by whole warps.
template <int L, int N, class D>
__device__ lane_sums<D, L, N> shared_row(const kernel_arguments<D, std::int32_t, std::int64_t>& a,
                                         const lane_share<N>& share, std::int32_t row, int slot, int slots) {
  const std::int64_t begin = a.offsets[row];
  lane_sums<D, L, N> sums;
  spmm::add_slot(a.indices + begin, a.values + begin, a.offsets[row + 1] - begin, slot, slots, share, a.x_stride, sums);
  __syncwarp();
  spmm::add_groups(sums, 1 << a.lanes_log2, warp_size);
  return sums;
}

template <int L, int N, class D>
__global__ void __launch_bounds__(block_threads, spmm::blocks_per_sm)
    multiply_rows_kernel(kernel_arguments<D, std::int32_t, std::int64_t> a, row_work rows) {
  const auto share = lane_share<N>::template of<L>(a);
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  std::int64_t block = blockIdx.x;
  if (block < rows.of_blocks) {
    __shared__ lane_sums<D, L, N> of_warps[row_work::warps][warp_size];
    const std::int32_t row = rows.order[block];
    of_warps[warp][lane_id()] = shared_row<L>(a, share, row, thread >> a.lanes_log2, block_threads >> a.lanes_log2);
    __syncthreads();
    if (thread >> a.lanes_log2 != 0) return;
    lane_sums<D, L, N> sums;
    for (const auto& part : of_warps) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int l = 0; l < L; ++l) sums.of[n].v[l] = sums.of[n].v[l] + part[thread].of[n].v[l];
      }
    }
    write_row(a, share, row, sums);
    return;
  }
  block -= rows.of_blocks;
  if (block < rows.warp_blocks()) {
    const std::int64_t at = block * row_work::warps + warp;
    if (at >= rows.of_warps) return;  // whole warps leave
    const std::int32_t row = rows.order[rows.of_blocks + at];
    const int slot = lane_id() >> a.lanes_log2;
    const auto sums = shared_row<L>(a, share, row, slot, warp_size >> a.lanes_log2);
    if (slot == 0) write_row(a, share, row, sums);
    return;
  }
  block -= rows.warp_blocks();
  const std::int64_t at = block * (block_threads >> a.lanes_log2) + (thread >> a.lanes_log2);
  if (at >= rows.of_threads) return;
  const std::int32_t row = rows.order[rows.of_blocks + rows.of_warps + at];
  const std::int64_t begin = a.offsets[row];
  lane_sums<D, L, N> sums;
  spmm::add_entries(a.indices + begin, a.values + begin, a.offsets[row + 1] - begin, share, a.x_stride, sums);
  write_row(a, share, row, sums);
}

template <class V>
class device_spmm final : public spmm_executor<V, device> {
 public:
  device_spmm(const communicator& comm, const context<device>& ctx, const distributed_matrix<V>& matrix,
              const local_columns& columns, std::int64_t width, const exchange_options& options)
      : ctx_(ctx), own_(columns.own), ghosts_(std::ssize(columns.ghosts)), width_(width) {
    const auto a = matrix.own();
    comm.agree_on([&] {
      offsets_ = to_device(ctx, a.offsets);
      indices_ = to_device(ctx, columns.indices);
      values_ = to_device(ctx, a.values);
      rows_ = split_rows(ctx, a.offsets, columns);
    });
    halo_.emplace(comm, ctx, matrix.column_parts(), columns.ghosts, static_cast<std::size_t>(width) * sizeof(V),
                  options);
  }

  void run(V alpha, const dense_view<V, device>& x, V beta, const dense_view<V, device>& y) override {
    halo_->start(span<const V, device>(x.data.subspan(0, own_ * width_)));
    multiply(ctx_, rows_.interior(), alpha, x, beta, y);
    halo_->finish_aside(x.data.subspan(own_ * width_, ghosts_ * width_), [&](stream_handle stream) {
      multiply({ctx_, stream}, rows_.boundary(), alpha, x, beta, y);
    });
  }
  [[nodiscard]] std::int64_t own_columns() const noexcept override { return own_; }
  [[nodiscard]] std::int64_t ghosts() const noexcept override { return ghosts_; }
  [[nodiscard]] std::int64_t interior_rows() const noexcept override { return rows_.interior_rows(); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  void multiply(const launch_site& at, const row_work& rows, V alpha, const dense_view<V, device>& x, V beta,
                const dense_view<V, device>& y) const {
    if (rows.blocks() == 0) return;
    const device_guard guard(ctx_);
    const kernel_arguments<V, std::int32_t, std::int64_t> arguments{offsets_.data(),
                                                                    indices_.data(),
                                                                    values_.data(),
                                                                    y.rows,
                                                                    x.data.data(),
                                                                    x.stride * static_cast<std::int64_t>(sizeof(V)),
                                                                    y.data.data(),
                                                                    y.stride,
                                                                    0,
                                                                    0,
                                                                    alpha,
                                                                    beta};
    const int values = spmm::segment_values<V>(x.data.data(), x.stride, y.data.data(), y.stride, width_);
    spmm::for_each_panel(
        arguments, width_, values, spmm_tuning::two_segments_from, [&](auto shape, const auto& panel, std::int64_t) {
          const std::int64_t short_blocks = div_up(rows.of_threads, std::int64_t{block_threads >> panel.lanes_log2});
          const std::int64_t blocks = rows.of_blocks + rows.warp_blocks() + short_blocks;
          launch_kernel(at, {blocks, block_threads}, multiply_rows_kernel<shape.values, shape.segments, V>, panel,
                        rows);
        });
  }

  context<device> ctx_;
  std::int64_t own_;
  std::int64_t ghosts_;
  std::int64_t width_;
  array<std::int64_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<V, device> values_;
  split_rows rows_;
  std::optional<exchange<device>> halo_;  // destroyed first, after its stream has drained
};

}  // namespace

template <class V>
std::unique_ptr<spmm_executor<V, device>> make_spmm_executor(const communicator& comm, const context<device>& ctx,
                                                             const distributed_matrix<V>& matrix, local_columns columns,
                                                             std::int64_t width, const exchange_options& options) {
  return std::make_unique<device_spmm<V>>(comm, ctx, matrix, columns, width, options);
}

template std::unique_ptr<spmm_executor<double, device>> make_spmm_executor(const communicator&, const context<device>&,
                                                                           const distributed_matrix<double>&,
                                                                           local_columns, std::int64_t,
                                                                           const exchange_options&);

}  // namespace spargo::detail::distributed
