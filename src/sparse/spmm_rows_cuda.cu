// Products with multi-vectors on the device, a group of lanes a row: for rows of about the same length.
//
// Consecutive rows belong to consecutive groups, so that a warp reads neighbouring rows of X where the matrix is
// banded, and writes one stretch of Y. Long rows are shared by several groups (slots), which take batches of entries in
// turn and add their sums up by shuffles. No shared memory: L1 is left to X, whose rows neighbouring rows of A have in
// common. One writer an element, a fixed order: deterministic. No workspace.
// The idea: Yang, Buluc, Owens, "Design principles for sparse matrix multiplication on the GPU", Euro-Par 2018.
#include "core/instantiate.hpp"
#include "sparse/spmm_device.cuh"

namespace spargo::detail {

namespace {

struct tuning {
  // Entries for each lane of a row's slots, at least: a row of 27 with pieces of one lane gets two slots.
  static constexpr std::int64_t entries_a_lane = 12;
};

template <int L, class D, class I, class O>
__global__ void __launch_bounds__(spmm_threads, spmm_blocks)
    row_groups_kernel(spmm_arguments<D, I, O> a, int slots_log2) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int width_log2 = a.lanes_log2 + slots_log2;
  const int mine = lane & ((1 << a.lanes_log2) - 1);
  const int at = mine < a.pieces ? mine : a.pieces - 1;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (spmm_threads >> width_log2) + (threadIdx.x >> width_log2);
  const char* const x = reinterpret_cast<const char*>(a.x + at * L);
  piece<D, L> sums{};
  const bool inside = row < a.rows;
  const O begin = inside ? __ldg(a.offsets + row) : O{0};
  const O count = inside ? __ldg(a.offsets + row + 1) - begin : O{0};
  int slot = 0;
  if (slots_log2 == 0) {
    add_entries(a.indices + begin, a.values + begin, count, x, a.x_stride, sums);
  } else {
    slot = (lane >> a.lanes_log2) & ((1 << slots_log2) - 1);
    add_share(a.indices + begin, a.values + begin, count, slot, 1 << slots_log2, x, a.x_stride, sums);
    __syncwarp();
    add_groups(sums, 1 << a.lanes_log2, 1 << width_log2);
  }
  if (inside && slot == 0 && mine < a.pieces) update_piece(a.y + row * a.y_stride + at * L, a.alpha, sums, a.beta);
}

template <class V, class I, class O>
class device_rows final : public spmm_executor<V, device> {
  using D = device_value_t<V>;

 public:
  device_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& a) : ctx_(ctx), a_(a) {}

  void run(V alpha, const dense_view<const V, device>& x, V beta, const dense_view<V, device>& y) const override {
    const device_guard guard(ctx_);
    const spmm_arguments<D, I, O> arguments{a_.offsets.data(),
                                            a_.indices.data(),
                                            device_cast(a_.values.data()),
                                            a_.rows,
                                            device_cast(x.data.data()),
                                            x.stride * static_cast<std::int64_t>(sizeof(D)),
                                            device_cast(y.data.data()),
                                            y.stride,
                                            0,
                                            0,
                                            to_device_value(alpha),
                                            to_device_value(beta)};
    const int values = piece_values<D>(x.data.data(), x.stride, y.data.data(), y.stride, x.cols);
    for_each_panel(arguments, x.cols, values, [&](auto length, const auto& panel, std::int64_t) {
      const int slots = slots_log2(panel.lanes_log2);
      const unsigned blocks = grid_of(a_.rows, spmm_threads >> (panel.lanes_log2 + slots));
      row_groups_kernel<length.value><<<blocks, spmm_threads, 0, ctx_.stream()>>>(panel, slots);
      SPARGO_CUDA_TRY(cudaGetLastError());
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return 0; }

 private:
  [[nodiscard]] int slots_log2(int lanes_log2) const {
    const std::int64_t mean = a_.nnz() / a_.rows;
    int slots = 0;
    while (lanes_log2 + slots < 5 && (tuning::entries_a_lane << (lanes_log2 + slots + 1)) <= mean) ++slots;
    return slots;
  }

  context<device> ctx_;
  csr_view<const V, I, O, device> a_;
};

}  // namespace

template <class V, class I, class O>
spmm_executor_ptr<V, device> make_spmm_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_rows<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V, I, O) \
  template spmm_executor_ptr<V, device> make_spmm_rows(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
