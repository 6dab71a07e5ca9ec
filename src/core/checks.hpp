// Checks of arguments that operations share: valid ranges and matrices, outputs that do not overlap inputs. Messages
// name the operation and the argument: "matmul: B is null and has 12 elements". All throw invalid_argument.
#pragma once

#include <spargo/core/span.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spargo::detail {

struct memory_range {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

// A row-major matrix: element (i, j) is at i * stride + j. Image views call the stride pitch.
struct matrix_extent {
  const void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
  std::size_t element_bytes = 1;

  // Elements from the first to the last, padding included.
  [[nodiscard]] constexpr std::int64_t elements() const noexcept {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols;
  }
};

template <class T, class Space>
[[nodiscard]] memory_range memory_of(span<T, Space> range) noexcept {
  return {range.data(), static_cast<std::size_t>(range.size()) * sizeof(T)};
}

// Of a dense_view or an image_view.
template <class View>
[[nodiscard]] matrix_extent extent_of(const View& m) noexcept {
  constexpr std::size_t bytes = sizeof(*m.data.data());
  if constexpr (requires { m.pitch; }) {
    return {m.data.data(), m.rows, m.cols, m.pitch, bytes};
  } else {
    return {m.data.data(), m.rows, m.cols, m.stride, bytes};
  }
}

// Empty ranges overlap nothing. Matrices of one stride may lie side by side in the same rows without overlap.
[[nodiscard]] bool overlap(memory_range a, memory_range b) noexcept;
[[nodiscard]] bool overlap(const matrix_extent& a, const matrix_extent& b) noexcept;
// From the first element to the last, padding between rows included.
[[nodiscard]] memory_range memory_of(const matrix_extent& m) noexcept;

// Expects size >= 0, and data unless empty.
void expect_range(std::string_view operation, std::string_view name, const void* data, std::int64_t size);
template <class T, class Space>
void expect_range(std::string_view operation, std::string_view name, span<T, Space> range) {
  expect_range(operation, name, range.data(), range.size());
}

void expect_same_size(std::string_view operation, std::int64_t inputs, std::int64_t outputs);

// Expects sizes >= 0, stride >= cols, less than 2^63 bytes in all, and `size` large enough.
void expect_matrix(std::string_view operation, std::string_view name, const matrix_extent& m, std::int64_t size);
template <class View>
void expect_matrix(std::string_view operation, std::string_view name, const View& m) {
  expect_matrix(operation, name, extent_of(m), m.data.size());
}

// "histogram: counts overlaps the input"
void expect_apart(std::string_view operation, std::string_view out_name, memory_range out, std::string_view in_name,
                  memory_range in);
void expect_apart(std::string_view operation, std::string_view out_name, const matrix_extent& out,
                  std::string_view in_name, const matrix_extent& in);

// For elementwise operations: two ranges or matrices of equal size without overlap.
template <class T, class Space>
void expect_in_and_out(std::string_view operation, span<const T, Space> in, span<T, Space> out) {
  expect_same_size(operation, in.size(), out.size());
  expect_range(operation, "the input", in);
  expect_range(operation, "the output", out);
  expect_apart(operation, "the output", memory_of(out), "the input", memory_of(in));
}
void expect_same_shape(std::string_view operation, const matrix_extent& in, const matrix_extent& out);
template <class InView, class OutView>
void expect_in_and_out(std::string_view operation, const InView& in, const OutView& out) {
  expect_matrix(operation, "the input", in);
  expect_matrix(operation, "the output", out);
  expect_same_shape(operation, extent_of(in), extent_of(out));
  expect_apart(operation, "the output", extent_of(out), "the input", extent_of(in));
}

}  // namespace spargo::detail
