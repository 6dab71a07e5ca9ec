#include "core/checks.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

namespace spargo::detail {

namespace {

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

bool overlap(memory_range a, memory_range b) noexcept {
  return a.bytes != 0 && b.bytes != 0 && address(a.data) < address(b.data) + b.bytes &&
         address(b.data) < address(a.data) + a.bytes;
}

memory_range memory_of(const matrix_extent& m) noexcept {
  return {m.data, static_cast<std::size_t>(m.elements()) * m.element_bytes};
}

bool overlap(const matrix_extent& a, const matrix_extent& b) noexcept {
  if (!overlap(memory_of(a), memory_of(b))) return false;
  const auto row = a.stride * static_cast<std::int64_t>(a.element_bytes);
  if (row != b.stride * static_cast<std::int64_t>(b.element_bytes)) return true;
  const auto distance = static_cast<std::int64_t>(address(b.data) - address(a.data));
  const std::int64_t column = (distance % row + row) % row;  // byte offset of b's rows within those of a
  return column < a.cols * static_cast<std::int64_t>(a.element_bytes) ||
         column + b.cols * static_cast<std::int64_t>(b.element_bytes) > row;
}

void expect_range(std::string_view operation, std::string_view name, const void* data, std::int64_t size) {
  SPARGO_EXPECTS(size >= 0, fmt::format("{}: {} has {} elements (expected 0 or more)", operation, name, size));
  SPARGO_EXPECTS(size == 0 || data != nullptr,
                 fmt::format("{}: {} is null and has {} elements", operation, name, size));
}

void expect_same_size(std::string_view operation, std::int64_t inputs, std::int64_t outputs) {
  SPARGO_EXPECTS(inputs == outputs,
                 fmt::format("{}: {} inputs and {} outputs (expected equal numbers)", operation, inputs, outputs));
}

void expect_matrix(std::string_view operation, std::string_view name, const matrix_extent& m, std::int64_t size) {
  SPARGO_EXPECTS(m.rows >= 0 && m.cols >= 0,
                 fmt::format("{}: {} is {} x {} (expected sizes of 0 or more)", operation, name, m.rows, m.cols));
  SPARGO_EXPECTS(m.stride >= m.cols, fmt::format("{}: {} has {} columns and a stride of {} (expected at least {})",
                                                 operation, name, m.cols, m.stride, m.cols));
  const std::int64_t largest = INT64_MAX / static_cast<std::int64_t>(m.element_bytes);
  SPARGO_EXPECTS(m.rows == 0 || m.stride == 0 || (m.cols <= largest && m.rows - 1 <= (largest - m.cols) / m.stride),
                 fmt::format("{}: {} is {} x {} with a stride of {}: it exceeds 2^63 bytes", operation, name, m.rows,
                             m.cols, m.stride));
  SPARGO_EXPECTS(size >= m.elements(),
                 fmt::format("{}: {} has {} elements (expected at least {})", operation, name, size, m.elements()));
  if (m.elements() != 0) expect_range(operation, name, m.data, size);
}

void expect_same_shape(std::string_view operation, const matrix_extent& in, const matrix_extent& out) {
  SPARGO_EXPECTS(
      in.rows == out.rows && in.cols == out.cols,
      fmt::format("{}: an input of {} x {} and an output of {} x {}", operation, in.rows, in.cols, out.rows, out.cols));
}

void expect_apart(std::string_view operation, std::string_view out_name, const matrix_extent& out,
                  std::string_view in_name, const matrix_extent& in) {
  SPARGO_EXPECTS(!overlap(out, in), fmt::format("{}: {} overlaps {}", operation, out_name, in_name));
}

void expect_apart(std::string_view operation, std::string_view out_name, memory_range out, std::string_view in_name,
                  memory_range in) {
  SPARGO_EXPECTS(!overlap(out, in), fmt::format("{}: {} overlaps {}", operation, out_name, in_name));
}

}  // namespace spargo::detail
