// Distributed SpMM on the host: single-process plans over ranges of this rank's rows.
//
// The longest run of rows without ghosts is multiplied during the exchange, those before and after it later.
#include "distributed/products/executor.hpp"

#include <spargo/sparse/spmm.hpp>

#include <optional>
#include <tuple>
#include <vector>

namespace spargo::detail::distributed {

namespace {

template <class V>
class host_spmm final : public spmm_executor<V, host> {
 public:
  host_spmm(const communicator& comm, const context<host>& ctx, const distributed_matrix<V>& matrix,
            local_columns&& columns, std::int64_t width)
      : ctx_(ctx), a_(matrix.own()), width_(width), columns_(std::move(columns)) {
    comm.agree_on([&] { plan_all(); });
    halo_.emplace(comm, ctx, matrix.column_parts(), columns_.ghosts, static_cast<std::size_t>(width) * sizeof(V));
  }

  void run(V alpha, const dense_view<V, host>& x, V beta, const dense_view<V, host>& y) override {
    const std::int64_t own = columns_.own * width_;
    halo_->start(span<const V, host>(x.data.subspan(0, own)));
    if (interior_) multiply(*interior_, alpha, x, beta, y);
    halo_->finish(x.data.subspan(own, ghosts() * width_));
    for (const auto& rows : boundary_) multiply(rows, alpha, x, beta, y);
  }
  [[nodiscard]] std::int64_t own_columns() const noexcept override { return columns_.own; }
  [[nodiscard]] std::int64_t ghosts() const noexcept override { return std::ssize(columns_.ghosts); }
  [[nodiscard]] std::int64_t interior_rows() const noexcept override { return interior_ ? interior_->count : 0; }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  // Rows [first, first + count) with their own offsets.
  struct rows_plan {
    std::int64_t first;
    std::int64_t count;
    array<std::int64_t, host> offsets;
    spmm_plan<V, std::int32_t, std::int64_t, host> plan;
  };

  [[nodiscard]] bool is_interior(std::int64_t row) const {
    return columns_.are_own(a_.offsets[row], a_.offsets[row + 1]);
  }

  [[nodiscard]] rows_plan plan_rows(std::int64_t first, std::int64_t last) const {
    array<std::int64_t, host> offsets{ctx_, last - first + 1};
    const std::int64_t before = a_.offsets[first];
    for (std::int64_t row = first; row <= last; ++row) offsets[row - first] = a_.offsets[row] - before;
    const std::int64_t entries = offsets[last - first];
    const csr_view<const V, std::int32_t, std::int64_t, host> view{
        {static_cast<std::int32_t>(last - first), static_cast<std::int32_t>(columns_.size()), offsets.view(),
         columns_.indices.view().subspan(before, entries)},
        a_.values.subspan(before, entries)};
    spmm_plan<V, std::int32_t, std::int64_t, host> plan(ctx_, view, width_, {.algorithm = spmm_algorithm::row_groups});
    return {first, last - first, std::move(offsets), std::move(plan)};
  }

  void plan_all() {
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (std::int64_t row = 0; row < a_.rows;) {
      std::int64_t end = row;
      while (end < a_.rows && is_interior(end)) ++end;
      if (end - row > last - first) std::tie(first, last) = std::pair(row, end);
      row = end + 1;
    }
    if (first < last) interior_.emplace(plan_rows(first, last));
    if (first > 0) boundary_.push_back(plan_rows(0, first));
    if (last < a_.rows) boundary_.push_back(plan_rows(last, a_.rows));
  }

  static void multiply(const rows_plan& rows, V alpha, const dense_view<const V, host>& x, V beta,
                       const dense_view<V, host>& y) {
    const span<V, host> part = y.data.subspan(rows.first * y.cols, rows.count * y.cols);
    rows.plan.run(alpha, x, beta, {rows.count, y.cols, y.cols, part});
  }

  context<host> ctx_;
  csr_view<const V, std::int64_t, std::int64_t, host> a_;
  std::int64_t width_;
  local_columns columns_;
  std::optional<rows_plan> interior_;
  std::vector<rows_plan> boundary_;
  std::optional<exchange<host>> halo_;
};

}  // namespace

template <class V>
std::unique_ptr<spmm_executor<V, host>> make_spmm_executor(const communicator& comm, const context<host>& ctx,
                                                           const distributed_matrix<V>& matrix, local_columns columns,
                                                           std::int64_t width, const exchange_options&) {
  return std::make_unique<host_spmm<V>>(comm, ctx, matrix, std::move(columns), width);
}

template std::unique_ptr<spmm_executor<double, host>> make_spmm_executor(const communicator&, const context<host>&,
                                                                         const distributed_matrix<double>&,
                                                                         local_columns, std::int64_t,
                                                                         const exchange_options&);

}  // namespace spargo::detail::distributed
