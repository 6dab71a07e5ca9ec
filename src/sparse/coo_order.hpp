// The row order of unsorted COO entries, found once by a plan; the values may change afterwards.
#pragma once

#include <spargo/formats/convert.hpp>

namespace spargo::detail {

// Entry k of the sorted matrix is (rows[k], cols[k]) with the value at order[k] of the original.
template <class I, class Space>
struct row_order {
  array<I, Space> rows;
  array<I, Space> cols;
  array<std::int64_t, Space> order;

  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(sizeof(I)) * (rows.size() + cols.size()) + 8 * order.size();
  }
};

// Numbers 0, 1, 2, ... and their conversion back. A double counts exactly to 2^53, more than memory holds.
void count_up(const context<host>& ctx, span<double, host> to);
void count_up(const context<device>& ctx, span<double, device> to);
void to_integers(const context<host>& ctx, span<const double, host> from, span<std::int64_t, host> to);
void to_integers(const context<device>& ctx, span<const double, device> from, span<std::int64_t, device> to);

// Stable by row and column. The positions travel through the library's own sort as the values of a matrix.
// Synchronises a device.
template <class V, class I, class Space>
[[nodiscard]] row_order<I, Space> sort_by_row(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix) {
  array<double, Space> positions(ctx, matrix.nnz());
  count_up(ctx, positions.view());
  coo_matrix<double, I, Space> sorted(matrix.rows, matrix.cols, clone(ctx, matrix.row_indices),
                                      clone(ctx, matrix.col_indices), std::move(positions));
  sort(ctx, sorted);
  array<std::int64_t, Space> order(ctx, matrix.nnz());
  to_integers(ctx, sorted.values().view(), order.view());
  return {std::move(sorted.row_indices()), std::move(sorted.col_indices()), std::move(order)};
}

}  // namespace spargo::detail
