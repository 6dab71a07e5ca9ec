// Products with the pattern of a graph with scattered columns, from the binned copy that SpMV and PageRank use: 20
// bytes per entry, all coalesced, where values make it 28. Rows add in a fixed order: the same bits in every run.
//
// Uniform graph of 2^22 vertices, H100: eigenvector centrality 5.16 ms, from a copy with values 6.56. Where hubs exist
// a blocked copy of the pattern was slower than one of the values: R-MAT 22 6.26 and 5.09.
#include "graph/ranks/pattern_product.hpp"

#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/binned/product.cuh"

#include <spargo/core/error.hpp>

#include <utility>

namespace spargo::detail::ranks {

namespace {

// As PageRank's, which has the measurements.
struct pattern_tuning {
  static constexpr std::int64_t least_entries = std::int64_t{1} << 22;
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;  // of x that the L1 cache holds
  static constexpr std::int64_t most_entries = (std::int64_t{1} << 32) - (std::int64_t{1} << 16);
  static constexpr std::int64_t longest = 512;        // entries of a row
  static constexpr std::int64_t least_sectors = 800;  // of x per 1000 consecutive entries
  static constexpr std::int64_t least_cell = 27;      // entries
};

struct product_epilogue {
  double factor;
  double* y;

  static constexpr auto rule = spmv::bin_rows_rule::equal;
  struct loaded {};
  __device__ void start() const {}
  [[nodiscard]] __device__ loaded load(std::int64_t) const { return {}; }
  __device__ void finish(std::int64_t row, loaded, double sum) const { y[row] = factor * sum; }
};

__global__ void __launch_bounds__(spmv::binned_tuning::collect_threads, spmv::collect_residency)
    collect_kernel(spmv::binned_arguments<double> b, product_epilogue epilogue, const int* done) {
  if (*done != 0) return;
  spmv::collect_bins(b, epilogue);
}

class binned_product final : public matrix_product<device> {
 public:
  binned_product(const context<device>& ctx, spmv::binned_pattern pattern, std::string reason)
      : ctx_(ctx), never_(ctx, 1), copy_(ctx, std::move(pattern), collect_kernel), reason_(std::move(reason)) {
    fill_zero(ctx_, never_.view());
  }

  void run(double factor, span<const double, device> x, span<double, device> y, const int* done) const override {
    const int* const skip = done == nullptr ? never_.data() : done;
    copy_.write({skip}, x.data());
    launch_kernel(ctx_, copy_.collect_shape(), collect_kernel, copy_.arguments(), product_epilogue{factor, y.data()},
                  skip);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return bytes_of(never_) + copy_.bytes(); }
  [[nodiscard]] std::string reason() const override { return reason_; }

 private:
  context<device> ctx_;
  array<int, device> never_;  // 0
  spmv::binned_copy<double, spmv::unit_values> copy_;
  std::string reason_;
};

template <class I, class O>
pattern_product copy_binned(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows) {
  using tuning = pattern_tuning;
  const spmv::bin_shape wanted = spmv::shape_bins(ctx.properties(), rows.rows, rows.cols, sizeof(double));
  auto cut = spmv::cut_bins<I, O>(ctx, rows.offsets, rows.indices, wanted, spmv::bin_rows_rule::equal);
  if (!cut.refused.empty()) return {nullptr, std::move(cut.refused)};
  const spmv::bin_shape& shape = cut.shape;
  if (shape.longest > tuning::longest) {
    return {nullptr, "a row has " + std::to_string(shape.longest) + " entries, too many for a thread"};
  }
  const std::string parts =
      std::to_string(shape.blocks) + " blocks of columns and " + std::to_string(shape.bins) + " bins of rows";
  const std::int64_t cell = rows.nnz() / (shape.blocks * shape.bins);
  if (cell < tuning::least_cell) return {nullptr, parts + " leave cells of " + std::to_string(cell) + " entries"};
  if (shape.is_uneven()) return {nullptr, "some blocks of columns have many more entries than others"};
  auto pattern = spmv::fill_bins<I, O>(ctx, std::move(cut), rows.offsets, rows.indices, spmv::entry_sources::dropped);
  std::string reason = "products without values by " + parts;
  auto made = std::make_unique<binned_product>(ctx, std::move(pattern), reason);
  return {std::move(made), std::move(reason)};
}

}  // namespace

template <class I, class O>
pattern_product copy_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows) try {
  using tuning = pattern_tuning;
  const device_guard guard(ctx);
  if (rows.nnz() < tuning::least_entries) return {nullptr, "the graph is small"};
  if (rows.rows > tuning::most_entries || rows.nnz() > tuning::most_entries) {
    return {nullptr, "the graph exceeds 32-bit indices"};
  }
  if (rows.cols * std::int64_t{sizeof(double)} <= tuning::cached_bytes) return {nullptr, "the L1 cache holds x"};
  const std::int64_t sectors = spmv::sectors_per_1000(ctx, rows.indices.data(), rows.nnz(), sizeof(double));
  if (sectors < tuning::least_sectors) {
    return {nullptr, "1000 consecutive entries read only " + std::to_string(sectors) + " sectors of x"};
  }
  return copy_binned(ctx, rows);
} catch (const error& e) {
  if (e.code() != error_code::out_of_memory) throw;
  return {nullptr, "no memory for a copy of the graph"};
}

#define INSTANTIATE(I, O) \
  template pattern_product copy_pattern(const context<device>&, const csr_pattern_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::ranks
