// Distributed SpMV on devices.
//
// A rank's rows are copied to its device. The longest run of interior rows (without ghosts) is multiplied by a
// single-device plan, which needs no list of rows: row_per_thread over short rows if bits are to be kept, else the
// automatic choice. All other rows use the kernel of device_rows.cuh, which gives row_per_thread's bits. Boundary rows
// are multiplied on the exchange's stream as soon as their ghosts arrive, concurrently with interior rows. If the run
// is short and bits need not be kept, rows are split by columns.
#include "core/instantiate.hpp"
#include "distributed/graph/device_rows.cuh"
#include "distributed/products/executor.hpp"
#include "distributed/products/split_spmv.hpp"

#include <spargo/sparse/spmv.hpp>

#include <limits>
#include <optional>

namespace spargo::detail::distributed {

namespace {

template <class D>
struct scaled_into {
  D alpha;
  D beta;
  D* y;
  __device__ void operator()(std::int64_t row, D sum) const { update(y[row], alpha, sum, beta); }
};

struct row_run {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t size() const { return last - first; }
};

// The longest run of interior rows with at most `most` entries each.
row_run longest_run(span<const std::int64_t, host> offsets, const local_columns& columns, std::int64_t most) {
  const std::int64_t rows = std::max<std::int64_t>(0, offsets.size() - 1);
  const auto belongs = [&](std::int64_t row) {
    return offsets[row + 1] - offsets[row] <= most && columns.are_own(offsets[row], offsets[row + 1]);
  };
  row_run longest;
  for (std::int64_t row = 0; row < rows;) {
    std::int64_t end = row;
    while (end < rows && belongs(end)) ++end;
    if (end - row > longest.size()) longest = {row, end};
    row = end + 1;
  }
  return longest;
}

template <class V>
class device_spmv final : public spmv_executor<V, device> {
 public:
  device_spmv(const communicator& comm, const context<device>& ctx, const distributed_matrix<V>& matrix,
              const local_columns& columns, const exchange_options& options, const row_run& run,
              const spmv_options& how)
      : ctx_(ctx), own_(columns.own), ghosts_(std::ssize(columns.ghosts)), first_(run.first), last_(run.last) {
    const auto a = matrix.own();
    comm.agree_on([&] {
      offsets_ = to_device(ctx, a.offsets);
      indices_ = to_device(ctx, columns.indices);
      values_ = to_device(ctx, a.values);
      if (run.size() > 0) plan_run(a.offsets, how);
      rows_ = split_rows(ctx, a.offsets, columns, first_, last_);
      if (run.size() < a.rows || run.size() == 0 || run_->storage() != spmv_storage::copied) return;
      offsets_ = {};
      run_offsets_ = {};
      indices_ = {};
      values_ = {};
    });
    halo_.emplace(comm, ctx, matrix.column_parts(), columns.ghosts, sizeof(V), options);
  }

  void run(V alpha, span<const V, device> own, span<V, device> ghosts, V beta, span<V, device> y) override {
    const auto multiply = [&](const launch_site& at, const row_work& rows) {
      using D = device_value_t<V>;
      const local_vector<D> x{device_cast(own.data()), device_cast(ghosts.data()), static_cast<std::int32_t>(own_)};
      sum_rows(at, rows, offsets_.data(), indices_.data(), weights_of<D>{device_cast(values_.data())}, x,
               scaled_into<D>{to_device_value(alpha), to_device_value(beta), device_cast(y.data())});
    };
    halo_->start(own);
    if (run_) run_->run(alpha, own, beta, y.subspan(first_, last_ - first_));
    multiply(ctx_, rows_.interior());
    halo_->finish_aside(ghosts, [&](stream_handle stream) { multiply({ctx_, stream}, rows_.boundary()); });
  }
  [[nodiscard]] spmv_algorithm algorithm() const noexcept override {
    return run_ ? run_->algorithm() : spmv_algorithm::row_per_thread;
  }
  [[nodiscard]] std::int64_t own_columns() const noexcept override { return own_; }
  [[nodiscard]] std::int64_t ghosts() const noexcept override { return ghosts_; }
  [[nodiscard]] std::int64_t interior_rows() const noexcept override { return rows_.interior_rows(); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  void plan_run(span<const std::int64_t, host> all, const spmv_options& how) {
    const std::int64_t before = all[first_];
    std::vector<std::int64_t> offsets(all.data() + first_, all.data() + last_ + 1);
    for (std::int64_t& at : offsets) at -= before;
    run_offsets_ = to_device(ctx_, offsets);
    const csr_view<const V, std::int32_t, std::int64_t, device> view{
        {static_cast<std::int32_t>(last_ - first_), static_cast<std::int32_t>(own_), run_offsets_.view(),
         std::as_const(indices_).view().subspan(before, offsets.back())},
        std::as_const(values_).view().subspan(before, offsets.back())};
    run_.emplace(ctx_, view, how);
  }

  context<device> ctx_;
  std::int64_t own_;
  std::int64_t ghosts_;
  array<std::int64_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<V, device> values_;
  std::int64_t first_;  // row of the run
  std::int64_t last_;
  array<std::int64_t, device> run_offsets_;
  std::optional<spmv_plan<V, std::int32_t, std::int64_t, device>> run_;
  split_rows rows_;
  std::optional<exchange<device>> halo_;  // destroyed first, after its stream has drained
};

}  // namespace

template <class V>
std::unique_ptr<spmv_executor<V, device>> make_spmv_executor(const communicator& comm, const context<device>& ctx,
                                                             const distributed_matrix<V>& matrix, local_columns columns,
                                                             const exchange_options& options, product_split split) {
  const auto offsets = matrix.own().offsets;
  const std::int64_t rows = matrix.own().rows;
  if (split == product_split::rows) {
    row_run run = longest_run(offsets, columns, rows_tuning::thread_row);
    if (run.size() < rows / 2) run = {};
    return std::make_unique<device_spmv<V>>(comm, ctx, matrix, columns, options, run,
                                            spmv_options{.algorithm = spmv_algorithm::row_per_thread});
  }
  const row_run run = longest_run(offsets, columns, std::numeric_limits<std::int64_t>::max());
  if (run.size() < rows / 4 * 3) return std::make_unique<split_spmv<V, device>>(comm, ctx, matrix, columns, options);
  return std::make_unique<device_spmv<V>>(comm, ctx, matrix, columns, options, run,
                                          spmv_options{.storage = spmv_storage::copied});
}

#define INSTANTIATE(V)                                                                                               \
  template std::unique_ptr<spmv_executor<V, device>> make_spmv_executor(const communicator&, const context<device>&, \
                                                                        const distributed_matrix<V>&, local_columns, \
                                                                        const exchange_options&, product_split);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::distributed
