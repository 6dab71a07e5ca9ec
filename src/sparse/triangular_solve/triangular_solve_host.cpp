// Triangular solves on the host: the triangle is copied in the order in which its rows are solved.
#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/triangular_solve/executor.hpp"
#include "sparse/triangular_solve/levels.hpp"

#include <utility>

namespace spargo::detail::triangular {

namespace {

// Of the row at each place: entries off the diagonal, and the diagonal, which is empty if it is implicit.
template <class V, class I, class O>
struct copied_rows {
  array<O, host> offsets;
  array<I, host> indices;
  array<V, host> values;
  array<V, host> diagonal;

  // row_at(place)
  template <class RowAt>
  copied_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& m, const triangular_solve_options& options,
              const array<std::int64_t, host>& entries, const RowAt& row_at);

  // x of the row at this place, with the elements of `known` in the place of those that it needs.
  [[nodiscard]] V solved(std::int64_t place, V right, const V* known) const {
    for (O k = offsets[place]; k < offsets[place + 1]; ++k) right -= multiply(values[k], known[indices[k]]);
    return divided(place, right);
  }
  [[nodiscard]] V divided(std::int64_t place, V sum) const { return diagonal.empty() ? sum : sum / diagonal[place]; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_of(offsets, indices, values, diagonal); }
};

template <class V, class I, class O>
template <class RowAt>
copied_rows<V, I, O>::copied_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& m,
                                  const triangular_solve_options& options, const array<std::int64_t, host>& entries,
                                  const RowAt& row_at) {
  const bool is_upper = options.part == triangle_part::upper_triangle;
  const bool is_unit = options.diagonal == triangle_diagonal::implicit_unit_diagonal;
  const std::int64_t n = m.rows;
  offsets = {ctx, n + 1};
  offsets[0] = 0;
  for (std::int64_t p = 0; p < n; ++p) offsets[p + 1] = static_cast<O>(offsets[p] + entries[row_at(p)]);
  indices = {ctx, static_cast<std::int64_t>(offsets[n])};
  values = {ctx, static_cast<std::int64_t>(offsets[n])};
  diagonal = {ctx, is_unit ? 0 : n};
  std::int64_t zero_row = n;
  for (std::int64_t p = 0; p < n; ++p) {
    const std::int64_t row = row_at(p);
    O to = offsets[p];
    V on_diagonal{};
    for (O k = m.offsets[row]; k < m.offsets[row + 1]; ++k) {
      const std::int64_t col = m.indices[k];
      if (col == row) on_diagonal += m.values[k];
      if (col == row || (col > row) != is_upper) continue;
      indices[to] = m.indices[k];
      values[to++] = m.values[k];
    }
    if (is_unit) continue;
    diagonal[p] = on_diagonal;
    if (on_diagonal == V{}) zero_row = std::min(zero_row, row);
  }
  if (zero_row < n) refuse_row(zero_row);
}

template <class V, class I, class O>
class by_levels final : public executor<V, host> {
 public:
  by_levels(level_order order, copied_rows<V, I, O> triangle, int threads)
      : order_(std::move(order)), triangle_(std::move(triangle)) {
    this->rows = triangle_.offsets.size() - 1;
    this->levels = order_.levels();
    this->reason = describe_levels(this->levels, this->rows,
                                   order_.shares_levels() ? "threads share the wide ones"
                                   : threads == 1         ? "one thread, in order of the rows"
                                                          : "too narrow to share, in order of the rows");
  }

  void run(const V* b, V* x, const int* /*active*/) const override {
    order_.run([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t row = order_.row(p);
        x[row] = triangle_.solved(p, b[row], x);
      }
    });
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return order_.bytes() + triangle_.bytes(); }

 private:
  level_order order_;
  copied_rows<V, I, O> triangle_;
};

template <class V, class I, class O>
class by_sweeps final : public executor<V, host> {
 public:
  by_sweeps(const context<host>& ctx, copied_rows<V, I, O> triangle, std::int64_t sweeps)
      : triangle_(std::move(triangle)), sweeps_(sweeps) {
    this->rows = triangle_.offsets.size() - 1;
    this->reason = describe_sweeps(sweeps);
    threads_ = useful_threads(ctx.threads(), this->rows + triangle_.values.size(), tuning::wide_level);
    for (array<V, host>& x : between_) x = {ctx, this->rows};
  }

  void run(const V* b, V* x, const int* /*active*/) const override {
    V* now = between_[0].data();
    V* next = between_[1].data();
    each_row([&](std::int64_t row) { now[row] = triangle_.divided(row, b[row]); });
    for (std::int64_t k = 0; k < sweeps_; ++k) {
      V* const to = k + 1 == sweeps_ ? x : next;  // x may be b
      each_row([&](std::int64_t row) { to[row] = triangle_.solved(row, b[row], now); });
      std::swap(now, next);
    }
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return triangle_.bytes() + bytes_of(between_[0], between_[1]);
  }

 private:
  template <class Body>
  void each_row(const Body& body) const {
    parallel_for(threads_, this->rows, tuning::least_part, body);
  }

  copied_rows<V, I, O> triangle_;
  std::int64_t sweeps_;
  int threads_ = 1;
  mutable array<V, host> between_[2];
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V, host> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& m,
                                    const triangular_solve_options& options) {
  const std::int64_t n = m.rows;
  const bool is_upper = options.part == triangle_part::upper_triangle;
  array<std::int64_t, host> level(ctx, n);
  array<std::int64_t, host> entries(ctx, n);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t row = is_upper ? n - 1 - step : step;
    level[row] = 0;
    entries[row] = 0;
    for (O k = m.offsets[row]; k < m.offsets[row + 1]; ++k) {
      const std::int64_t col = m.indices[k];
      if (col == row || (col > row) != is_upper) continue;
      level[row] = std::max(level[row], level[col] + 1);
      ++entries[row];
    }
  }
  if (options.sweeps > 0) {
    copied_rows<V, I, O> triangle(ctx, m, options, entries, [](std::int64_t row) { return row; });
    return std::make_unique<by_sweeps<V, I, O>>(ctx, std::move(triangle), options.sweeps);
  }
  level_order order(ctx, level, entries, is_upper);
  copied_rows<V, I, O> triangle(ctx, m, options, entries, [&](std::int64_t place) { return order.row(place); });
  return std::make_unique<by_levels<V, I, O>>(std::move(order), std::move(triangle), ctx.threads());
}

#define INSTANTIATE(V, I, O)                                                                               \
  template executor_ptr<V, host> make_executor(const context<host>&, const csr_view<const V, I, O, host>&, \
                                               const triangular_solve_options&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::triangular
