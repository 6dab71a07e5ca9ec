// ELLPACK, column-major: entry k of row i is at k * rows + i of `indices` and `values`, k < width.
//
// Shorter rows are padded with column 0 and value 0, which is safe to read; products use `row_lengths` and never read
// the padding, so an infinite x[0] does no harm. Memory: rows * (width * (sizeof(I) + sizeof(V)) + sizeof(I)).
#pragma once

#include <spargo/core/array.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <class V, class I, class Space>
struct SPARGO_EXPORT ell_view {
  I rows = 0;
  I cols = 0;
  I width = 0;                       // length of the longest row
  std::int64_t nnz = 0;              // entries without padding
  span<const I, Space> row_lengths;  // rows
  span<const I, Space> indices;      // rows * width
  span<V, Space> values;             // rows * width; empty for a pattern

  static_assert(detail::built_for_entries<V>());
  using const_view = ell_view<const V, I, Space>;
  // A template, since nvcc warns of a conversion to the same type where V is already const.
  template <class W>
  requires(!std::is_const_v<V> && std::same_as<W, const V>) operator ell_view<W, I, Space>() const {  // NOLINT
    return {rows, cols, width, nnz, row_lengths, indices, values};
  }
};

template <entry_type V, index_type I, class Space>
class ell_matrix {
 public:
  ell_matrix() = default;
  ell_matrix(I rows, I cols, I width, std::int64_t nnz, array<I, Space> row_lengths, array<I, Space> indices,
             array<V, Space> values)
      : rows_(rows),
        cols_(cols),
        width_(width),
        nnz_(nnz),
        row_lengths_(std::move(row_lengths)),
        indices_(std::move(indices)),
        values_(std::move(values)) {}

  [[nodiscard]] I rows() const noexcept { return rows_; }
  [[nodiscard]] I cols() const noexcept { return cols_; }
  [[nodiscard]] I width() const noexcept { return width_; }
  [[nodiscard]] std::int64_t nnz() const noexcept { return nnz_; }
  [[nodiscard]] ell_view<const V, I, Space> view() const noexcept {
    return {rows_, cols_, width_, nnz_, row_lengths_.view(), indices_.view(), values_.view()};
  }
  // Not from a temporary: a plan would outlive it.
  operator ell_view<const V, I, Space>() const& noexcept { return view(); }  // NOLINT
  operator ell_view<const V, I, Space>() const&& = delete;

  array<V, Space>& values() noexcept { return values_; }
  const array<I, Space>& row_lengths() const noexcept { return row_lengths_; }
  const array<I, Space>& indices() const noexcept { return indices_; }
  const array<V, Space>& values() const noexcept { return values_; }

 private:
  I rows_ = 0;
  I cols_ = 0;
  I width_ = 0;
  std::int64_t nnz_ = 0;
  array<I, Space> row_lengths_;
  array<I, Space> indices_;
  array<V, Space> values_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
