// Products of shared-out matrices on devices.
//
// A rank's rows are copied to its device. The longest run of interior rows, where all of them are short, is multiplied
// by spmv_plan's row_per_thread, which needs no list of rows; all other rows by the kernel of device_rows.cuh, which
// gives the same bits.
#include "dist/device_rows.cuh"
#include "dist/product_executor.hpp"

#include <spargo/sparse/spmv.hpp>

#include <optional>

namespace spargo::detail::dist {

namespace {

template <class V>
struct scaled_into {
  V alpha;
  V beta;
  V* y;
  __device__ void operator()(std::int64_t row, V sum) const { update(y[row], alpha, sum, beta); }
};

template <class V>
class device_spmv final : public spmv_executor<V, device> {
 public:
  device_spmv(const communicator& comm, const context<device>& ctx, const distributed_matrix<V>& matrix,
              const local_columns& columns, const exchange_options& options)
      : ctx_(ctx), own_(columns.own), ghosts_(std::ssize(columns.ghosts)) {
    const auto a = matrix.own();
    comm.agree_on([&] {
      offsets_ = to_device(ctx, a.offsets);
      indices_ = to_device(ctx, columns.indices);
      values_ = to_device(ctx, a.values);
      plan_run(a, columns);
      rows_ = split_rows(ctx, a.offsets, columns, first_, last_);
    });
    halo_.emplace(comm, ctx, matrix.column_parts(), columns.ghosts, sizeof(V), options);
  }

  void run(V alpha, span<V, device> x, V beta, span<V, device> y) override {
    halo_->start(span<const V, device>(x.subspan(0, own_)));
    if (run_) run_->run(alpha, x, beta, y.subspan(first_, last_ - first_));
    multiply(rows_.interior(), alpha, x, beta, y);
    halo_->finish(x.subspan(own_, ghosts_));
    multiply(rows_.boundary(), alpha, x, beta, y);
  }
  [[nodiscard]] std::int64_t own_columns() const noexcept override { return own_; }
  [[nodiscard]] std::int64_t ghosts() const noexcept override { return ghosts_; }
  [[nodiscard]] std::int64_t interior_rows() const noexcept override { return rows_.interior_rows(); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  void plan_run(const csr_view<const V, std::int64_t, std::int64_t, host>& a, const local_columns& columns) {
    const auto is_plain = [&](std::int64_t row) {
      return a.offsets[row + 1] - a.offsets[row] <= rows_tuning::thread_row &&
             columns.are_own(a.offsets[row], a.offsets[row + 1]);
    };
    for (std::int64_t row = 0; row < a.rows;) {
      std::int64_t end = row;
      while (end < a.rows && is_plain(end)) ++end;
      if (end - row > last_ - first_) {
        first_ = row;
        last_ = end;
      }
      row = end + 1;
    }
    if (last_ - first_ < a.rows / 2 || first_ == last_) {
      first_ = last_ = 0;
      return;
    }
    const std::int64_t before = a.offsets[first_];
    std::vector<std::int64_t> offsets(a.offsets.data() + first_, a.offsets.data() + last_ + 1);
    for (std::int64_t& at : offsets) at -= before;
    run_offsets_ = to_device(ctx_, offsets);
    const csr_view<const V, std::int32_t, std::int64_t, device> view{
        {static_cast<std::int32_t>(last_ - first_), static_cast<std::int32_t>(columns.size()), run_offsets_.view(),
         std::as_const(indices_).view().subspan(before, offsets.back())},
        std::as_const(values_).view().subspan(before, offsets.back())};
    run_.emplace(ctx_, view, spmv_options{.algorithm = spmv_algorithm::row_per_thread});
  }

  void multiply(const row_work& rows, V alpha, span<const V, device> x, V beta, span<V, device> y) const {
    sum_rows(ctx_, rows, offsets_.data(), indices_.data(), weights_of<V>{values_.data()}, x.data(),
             scaled_into<V>{alpha, beta, y.data()});
  }

  context<device> ctx_;
  std::int64_t own_;
  std::int64_t ghosts_;
  array<std::int64_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<V, device> values_;
  std::int64_t first_ = 0;  // of the run
  std::int64_t last_ = 0;
  array<std::int64_t, device> run_offsets_;
  std::optional<spmv_plan<V, std::int32_t, std::int64_t, device>> run_;
  split_rows rows_;
  std::optional<exchange<device>> halo_;
};

}  // namespace

template <class V>
std::unique_ptr<spmv_executor<V, device>> make_spmv_executor(const communicator& comm, const context<device>& ctx,
                                                             const distributed_matrix<V>& matrix, local_columns columns,
                                                             const exchange_options& options) {
  return std::make_unique<device_spmv<V>>(comm, ctx, matrix, columns, options);
}

template std::unique_ptr<spmv_executor<double, device>> make_spmv_executor(const communicator&, const context<device>&,
                                                                           const distributed_matrix<double>&,
                                                                           local_columns, const exchange_options&);

}  // namespace spargo::detail::dist
