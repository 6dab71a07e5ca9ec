// CSR products on the device from a copy that reads x from shared memory for most entries.
//
// If a row's columns are scattered over x, an entry costs a sector of x from L2: 32 bytes for one element. Two kinds of
// entries are cheaper. Hot columns: graphs gather a few elements again and again; columns are ranked by descending use,
// and the x of the first ones fits shared memory. Long rows: these have several entries in each block of columns that
// fits shared memory; such a cell (row, column block) is stored with those of the same block, with 16-bit columns, and
// gives one partial sum. Other entries are gathered as usual.
//
// The copy is cut into strips summed by one lane: up to 64 entries of a cell or of a row's other entries. Strips are
// sorted by length, and 32 of similar length share a warp, with interleaved entries (SELL-C-sigma), so lanes need not
// search for row ends. A thread block takes an equal share of the column blocks' chunks of strips and loads each
// block's part of x; the other chunks are distributed to all warps. Finally each row adds the sums of its strips in
// order: the same bits in every run and from every plan, but not those of row_per_thread. The caller never sees the
// ranks.
//
// Cost of a run in bytes from L2: an entry in a cell takes its value and 2 bytes, another entry its value and 4 bytes,
// plus 32 if its column is not hot; a strip about 40; with ranked columns about 44 per used column. Workspace: a value
// and 8 bytes per entry (6 in cells), x and 4 bytes per column if ranked, a value and 6 bytes per strip, 4 per row. A
// plan costs 20 to 45 products.
// Sources: vertices by degree (Zhang et al., "Making caches work for graph analytics", BigData 2017); column blocks
// (Nishtala et al., "When cache blocking of sparse matrix vector multiply works and why", AAECC 2007); SELL-C-sigma
// (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014).
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/binned/device.cuh"
#include "sparse/spmv/copies/blocked/product.cuh"
#include "sparse/spmv/device.cuh"

#include <utility>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  static constexpr std::int64_t most_blocks = 512;
  // Elements of x per thread, to overlap their dependent loads.
  static constexpr int batch = 4;
};

// to[i] = from[places[i]], several per thread to overlap their dependent loads.
template <class D>
__global__ void __launch_bounds__(threads_per_block)
    gather_kernel(const D* from, const std::uint32_t* places, std::int64_t size, D* to) {
  constexpr int batch = tuning::batch;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (batch * threads_per_block) + threadIdx.x;
  std::uint32_t place[batch];
  D value[batch];
#pragma unroll
  for (int j = 0; j < batch; ++j)
    place[j] = first + j * threads_per_block < size ? places[first + j * threads_per_block] : 0;
#pragma unroll
  for (int j = 0; j < batch; ++j) value[j] = read(from + place[j]);
#pragma unroll
  for (int j = 0; j < batch; ++j) {
    if (first + j * threads_per_block < size) to[first + j * threads_per_block] = value[j];
  }
}

template <class V>
class device_blocked final : public executor<V> {
  using D = device_value_t<V>;

 public:
  device_blocked(const context<device>& ctx, blocked_pattern pattern, column_order order, const V* values)
      : ctx_(ctx),
        columns_(std::move(order.columns)),
        x_(ctx, columns_.size()),
        strips_(ctx, std::move(pattern), std::move(order), values) {}

  void run(V alpha, const V* x_values, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const D* x = device_cast(x_values);
    constexpr std::int64_t per_block = tuning::batch * threads_per_block;
    if (!x_.empty()) {
      D* const ranked = device_cast(x_.data());
      launch_kernel(ctx_, {div_up(x_.size(), per_block), threads_per_block}, gather_kernel<D>, x, columns_.data(),
                    x_.size(), ranked);
      x = ranked;
    }
    strips_.sum(x);
    const auto strips = strips_.strips();
    launch_kernel(ctx_, {strips.blocks(), threads_per_block}, add_strips_kernel<D>, strips, to_device_value(alpha),
                  to_device_value(beta), device_cast(y));
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override { strips_.update(values); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(columns_, x_) + strips_.bytes();
  }

 private:
  context<device> ctx_;
  array<std::uint32_t, device> columns_;  // by rank, if ranks differ from columns
  mutable array<V, device> x_;            // by rank, if ranks differ from columns; written by each run
  weighted_strips<V> strips_;
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                              copy_demand demand) {
  using D = device_value_t<V>;
  const device_guard guard(ctx);
  blocking_profile profile{.rows = matrix.rows,
                           .cols = matrix.cols,
                           .nnz = matrix.nnz(),
                           .value_bytes = static_cast<std::int64_t>(sizeof(V)),
                           .sectors = 1000,
                           .gathered = 0,
                           .strips = 0,
                           .ranked = 0};
  auto refused = reason_against_device(ctx.properties(), part_bytes);
  if (refused.empty()) refused = reason_against_blocking(profile, demand);  // before anything is measured
  if (!refused.empty()) return {nullptr, std::move(refused)};
  profile.sectors = sectors_per_1000(ctx, matrix.indices.data(), profile.nnz, profile.value_bytes);
  refused = reason_against_blocking(profile, demand);  // before columns are counted
  if (!refused.empty()) return {nullptr, std::move(refused)};
  const blocked_shape shape{part_columns<D>, tuning::most_blocks};
  auto order = order_columns<I>(ctx, matrix.indices, matrix.cols, shape);
  const auto cut = cut_rows<O>(ctx, matrix.offsets, order, shape);
  profile.gathered = cut.gathered;
  profile.strips = cut.strips;
  profile.ranked = order.columns.size();
  refused = reason_against_blocking(profile, demand);
  if (!refused.empty()) return {nullptr, std::move(refused)};
  auto pattern = arrange_entries(ctx, order, cut, shape);
  const auto percent = 100 * (profile.nnz - profile.gathered) / profile.nnz;
  return {std::make_unique<device_blocked<V>>(ctx, std::move(pattern), std::move(order), matrix.values.data()),
          "x from shared memory for " + std::to_string(percent) + " percent of the entries, in " +
              std::to_string(profile.strips) + " strips"};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> block_columns(const context<device>&, const csr_view<const V, I, O, device>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
