#include <spargo/primitives/matmul_tensor.hpp>

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/rethrow.hpp"
#include "primitives/matmul/tensor/backend.hpp"

#include <fmt/format.h>

namespace spargo {

template <>
enum_table<tensor_inputs> enum_rows() noexcept {
  static constexpr std::array<enum_row<tensor_inputs>, 2> rows{{
      {tensor_inputs::tf32, "tf32"},
      {tensor_inputs::bf16, "bf16"},
  }};
  return rows;
}

namespace {

template <class T>
void check_view(const dense_view<T, device>& x, const char* name) {
  detail::expect_matrix("matmul_tensor", name, x);
  if (x.rows > detail::matmul::tensor::largest_size || x.cols > detail::matmul::tensor::largest_size) {
    throw error(error_code::unsupported,
                fmt::format("matmul_tensor: {} is {} x {} (expected at most {} rows and columns)", name, x.rows, x.cols,
                            detail::matmul::tensor::largest_size));
  }
}

template <class T>
void expect_apart(const dense_view<float, device>& c, const dense_view<const T, device>& in, const char* name) {
  detail::expect_apart("matmul_tensor", "C", memory_of(detail::extent_of(c)), name, memory_of(detail::extent_of(in)));
}

template <class T>
void check(const dense_view<const T, device>& a, const dense_view<const T, device>& b,
           const dense_view<float, device>& c, const matmul_tensor_options& options) {
  check_view(a, "A");
  check_view(b, "B");
  check_view(c, "C");
  const bool a_turned = options.op_a == transpose_kind::transpose;
  const bool b_turned = options.op_b == transpose_kind::transpose;
  const std::int64_t m = a_turned ? a.cols : a.rows;
  const std::int64_t n = b_turned ? b.rows : b.cols;
  const std::int64_t a_k = a_turned ? a.rows : a.cols;
  const std::int64_t b_k = b_turned ? b.cols : b.rows;
  SPARGO_EXPECTS(
      a_k == b_k && c.rows == m && c.cols == n,
      fmt::format("matmul_tensor: op(A) is {} x {}, op(B) is {} x {}, C is {} x {}", m, a_k, b_k, n, c.rows, c.cols));
  expect_apart(c, a, "A");
  expect_apart(c, b, "B");
}

template <class T>
void run(const context<device>& ctx, float alpha, const dense_view<const T, device>& a,
         const dense_view<const T, device>& b, float beta, const dense_view<float, device>& c,
         const matmul_tensor_options& options) {
  using detail::matmul::tensor::major;
  check(a, b, c, options);
  if constexpr (config::has_cuda) {
    const bool a_turned = options.op_a == transpose_kind::transpose;
    const bool b_turned = options.op_b == transpose_kind::transpose;
    const detail::matmul::tensor::operand<T> left{a.data.data(), a.stride, a_turned ? major::mn : major::k};
    const detail::matmul::tensor::operand<T> right{b.data.data(), b.stride, b_turned ? major::k : major::mn};
    const detail::matmul::tensor::product p{.m = static_cast<int>(c.rows),
                                            .n = static_cast<int>(c.cols),
                                            .k = static_cast<int>(a_turned ? a.rows : a.cols),
                                            .alpha = alpha,
                                            .beta = beta,
                                            .c = c.data.data(),
                                            .c_stride = c.stride};
    if constexpr (std::same_as<T, float>) {
      const auto rounding = options.inputs == tensor_inputs::tf32 ? detail::matmul::tensor::precision::tf32
                                                                  : detail::matmul::tensor::precision::bf16;
      detail::matmul::tensor::run(ctx, rounding, left, right, p);
    } else {
      detail::matmul::tensor::run(ctx, left, right, p);
    }
  } else {
    detail::no_device("matmul_tensor");
  }
}

}  // namespace

void matmul_tensor(const context<device>& ctx, float alpha, const dense_view<const float, device>& a,
                   const dense_view<const float, device>& b, float beta, const dense_view<float, device>& c,
                   const matmul_tensor_options& options) try {
  run(ctx, alpha, a, b, beta, c, options);
} catch (...) {
  detail::rethrow("matmul_tensor");
}

void matmul_tensor(const context<device>& ctx, float alpha, const dense_view<const bfloat16, device>& a,
                   const dense_view<const bfloat16, device>& b, float beta, const dense_view<float, device>& c,
                   const matmul_tensor_options& options) try {
  SPARGO_EXPECTS(options.inputs == tensor_inputs::bf16,
                 fmt::format("matmul_tensor: inputs are bfloat16 (expected options.inputs bf16, not {})",
                             to_string(options.inputs)));
  run(ctx, alpha, a, b, beta, c, options);
} catch (...) {
  detail::rethrow("matmul_tensor");
}

}  // namespace spargo
