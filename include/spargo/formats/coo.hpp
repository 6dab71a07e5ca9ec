// Coordinate format: entry k is (row_indices[k], col_indices[k], values[k]), in any order.
//
// Duplicate coordinates mean their sum; "canonical" is sorted by row, then column, without duplicates. nnz * (2 *
// sizeof(I) + sizeof(V)) bytes.
#pragma once

#include <spargo/core/array.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <class I, class Space>
struct SPARGO_EXPORT coo_pattern_view {
  I rows = 0;
  I cols = 0;
  span<const I, Space> row_indices;
  span<const I, Space> col_indices;

  [[nodiscard]] SPARGO_HD std::int64_t nnz() const { return row_indices.size(); }
};

// With V = pattern, `values` is empty.
template <class V, class I, class Space>
struct SPARGO_EXPORT coo_view : coo_pattern_view<I, Space> {
  span<V, Space> values;

  static_assert(detail::built_for_entries<V>());
  using const_view = coo_view<const V, I, Space>;
  // To a view of const values. A template, since nvcc warns of a conversion to the same type where V is already const.
  template <class W>
  requires(!std::is_const_v<V> && std::same_as<W, const V>) operator coo_view<W, I, Space>() const {  // NOLINT
    return {{*this}, values};
  }
};

template <entry_type V, index_type I, class Space>
class coo_matrix {
 public:
  coo_matrix() = default;
  // Takes ownership of the arrays without checks; see `validate`. `values` is empty for a pattern.
  coo_matrix(I rows, I cols, array<I, Space> row_indices, array<I, Space> col_indices, array<V, Space> values)
      : rows_(rows),
        cols_(cols),
        row_indices_(std::move(row_indices)),
        col_indices_(std::move(col_indices)),
        values_(std::move(values)) {}
  // Uninitialised entries.
  coo_matrix(const context<Space>& ctx, I rows, I cols, std::int64_t nnz)
      : coo_matrix(rows, cols, {ctx, nnz}, {ctx, nnz}, {ctx, is_pattern<V> ? 0 : nnz}) {}

  [[nodiscard]] I rows() const noexcept { return rows_; }
  [[nodiscard]] I cols() const noexcept { return cols_; }
  [[nodiscard]] std::int64_t nnz() const noexcept { return row_indices_.size(); }
  [[nodiscard]] coo_view<const V, I, Space> view() const noexcept {
    return {{rows_, cols_, row_indices_.view(), col_indices_.view()}, values_.view()};
  }
  // Not from a temporary: a plan would outlive it.
  operator coo_view<const V, I, Space>() const& noexcept { return view(); }  // NOLINT
  operator coo_view<const V, I, Space>() const&& = delete;

  array<I, Space>& row_indices() noexcept { return row_indices_; }
  array<I, Space>& col_indices() noexcept { return col_indices_; }
  array<V, Space>& values() noexcept { return values_; }
  const array<I, Space>& row_indices() const noexcept { return row_indices_; }
  const array<I, Space>& col_indices() const noexcept { return col_indices_; }
  const array<V, Space>& values() const noexcept { return values_; }

 private:
  I rows_ = 0;
  I cols_ = 0;
  array<I, Space> row_indices_;
  array<I, Space> col_indices_;
  array<V, Space> values_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
