// CSR, ELL and SELL-C-sigma products on the host.
//
// row_per_thread gives each thread a run of whole rows, balanced by rows + entries; every row is one dot product, so
// the result does not depend on the thread count. merge_path cuts the path through rows and entries into equal tiles
// (Merrill and Garland, SC 2016); a row that ends in a later tile leaves a carry, and carries are added in tile order.
// Tiles depend on the matrix only: same bits for any thread count. All read the matrix once, x at least once, and write
// y once; O(rows + nnz).
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/host_cache.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/simd/kernels.hpp"
#include "sparse/spmv/executor.hpp"

#include <algorithm>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // From this size on y leaves the caches before it is read again, so it is streamed: 5-point 2000 x 2000, y of 32 MB,
  // two threads of a Xeon, fp64 15.5 to 13.3 ms; fp32 (16 MB) 15.2 to 9.5.
  static constexpr std::int64_t streamed_bytes = std::int64_t{12} << 20;
  // Up to this many entries per row on average, mispredicted row ends are the bottleneck, not memory. One Xeon core,
  // fp64, us, larger than L2: road-luxembourg-osm (rows of 2.1) 554 and 313 by best_cached_kernels.
  static constexpr std::int64_t short_rows = 4;
  // ELL and SELL lanes per block: their sums stay in L1 (4 KiB of complex<double>).
  static constexpr std::int64_t lane_block = 256;
  static constexpr std::int64_t share = 1 << 14;  // least rows + entries per thread: about 10 us
  static constexpr std::int64_t lane_blocks = 8;  // least per thread
};

template <class V, class I, class O>
std::int64_t product_bytes(const csr_view<const V, I, O, host>& a) {
  constexpr auto value = static_cast<std::int64_t>(sizeof(V));
  constexpr auto index = static_cast<std::int64_t>(sizeof(I));
  constexpr auto offset = static_cast<std::int64_t>(sizeof(O));
  const std::int64_t rows = a.rows;
  const std::int64_t cols = a.cols;
  return a.nnz() * (value + index) + rows * (offset + value) + cols * value;
}

template <class V, class I, class O>
const host_kernels<V, I, O>& kernels_for(const csr_view<const V, I, O, host>& a) {
  const bool short_rows = a.nnz() / tuning::short_rows <= static_cast<std::int64_t>(a.rows);
  return short_rows || product_bytes(a) <= host_l2_bytes() ? best_cached_kernels<V, I, O>()
                                                           : best_host_kernels<V, I, O>();
}

template <class V>
bool leaves_caches(std::int64_t rows) {
  return rows >= tuning::streamed_bytes / static_cast<std::int64_t>(sizeof(V));
}

// CSR, whole rows per thread.
template <class V, class I, class O>
class csr_rows final : public executor<V> {
 public:
  csr_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& a)
      : ctx_(ctx), a_(a), kernels_(kernels_for(a)) {
    const parts shares = split_loop(ctx.threads(), a.rows + a.nnz(), tuning::share);
    starts_ = {ctx, shares.count + 1};
    for (std::int64_t part = 0; part <= shares.count; ++part) {
      starts_[part] = merge_path_row(a.offsets.data(), static_cast<std::int64_t>(a.rows), a.nnz(), shares.first(part));
    }
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const std::int64_t parts = starts_.size() - 1;
    const auto rows = beta == V{} && leaves_caches<V>(a_.rows) ? kernels_.stream_rows : kernels_.csr_rows;
    parallel_parts(ctx_.threads(), parts, [&](std::int64_t part) {
      rows(a_.offsets.data(), a_.indices.data(), a_.values.data(), x, alpha, beta, y, starts_[part], starts_[part + 1]);
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return starts_.size() * 8; }

 private:
  context<host> ctx_;
  csr_view<const V, I, O, host> a_;
  const host_kernels<V, I, O>& kernels_;
  array<std::int64_t, host> starts_;  // rows of part p: starts_[p] .. starts_[p + 1]
};

// CSR, equal tiles of the merge path.
template <class V, class I, class O>
class csr_merge final : public executor<V> {
 public:
  csr_merge(const context<host>& ctx, const csr_view<const V, I, O, host>& a)
      : ctx_(ctx), a_(a), kernels_(kernels_for(a)) {
    const std::int64_t total = a.rows + a.nnz();
    tile_ = host_merge_tile(a.rows, a.nnz());
    const std::int64_t tiles = div_up(total, tile_);
    starts_ = {ctx, tiles + 1};
    carries_ = {ctx, tiles};
    for (std::int64_t t = 0; t <= tiles; ++t) {
      starts_[t] = merge_path_row(a.offsets.data(), static_cast<std::int64_t>(a.rows), a.nnz(), diagonal(t));
    }
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const std::int64_t tiles = carries_.size();
    V* const carries = carries_.data();
    const int threads = useful_threads(ctx_.threads(), a_.rows + a_.nnz(), tuning::share);
    parallel_parts(threads, tiles, [&](std::int64_t t) { carries[t] = run_tile(t, alpha, x, beta, y); });
    for (std::int64_t t = 0; t < tiles; ++t) {
      if (has_carry(t)) y[starts_[t + 1]] += multiply(alpha, carries[t]);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return starts_.size() * 8 + carries_.size() * static_cast<std::int64_t>(sizeof(V));
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

  // Writes the rows that end in the tile and returns the sum of the unfinished row.
  V run_tile(std::int64_t t, V alpha, const V* x, V beta, V* y) const {
    std::int64_t row = starts_[t];
    const std::int64_t last_row = starts_[t + 1];
    std::int64_t entry = first_entry(t);
    const std::int64_t last_entry = first_entry(t + 1);
    if (row < last_row && entry > a_.offsets[row]) {  // the tail of a row that started in an earlier tile
      const std::int64_t end = a_.offsets[row + 1];
      update(y[row], alpha, kernels_.dot(values(entry), indices(entry), end - entry, x), beta);
      entry = end;
      ++row;
    }
    const auto rows = beta == V{} && leaves_caches<V>(a_.rows) ? kernels_.stream_rows : kernels_.csr_rows;
    rows(a_.offsets.data(), a_.indices.data(), a_.values.data(), x, alpha, beta, y, row, last_row);
    if (!has_carry(t)) return V{};
    entry = std::max<std::int64_t>(entry, a_.offsets[last_row]);
    return kernels_.dot(values(entry), indices(entry), last_entry - entry, x);
  }

  [[nodiscard]] const V* values(std::int64_t entry) const { return a_.values.data() + entry; }
  [[nodiscard]] const I* indices(std::int64_t entry) const { return a_.indices.data() + entry; }

  context<host> ctx_;
  csr_view<const V, I, O, host> a_;
  const host_kernels<V, I, O>& kernels_;
  std::int64_t tile_ = 1;
  array<std::int64_t, host> starts_;  // the first row that tile t may finish
  mutable array<V, host> carries_;    // written by each run
};

template <class V, class I>
class ell_rows final : public executor<V> {
 public:
  ell_rows(const context<host>& ctx, const ell_view<const V, I, host>& a)
      : ctx_(ctx), a_(a), kernels_(best_host_kernels<V, I, I>()) {}

  void run(V alpha, const V* x, V beta, V* y) const override {
    const std::int64_t rows = a_.rows;
    const std::int64_t blocks = div_up(rows, tuning::lane_block);
    parallel_for(ctx_.threads(), blocks, tuning::lane_blocks, [&](std::int64_t b) {
      const std::int64_t first = b * tuning::lane_block;
      const std::int64_t count = std::min(tuning::lane_block, rows - first);
      V sums[tuning::lane_block];
      kernels_.lane_sums(a_.values.data() + first, a_.indices.data() + first, rows, a_.row_lengths.data() + first,
                         count, x, sums);
      for (std::int64_t l = 0; l < count; ++l) update(y[first + l], alpha, sums[l], beta);
    });
  }

 private:
  context<host> ctx_;
  ell_view<const V, I, host> a_;
  const host_kernels<V, I, I>& kernels_;
};

// Slices are distributed by stored entries.
template <class V, class I, class O>
class sell_slices final : public executor<V> {
 public:
  sell_slices(const context<host>& ctx, const sell_view<const V, I, O, host>& a)
      : ctx_(ctx), a_(a), kernels_(best_host_kernels<V, I, O>()) {
    const std::int64_t stored = a.indices.size();
    const parts shares = split_loop(ctx.threads(), a.slices() + stored, tuning::share);
    starts_ = {ctx, shares.count + 1};
    for (std::int64_t part = 0; part <= shares.count; ++part) {
      starts_[part] = merge_path_row(a.slice_offsets.data(), a.slices(), stored, shares.first(part));
    }
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const std::int64_t parts = starts_.size() - 1;
    parallel_parts(ctx_.threads(), parts, [&](std::int64_t part) {
      for (std::int64_t s = starts_[part]; s < starts_[part + 1]; ++s) run_slice(s, alpha, x, beta, y);
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return starts_.size() * 8; }

 private:
  void run_slice(std::int64_t slice, V alpha, const V* x, V beta, V* y) const {
    const std::int64_t height = a_.slice_height;
    for (std::int64_t lane = 0; lane < height; lane += tuning::lane_block) {
      const std::int64_t count = std::min(tuning::lane_block, height - lane);
      const std::int64_t slot = slice * height + lane;
      const std::int64_t entry = a_.slice_offsets[slice] + lane;
      V sums[tuning::lane_block];
      kernels_.lane_sums(a_.values.data() + entry, a_.indices.data() + entry, height, a_.row_lengths.data() + slot,
                         count, x, sums);
      for (std::int64_t l = 0; l < count; ++l) {
        const I row = a_.permutation[slot + l];
        if (row >= 0) update(y[row], alpha, sums[l], beta);
      }
    }
  }

  context<host> ctx_;
  sell_view<const V, I, O, host> a_;
  const host_kernels<V, I, O>& kernels_;
  array<std::int64_t, host> starts_;  // slices of part p: starts_[p] .. starts_[p + 1]
};

}  // namespace

template <class V>
void scale(const context<host>& ctx, V beta, V* y, std::int64_t size) {
  if (beta == V{1}) return;
  parallel_for(ctx.threads(), size, grain::elements,
               [&](std::int64_t i) { y[i] = beta == V{} ? V{} : multiply(beta, y[i]); });
}

template <class V>
void conjugate(const context<host>& ctx, V* values, std::int64_t size) {
  if constexpr (complex_type<V>) {
    parallel_for(ctx.threads(), size, grain::elements, [&](std::int64_t k) { values[k] = std::conj(values[k]); });
  }
}

template <class V, class I, class O>
executor_ptr<V> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                              spmv_algorithm algorithm, const row_profile&) {
  if (algorithm == spmv_algorithm::merge_path) return std::make_unique<csr_merge<V, I, O>>(ctx, matrix);
  return std::make_unique<csr_rows<V, I, O>>(ctx, matrix);
}

template <class V, class I>
executor_ptr<V> make_executor(const context<host>& ctx, const ell_view<const V, I, host>& matrix) {
  return std::make_unique<ell_rows<V, I>>(ctx, matrix);
}

template <class V, class I, class O>
executor_ptr<V> make_executor(const context<host>& ctx, const sell_view<const V, I, O, host>& matrix) {
  return std::make_unique<sell_slices<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V)                                            \
  template void scale(const context<host>&, V, V*, std::int64_t); \
  template void conjugate(const context<host>&, V*, std::int64_t);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I) \
  template executor_ptr<V> make_executor(const context<host>&, const ell_view<const V, I, host>&);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O)                                                                                         \
  template executor_ptr<V> make_executor(const context<host>&, const csr_view<const V, I, O, host>&, spmv_algorithm, \
                                         const row_profile&);                                                        \
  template executor_ptr<V> make_executor(const context<host>&, const sell_view<const V, I, O, host>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
