// Compressed sparse rows: row i holds entries offsets[i] .. offsets[i+1]-1 of `indices` and `values`.
//
// Invariant: offsets has rows + 1 elements, starts at 0, never decreases and ends at nnz; every index is in [0, cols).
// Matrices built by the library are canonical: columns in a row are ascending and distinct. Products and traversals do
// not need that. Memory: (rows + 1) * sizeof(O) + nnz * (sizeof(I) + sizeof(V)).
#pragma once

#include <spargo/core/array.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// The pattern without the values, which a traversal does not need.
template <class I, class O, class Space>
struct SPARGO_EXPORT csr_pattern_view {
  I rows = 0;
  I cols = 0;
  span<const O, Space> offsets;  // rows + 1
  span<const I, Space> indices;  // nnz

  static_assert(detail::built_for_indices<I, O>());
  [[nodiscard]] SPARGO_HD std::int64_t nnz() const { return indices.size(); }
};

// With V = pattern, `values` is empty.
template <class V, class I, class O, class Space>
struct SPARGO_EXPORT csr_view : csr_pattern_view<I, O, Space> {
  span<V, Space> values;

  static_assert(detail::built_for_entries<V>());
  using const_view = csr_view<const V, I, O, Space>;
  // To a view of const values. A template, since nvcc warns of a conversion to the same type where V is already const.
  template <class W>
  requires(!std::is_const_v<V> && std::same_as<W, const V>) operator csr_view<W, I, O, Space>() const {  // NOLINT
    return {{*this}, values};
  }
};

template <entry_type V, index_type I, index_type O, class Space>
class csr_matrix {
  static_assert(detail::built_for_indices<I, O>());

 public:
  csr_matrix() = default;
  // Takes ownership of the arrays without checks; see `validate`. `values` is empty for a pattern.
  csr_matrix(I rows, I cols, array<O, Space> offsets, array<I, Space> indices, array<V, Space> values)
      : rows_(rows),
        cols_(cols),
        offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        values_(std::move(values)) {}

  [[nodiscard]] I rows() const noexcept { return rows_; }
  [[nodiscard]] I cols() const noexcept { return cols_; }
  [[nodiscard]] std::int64_t nnz() const noexcept { return indices_.size(); }
  [[nodiscard]] csr_view<const V, I, O, Space> view() const noexcept {
    return {{rows_, cols_, offsets_.view(), indices_.view()}, values_.view()};
  }
  // Not from a temporary: a plan would outlive it.
  operator csr_view<const V, I, O, Space>() const& noexcept { return view(); }  // NOLINT
  operator csr_view<const V, I, O, Space>() const&& = delete;

  array<O, Space>& offsets() noexcept { return offsets_; }
  array<I, Space>& indices() noexcept { return indices_; }
  array<V, Space>& values() noexcept { return values_; }
  const array<O, Space>& offsets() const noexcept { return offsets_; }
  const array<I, Space>& indices() const noexcept { return indices_; }
  const array<V, Space>& values() const noexcept { return values_; }

 private:
  I rows_ = 0;
  I cols_ = 0;
  array<O, Space> offsets_;
  array<I, Space> indices_;
  array<V, Space> values_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
