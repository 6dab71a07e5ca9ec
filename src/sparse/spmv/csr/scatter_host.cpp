// y = alpha * A^T * x + beta * y (or A^H) straight from the rows of A.
//
// Idea: the rows are cut into parts of equal rows + entries. A part scatters its rows into its own sums, which cover
// only the columns between the part's first and last; then the sums of all parts are added column by column. A banded
// matrix has sums of little more than its columns. Where parts cover more than cols + nnz / 4 columns in all,
// neighbouring parts are merged, down to one.
// Invariant: parts depend on the matrix only and are added in order: the same bits for any number of threads.
// Cost: O(nnz + covered columns) per run; the plan reads all column indices once.
#include "sparse/spmv/csr/scatter.hpp"

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/merge_path.hpp"

#include <algorithm>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Rows + entries per part: about 100 us, so that a part is worth a thread and its sums.
  static constexpr std::int64_t share = std::int64_t{1} << 16;
  static constexpr int most_parts = 64;
  // Columns whose sums are added at a time, in L1 (4 KiB of complex<double>).
  static constexpr std::int64_t block = 256;
  static constexpr std::int64_t blocks = 32;  // least per thread
};

// Rows [first_row, last_row) scatter into the columns [first, last), whose sums begin at `place`.
struct row_part {
  std::int64_t first_row = 0;
  std::int64_t last_row = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t place = 0;
  [[nodiscard]] std::int64_t width() const { return last - first; }
};

row_part joined(const row_part& a, const row_part& b) {
  if (a.width() == 0 || b.width() == 0) {
    const row_part& one = a.width() == 0 ? b : a;
    return {a.first_row, b.last_row, one.first, one.last};
  }
  return {a.first_row, b.last_row, std::min(a.first, b.first), std::max(a.last, b.last)};
}

std::int64_t covered(const std::vector<row_part>& parts) {
  std::int64_t sum = 0;
  for (const row_part& part : parts) sum += part.width();
  return sum;
}

void merge_neighbours(std::vector<row_part>& parts) {
  std::size_t kept = 0;
  for (std::size_t p = 0; p < parts.size(); p += 2) {
    parts[kept++] = p + 1 < parts.size() ? joined(parts[p], parts[p + 1]) : parts[p];
  }
  parts.resize(kept);
}

template <class V, class I, class O>
class scatter final : public executor<V> {
 public:
  scatter(const context<host>& ctx, const csr_view<const V, I, O, host>& a, bool conjugates)
      : ctx_(ctx), a_(a), conjugates_(conjugates), parts_(find_parts()) {
    std::int64_t size = 0;
    for (row_part& part : parts_) {
      part.place = size;
      size += part.width();
    }
    sums_ = {ctx, size};
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const auto count = static_cast<std::int64_t>(parts_.size());
    parallel_parts(ctx_.threads(), count, [&](std::int64_t p) {
      const row_part& part = parts_[static_cast<std::size_t>(p)];
      std::fill_n(sums_.data() + part.place, part.width(), V{});
      if constexpr (complex_type<V>) {
        if (conjugates_) return add_rows(part, x, [](V a) { return std::conj(a); });
      }
      add_rows(part, x, [](V a) { return a; });
    });
    const std::int64_t cols = a_.cols;
    parallel_for(ctx_.threads(), div_up(cols, tuning::block), tuning::blocks, [&](std::int64_t b) {
      const std::int64_t first = b * tuning::block;
      add_parts(first, std::min(first + tuning::block, cols), alpha, beta, y);
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return sums_.size() * static_cast<std::int64_t>(sizeof(V)) +
           static_cast<std::int64_t>(parts_.size() * sizeof(row_part));
  }

 private:
  [[nodiscard]] std::vector<row_part> find_parts() const {
    const parts shares = split(a_.rows + a_.nnz(), tuning::most_parts, tuning::share);
    std::vector<row_part> found(static_cast<std::size_t>(shares.count));
    const auto row_at = [&](std::int64_t path) {
      return merge_path_row(a_.offsets.data(), static_cast<std::int64_t>(a_.rows), a_.nnz(), path);
    };
    parallel_parts(ctx_.threads(), shares.count, [&](std::int64_t p) {
      const std::int64_t first = row_at(shares.first(p));
      const std::int64_t last = p + 1 == shares.count ? static_cast<std::int64_t>(a_.rows) : row_at(shares.last(p));
      const auto ends =
          std::minmax_element(a_.indices.data() + a_.offsets[first], a_.indices.data() + a_.offsets[last]);
      const bool none = a_.offsets[first] == a_.offsets[last];
      found[static_cast<std::size_t>(p)] = {first, last, none ? 0 : std::int64_t{*ends.first},
                                            none ? 0 : std::int64_t{*ends.second} + 1};
    });
    while (found.size() > 1 && covered(found) > a_.cols + a_.nnz() / 4) merge_neighbours(found);
    return found;
  }

  template <class F>
  void add_rows(const row_part& part, const V* x, F&& value_of) const {
    V* const sums = sums_.data() + part.place;
    for (std::int64_t row = part.first_row; row < part.last_row; ++row) {
      const V factor = x[row];
      for (O k = a_.offsets[row]; k < a_.offsets[row + 1]; ++k) {
        sums[a_.indices[k] - part.first] += multiply(value_of(a_.values[k]), factor);
      }
    }
  }

  // Adds the sums of the columns [first, last), at most a block.
  void add_parts(std::int64_t first, std::int64_t last, V alpha, V beta, V* y) const {
    V sums[tuning::block]{};
    for (const row_part& part : parts_) {
      const V* const from = sums_.data() + part.place;
      for (std::int64_t c = std::max(first, part.first); c < std::min(last, part.last); ++c) {
        sums[c - first] += from[c - part.first];
      }
    }
    for (std::int64_t c = first; c < last; ++c) update(y[c], alpha, sums[c - first], beta);
  }

  context<host> ctx_;
  csr_view<const V, I, O, host> a_;
  bool conjugates_;
  std::vector<row_part> parts_;
  mutable array<V, host> sums_;  // written by each run
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V> make_scatter(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                             spmv_operation operation) {
  return std::make_unique<scatter<V, I, O>>(ctx, matrix, operation == spmv_operation::conjugate_transpose);
}

#define INSTANTIATE(V, I, O) \
  template executor_ptr<V> make_scatter(const context<host>&, const csr_view<const V, I, O, host>&, spmv_operation);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
