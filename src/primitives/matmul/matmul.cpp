#include "primitives/matmul/algorithms.hpp"
#include "primitives/matmul/backend.hpp"

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

namespace spargo {

template <>
enum_table<matmul_algorithm> enum_rows() noexcept {
  return detail::matmul::algorithms;
}

namespace {

template <class V, class Space>
void expect_apart(const dense_view<V, Space>& c, const dense_view<const V, Space>& in, const char* name) {
  detail::expect_apart("matmul", "C", memory_of(detail::extent_of(c)), name, memory_of(detail::extent_of(in)));
}

template <class V, class Space>
void check_algorithm(matmul_algorithm algorithm) {
  detail::expect_runs_on<Space>(detail::matmul::algorithms, "matmul", algorithm);
  SPARGO_EXPECTS(algorithm != matmul_algorithm::tensor_core || (std::same_as<V, double>),
                 "matmul: tensor_core is for double; on float it would round the inputs (matmul_tensor does)");
}

}  // namespace

template <real_type V, class Space>
void matmul(const context<Space>& ctx, std::type_identity_t<V> alpha,
            const std::type_identity_t<dense_view<const V, Space>>& a,
            const std::type_identity_t<dense_view<const V, Space>>& b, std::type_identity_t<V> beta,
            const dense_view<V, Space>& c, const matmul_options& options) try {
  detail::expect_matrix("matmul", "A", a);
  detail::expect_matrix("matmul", "B", b);
  detail::expect_matrix("matmul", "C", c);
  const bool transposed = options.op_b == transpose_kind::transpose;
  const std::int64_t k = transposed ? b.cols : b.rows;
  const std::int64_t n = transposed ? b.rows : b.cols;
  SPARGO_EXPECTS(a.cols == k && a.rows == c.rows && n == c.cols,
                 fmt::format("matmul: A is {} x {}, op(B) {} x {}, C {} x {} (expected m x k, k x n, m x n)", a.rows,
                             a.cols, k, n, c.rows, c.cols));
  expect_apart(c, a, "A");
  expect_apart(c, b, "B");
  check_algorithm<V, Space>(options.algorithm);
  if constexpr (detail::is_built<Space>) {
    if (c.rows == 0 || c.cols == 0) return;
    const detail::matmul::dense_job<V> job{.m = c.rows,
                                           .n = c.cols,
                                           .k = alpha == V{0} ? 0 : k,
                                           .alpha = alpha,
                                           .beta = beta,
                                           .a = a.data.data(),
                                           .b = b.data.data(),
                                           .c = c.data.data(),
                                           .lda = a.stride,
                                           .ldb = b.stride,
                                           .ldc = c.stride,
                                           .op_b = options.op_b};
    if constexpr (std::same_as<Space, host>) {
      detail::matmul::run_host(ctx, job);
    } else {
      detail::matmul::run_device(ctx, job, options.algorithm);
    }
  } else {
    detail::no_device("matmul");
  }
} catch (...) {
  detail::rethrow("matmul");
}

#define INSTANTIATE(V, Space)                                                                                      \
  template void matmul<V, Space>(const context<Space>&, std::type_identity_t<V>,                                   \
                                 const std::type_identity_t<dense_view<const V, Space>>&,                          \
                                 const std::type_identity_t<dense_view<const V, Space>>&, std::type_identity_t<V>, \
                                 const dense_view<V, Space>&, const matmul_options&);
SPARGO_FOR_EACH_REAL_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
