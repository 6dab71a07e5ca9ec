// Dense vectors are `span` and `array`; dense matrices are row-major with a leading dimension.
#pragma once

#include <spargo/core/array.hpp>

namespace spargo {

// rows x cols, element (i, j) at data[i * stride + j], stride >= cols.
template <class V, class Space>
struct SPARGO_EXPORT dense_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
  span<V, Space> data;  // at least (rows - 1) * stride + cols elements

  using const_view = dense_view<const V, Space>;
  // A template, since nvcc warns of a conversion to the same type where V is already const.
  template <class W>
  requires(!std::is_const_v<V> && std::same_as<W, const V>) operator dense_view<W, Space>() const {  // NOLINT
    return {rows, cols, stride, data};
  }

  // Element (i, j), unchecked in release builds. For device memory, call it in device code only.
  SPARGO_HD constexpr V& operator()(std::int64_t i, std::int64_t j) const {
    assert(i >= 0 && i < rows && j >= 0 && j < cols);
    return data[i * stride + j];
  }
};

// Contiguous rows: stride == cols.
template <value_type V, class Space>
class dense_matrix {
 public:
  dense_matrix() = default;
  // Uninitialised.
  dense_matrix(const context<Space>& ctx, std::int64_t rows, std::int64_t cols)
      : rows_(rows), cols_(cols), data_(ctx, checked_elements(rows, cols)) {}

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t cols() const noexcept { return cols_; }
  [[nodiscard]] dense_view<V, Space> view() noexcept { return {rows_, cols_, cols_, data_.view()}; }
  [[nodiscard]] dense_view<const V, Space> view() const noexcept { return {rows_, cols_, cols_, data_.view()}; }
  operator dense_view<V, Space>() noexcept { return view(); }              // NOLINT
  operator dense_view<const V, Space>() const noexcept { return view(); }  // NOLINT

  V& operator()(std::int64_t i, std::int64_t j) requires std::same_as<Space, host> { return view()(i, j); }
  const V& operator()(std::int64_t i, std::int64_t j) const requires std::same_as<Space, host> { return view()(i, j); }

 private:
  static std::int64_t checked_elements(std::int64_t rows, std::int64_t cols) {
    SPARGO_EXPECTS(rows >= 0 && cols >= 0, "dense_matrix: negative size");
    SPARGO_EXPECTS(cols == 0 || rows <= INT64_MAX / cols, "dense_matrix: rows * cols exceeds 2^63");
    return rows * cols;
  }
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  array<V, Space> data_;
};

}  // namespace spargo
