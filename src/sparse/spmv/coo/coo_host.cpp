// COO products on the host: segmented sums.
//
// Entries sorted by row are cut into equal tiles. A tile adds each of its row segments to y, except that a segment
// which continues the previous tile's row goes to the tile's carry; carries are added in tile order. So no element of y
// has two writers, and the result has the same bits for any thread count. The plan sorts unsorted entries once and
// keeps a sorted copy of the pattern and the order of the values; products then first gather the values. y is scaled
// first, for rows without entries. O(rows + nnz).
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "formats/convert/backend.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/simd/kernels.hpp"
#include "sparse/spmv/executor.hpp"

#include <algorithm>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  static constexpr std::int64_t smallest_tile = 4096;  // entries, as for merge_path
  static constexpr std::int64_t most_tiles = 1024;
};

template <class V, class I>
class coo_segments final : public executor<V> {
 public:
  coo_segments(const context<host>& ctx, const coo_view<const V, I, host>& a)
      : ctx_(ctx), a_(a), kernels_(best_host_kernels<V, I, I>()) {
    if (!std::is_sorted(a.row_indices.begin(), a.row_indices.end())) {
      sorted_ = sort_pattern<I>("spmv", ctx, a);
      ordered_values_ = {ctx, a.nnz()};
      a_.row_indices = sorted_.row_indices.view();
      a_.col_indices = sorted_.col_indices.view();
    }
    tile_ = std::max(tuning::smallest_tile, div_up(a.nnz(), tuning::most_tiles));
    carries_ = {ctx, div_up(a.nnz(), tile_)};
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    scale(ctx_, beta, y, a_.rows);
    const V* const values = ordered_values();
    V* const carries = carries_.data();
    const std::int64_t tiles = carries_.size();
    parallel_parts(useful_threads(ctx_.threads(), a_.nnz(), grain::elements), tiles,
                   [&](std::int64_t t) { carries[t] = run_tile(t, values, alpha, x, y); });
    for (std::int64_t t = 0; t < tiles; ++t) {
      if (continues(t)) y[a_.row_indices[t * tile_]] += multiply(alpha, carries[t]);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(V)) * (carries_.size() + ordered_values_.size()) + sorted_.bytes();
  }

 private:
  // Whether tile t begins within the previous tile's last row.
  [[nodiscard]] bool continues(std::int64_t t) const {
    return t > 0 && a_.row_indices[t * tile_] == a_.row_indices[t * tile_ - 1];
  }

  V run_tile(std::int64_t t, const V* values, V alpha, const V* x, V* y) const {
    const std::int64_t last = std::min((t + 1) * tile_, a_.nnz());
    V carry{};
    bool carried = continues(t);
    for (std::int64_t first = t * tile_; first < last;) {
      const I row = a_.row_indices[first];
      std::int64_t end = first + 1;
      while (end < last && a_.row_indices[end] == row) ++end;
      const V sum = kernels_.dot(values + first, a_.col_indices.data() + first, end - first, x);
      if (carried) {
        carry = sum;
      } else {
        y[row] += multiply(alpha, sum);
      }
      carried = false;
      first = end;
    }
    return carry;
  }

  const V* ordered_values() const {
    if (ordered_values_.empty()) return a_.values.data();
    V* const to = ordered_values_.data();
    const std::int64_t count = ordered_values_.size();
    parallel_for(ctx_.threads(), count, grain::elements, [&](std::int64_t k) { to[k] = a_.values[sorted_.order[k]]; });
    return to;
  }

  context<host> ctx_;
  coo_view<const V, I, host> a_;
  const host_kernels<V, I, I>& kernels_;
  sorted_entries<I, host> sorted_;
  mutable array<V, host> ordered_values_;  // written by each run
  std::int64_t tile_ = 1;
  mutable array<V, host> carries_;  // written by each run
};

}  // namespace

template <class V, class I>
executor_ptr<V> make_executor(const context<host>& ctx, const coo_view<const V, I, host>& matrix, spmv_algorithm) {
  return std::make_unique<coo_segments<V, I>>(ctx, matrix);
}

#define INSTANTIATE(V, I) \
  template executor_ptr<V> make_executor(const context<host>&, const coo_view<const V, I, host>&, spmv_algorithm);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)

}  // namespace spargo::detail::spmv
