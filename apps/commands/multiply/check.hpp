// An independent check of C = A B, or of a block of C's rows, by code that shares nothing with the product.
//
// 1. C x against A (B x) for a random x, every row: a wrong or missing entry changes its row's sum, unless values
//    conspire; not for a masked product, whose rows lack entries.
// 2. Columns of every row ascend and are in range, which makes entries distinct.
// 3. Sampled rows, the longest among them, entry by entry: the places, and the values within the bounds of any order of
//    summation (commands/spmv/check.hpp; Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
// Cost: O(nnz of A, B and C), and the products of the sampled rows. Memory: a vector of B's rows and columns.
#pragma once

#include "commands/spmv/check.hpp"
#include "input/random.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace spargo::apps {

template <class V, class I>
class product_check {
 public:
  using view = csr_view<const V, I, std::int64_t, host>;
  static constexpr int samples = 48;

  product_check(const view& a, const view& b, const csr_pattern_view<I, std::int64_t, host>* mask)
      : a_(a), b_(b), mask_(mask) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    x_.resize(static_cast<std::size_t>(b.cols));
    for (double& v : x_) v = uniform(random);
    bx_.resize(static_cast<std::size_t>(b.rows));
    for (std::int64_t j = 0; j < b.rows; ++j) bx_[static_cast<std::size_t>(j)] = times_x(b, j);
  }

  // The rows from `first` of C.
  void add(const view& c, std::int64_t first) {
    std::int64_t longest = 0;
    for (std::int64_t r = 0; r < c.rows; ++r) {
      if (!ascends(c, r)) return fail(first + r);
      if (mask_ == nullptr) compare_sum(c, r, first + r);
      if (length(c, r) > length(c, longest)) longest = r;
    }
    if (c.rows == 0) return;
    std::mt19937_64 random(static_cast<std::uint64_t>(first) + 7);
    compare_row(c, longest, first + longest);
    for (int k = 0; k < samples; ++k) {
      const auto r = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(c.rows));
      compare_row(c, r, first + r);
    }
  }

  [[nodiscard]] const spmv_check& result() const { return result_; }

 private:
  using reference = typename detail::reference_of<V>::type;
  using row_sum = detail::reference_row<reference>;

  static std::int64_t length(const view& m, std::int64_t r) { return m.offsets[r + 1] - m.offsets[r]; }

  row_sum times_x(const view& m, std::int64_t r) const {
    row_sum sum;
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) {
      sum.add(reference(m.values[k]), reference(x_[static_cast<std::size_t>(m.indices[k])]));
    }
    return sum;
  }

  void fail(std::int64_t row) {
    if (result_.valid) result_.worst_row = row;
    result_.valid = false;
  }

  bool ascends(const view& c, std::int64_t r) const {
    for (std::int64_t k = c.offsets[r]; k < c.offsets[r + 1]; ++k) {
      if (c.indices[k] < (k == c.offsets[r] ? I{0} : static_cast<I>(c.indices[k - 1] + 1)) || c.indices[k] >= c.cols) {
        return false;
      }
    }
    return true;
  }

  // Terms that are not finite are left to the samples: the order of sums decides what NaN and infinities give.
  void compare_sum(const view& c, std::int64_t r, std::int64_t row) {
    row_sum expected;
    for (std::int64_t k = a_.offsets[row]; k < a_.offsets[row + 1]; ++k) {
      const row_sum& inner = bx_[static_cast<std::size_t>(a_.indices[k])];
      const reference factor(a_.values[k]);
      expected.sum += factor * inner.sum;
      expected.scale += std::abs(factor) * inner.scale;
      expected.length += inner.length + 2;
      expected.finite_terms = expected.finite_terms && inner.finite_terms && detail::is_finite(factor);
    }
    const row_sum got = times_x(c, r);
    if (!expected.finite_terms || !got.finite_terms || !std::isfinite(expected.scale)) return;
    detail::check_row(row, expected, V(got.sum), result_);
  }

  void compare_row(const view& c, std::int64_t r, std::int64_t row) {
    std::map<I, row_sum> expected;
    for (std::int64_t k = a_.offsets[row]; k < a_.offsets[row + 1]; ++k) {
      const std::int64_t j = a_.indices[k];
      for (std::int64_t q = b_.offsets[j]; q < b_.offsets[j + 1]; ++q) {
        expected[b_.indices[q]].add(reference(a_.values[k]), reference(b_.values[q]));
      }
    }
    if (mask_ != nullptr) {
      const std::set<I> wanted(mask_->indices.data() + mask_->offsets[row],
                               mask_->indices.data() + mask_->offsets[row + 1]);
      std::erase_if(expected, [&](const auto& e) { return !wanted.contains(e.first); });
    }
    if (static_cast<std::int64_t>(expected.size()) != length(c, r)) return fail(row);
    std::int64_t k = c.offsets[r];
    for (const auto& [column, sum] : expected) {
      if (c.indices[k] != column) return fail(row);
      detail::check_row(row, sum, c.values[k++], result_);
    }
  }

  view a_;
  view b_;
  const csr_pattern_view<I, std::int64_t, host>* mask_;
  std::vector<double> x_;
  std::vector<row_sum> bx_;
  spmv_check result_;
};

}  // namespace spargo::apps
