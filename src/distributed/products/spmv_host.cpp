// Distributed SpMV on the host.
//
// Rows without ghosts (interior) are multiplied between start and finish of the exchange, in runs; a run too short to
// be worth a call is multiplied afterwards with the other rows. The inner loops are those of spmv_plan. Additional cost
// per product: a gather and two copies of what is sent.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "distributed/products/executor.hpp"
#include "sparse/simd/kernels.hpp"

#include <limits>
#include <optional>

namespace spargo::detail::distributed {

namespace {

struct tuning {
  static constexpr std::int64_t shortest_run = 16;  // minimum length of a run that is multiplied during the exchange
  static constexpr std::int64_t share = 1 << 14;    // rows + entries per thread, as in spmv_plan
  static constexpr std::int64_t streamed_bytes = std::int64_t{12} << 20;  // of y, as in spmv_plan
};

template <class V>
class host_spmv final : public spmv_executor<V, host> {
 public:
  host_spmv(const communicator& comm, const context<host>& ctx, const distributed_matrix<V>& matrix,
            local_columns&& columns)
      : ctx_(ctx), a_(matrix.own()), columns_(std::move(columns)) {
    comm.agree_on([&] {
      const bool short_rows = a_.nnz() / 4 <= a_.rows;
      kernels_ = short_rows ? &spmv::best_cached_kernels<V, std::int32_t, std::int64_t>()
                            : &spmv::best_host_kernels<V, std::int32_t, std::int64_t>();
      find_runs();
    });
    halo_.emplace(comm, ctx, matrix.column_parts(), columns_.ghosts, sizeof(V));
  }

  void run(V alpha, span<const V, host> own, span<V, host> ghosts, V beta, span<V, host> y) override {
    halo_->start(own);
    multiply(interior_, alpha, own.data(), beta, y.data());
    halo_->finish(ghosts);
    multiply(boundary_, alpha, own.data(), beta, y.data());
  }
  [[nodiscard]] spmv_algorithm algorithm() const noexcept override { return spmv_algorithm::row_per_thread; }
  [[nodiscard]] std::int64_t own_columns() const noexcept override { return columns_.own; }
  [[nodiscard]] std::int64_t ghosts() const noexcept override { return std::ssize(columns_.ghosts); }
  [[nodiscard]] std::int64_t interior_rows() const noexcept override { return interior_rows_; }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  struct row_range {
    std::int64_t first;
    std::int64_t last;
  };

  [[nodiscard]] bool is_interior(std::int64_t row) const {
    return columns_.are_own(a_.offsets[row], a_.offsets[row + 1]);
  }

  void find_runs() {
    for (std::int64_t row = 0; row < a_.rows;) {
      std::int64_t end = row;
      while (end < a_.rows && is_interior(end)) ++end;
      const bool waits = end - row < tuning::shortest_run && columns_.size() > columns_.own;
      if (!waits) interior_rows_ += end - row;
      add(waits ? boundary_ : interior_, row, end);
      row = end;
      while (end < a_.rows && !is_interior(end)) ++end;
      add(boundary_, row, end);
      row = end;
    }
  }

  // Splits rows [first, last) into ranges for the threads; a short last range is extended first.
  void add(std::vector<row_range>& ranges, std::int64_t first, std::int64_t last) const {
    const std::int64_t most = ctx_.threads() == 1
                                  ? std::numeric_limits<std::int64_t>::max()
                                  : std::max(tuning::share, (a_.rows + a_.nnz()) / (8 * ctx_.threads()));
    const auto work = [&](std::int64_t from, std::int64_t to) { return to - from + a_.offsets[to] - a_.offsets[from]; };
    while (first < last) {
      const bool goes_on = !ranges.empty() && ranges.back().last == first && work(ranges.back().first, first) < most;
      if (!goes_on) ranges.push_back({first, first});
      std::int64_t low = first + 1;  // binary search for the most rows that fit, at least one
      for (std::int64_t high = last; low < high;) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (work(ranges.back().first, middle) <= most) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      ranges.back().last = first = low;
    }
  }

  void multiply(const std::vector<row_range>& ranges, V alpha, const V* x, V beta, V* y) const {
    const bool streams = beta == V{} && a_.rows * static_cast<std::int64_t>(sizeof(V)) >= tuning::streamed_bytes;
    const auto rows = streams ? kernels_->stream_rows : kernels_->csr_rows;
    parallel_parts(ctx_.threads(), std::ssize(ranges), [&](std::int64_t r) {
      const row_range& range = ranges[static_cast<std::size_t>(r)];
      rows(a_.offsets.data(), columns_.indices.data(), a_.values.data(), x, alpha, beta, y, range.first, range.last);
    });
  }

  context<host> ctx_;
  csr_view<const V, std::int64_t, std::int64_t, host> a_;
  local_columns columns_;
  std::vector<row_range> interior_;
  std::vector<row_range> boundary_;
  std::int64_t interior_rows_ = 0;
  const spmv::host_kernels<V, std::int32_t, std::int64_t>* kernels_ = nullptr;
  std::optional<exchange<host>> halo_;
};

}  // namespace

template <class V>
std::unique_ptr<spmv_executor<V, host>> make_spmv_executor(const communicator& comm, const context<host>& ctx,
                                                           const distributed_matrix<V>& matrix, local_columns columns,
                                                           const exchange_options&, product_split) {
  return std::make_unique<host_spmv<V>>(comm, ctx, matrix, std::move(columns));
}

#define INSTANTIATE(V)                                                                                             \
  template std::unique_ptr<spmv_executor<V, host>> make_spmv_executor(const communicator&, const context<host>&,   \
                                                                      const distributed_matrix<V>&, local_columns, \
                                                                      const exchange_options&, product_split);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::distributed
