// Dense products on tensor cores: checks, and the way to the device.
#include <spargo/primitives/matmul_tensor.hpp>

#include "core/rethrow.hpp"
#include "primitives/backend.hpp"
#include "primitives/matmul/tensor/backend.hpp"

#include <fmt/format.h>

namespace spargo {

std::string_view to_string(tensor_inputs inputs) noexcept {
  switch (inputs) {
    case tensor_inputs::tf32:
      return "tf32";
    case tensor_inputs::bf16:
      return "bf16";
  }
  return "unknown";
}

namespace {

// One past the last element that a view touches.
template <class T>
std::int64_t reach(const dense_view<T, device>& x) {
  return x.rows == 0 || x.cols == 0 ? 0 : (x.rows - 1) * x.stride + x.cols;
}

template <class T>
void check_view(const dense_view<T, device>& x, const char* name) {
  SPARGO_EXPECTS(x.rows >= 0 && x.cols >= 0,
                 fmt::format("matmul_tensor: {} is {} x {} (expected sizes of 0 or more)", name, x.rows, x.cols));
  SPARGO_EXPECTS(x.stride >= x.cols,
                 fmt::format("matmul_tensor: {} has {} columns and a stride of {} (expected stride >= columns)", name,
                             x.cols, x.stride));
  SPARGO_EXPECTS(x.stride == 0 || x.rows <= INT64_MAX / x.stride,
                 fmt::format("matmul_tensor: {} exceeds 2^63 elements", name));
  SPARGO_EXPECTS(x.data.size() >= reach(x), fmt::format("matmul_tensor: {} has {} elements (expected at least {})",
                                                        name, x.data.size(), reach(x)));
  SPARGO_EXPECTS(reach(x) == 0 || x.data.data() != nullptr, fmt::format("matmul_tensor: {} is null", name));
  if (x.rows > detail::tensor::largest_size || x.cols > detail::tensor::largest_size) {
    throw error(error_code::unsupported, fmt::format("matmul_tensor: {} is {} x {} (at most {} a side)", name, x.rows,
                                                     x.cols, detail::tensor::largest_size));
  }
}

template <class T, class U>
bool overlap(const dense_view<T, device>& x, const dense_view<U, device>& y) {
  const auto begin = [](const auto& view) { return reinterpret_cast<std::uintptr_t>(view.data.data()); };
  const auto bytes = [](const auto& view) {
    return static_cast<std::uintptr_t>(reach(view)) * sizeof(*view.data.data());
  };
  return bytes(x) != 0 && bytes(y) != 0 && begin(x) < begin(y) + bytes(y) && begin(y) < begin(x) + bytes(x);
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
  SPARGO_EXPECTS(!overlap(a, c) && !overlap(b, c), "matmul_tensor: C overlaps A or B");
}

template <class T>
void run(const context<device>& ctx, float alpha, const dense_view<const T, device>& a,
         const dense_view<const T, device>& b, float beta, const dense_view<float, device>& c,
         const matmul_tensor_options& options) {
  using detail::tensor::major;
  check(a, b, c, options);
  if constexpr (config::has_cuda) {
    const bool a_turned = options.op_a == transpose_kind::transpose;
    const bool b_turned = options.op_b == transpose_kind::transpose;
    const detail::tensor::operand<T> left{a.data.data(), a.stride, a_turned ? major::mn : major::k};
    const detail::tensor::operand<T> right{b.data.data(), b.stride, b_turned ? major::k : major::mn};
    const detail::tensor::product p{.m = static_cast<int>(c.rows),
                                    .n = static_cast<int>(c.cols),
                                    .k = static_cast<int>(a_turned ? a.rows : a.cols),
                                    .alpha = alpha,
                                    .beta = beta,
                                    .c = c.data.data(),
                                    .c_stride = c.stride};
    if constexpr (std::same_as<T, float>) {
      const auto rounding =
          options.inputs == tensor_inputs::tf32 ? detail::tensor::precision::tf32 : detail::tensor::precision::bf16;
      detail::tensor::matmul(ctx, rounding, left, right, p);
    } else {
      detail::tensor::matmul(ctx, left, right, p);
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
