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
};

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
