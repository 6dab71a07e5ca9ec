// CSR products on the device from a binned copy (product.cuh), for scattered columns.
//
// Rows longer than what one thread should sum are cut into segments, which are the copy's rows; the sums of a cut row's
// segments are added afterwards, in order. The same bits in every run and from every plan.
//
// Workspace: two values and 8 bytes per entry, up to three more entries per cell, 4 bytes per row, 8 per cell.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "primitives/element.hpp"
#include "sparse/spmv/copies/binned/product.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <utility>

namespace spargo::detail::spmv {

namespace {

struct cut_row {
  std::uint32_t row;
  std::uint32_t first;  // segment
  std::uint32_t segments;
};

// Rows as segments. All arrays are empty if no row is cut.
template <class O>
struct row_segments {
  array<O, device> offsets;
  array<std::uint32_t, device> rows;  // of the segments; no_entry: of a cut row
  array<cut_row, device> cut_rows;
};

// Synchronizes.
template <class O>
row_segments<O> cut_long_rows(const context<device>& ctx, span<const O, device> offsets) {
  const std::int64_t rows = offsets.size() - 1;
  const O* const offset = offsets.data();
  array<std::int64_t, device> firsts(ctx, rows + 1);
  for_each(ctx, rows + 1, [=, first = firsts.data()] __device__(std::int64_t r) {
    const std::int64_t entries = r < rows ? static_cast<std::int64_t>(offset[r + 1] - offset[r]) : 0;
    first[r] = max(div_up(entries, longest_bin_segment), std::int64_t{1});
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(firsts).view(), firsts.view());
  const auto segments = element<std::int64_t>(ctx, std::as_const(firsts).view(), rows);
  if (segments == rows) return {};
  row_segments<O> to{{ctx, segments + 1}, {ctx, segments}, {ctx, segments - rows}};
  array<unsigned, device> counts(ctx, 1);
  fill_zero(ctx, counts.view());
  for_each(
      ctx, rows,
      [=, first = firsts.data(), starts = to.offsets.data(), row_of = to.rows.data(), listed = to.cut_rows.data(),
       count = counts.data()] __device__(std::int64_t r) {
        const auto size = static_cast<std::uint32_t>(first[r + 1] - first[r]);
        for (std::uint32_t s = 0; s < size; ++s) {
          starts[first[r] + s] = offset[r] + static_cast<O>(s * longest_bin_segment);
          row_of[first[r] + s] = size > 1 ? no_entry : static_cast<std::uint32_t>(r);
        }
        if (r == rows - 1) starts[first[rows]] = offset[rows];
        // In any order: rows do not depend on each other.
        if (size > 1) {
          listed[atomicAdd(count, 1U)] = {static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(first[r]), size};
        }
      });
  const auto count = std::int64_t{element<unsigned>(ctx, std::as_const(counts).view(), 0)};
  to.cut_rows = clone(ctx, std::as_const(to.cut_rows).view().subspan(0, count));
  return to;
}

template <class D>
struct product_epilogue {
  D alpha;
  D beta;
  D* y;
  const std::uint32_t* rows;  // of the segments; null: these are the rows
  D* segment_sums;            // of cut rows

  static constexpr bin_rows_rule rule = bin_rows_rule::any;
  struct loaded {};
  __device__ void start() const {}
  [[nodiscard]] __device__ loaded load(std::int64_t) const { return {}; }
  __device__ void finish(std::int64_t segment, loaded, D sum) const {
    const std::int64_t row = rows == nullptr ? segment : std::int64_t{rows[segment]};
    if (row == no_entry) {
      segment_sums[segment] = sum;
    } else {
      update(y[row], alpha, sum, beta);
    }
  }
};

template <class D>
__global__ void __launch_bounds__(binned_tuning::collect_threads, sizeof(D) <= 8 ? collect_residency : 1)
    sum_kernel(binned_arguments<D> b, product_epilogue<D> epilogue) {
  collect_bins(b, epilogue);
}

// One warp per cut row.
template <class D>
__global__ void __launch_bounds__(threads_per_block)
    add_segments_kernel(const cut_row* cut_rows, std::int64_t size, product_epilogue<D> epilogue) {
  const std::int64_t warp = global_thread() / warp_size;
  if (warp >= size) return;
  const cut_row cut = cut_rows[warp];
  D sum{};
  for (std::uint32_t s = static_cast<std::uint32_t>(lane_id()); s < cut.segments; s += warp_size) {
    sum += epilogue.segment_sums[std::int64_t{cut.first} + s];
  }
  sum = group_sum(sum, warp_size);
  if (lane_id() == 0) update(epilogue.y[cut.row], epilogue.alpha, sum, epilogue.beta);
}

template <class V, class O>
class device_binned final : public executor<V> {
  using D = device_value_t<V>;

 public:
  device_binned(const context<device>& ctx, binned_pattern pattern, row_segments<O> segments, const V* values)
      : ctx_(ctx),
        segments_(std::move(segments)),
        copy_(ctx, std::move(pattern), sum_kernel<D>),
        values_(ctx, copy_.sources().size()),
        segment_sums_(ctx, segments_.rows.size()) {
    segments_.offsets = {};
    device_binned::update_values(values);
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const std::int64_t cut = segments_.cut_rows.size();
    const product_epilogue<D> epilogue{to_device_value(alpha), to_device_value(beta), device_cast(y),
                                       cut == 0 ? nullptr : segments_.rows.data(), device_cast(segment_sums_.data())};
    copy_.write({device_cast(values_.data())}, device_cast(x));
    launch_kernel(ctx_, copy_.collect_shape(), sum_kernel<D>, copy_.arguments(), epilogue);
    if (cut == 0) return;
    launch_kernel(ctx_, one_thread_each(cut * warp_size, threads_per_block), add_segments_kernel<D>,
                  segments_.cut_rows.data(), cut, epilogue);
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override {
    for_each(
        ctx_, values_.size(),
        [to = device_cast(values_.data()), from = device_cast(values), sources = copy_.sources().data()] __device__(
            std::int64_t k) { to[k] = sources[k] == no_entry ? D{} : from[sources[k]]; });
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return copy_.bytes() + bytes_of(values_, segment_sums_, segments_.rows, segments_.cut_rows);
  }

 private:
  context<device> ctx_;
  row_segments<O> segments_;
  binned_copy<V, entry_values<D>> copy_;
  array<V, device> values_;                // by position in memory
  mutable array<V, device> segment_sums_;  // of cut rows, written by each run
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> bin_products(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                             copy_demand demand) {
  const device_guard guard(ctx);
  binning_profile profile{.rows = matrix.rows,
                          .cols = matrix.cols,
                          .nnz = matrix.nnz(),
                          .value_bytes = static_cast<std::int64_t>(sizeof(V)),
                          .l2_bytes = ctx.properties().l2_bytes,
                          .sectors = 1000,
                          .blocks = 1,
                          .bins = 1,
                          .is_uneven = false};
  const auto refused = [&] { return reason_against_binning(profile, demand); };
  if (auto why = refused(); !why.empty()) return {nullptr, std::move(why)};  // before anything is measured
  profile.sectors = sectors_per_1000(ctx, matrix.indices.data(), profile.nnz, profile.value_bytes);
  auto segments = cut_long_rows<O>(ctx, matrix.offsets);
  const span<const O, device> offsets = segments.offsets.empty() ? matrix.offsets : segments.offsets.view();
  profile.rows = offsets.size() - 1;
  const bin_shape shape = shape_bins(ctx.properties(), profile.rows, profile.cols, profile.value_bytes);
  profile.blocks = shape.blocks;
  profile.bins = div_up(profile.nnz, shape.capacity);                        // at least
  if (auto why = refused(); !why.empty()) return {nullptr, std::move(why)};  // before entries are counted
  auto cut = cut_bins<I, O>(ctx, offsets, matrix.indices, shape, bin_rows_rule::any);
  if (!cut.refused.empty()) return {nullptr, std::move(cut.refused)};
  profile.bins = cut.shape.bins;
  profile.is_uneven = cut.shape.is_uneven();
  if (auto why = refused(); !why.empty()) return {nullptr, std::move(why)};
  auto pattern = fill_bins<I, O>(ctx, std::move(cut), offsets, matrix.indices, entry_sources::kept);
  auto reason = "products by " + std::to_string(profile.blocks) + " blocks of columns, sums by " +
                std::to_string(profile.bins) + " bins of rows: 1000 entries read " + std::to_string(profile.sectors) +
                " sectors of x";
  return {std::make_unique<device_binned<V, O>>(ctx, std::move(pattern), std::move(segments), matrix.values.data()),
          std::move(reason)};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> bin_products(const context<device>&, const csr_view<const V, I, O, device>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
