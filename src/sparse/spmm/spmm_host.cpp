// SpMM on the host.
//
// row_groups gives each thread a run of whole rows, balanced by rows + entries. merge_path cuts the path through rows
// and entries into equal tiles (Merrill and Garland, SC 2016); a row that ends in a later tile leaves a carry of k
// sums, and carries are added in tile order. The order of each element's sum depends on the matrix only: same bits for
// any number of threads. Both read the matrix once per 128 columns, a row of X once per entry, and write Y once;
// O((rows + nnz) * k).
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/simd/spmm.hpp"
#include "sparse/spmm/executor.hpp"

#include <algorithm>

namespace spargo::detail::spmm {

namespace {

struct tuning {
  static constexpr std::int64_t share = 1 << 13;  // least rows + entries per thread: 10 us and more
};

template <class V, class I, class O>
const row_loops<V, I, O>& best_loops() {
  static const row_loops<V, I, O> best = usable_loops<V, I, O>().back();
  return best;
}

template <class V, class I, class O>
product_job<V, I, O> job_of(const csr_view<const V, I, O, host>& a, V alpha, const dense_view<const V, host>& x, V beta,
                            const dense_view<V, host>& y) {
  return {a.offsets.data(), a.indices.data(), a.values.data(), x.data.data(), x.stride,
          y.data.data(),    y.stride,         x.cols,          alpha,         beta};
}

// Whole rows per thread.
template <class V, class I, class O>
class host_rows final : public executor<V, host> {
 public:
  host_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& a)
      : ctx_(ctx), a_(a), loops_(best_loops<V, I, O>()) {
    const parts shares = split_loop(ctx.threads(), a.rows + a.nnz(), tuning::share);
    starts_ = {ctx, shares.count + 1};
    for (std::int64_t part = 0; part <= shares.count; ++part) {
      starts_[part] = merge_path_row(a.offsets.data(), static_cast<std::int64_t>(a.rows), a.nnz(), shares.first(part));
    }
  }

  void run(V alpha, const dense_view<const V, host>& x, V beta, const dense_view<V, host>& y) const override {
    const auto job = job_of(a_, alpha, x, beta, y);
    const std::int64_t parts = starts_.size() - 1;
    parallel_parts(ctx_.threads(), parts,
                   [&](std::int64_t part) { loops_.rows(job, starts_[part], starts_[part + 1]); });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return starts_.size() * 8; }

 private:
  context<host> ctx_;
  csr_view<const V, I, O, host> a_;
  const row_loops<V, I, O>& loops_;
  array<std::int64_t, host> starts_;  // rows of part p: starts_[p] .. starts_[p + 1]
};

// Equal tiles of the merge path.
template <class V, class I, class O>
class host_merge final : public executor<V, host> {
 public:
  host_merge(const context<host>& ctx, const csr_view<const V, I, O, host>& a, std::int64_t max_columns)
      : ctx_(ctx), a_(a), loops_(best_loops<V, I, O>()) {
    const std::int64_t total = a.rows + a.nnz();
    tile_ = host_merge_tile(a.rows, a.nnz());
    const std::int64_t tiles = div_up(total, tile_);
    starts_ = {ctx, tiles + 1};
    carries_ = dense_matrix<V, host>(ctx, tiles, max_columns);
    for (std::int64_t t = 0; t <= tiles; ++t) {
      starts_[t] = merge_path_row(a.offsets.data(), static_cast<std::int64_t>(a.rows), a.nnz(), diagonal(t));
    }
  }

  void run(V alpha, const dense_view<const V, host>& x, V beta, const dense_view<V, host>& y) const override {
    const auto job = job_of(a_, alpha, x, beta, y);
    const std::int64_t tiles = carries_.rows();
    const int threads = useful_threads(ctx_.threads(), a_.rows + a_.nnz(), tuning::share);
    parallel_parts(threads, tiles, [&](std::int64_t t) { run_tile(t, job); });
    for (std::int64_t t = 0; t < tiles; ++t) {
      if (!has_carry(t)) continue;
      V* const to = y.data.data() + starts_[t + 1] * y.stride;
      for (std::int64_t j = 0; j < x.cols; ++j) to[j] += multiply(alpha, carry(t)[j]);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return starts_.size() * 8 + carries_.rows() * carries_.cols() * static_cast<std::int64_t>(sizeof(V));
  }

 private:
  [[nodiscard]] std::int64_t diagonal(std::int64_t t) const {
    return std::min(t * tile_, static_cast<std::int64_t>(a_.rows) + a_.nnz());
  }

  [[nodiscard]] std::int64_t first_entry(std::int64_t t) const { return diagonal(t) - starts_[t]; }

  // Whether tile t ends within a row and holds entries of it.
  [[nodiscard]] bool has_carry(std::int64_t t) const {
    const std::int64_t row = starts_[t + 1];
    return row < a_.rows && first_entry(t + 1) > std::max<std::int64_t>(a_.offsets[row], first_entry(t));
  }

  [[nodiscard]] V* carry(std::int64_t t) const { return carries_.view().data.data() + t * carries_.cols(); }

  // The sums over entries begin .. end-1 of one row.
  void sum(const product_job<V, I, O>& job, std::int64_t begin, std::int64_t end, V* sums) const {
    loops_.sum(job.values + begin, job.indices + begin, end - begin, job.x, job.x_stride, job.columns, sums);
  }

  // Writes the rows that end in the tile, and stores the sums of the unfinished row as its carry.
  void run_tile(std::int64_t t, const product_job<V, I, O>& job) const {
    std::int64_t row = starts_[t];
    const std::int64_t last_row = starts_[t + 1];
    const std::int64_t entry = first_entry(t);
    if (row < last_row && entry > a_.offsets[row]) {  // the tail of a row that started in an earlier tile
      const std::int64_t end = a_.offsets[row + 1];
      sum(job, entry, end, carry(t));  // scratch until the tile's carry is computed
      V* const to = job.y + row * job.y_stride;
      for (std::int64_t j = 0; j < job.columns; ++j) update(to[j], job.alpha, carry(t)[j], job.beta);
      ++row;
    }
    loops_.rows(job, row, last_row);
    if (!has_carry(t)) return;
    sum(job, std::max<std::int64_t>(entry, a_.offsets[last_row]), first_entry(t + 1), carry(t));
  }

  context<host> ctx_;
  csr_view<const V, I, O, host> a_;
  const row_loops<V, I, O>& loops_;
  std::int64_t tile_ = 1;
  array<std::int64_t, host> starts_;       // the first row that tile t may finish
  mutable dense_matrix<V, host> carries_;  // written by each run, a row of sums per tile
};

}  // namespace

template <class V>
void scale_rows(const context<host>& ctx, V beta, const dense_view<V, host>& y) {
  if (beta == V{1}) return;
  parallel_for(ctx.threads(), y.rows, grain::rows, [&](std::int64_t i) {
    V* const row = y.data.data() + i * y.stride;
    for (std::int64_t j = 0; j < y.cols; ++j) row[j] = beta == V{} ? V{} : multiply(beta, row[j]);
  });
}

template <class V, class I, class O>
executor_ptr<V, host> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                    spmm_algorithm algorithm, std::int64_t max_columns) {
  if (algorithm == spmm_algorithm::merge_path) return std::make_unique<host_merge<V, I, O>>(ctx, matrix, max_columns);
  return std::make_unique<host_rows<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V) template void scale_rows(const context<host>&, V, const dense_view<V, host>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O)                                                                               \
  template executor_ptr<V, host> make_executor(const context<host>&, const csr_view<const V, I, O, host>&, \
                                               spmm_algorithm, std::int64_t);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmm
