// SELL-C-sigma (Kreutzer et al., SIAM J. Sci. Comput. 36(5), 2014): ELL cut into slices of C rows, each as wide as its
// longest row, after sorting rows by descending length within windows of sigma rows.
//
// Slot s = slice * C + lane holds row permutation[s] (-1 past the last row) of row_lengths[s] entries; entry k of the
// slot is at slice_offsets[slice] + k * C + lane. Padding has column 0 and value 0; products never use it.
#pragma once

#include <spargo/core/array.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <class V, class I, class O, class Space>
struct SPARGO_EXPORT sell_view {
  I rows = 0;
  I cols = 0;
  I slice_height = 0;                  // C
  std::int64_t nnz = 0;                // entries without padding
  span<const O, Space> slice_offsets;  // slices + 1 positions of entries; ends at the stored size
  span<const I, Space> permutation;    // slices * C
  span<const I, Space> row_lengths;    // slices * C
  span<const I, Space> indices;        // stored size
  span<V, Space> values;               // stored size; empty for a pattern

  [[nodiscard]] SPARGO_HD std::int64_t slices() const { return slice_offsets.size() - 1; }

  static_assert(detail::built_for_indices<I, O>() && detail::built_for_entries<V>());
  using const_view = sell_view<const V, I, O, Space>;
  // A template, since nvcc warns of a conversion to the same type where V is already const.
  template <class W>
  requires(!std::is_const_v<V> && std::same_as<W, const V>) operator sell_view<W, I, O, Space>() const {  // NOLINT
    return {rows, cols, slice_height, nnz, slice_offsets, permutation, row_lengths, indices, values};
  }
};

template <entry_type V, index_type I, index_type O, class Space>
class sell_matrix {
  static_assert(detail::built_for_indices<I, O>());

 public:
  sell_matrix() = default;
  sell_matrix(I rows, I cols, I slice_height, std::int64_t nnz, array<O, Space> slice_offsets,
              array<I, Space> permutation, array<I, Space> row_lengths, array<I, Space> indices, array<V, Space> values)
      : rows_(rows),
        cols_(cols),
        slice_height_(slice_height),
        nnz_(nnz),
        slice_offsets_(std::move(slice_offsets)),
        permutation_(std::move(permutation)),
        row_lengths_(std::move(row_lengths)),
        indices_(std::move(indices)),
        values_(std::move(values)) {}

  [[nodiscard]] I rows() const noexcept { return rows_; }
  [[nodiscard]] I cols() const noexcept { return cols_; }
  [[nodiscard]] I slice_height() const noexcept { return slice_height_; }
  [[nodiscard]] std::int64_t nnz() const noexcept { return nnz_; }
  [[nodiscard]] std::int64_t stored() const noexcept { return indices_.size(); }  // with padding
  [[nodiscard]] sell_view<const V, I, O, Space> view() const noexcept {
    return {rows_,
            cols_,
            slice_height_,
            nnz_,
            slice_offsets_.view(),
            permutation_.view(),
            row_lengths_.view(),
            indices_.view(),
            values_.view()};
  }
  // Not from a temporary: a plan would outlive it.
  operator sell_view<const V, I, O, Space>() const& noexcept { return view(); }  // NOLINT
  operator sell_view<const V, I, O, Space>() const&& = delete;

  array<V, Space>& values() noexcept { return values_; }
  const array<O, Space>& slice_offsets() const noexcept { return slice_offsets_; }
  const array<I, Space>& permutation() const noexcept { return permutation_; }
  const array<I, Space>& row_lengths() const noexcept { return row_lengths_; }
  const array<I, Space>& indices() const noexcept { return indices_; }
  const array<V, Space>& values() const noexcept { return values_; }

 private:
  I rows_ = 0;
  I cols_ = 0;
  I slice_height_ = 0;
  std::int64_t nnz_ = 0;
  array<O, Space> slice_offsets_;
  array<I, Space> permutation_;
  array<I, Space> row_lengths_;
  array<I, Space> indices_;
  array<V, Space> values_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
